"""Verdicts that a run wrote into its trace, reported where the messages themselves were not captured.

Rules
-----
- One answer per choice of a call's span, from its events (span events, else log events); from the span's own summary
  where the events were cut or not kept. The agent's span repeats its calls and is left out.
- What was not recorded stays unknown: no message index, no spans, and the text of a value only where it was captured.
- Values that a limit kept out of the events are there without their text, so that counts stay right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from otel_footprint.core.evidence.verdicts import FLAGGED, STATUSES
from otel_footprint.core.messages import Json
from otel_footprint.offline.document import AnswerDocument, ConversationDocument, EvictedByDocument, ValueDocument
from otel_footprint.offline.files import TraceFile
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.otlp import Span
from otel_footprint.offline.traces import by_span
from otel_footprint.telemetry import names

_Event = tuple[str, Mapping[str, Json]]


def recorded(trace: TraceFile, skip: frozenset[str] = frozenset()) -> list[Judged]:
    """The recorded conversations, but for the spans in ``skip`` (by span id)."""
    logs = by_span(trace)
    found: dict[str, tuple[ConversationDocument, list[str]]] = {}
    for span in sorted(trace.spans, key=lambda span: (span.start_ns, span.span_id)):
        if span.span_id in skip or not is_verdict(span):
            continue
        events: list[_Event] = [(event.name, event.attributes) for event in span.events]
        if not any(name == names.EVENT_AGENT_EVIDENCE_CHECKED for name, _ in events):
            events = logs.get((span.trace_id, span.span_id), [])
        identity = span.attributes.get(names.CONVERSATION_ID)
        key = identity if isinstance(identity, str) else f"trace {span.trace_id}"
        document, places = found.setdefault(
            key, ({"id": identity if isinstance(identity, str) else None, "answers": []}, [])
        )
        answers = _answers(span, events)
        document["answers"] += answers
        places += [f"span {span.trace_id}/{span.span_id}"] * len(answers)
    return [Judged(document, tuple(places)) for document, places in found.values()]


def is_verdict(span: Span) -> bool:
    """Whether a span is a call that carries a verdict of ours."""
    agent = span.attributes.get(names.GEN_AI_OPERATION_NAME) in ("invoke_agent", "invoke_workflow")
    return not agent and isinstance(span.attributes.get(names.EVIDENCE_VERDICT), str)


def _answers(span: Span, events: Sequence[_Event]) -> list[AnswerDocument]:
    checked = [attributes for name, attributes in events if name == names.EVENT_AGENT_EVIDENCE_CHECKED]
    values = [attributes for name, attributes in events if name == names.EVENT_EVIDENCE_VALUE]
    return [_answer(attributes, values) for attributes in (checked or [span.attributes])]


def _answer(attributes: Mapping[str, Json], values: Sequence[Mapping[str, Json]]) -> AnswerDocument:
    choice = _integer(attributes.get(names.EVIDENCE_CHOICE))
    mine = [_value(value) for value in values if _integer(value.get(names.EVIDENCE_CHOICE)) == choice]
    verdict = attributes.get(names.EVIDENCE_VERDICT)
    shown = Counter(value["status"] for value in mine)
    for status in STATUSES:
        missing = _integer(attributes.get(names.EVIDENCE_STATUS[status])) - shown[status]
        flagged = status in FLAGGED and verdict == "ungrounded"
        mine += [_unknown(status, flagged) for _ in range(min(missing, 20_000))]
    reasons = attributes.get(names.EVIDENCE_REASONS)
    return {
        "message_index": None,
        "choice": choice,
        "verdict": verdict if isinstance(verdict, str) else "inconclusive",
        "reasons": [reason for reason in reasons if isinstance(reason, str)] if isinstance(reasons, list) else [],
        "values": mine,
        "arguments": [],
    }


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
