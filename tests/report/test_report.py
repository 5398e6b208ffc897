"""What people see: the tree, the table, the summary, JUnit, and the JSON document as it is written."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from otel_footprint import check
from otel_footprint.core.evidence.verdicts import STATUSES
from otel_footprint.offline.document import AnswerDocument, ConversationDocument, ValueDocument
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.otlp import Event, Span
from otel_footprint.offline.totals import Totals
from otel_footprint.report.junit import JUnitSink
from otel_footprint.report.otlp import Trace, read_files
from otel_footprint.report.printable import printable
from otel_footprint.report.sinks import InputFile, JsonSink, Sink
from otel_footprint.report.summary import RunSummary
from otel_footprint.report.table import TableSink
from otel_footprint.report.tree import duration, render
from otel_footprint.report.why import why
from otel_footprint.report.words import words
from otel_footprint.telemetry import names

TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(number: int, *, parent: int | None = None, name: str = "chat m", **more: Any) -> Span:
    return Span(
        trace_id=TRACE,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        name=name,
        start_ns=number * 1_000_000,
        end_ns=number * 1_000_000 + 2_500_000,
        **more,
    )


def rendered(*spans: Span, all_values: bool = False) -> str:
    out = io.StringIO()
    render(spans, Console(file=out, width=200, color_system=None), all_values=all_values)
    return out.getvalue()


ANSWERED = {
    names.GEN_AI_OPERATION_NAME: "chat",
    names.EVIDENCE_VERDICT: "ungrounded",
    names.EVIDENCE_REASONS: ["opaque_content"],
    names.EVIDENCE_STATUS["read"]: 1,
    names.EVIDENCE_STATUS["evicted"]: 1,
    names.WINDOW_DECISION: "evict",
    names.WINDOW_DECIDED_BY: "application",
    names.WINDOW_MESSAGES_BEFORE: 8,
    names.WINDOW_MESSAGES_AFTER: 5,
    names.WINDOW_EVICTED: 3,
    names.WINDOW_DROPPED_TOOLS: ["get_order"],
}
EVENTS = (
    Event(
        names.EVENT_CONTEXT_EVICTED,
        0,
        {
            names.EVICTION_ROLE: "tool",
            names.EVICTION_TOOL: "get_order",
            names.EVICTION_TOOL_CALL_ID: "c1",
            names.EVICTION_ITERATIONS_SURVIVED: 1,
        },
    ),
    Event(names.EVENT_EVIDENCE_VALUE, 0, {names.VALUE_STATUS: "read", names.VALUE_TOOL_CALL_IDS: ["c2"]}),
    Event(
        names.EVENT_EVIDENCE_VALUE,
        0,
        {
            names.VALUE_STATUS: "evicted",
            names.VALUE_SHAPE: "identifier",
            names.VALUE_TEXT: "[bold]AB-1[/bold]",
            names.VALUE_EVICTED_DECISION: "evict",
            names.VALUE_EVICTED_DECIDED_BY: "application",
            names.VALUE_EVICTED_TOOL: "get_order",
        },
    ),
)


def test_the_tree() -> None:
    text = rendered(span(2, parent=1, attributes=ANSWERED, events=EVENTS), span(1, name="invoke_agent support"))
    lines = [line.strip("│├└─ ") for line in text.splitlines()]
    assert lines == [
        f"trace {TRACE}",
        "invoke_agent support  2 ms",
        "chat m  2 ms  ungrounded (opaque_content)  1 read, 1 evicted  window: evict by application 8→5 messages, "
        "3 left (results of get_order)",
        "left the window: get_order result c1, after 1 call",
        "value evicted [bold]AB-1[/bold] (identifier) the result of get_order had left: evict by application",
    ]
    assert "value read from c2" in rendered(span(2, attributes=ANSWERED, events=EVENTS), all_values=True)


def test_the_tree_shows_a_value_beside_the_name_of_another_row_though_it_was_read() -> None:
    facts = {names.VALUE_STATUS: "read", names.VALUE_SHAPE: "number", names.VALUE_MISPLACED: 1}
    events = (
        Event(names.EVENT_EVIDENCE_VALUE, 0, facts),
        Event(names.EVENT_EVIDENCE_VALUE, 0, {names.VALUE_STATUS: "read"}),
    )
    assert [line.strip("│├└─ ") for line in rendered(span(1, events=events)).splitlines()][2:] == [
        "value read (number) beside the name of another row"
    ]


def test_the_tree_shows_arguments_that_nothing_accounts_for() -> None:
    def passed(status: str, *, unaccounted: bool) -> Event:
        given: dict[str, Any] = {
            names.ARGUMENT_TOOL: "refund",
            names.ARGUMENT_NAME: "order_id",
            names.VALUE_STATUS: status,
        }
        return Event(names.EVENT_ARGUMENT_VALUE, 0, {**given, names.ARGUMENT_UNACCOUNTED: unaccounted})

    events = (passed("read", unaccounted=False), passed("unsupported", unaccounted=True))
    assert [line.strip("│├└─ ") for line in rendered(span(1, events=events)).splitlines()][2:] == [
        "passed to refund order_id unsupported"
    ]
    assert "passed to refund order_id read" in rendered(span(1, events=events), all_values=True)


def test_the_tree_shows_what_a_strategy_did_and_why() -> None:
    visit = span(
        3,
        parent=1,
        name="agentfootprint.window token-budget",
        attributes={
            names.WINDOW_OUTCOME: "removed",
            names.WINDOW_MESSAGES_BEFORE: 9,
            names.WINDOW_MESSAGES_AFTER: 7,
            names.WINDOW_EVICTED: 2,
            names.WINDOW_DROPPED_TOOLS: ["get_order"],
        },
        events=(
            Event(
                names.EVENT_CONTEXT_BUDGET_PRESSURE,
                0,
                {
                    names.BUDGET_PROJECTED: 1500,
                    names.BUDGET_CAP: 1000,
                    names.BUDGET_UNIT: "tokens",
                    names.BUDGET_PLAN_ACTION: "evict",
                },
            ),
            Event(
                names.EVENT_CONTEXT_REFUSED,
                0,
                {
                    names.REFUSAL_REASON: "last-tool-result",
                    names.REFUSAL_TURN_INDEX: 3,
                    names.REFUSAL_TOOL: "search",
                    names.REFUSAL_TOOL_CALL_IDS: ["c9"],
                },
            ),
            Event(
                names.EVENT_CONTEXT_REFUSED,
                0,
                {names.REFUSAL_REASON: "inside-keep-window", names.REFUSAL_TURN_INDEX: 4},
            ),
        ),
    )
    text = rendered(span(1, name="invoke_agent", attributes={}), visit)

    assert "agentfootprint.window token-budget  2 ms  removed 9→7 messages, 2 left (results of get_order)" in text
    assert "budget: 1500 of 1000 tokens, evict" in text
    assert "stays in the window: turn 3, last-tool-result (search result c9)" in text
    assert "inside-keep-window" not in text
    assert "turn 4, inside-keep-window" in rendered(visit, all_values=True)


def test_the_tree_shows_what_a_posture_did() -> None:
    draft = span(1, attributes={names.EVIDENCE_VERDICT: "ungrounded", names.EVIDENCE_ACTION: "recheck"})
    revised = span(
        2,
        attributes={
            names.EVIDENCE_VERDICT: "ungrounded",
            names.EVIDENCE_ACTION: "refused",
            names.EVIDENCE_REVISION: True,
        },
    )
    unheld = span(3, attributes={names.EVIDENCE_VERDICT: "grounded", names.EVIDENCE_STREAM_UNHELD: True})

    lines = rendered(draft, revised, unheld).splitlines()

    assert lines[1].endswith("ungrounded  sent back")
    assert lines[2].endswith("ungrounded  the revision  refused to the application")
    assert lines[3].endswith("grounded  streamed out before it was judged")


def test_the_tree_shows_every_span_once_whatever_its_parents() -> None:
    text = rendered(
        span(1, parent=2, name="a"),
        span(2, parent=1, name="b"),
        span(3, parent=9, name="c"),
        span(4, parent=4, name="d"),
    )
    for name in "abcd":
        assert sum(f" {name}  " in line for line in text.splitlines()) == 1


@given(
    st.lists(st.tuples(st.integers(1, 6), st.none() | st.integers(1, 6)), max_size=8, unique_by=lambda pair: pair[0])
)
def test_any_shape_of_parents_ends(pairs: list[tuple[int, int | None]]) -> None:
    text = rendered(*(span(number, parent=parent, name=f"n{number}") for number, parent in pairs))
    assert text.count("─ n") == len(pairs)


def test_a_deep_trace_is_printed() -> None:
    spans = [span(number, parent=number - 1 if number > 1 else None, name=f"n{number}") for number in range(1, 60)]
    assert "n59" in rendered(*spans)


def test_durations_and_words() -> None:
    assert [duration(ns) for ns in (900, 850_000, 12_000_000, 1_240_000_000)] == ["1 µs", "850 µs", "12 ms", "1.2 s"]
    assert (words("a,b"), words(["a", 1]), words(None)) == (["a", "b"], ["a"], [])


# The sinks of a check.


def value(status: str, *, flagged: bool = False, text: str | None = "AB-1", **more: Any) -> ValueDocument:
    base: Any = {
        "value": text,
        "spans": [],
        "shape": "identifier",
        "status": status,
        "flagged": flagged,
        "carriers": [],
        "derivation": None,
        "evicted_by": None,
        "misplaced": [],
    }
    return {**base, **more}  # type: ignore[no-any-return]


def answer(verdict: str, *values: ValueDocument, choice: int = 0, reasons: tuple[str, ...] = ()) -> AnswerDocument:
    return {
        "message_index": 3,
        "choice": choice,
        "verdict": verdict,
        "reasons": list(reasons),
        "values": list(values),
        "arguments": [],
    }


def judged(*answers: AnswerDocument, id: str | None = None) -> Judged:
    document: ConversationDocument = {"id": id, "answers": list(answers)}
    return Judged(document, tuple("message 3" for _ in answers))


def feed(sink: Sink, *conversations: Judged, files: int = 1) -> None:
    totals = Totals()
    for number in range(files):
        totals.files += 1
        sink.file(InputFile(f"f{number}.json", "messages"))
        for index, conversation in enumerate(conversations):
            totals.add(conversation.document)
            sink.conversation(index, conversation)
    sink.close(totals)


@given(st.integers(0, 3), st.integers(0, 3))
def test_the_json_document_is_whole_for_any_number_of_parts(files: int, conversations: int) -> None:
    parts: list[str] = []
    feed(JsonSink(parts.append), *[judged(answer("grounded"))] * conversations, files=files)
    document = json.loads("".join(parts))
    assert [len(file["conversations"]) for file in document["files"]] == [conversations] * files
    assert document["totals"]["answers"] == files * conversations


def table(*conversations: Judged, misplaced: bool = False) -> str:
    out = io.StringIO()
    feed(TableSink(Console(file=out, width=160, color_system=None), misplaced=misplaced), *conversations)
    return out.getvalue()


def test_the_places_of_a_recorded_value_are_listed_without_names() -> None:
    unnamed = {"span": [], "belongs_to": "", "named": ""}
    stated = [
        value("read", text=None, misplaced=[unnamed] * 3),
        value("read", misplaced=[unnamed]),
        value("read", misplaced=[{"span": [0, 4], "belongs_to": "", "named": "Ada"}]),
    ]
    lines = table(judged(answer("grounded", *stated)), misplaced=True).splitlines()
    assert lines[-4:] == [
        "5 values stand beside the name of another row (advice, not flagged)",
        "f0.json, conversation 0, message 3: (identifier, text not captured) beside the name of another row, in 3 places",
        "f0.json, conversation 0, message 3: AB-1 beside the name of another row",
        "f0.json, conversation 0, message 3: AB-1 beside Ada  another field carries it",
    ]
    many = table(*[judged(answer("grounded", *stated))] * 400, misplaced=True).splitlines()
    assert many[-1] == f"and {2_000 - 5 * 333 - 3} more (see --json)"


def test_the_table_counts_and_names() -> None:
    flagged = answer("ungrounded", value("read"), value("unsupported", flagged=True, text="[red]X-1"), choice=1)
    text = table(judged(answer("grounded", value("read"))), judged(flagged, id="t-7"))
    assert "grounded            1" in text
    assert "unsupported  flagged  1" in text
    assert "f0.json, conversation 1 (id t-7), message 3, choice 1: ungrounded" in text
    assert "  [red]X-1  unsupported: no tool result carries it and nobody said it" in text
    assert "No answers to judge." in table()


def junit(*conversations: Judged, problems: tuple[str, ...] = ()) -> ElementTree.Element:
    parts: list[str] = []
    sink = JUnitSink(parts.append)
    for problem in problems:
        sink.problem(problem)
    feed(sink, *conversations)
    return ElementTree.fromstring("".join(parts))


def test_junit_cases() -> None:
    root = junit(
        judged(answer("grounded"), answer("inconclusive", reasons=("partial_output",))),
        judged(answer("ungrounded", value("evicted", flagged=True, text=None))),
        problems=("a.json: the file is empty",),
    )
    suite, unreadable = root.findall("testsuite")
    assert [case.get("name") for case in suite.findall("testcase")] == ["message 3"] * 3
    skipped = suite.find("testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == "inconclusive, partial_output"
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert unreadable.get("errors") == "1"


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_junit_is_xml_whatever_the_text(text: str, name: str) -> None:
    root = junit(judged(answer("ungrounded", value("unsupported", flagged=True, text=text)), id=name), problems=(text,))
    assert root.get("failures") == "1"


def test_every_status_says_why() -> None:
    for status in STATUSES:
        assert why(value(status)).startswith(f"{status}: ")
    evicted = value(
        "evicted",
        evicted_by={"decision": "evict", "decided_by": "application", "tool_call_id": "c1", "tool": "get_order"},
    )
    assert why(evicted).endswith("get_order (c1), evict by application")
    assert why(value("computed", derivation={"name": "sum", "inputs": ["1", "2"]})).endswith("sum of 1, 2")


HOSTILE = "AB-1\x1b[2J\r\n\u202eX\x07"


def test_nothing_controls_the_terminal() -> None:
    flagged = answer("ungrounded", value("unsupported", flagged=True, text=HOSTILE))
    event = Event(names.EVENT_EVIDENCE_VALUE, 0, {names.VALUE_STATUS: "unsupported", names.VALUE_TEXT: HOSTILE})
    tree = rendered(span(1, name=HOSTILE, attributes={**ANSWERED, names.WINDOW_DECIDED_BY: HOSTILE}, events=(event,)))
    for text in (table(judged(flagged, id=HOSTILE)), tree):
        assert "AB-1\\x1b[2J\\r\\n\\u202eX\\x07" in text
        assert not set(text) & set("\x1b\r\u202e\x07")


@given(st.text())
def test_printable_text_is_one_line_and_plain_text_is_kept(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text


def test_many_flagged_values_are_counted() -> None:
    text = table(judged(answer("ungrounded", *[value("unsupported", flagged=True)] * 60)))
    assert "and 10 more flagged values (see --json)" in text


# The summary of a run.


def test_the_summary_of_a_run() -> None:
    worse = {**ANSWERED, names.EVIDENCE_STATUS["unsupported"]: 2}
    spans = (
        span(1, name="invoke_agent", attributes={**ANSWERED, names.GEN_AI_OPERATION_NAME: "invoke_agent"}),
        span(2, attributes=ANSWERED),
        span(3, attributes=worse),
        span(4, attributes={**ANSWERED, names.EVIDENCE_VERDICT: "grounded", names.EVIDENCE_STATUS["evicted"]: 0}),
    )
    summary = RunSummary.of(Trace(spans, (), ()))
    assert summary.lines("written to /x/f.jsonl") == [
        "otel-footprint: 3 model calls, 3 answers: 1 grounded, 2 ungrounded",
        "otel-footprint: 7 values: 3 read, 2 evicted, 2 unsupported; 9 messages left a window",
        f"otel-footprint: worst answer: span {TRACE}/{3:016x} ungrounded (1 read, 1 evicted, 2 unsupported)",
        "otel-footprint: to record which values are flagged, set OTEL_FOOTPRINT_CAPTURE_VALUES=flagged",
        "otel-footprint: written to /x/f.jsonl",
    ]


def test_what_a_strategy_dropped_is_counted_once() -> None:
    decided = {**ANSWERED, names.WINDOW_DECIDED_BY: "sliding-window"}
    visit = {names.WINDOW_OUTCOME: "removed", names.WINDOW_EVICTED: 3}
    spans = (
        span(1, name="agentfootprint.window sliding-window", attributes=visit),
        span(2, attributes=decided),
        span(3, attributes={**ANSWERED, names.WINDOW_EVICTED: 2}),
    )

    summary = RunSummary.of(Trace(spans, (), ()))

    assert (summary.calls, summary.evictions) == (2, 5)


def test_a_run_without_a_fault_names_no_worst_answer() -> None:
    good = {names.EVIDENCE_VERDICT: "grounded", names.WINDOW_DECISION: "start", names.EVIDENCE_STATUS["read"]: 1}
    assert RunSummary.of(Trace((span(1, attributes=good),), (), ())).worst is None
    assert "no model call" in RunSummary.of(Trace((), (), ())).lines("")[0]


def test_a_file_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]})
    path.write_text(f"{line}\n{line}\n\n{line[:30]}")
    trace = read_files([path])
    assert len(trace.spans) == 2
    assert trace.problems == (f"{path}:4: not a JSON line",)
    assert len(read_files([path], start=len(line) + 1).spans) == 1


def test_a_table_of_a_real_judgement() -> None:
    document = check([{"role": "user", "content": "AB-48213?"}, {"role": "assistant", "content": "AB-48213."}])
    assert "grounded            1" in table(Judged(document, ("message 1",)))
