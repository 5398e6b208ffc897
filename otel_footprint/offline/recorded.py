"""Verdicts that a run wrote into its trace, reported where the messages themselves were not captured.

Rules
-----
- One answer per choice of a call's span, from its events (span events, else log events); from the span's own summary
  where the events were cut or not kept. The agent's span repeats its calls and is left out.
- A draft that was sent back is no answer where its revision gave anything: then the revision is what went out.
- What was not recorded stays unknown: no message index, no spans, and the text of a value only where it was captured.
- Values that a limit kept out of the events are there without their text, so that counts stay right; so are the places at
  which they stand beside the name of another row. Names were never recorded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from otel_footprint.core.evidence.verdicts import FLAGGED, STATUSES
from otel_footprint.core.messages import Json
from otel_footprint.offline.acted import is_verdict, revised_drafts
from otel_footprint.offline.document import (
    AnswerDocument,
    ArgumentDocument,
    ConversationDocument,
    EvictedByDocument,
    MisplacedDocument,
    ValueDocument,
)
from otel_footprint.offline.files import TraceFile
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.otlp import Span
from otel_footprint.offline.traces import by_span
from otel_footprint.telemetry import names

_Event = tuple[str, Mapping[str, Json]]
_MAX_PLACES = 1_000
"""Places kept of one value; what a trace says beyond that is not believed."""
_MAX_VALUES = 20_000
_OURS = (names.EVENT_AGENT_EVIDENCE_CHECKED, names.EVENT_ARGUMENT_VALUE)


def recorded(trace: TraceFile, skip: frozenset[str] = frozenset(), *, arguments: bool = False) -> list[Judged]:
    """The recorded conversations, but for the spans in ``skip`` (by span id); with ``arguments`` also those of calls."""
    logs = by_span(trace)
    found: dict[str, tuple[ConversationDocument, list[str]]] = {}
    passed_on: dict[str, list[ArgumentDocument]] = defaultdict(list)
    skip = skip | revised_drafts(trace.spans)
    for span in sorted(trace.spans, key=lambda span: (span.start_ns, span.span_id)):
        calls = arguments and names.ARGUMENTS_CANDIDATES in span.attributes
        if span.span_id in skip or not (calls or is_verdict(span)):
            continue
        events: list[_Event] = [(event.name, event.attributes) for event in span.events]
        if not any(name in _OURS for name, _ in events):
            events = logs.get((span.trace_id, span.span_id), [])
        identity = span.attributes.get(names.CONVERSATION_ID)
        key = identity if isinstance(identity, str) else f"trace {span.trace_id}"
        document, places = found.setdefault(
            key, ({"id": identity if isinstance(identity, str) else None, "answers": []}, [])
        )
        if calls:
            passed_on[key] += [_argument(each) for name, each in events if name == names.EVENT_ARGUMENT_VALUE]
        if not is_verdict(span):
            continue
        answers = _answers(span, events)
        answers[0]["arguments"] = passed_on.pop(key, [])
        document["answers"] += answers
        places += [f"span {span.trace_id}/{span.span_id}"] * len(answers)
    judged: list[Judged] = []
    for key, (document, places) in found.items():
        rest = passed_on.pop(key, [])
        if document["answers"]:
            document["answers"][-1]["arguments"] += rest
        judged.append(Judged(document, tuple(places), [] if places else rest))
    return judged


def _answers(span: Span, events: Sequence[_Event]) -> list[AnswerDocument]:
    checked = [attributes for name, attributes in events if name == names.EVENT_AGENT_EVIDENCE_CHECKED]
    values = [attributes for name, attributes in events if name == names.EVENT_EVIDENCE_VALUE]
    return [_answer(attributes, values) for attributes in (checked or [span.attributes])]


def _answer(attributes: Mapping[str, Json], values: Sequence[Mapping[str, Json]]) -> AnswerDocument:
    choice = _integer(attributes.get(names.EVIDENCE_CHOICE))
    mine = [_value(value) for value in values if _integer(value.get(names.EVIDENCE_CHOICE)) == choice]
    verdict = attributes.get(names.EVIDENCE_VERDICT)
    shown = Counter(value["status"] for value in mine)
    unknown: list[ValueDocument] = []
    for status in STATUSES:
        missing = _integer(attributes.get(names.EVIDENCE_STATUS[status])) - shown[status]
        flagged = status in FLAGGED and verdict == "ungrounded"
        unknown += [_unknown(status, flagged) for _ in range(min(missing, _MAX_VALUES))]
    _place(unknown, _integer(attributes.get(names.EVIDENCE_MISPLACED)) - sum(len(value["misplaced"]) for value in mine))
    reasons = attributes.get(names.EVIDENCE_REASONS)
    return {
        "message_index": None,
        "choice": choice,
        "verdict": verdict if isinstance(verdict, str) else "inconclusive",
        "reasons": [reason for reason in reasons if isinstance(reason, str)] if isinstance(reasons, list) else [],
        "values": mine + unknown,
        "arguments": [],
    }


def _place(values: Sequence[ValueDocument], places: int) -> None:
    """Give places to values of which only the count is known: to those that results carry, before others."""
    for value in sorted(values, key=lambda value: value["status"] != "read"):
        value["misplaced"] = _places(places)
        places -= len(value["misplaced"])


def _places(count: int) -> list[MisplacedDocument]:
    return [{"span": [], "belongs_to": "", "named": ""} for _ in range(min(count, _MAX_PLACES))]


def _unknown(status: str, flagged: bool) -> ValueDocument:
    return {
        "value": None,
        "spans": [],
        "shape": "unknown",
        "status": status,
        "flagged": flagged,
        "carriers": [],
        "derivation": None,
        "evicted_by": None,
        "misplaced": [],
    }


def _value(attributes: Mapping[str, Json]) -> ValueDocument:
    status = attributes.get(names.VALUE_STATUS)
    document = _unknown(status if isinstance(status, str) else "unknown", attributes.get(names.VALUE_FLAGGED) is True)
    text = attributes.get(names.VALUE_TEXT)
    document["value"] = text if isinstance(text, str) else None
    shape = attributes.get(names.VALUE_SHAPE)
    if isinstance(shape, str):
        document["shape"] = shape
    document["misplaced"] = _places(_integer(attributes.get(names.VALUE_MISPLACED)))
    carriers = attributes.get(names.VALUE_TOOL_CALL_IDS)
    if isinstance(carriers, list):
        document["carriers"] = [
            {"message_index": None, "tool_call_id": carrier} for carrier in carriers if isinstance(carrier, str)
        ]
    derivation = attributes.get(names.VALUE_DERIVATION)
    if isinstance(derivation, str):
        document["derivation"] = {"name": derivation, "inputs": []}
    document["evicted_by"] = _evicted_by(attributes)
    return document


def _argument(attributes: Mapping[str, Json]) -> ArgumentDocument:
    value = _value(attributes)
    return {
        "message_index": None,
        "tool": _text(attributes, names.ARGUMENT_TOOL) or "",
        "tool_call_id": _text(attributes, names.ARGUMENT_TOOL_CALL_ID),
        "path": _text(attributes, names.ARGUMENT_PATH) or _text(attributes, names.ARGUMENT_NAME),
        "also_at": [],
        "value": value["value"],
        "shape": value["shape"],
        "status": value["status"],
        "unaccounted": attributes.get(names.ARGUMENT_UNACCOUNTED) is True,
        "carriers": value["carriers"],
        "derivation": value["derivation"],
        "evicted_by": value["evicted_by"],
    }


def _text(attributes: Mapping[str, Json], name: str) -> str | None:
    value = attributes.get(name)
    return value if isinstance(value, str) else None


def _evicted_by(attributes: Mapping[str, Json]) -> EvictedByDocument | None:
    decision = attributes.get(names.VALUE_EVICTED_DECISION)
    if not isinstance(decision, str):
        return None
    tool = attributes.get(names.VALUE_EVICTED_TOOL)
    identity = attributes.get(names.VALUE_EVICTED_TOOL_CALL_ID)
    return {
        "decision": decision,
        "decided_by": str(attributes.get(names.VALUE_EVICTED_DECIDED_BY, "")),
        "tool_call_id": identity if isinstance(identity, str) else None,
        "tool": tool if isinstance(tool, str) else None,
    }


def _integer(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
