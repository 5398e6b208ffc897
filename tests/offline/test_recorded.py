"""Trace files with our verdicts and without messages: reported as they were recorded."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_cases import SECOND, TRACE, attributes, span, trace

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.offline.recorded import recorded
from otel_footprint.offline.totals import Totals
from otel_footprint.offline.traces import judge_trace
from otel_footprint.telemetry import names


def recorded_span(number: int, **more: Any) -> dict[str, Any]:
    counts = {names.EVIDENCE_STATUS["read"]: 1, names.EVIDENCE_STATUS["unsupported"]: 2}
    given = {names.EVIDENCE_VERDICT: "ungrounded", names.CONVERSATION_ID: "conv-1", names.EVIDENCE_CHOICE: 0, **counts}
    return span(number, given, **more)


def value_event(status: str, *, flagged: bool = False, **more: Any) -> dict[str, Any]:
    given = {
        names.EVIDENCE_CHOICE: 0,
        names.VALUE_STATUS: status,
        names.VALUE_SHAPE: "identifier",
        names.VALUE_FLAGGED: flagged,
        **more,
    }
    return {"name": names.EVENT_EVIDENCE_VALUE, "attributes": attributes(given)}


def checked_event(**more: Any) -> dict[str, Any]:
    counts = {names.EVIDENCE_STATUS["read"]: 1, names.EVIDENCE_STATUS["unsupported"]: 2}
    given = {names.EVIDENCE_VERDICT: "ungrounded", names.EVIDENCE_CHOICE: 0, **counts, **more}
    return {"name": names.EVENT_AGENT_EVIDENCE_CHECKED, "attributes": attributes(given)}


def test_recorded_verdicts_with_their_values() -> None:
    events = [
        checked_event(),
        value_event("read", **{names.VALUE_TOOL_CALL_IDS: ["c1"]}),
        value_event("unsupported", flagged=True, **{names.VALUE_TEXT: "XY-99999"}),
    ]
    (found,) = recorded(trace(recorded_span(1, events=events)))
    assert found.document["id"] == "conv-1"
    (answer,) = found.document["answers"]
    assert (answer["message_index"], answer["verdict"]) == (None, "ungrounded")
    assert [(item["value"], item["status"], item["flagged"]) for item in answer["values"]] == [
        (None, "read", False),
        ("XY-99999", "unsupported", True),
        (None, "unsupported", True),
    ]
    assert answer["values"][0]["carriers"] == [{"message_index": None, "tool_call_id": "c1"}]


def test_a_draft_is_an_answer_only_where_its_revision_gave_nothing() -> None:
    draft = {names.EVIDENCE_VERDICT: "ungrounded", names.CONVERSATION_ID: "c", names.EVIDENCE_ACTION: "recheck"}
    revision = {names.EVIDENCE_REVISION: True, names.CONVERSATION_ID: "c"}
    answered = {**revision, names.EVIDENCE_VERDICT: "grounded"}
    failed = {**revision, names.WINDOW_SETTLED: False}
    other = {**answered, names.CONVERSATION_ID: "another"}

    def verdicts(*given: dict[str, Any]) -> list[str]:
        found = recorded(trace(*(span(number, each) for number, each in enumerate(given, start=1))))
        return [answer["verdict"] for judged in found for answer in judged.document["answers"]]

    assert verdicts(draft, answered) == ["grounded"]
    assert verdicts(draft, revision) == []
    assert verdicts(draft, failed) == ["ungrounded"]
    assert verdicts(draft, other) == ["ungrounded", "grounded"]


def test_recorded_verdicts_from_log_events_or_the_summary_alone() -> None:
    identity = {"traceId": TRACE, "spanId": f"{1:016x}"}
    logs = [
        {**identity, "eventName": names.EVENT_AGENT_EVIDENCE_CHECKED, "attributes": checked_event()["attributes"]},
        {**identity, "eventName": names.EVENT_EVIDENCE_VALUE, "attributes": value_event("read")["attributes"]},
    ]
    for found in (recorded(trace(recorded_span(1), logs=logs)), recorded(trace(recorded_span(1)))):
        (answer,) = found[0].document["answers"]
        assert sorted(item["status"] for item in answer["values"]) == ["read", "unsupported", "unsupported"]
        assert sum(item["flagged"] for item in answer["values"]) == 2


def test_an_evicted_value_keeps_what_dropped_it() -> None:
    event = value_event(
        "evicted",
        flagged=True,
        **{
            names.VALUE_EVICTED_DECISION: "clear",
            names.VALUE_EVICTED_DECIDED_BY: "provider",
            names.VALUE_EVICTED_TOOL: "get_order",
            names.VALUE_EVICTED_TOOL_CALL_ID: "c1",
        },
    )
    (found,) = recorded(trace(recorded_span(1, events=[checked_event(), event])))
    assert found.document["answers"][0]["values"][0]["evicted_by"] == {
        "decision": "clear",
        "decided_by": "provider",
        "tool_call_id": "c1",
        "tool": "get_order",
    }


def test_each_choice_and_no_agent() -> None:
    events = [checked_event(), checked_event(**{names.EVIDENCE_CHOICE: 1, names.EVIDENCE_VERDICT: "grounded"})]
    agent = recorded_span(2)
    agent["attributes"] = attributes({"gen_ai.operation.name": "invoke_agent", names.EVIDENCE_VERDICT: "ungrounded"})
    (found,) = recorded(trace(recorded_span(1, events=events), agent))
    assert [(answer["choice"], answer["verdict"]) for answer in found.document["answers"]] == [
        (0, "ungrounded"),
        (1, "grounded"),
    ]


def test_spans_that_were_judged_are_not_reported_again() -> None:
    both = trace(span(1, SECOND), recorded_span(2))
    _, _, seen = judge_trace(both, Evidence())
    assert len(recorded(both, skip=seen)) == 1
    assert recorded(both, skip=frozenset({f"{2:016x}"})) == []


def test_recorded_arguments_stand_with_the_answer_after_them() -> None:
    given = {
        names.ARGUMENT_TOOL: "ship",
        names.ARGUMENT_NAME: "order_id",
        names.ARGUMENT_UNACCOUNTED: True,
        names.VALUE_STATUS: "unsupported",
        names.VALUE_SHAPE: "identifier",
    }
    event = {"name": names.EVENT_ARGUMENT_VALUE, "attributes": attributes(given)}
    call = span(1, {names.CONVERSATION_ID: "conv-1", names.ARGUMENTS_CANDIDATES: 1}, events=[event])
    answer = recorded_span(2)

    (found,) = recorded(trace(call, answer), arguments=True)
    (listed,) = found.document["answers"][0]["arguments"]
    assert (listed["tool"], listed["path"], listed["value"], listed["status"], listed["unaccounted"]) == (
        "ship",
        "order_id",
        None,
        "unsupported",
        True,
    )
    (alone,) = recorded(trace(call), arguments=True)
    assert (alone.document["answers"], len(alone.arguments)) == ([], 1)
    (plain,) = recorded(trace(call, answer))
    assert plain.document["answers"][0]["arguments"] == []


@pytest.mark.parametrize(("recorded_as", "places"), [(2, 2), (None, 0), ("2", 0), (True, 0), (-1, 0), (10**9, 1000)])
def test_a_misplaced_value_keeps_in_how_many_places(recorded_as: object, places: int) -> None:
    event = value_event("read", **({} if recorded_as is None else {names.VALUE_MISPLACED: recorded_as}))
    (found,) = recorded(trace(recorded_span(1, events=[checked_event(), event])))
    value = found.document["answers"][0]["values"][0]
    assert value["misplaced"] == [{"span": [], "belongs_to": "", "named": ""}] * places


@pytest.mark.parametrize(
    ("counted", "seen", "places"),
    [
        (3, [], [3, 0, 0]),
        (3, [1], [1, 2, 0, 0]),
        (1, [1], [1, 0, 0, 0]),
        (3, [3], [3, 0, 0, 0]),
        (1, [3], [3, 0, 0, 0]),
        (1500, [], [1000, 500, 0]),
        (True, [], [0, 0, 0]),
    ],
)
def test_places_of_values_without_an_event_are_counted(counted: object, seen: list[int], places: list[int]) -> None:
    counts = {names.EVIDENCE_STATUS["read"]: 1 + len(seen), names.EVIDENCE_MISPLACED: counted}
    values = [value_event("read", **{names.VALUE_MISPLACED: number}) for number in seen]
    (found,) = recorded(trace(recorded_span(1, events=[checked_event(**counts), *values])))
    document = found.document["answers"][0]["values"]
    assert [len(value["misplaced"]) for value in document] == places
    assert [value["status"] for value in document] == ["read"] * (1 + len(seen)) + ["unsupported"] * 2
    totals = Totals()
    totals.add(found.document)
    assert totals.misplaced == sum(places)


def test_places_are_counted_from_the_spans_own_summary_where_no_event_was_kept() -> None:
    summary = recorded_span(1)
    summary["attributes"] += attributes({names.EVIDENCE_MISPLACED: 2})
    (found,) = recorded(trace(summary))
    assert [len(value["misplaced"]) for value in found.document["answers"][0]["values"]] == [2, 0, 0]


def test_every_value_with_its_event_leaves_nothing_to_count() -> None:
    counts = {**dict.fromkeys(names.EVIDENCE_STATUS.values(), 0), names.EVIDENCE_STATUS["read"]: 1}
    events = [checked_event(**counts, **{names.EVIDENCE_MISPLACED: 3}), value_event("read")]
    (found,) = recorded(trace(recorded_span(1, events=events)))
    assert [value["misplaced"] for value in found.document["answers"][0]["values"]] == [[]]
