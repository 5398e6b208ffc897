"""The record of one visit of a window strategy as attributes and events. Pure.

Rules
-----
- Counts are the record's own, whatever the events leave out: an event stands for each message that left and for each
  refusal, as many as a span takes.
- Nothing left where the change was not made (the window it gave back broke a rule): then the record says so, and what the
  strategy wanted to remove is not reported.
- A message left by the decision ``summarize`` where a summary stands for it, else by ``evict``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, TypeAlias

from otel_footprint.core.decisions import Eviction, WindowDecision
from otel_footprint.core.window.record import (
    REFUSAL_REASONS,
    BudgetPressure,
    Inactive,
    Pin,
    Pins,
    Refusal,
    RefusalReason,
    WindowEviction,
    WindowRecord,
)
from otel_footprint.core.window.strategy import WindowResult
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import Attributes, limit_attributes
from otel_footprint.telemetry.capture import Capture
from otel_footprint.telemetry.event_plan import Events, PlannedEvent, plan_event, within_limit
from otel_footprint.telemetry.events import SLOT, evicted
from otel_footprint.telemetry.limits import Bounds

VisitOutcome: TypeAlias = Literal["removed", "folded", "refused", "kept"] | Inactive

_WHOLE_SPAN: Final[tuple[RefusalReason, ...]] = (
    "only-existing-summary",
    "summarizer-failed",
    "replacement-not-smaller",
)
_COMMON: Final[RefusalReason] = "inside-keep-window"


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitFacts:
    """What became of one engaged visit.

    ``record`` is the one that is filed (not the strategy's own where its window broke a rule); ``result`` is what the
    strategy gave back where it was used, else None. The counts of messages are those of the window without its leading
    envelope, before and after. ``conversation`` and ``thread`` are None where they are not known yet.
    """

    record: WindowRecord
    result: WindowResult | None
    messages_before: int
    messages_after: int
    conversation: str | None = None
    thread: int | None = None
    turn: int = 0

    @property
    def reason(self) -> WindowDecision:
        """The decision by which messages left."""
        return "summarize" if self.result is not None and self.result.folded else "evict"

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        """What left, each with its reason."""
        if self.result is None:
            return ()
        reason = self.reason
        return tuple(_eviction(eviction, reason) for eviction in self.result.evictions)


def outcome_of(facts: VisitFacts) -> VisitOutcome:
    """What came of the visit, in a word."""
    record = facts.record
    if record.inactive is not None:
        return record.inactive
    if facts.reason == "summarize":
        return "folded"
    if record.removed_message_count:
        return "removed"
    return "refused" if record.refusals else "kept"


def visit_attributes(facts: VisitFacts, bounds: Bounds, *, events_dropped: int = 0) -> Attributes:
    """What stands on the visit's span, with what the limits left out of its events."""
    record = facts.record
    attributes: Attributes = {
        names.WINDOW_STRATEGY: bounds.text(record.strategy),
        names.WINDOW_OUTCOME: outcome_of(facts),
        names.TURN: facts.turn,
        names.ITERATION: record.iteration,
        names.WINDOW_MESSAGES_BEFORE: facts.messages_before,
        names.WINDOW_MESSAGES_AFTER: facts.messages_after,
        names.WINDOW_CHARS_BEFORE: record.window_chars_before,
        names.WINDOW_CHARS_AFTER: record.window_chars_after,
        names.WINDOW_EVICTED: record.removed_message_count,
        names.WINDOW_REFUSALS: len(record.refusals),
        names.WINDOW_UNREACHED: record.unreached,
        **_pins(record.observations, *_OBSERVATIONS),
    }
    if facts.conversation is not None:
        attributes[names.CONVERSATION_ID] = bounds.text(facts.conversation)
    if facts.thread is not None:
        attributes[names.THREAD] = facts.thread
    if record.ledger_facts is not None:
        attributes |= _pins(record.ledger_facts, *_LEDGER_FACTS)
    if record.inactive is not None:
        attributes[names.WINDOW_INACTIVE] = record.inactive
    if record.dropped_observations:
        kept, omitted = bounds.items(record.dropped_observations)
        attributes[names.WINDOW_DROPPED_TOOLS] = kept
        if omitted:
            attributes[names.WINDOW_DROPPED_TOOLS_OMITTED] = omitted
    for reason, count in Counter(refusal.reason for refusal in record.refusals).items():
        attributes[names.WINDOW_REFUSED[reason]] = count
    if record.refusals:
        attributes[names.WINDOW_REFUSAL] = _telling(record.refusals)
    attributes |= _own(facts, bounds)
    return attributes | limit_attributes(bounds, events_dropped=events_dropped)


_OBSERVATIONS: Final = (
    names.WINDOW_OBSERVATIONS_PINNED,
    names.WINDOW_OBSERVATIONS_YIELDED,
    names.WINDOW_OBSERVATIONS_LIMIT,
    names.WINDOW_OBSERVATIONS_STAND_DOWN,
)
_LEDGER_FACTS: Final = (
    names.WINDOW_LEDGER_FACTS_PINNED,
    names.WINDOW_LEDGER_FACTS_YIELDED,
    names.WINDOW_LEDGER_FACTS_LIMIT,
    names.WINDOW_LEDGER_FACTS_STAND_DOWN,
)


def _pins(pins: Pins, pinned: str, yielded: str, limit: str, stand_down: str) -> Attributes:
    attributes: Attributes = {pinned: len(pins.pinned), yielded: pins.yielded, limit: pins.limit}
    if pins.stand_down:
        attributes[stand_down] = True
    return attributes


def _own(facts: VisitFacts, bounds: Bounds) -> Attributes:
    """The strategy's own numbers, those that it has."""
    record = facts.record
    numbers = {
        names.WINDOW_KEEP_RECENT_TURNS: record.keep_recent_turns,
        names.WINDOW_TURNS_BEFORE: record.turns_before,
        names.WINDOW_TURNS_AFTER: record.turns_after,
        names.WINDOW_THRESHOLD_TOKENS: record.threshold_tokens,
        names.WINDOW_MEASURED_TOKENS: record.measured_tokens,
        names.WINDOW_SUMMARY_CHARS: record.summary_chars,
        names.WINDOW_SUMMARIZER_INPUT_TOKENS: record.summarizer_input_tokens,
        names.WINDOW_SUMMARIZER_OUTPUT_TOKENS: record.summarizer_output_tokens,
    }
    attributes: Attributes = {name: number for name, number in numbers.items() if number is not None}
    if record.summarizer_skipped:
        attributes[names.WINDOW_SUMMARIZER_SKIPPED] = True
    if facts.result is not None and facts.result.spend is not None:
        attributes[names.WINDOW_SUMMARIZER_MODEL] = bounds.text(facts.result.spend.model)
    if facts.result is not None and facts.result.folded:
        attributes[names.WINDOW_RETAIN] = facts.result.folded[0].retain
    return attributes


def _telling(refusals: tuple[Refusal, ...]) -> RefusalReason:
    reasons = {refusal.reason for refusal in refusals}
    order = [*_WHOLE_SPAN, *(reason for reason in REFUSAL_REASONS if reason not in (*_WHOLE_SPAN, _COMMON)), _COMMON]
    return next(reason for reason in order if reason in reasons)


def visit_events(facts: VisitFacts, capture: Capture, bounds: Bounds) -> Events:
    """The events of the visit, within the limits: its budget, what left, what refused to."""
    return within_limit(list(_plan(facts, capture, bounds)))


def _plan(facts: VisitFacts, capture: Capture, bounds: Bounds) -> Iterator[PlannedEvent]:
    record = facts.record
    if facts.result is not None and facts.result.budget_pressure is not None:
        yield plan_event(names.EVENT_CONTEXT_BUDGET_PRESSURE, partial(_budget, facts.result.budget_pressure))
    for eviction in facts.evictions:
        yield plan_event(names.EVENT_CONTEXT_EVICTED, partial(evicted, eviction, record.strategy, capture, bounds))
    pins = {pin.turn_index: pin for pins in (record.ledger_facts, record.observations) if pins for pin in pins.pinned}
    for refusal in record.refusals:
        pin = pins.get(refusal.turn_index) if refusal.reason in ("last-tool-result", "ledger-fact") else None
        yield PlannedEvent(
            names.EVENT_CONTEXT_REFUSED,
            names.IMPORTANCE_UNFLAGGED if refusal.reason == _COMMON else names.IMPORTANCE[names.EVENT_CONTEXT_REFUSED],
            partial(_refused, refusal, pin, bounds),
        )


def _eviction(eviction: WindowEviction, reason: WindowDecision) -> Eviction:
    return Eviction(
        index=eviction.index,
        role=eviction.role,
        tool=eviction.tool,
        tool_call_id=eviction.tool_call_id,
        result_ref=eviction.result_ref,
        chars=eviction.chars,
        survival_ms=eviction.survival_ms,
        iterations_survived=eviction.iterations_survived,
        reason=reason,
        key=eviction.key,
        born=eviction.born,
    )


def _budget(pressure: BudgetPressure) -> Attributes:
    return {
        names.BUDGET_SLOT: SLOT,
        names.BUDGET_OVERFLOW_BY: max(0, pressure.projected - pressure.cap),
        names.BUDGET_PLAN_ACTION: pressure.plan_action,
        names.BUDGET_UNIT: pressure.unit,
        names.BUDGET_CAP: pressure.cap,
        names.BUDGET_PROJECTED: pressure.projected,
    }


def _refused(refusal: Refusal, pin: Pin | None, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.REFUSAL_REASON: refusal.reason,
        names.REFUSAL_TURN_INDEX: refusal.turn_index,
        names.REFUSAL_MESSAGE_INDEX: refusal.message_index,
    }
    if pin is not None:
        attributes[names.REFUSAL_TOOL] = bounds.text(pin.tool)
        attributes[names.REFUSAL_TOOL_CALL_IDS] = bounds.items(pin.tool_call_ids)[0]
        attributes[names.REFUSAL_CHARS] = pin.chars
    return attributes
