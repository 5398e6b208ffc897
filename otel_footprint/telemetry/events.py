"""Decisions as events: what a call did to the window, what it declared, its answers and its arguments.

Rules
-----
- In this order: what left, what was rewritten, what results and declarations filed; each answer with its values and result;
  what answers rest on and how far they stand; arguments, and what they rest on.
- Where there are more than a span takes, the summary of each answer goes first, then flagged values, then evictions, then
  conflicts, then the rest.
- What left a window of a call without output is reported by the next call that completes, so not here; nor is what a
  window strategy dropped, which stands on that strategy's span.
- No event holds text of a message, an argument or a result; a value's text only where the capture level shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from otel_footprint.core.call import Call
from otel_footprint.core.decisions import Decisions, Eviction, Rewrite
from otel_footprint.core.evidence.verdicts import STATUSES, ArgumentValue, CallJudgement, Judgement, Value
from otel_footprint.core.findings.rows import Row
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import Attributes, answer_attributes
from otel_footprint.telemetry.capture import Capture
from otel_footprint.telemetry.event_plan import Events, PlannedEvent, plan_event, within_limit
from otel_footprint.telemetry.finding_events import answer_events, dispatch_events, ledger_events, standing_result
from otel_footprint.telemetry.limits import Bounds
from otel_footprint.telemetry.summary import AnswerSummary

_PARAMETER: Final = re.compile(r"[A-Za-z_](?:[A-Za-z_\-]|\d(?!\d)){0,63}(?=[.\[]|\Z)")
"""A parameter's name, as a tool declares it; a key with a longer number in it may be data."""
SLOT: Final = "messages"
_EVALUATION: Final = "agentfootprint.evidence"


def events_of(decisions: Decisions, call: Call, capture: Capture, bounds: Bounds) -> Events:
    """The events of one call, within the limits."""
    return within_limit(list(_plan(decisions, call, capture, bounds)))


def filed_events(rows: Sequence[Row], capture: Capture, bounds: Bounds) -> Iterator[PlannedEvent]:
    """The events of rows that were filed outside a call."""
    yield from ledger_events(rows, capture, bounds)
    yield from answer_events(rows, bounds)


def standing_events(decisions: Decisions, call: Call, _: Capture, bounds: Bounds) -> Iterator[PlannedEvent]:
    """How far each answer of the call that stands does stand."""
    if decisions.findings is None:
        return
    standing = [judgement.choice for judgement in decisions.judgements if judgement.action != "recheck"]
    for choice, assessment in zip(standing, decisions.findings.assessments, strict=False):
        yield plan_event(
            names.EVENT_GEN_AI_EVALUATION_RESULT,
            partial(standing_result, assessment, choice, call.response_id, bounds),
        )


def answered_events(decisions: Decisions, call: Call, capture: Capture, bounds: Bounds) -> Iterator[PlannedEvent]:
    """What an answer rests on and how far it stands, where that was found only after its call."""
    yield from answer_events(decisions.findings.rows if decisions.findings is not None else (), bounds)
    yield from standing_events(decisions, call, capture, bounds)


def _plan(decisions: Decisions, call: Call, capture: Capture, bounds: Bounds) -> Iterator[PlannedEvent]:
    window = decisions.window
    if window.settled:
        for eviction in () if window.reported else window.evictions:
            yield plan_event(
                names.EVENT_CONTEXT_EVICTED, partial(evicted, eviction, window.decided_by, capture, bounds)
            )
        for rewrite in window.rewrites:
            yield plan_event(names.EVENT_CONTEXT_REWRITTEN, partial(_rewritten, rewrite, capture, bounds))
    rows = decisions.findings.rows if decisions.findings is not None else ()
    yield from ledger_events(rows, capture, bounds)
    for judgement in decisions.judgements:
        yield plan_event(names.EVENT_AGENT_EVIDENCE_CHECKED, partial(_checked, judgement, decisions, bounds))
        for index, value in enumerate(judgement.values):
            yield PlannedEvent(
                names.EVENT_EVIDENCE_VALUE,
                names.IMPORTANCE[names.EVENT_EVIDENCE_VALUE] if value.flagged else names.IMPORTANCE_UNFLAGGED,
                partial(_value, value, index, judgement.choice, capture, bounds),
            )
        yield plan_event(names.EVENT_GEN_AI_EVALUATION_RESULT, partial(_result, judgement, call, bounds))
    yield from answered_events(decisions, call, capture, bounds)
    for emitted in decisions.calls:
        for index, argument in enumerate(emitted.values):
            yield PlannedEvent(
                names.EVENT_ARGUMENT_VALUE,
                names.IMPORTANCE[names.EVENT_ARGUMENT_VALUE] if argument.unaccounted else names.IMPORTANCE_UNFLAGGED,
                partial(_argument, argument, index, emitted, capture, bounds),
            )
    yield from dispatch_events(rows, bounds)


def evicted(eviction: Eviction, decided_by: str, capture: Capture, bounds: Bounds) -> Attributes:
    """What is said of one message that left."""
    attributes: Attributes = {
        names.EVICTION_SLOT: SLOT,
        names.EVICTION_CONTENT_HASH: capture.content_hash(eviction.key),
        names.EVICTION_REASON: eviction.reason,
        names.EVICTION_DECIDED_BY: bounds.text(decided_by),
        names.EVICTION_SURVIVAL_MS: eviction.survival_ms,
        names.EVICTION_ITERATIONS_SURVIVED: eviction.iterations_survived,
        names.EVICTION_ROLE: eviction.role,
        names.EVICTION_INDEX: eviction.index,
        names.EVICTION_CHARS: eviction.chars,
    }
    if eviction.tool is not None:
        attributes[names.EVICTION_TOOL] = bounds.text(eviction.tool)
    if eviction.tool_call_id is not None:
        attributes[names.EVICTION_TOOL_CALL_ID] = bounds.text(eviction.tool_call_id)
    if eviction.result_ref is not None and eviction.result_ref != eviction.tool_call_id:
        attributes[names.EVICTION_RESULT_REF] = bounds.text(eviction.result_ref)
    if eviction.born is not None:
        attributes[names.EVICTION_BORN_TRACE_ID] = f"{eviction.born.trace_id:032x}"
        attributes[names.EVICTION_BORN_SPAN_ID] = f"{eviction.born.span_id:016x}"
    return attributes


def _rewritten(rewrite: Rewrite, capture: Capture, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.REWRITE_SLOT: SLOT,
        names.REWRITE_CONTENT_HASH: capture.content_hash(rewrite.key),
        names.REWRITE_ROLE: rewrite.role,
        names.REWRITE_INDEX: rewrite.index,
        names.REWRITE_CHARS_BEFORE: rewrite.chars_before,
        names.REWRITE_CHARS_AFTER: rewrite.chars_after,
    }
    if rewrite.tool is not None:
        attributes[names.REWRITE_TOOL] = bounds.text(rewrite.tool)
    if rewrite.tool_call_id is not None:
        attributes[names.REWRITE_TOOL_CALL_ID] = bounds.text(rewrite.tool_call_id)
    return attributes


def _checked(judgement: Judgement, decisions: Decisions, bounds: Bounds) -> Attributes:
    return {
        names.CONVERSATION_ID: bounds.text(decisions.conversation),
        names.THREAD: decisions.thread,
        names.TURN: decisions.turn,
        names.ITERATION: decisions.iteration,
        **answer_attributes(AnswerSummary.of(judgement, decisions)),
    }


def _value(value: Value, index: int, choice: int, capture: Capture, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.EVIDENCE_CHOICE: choice,
        names.VALUE_FLAGGED: value.flagged,
        names.VALUE_OCCURRENCES: len(value.spans),
    }
    _add_found(attributes, value, index, capture, bounds)
    if value.misplaced:
        attributes[names.VALUE_MISPLACED] = len(value.misplaced)
    return attributes


def _argument(value: ArgumentValue, index: int, call: CallJudgement, capture: Capture, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.EVIDENCE_CHOICE: call.choice,
        names.ARGUMENT_TOOL: bounds.text(call.tool),
        names.ARGUMENT_UNACCOUNTED: value.unaccounted,
        names.VALUE_OCCURRENCES: len(value.paths),
    }
    _add_found(attributes, value, index, capture, bounds)
    if call.tool_call_id is not None:
        attributes[names.ARGUMENT_TOOL_CALL_ID] = bounds.text(call.tool_call_id)
    path = value.paths[0] if value.paths else ""
    parameter = _PARAMETER.match(path)
    if parameter is not None:
        attributes[names.ARGUMENT_NAME] = parameter.group()
    if path and capture.shows(value):
        attributes[names.ARGUMENT_PATH] = bounds.text(path)
    return attributes


def _add_found(
    attributes: Attributes, value: Value | ArgumentValue, index: int, capture: Capture, bounds: Bounds
) -> None:
    """Add what is said of any value: its status, and what carries it."""
    attributes[names.VALUE_INDEX] = index
    attributes[names.VALUE_SHAPE] = bounds.text(value.shape)
    attributes[names.VALUE_STATUS] = value.status
    if value.derivation is not None:
        attributes[names.VALUE_DERIVATION] = bounds.text(value.derivation.name)
    if value.carriers:
        if value.carriers[0].tool is not None:
            attributes[names.VALUE_TOOL] = bounds.text(value.carriers[0].tool)
        kept, omitted = bounds.items([carrier.ref for carrier in value.carriers])
        attributes[names.VALUE_TOOL_CALL_IDS] = kept
        if omitted:
            attributes[names.VALUE_TOOL_CALL_IDS_OMITTED] = omitted
    if value.carriers_cut:
        attributes[names.VALUE_CARRIERS_CUT] = True
    if value.turn is not None:
        attributes[names.VALUE_TURN] = value.turn
    if value.evicted_by is not None:
        dropped = value.evicted_by
        attributes[names.VALUE_EVICTED_DECISION] = bounds.text(dropped.decision)
        attributes[names.VALUE_EVICTED_DECIDED_BY] = bounds.text(dropped.decided_by)
        if dropped.tool is not None:
            attributes[names.VALUE_EVICTED_TOOL] = bounds.text(dropped.tool)
        if dropped.tool_call_id is not None:
            attributes[names.VALUE_EVICTED_TOOL_CALL_ID] = bounds.text(dropped.tool_call_id)
    if capture.shows(value):
        attributes[names.VALUE_TEXT] = bounds.text(value.text)


def _result(judgement: Judgement, call: Call, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.GEN_AI_EVALUATION_NAME: _EVALUATION,
        names.GEN_AI_EVALUATION_SCORE_LABEL: judgement.verdict,
        names.GEN_AI_EVALUATION_EXPLANATION: bounds.text(explanation(judgement)),
        names.EVIDENCE_CHOICE: judgement.choice,
    }
    score = score_of(judgement)
    if score is not None:
        attributes[names.GEN_AI_EVALUATION_SCORE_VALUE] = score
    if call.response_id is not None:
        attributes[names.GEN_AI_RESPONSE_ID] = bounds.text(call.response_id)
    return attributes


def score_of(judgement: Judgement) -> float | None:
    """The share of values that are not flagged, 0 to 1; None where not every value could be judged, or there is none."""
    if judgement.verdict not in ("grounded", "ungrounded") or not judgement.values:
        return None
    flagged = sum(1 for value in judgement.values if value.flagged)
    return 1.0 - flagged / len(judgement.values)


def explanation(judgement: Judgement) -> str:
    """The verdict in a sentence of counts and closed words."""
    because = f"; because of {', '.join(judgement.reasons)}" if judgement.reasons else ""
    number = len(judgement.values)
    if not number:
        return f"no value to look up{because}"
    if judgement.verdict == "not_applicable":
        because = "; there was nothing to read"
    counts = judgement.counts
    flagged = sum(1 for value in judgement.values if value.flagged)
    statuses = ", ".join(f"{counts[status]} {status}" for status in STATUSES if status in counts)
    return f"{flagged} of {number} {'value' if number == 1 else 'values'} flagged ({statuses}){because}"
