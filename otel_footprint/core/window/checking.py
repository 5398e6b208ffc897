"""Whether what a strategy gave back may be used: any strategy, also one that an application wrote.

Rules
-----
- Only whole turns leave, all of them in the span that the refusal engine gives for the strategy's keep depth (that of its
  record; none where it names none), with or without an earlier summary stepped over; drop notices may leave at any time.
- What is kept is kept as it is, in order, where the rebase says; at most one message is put in, a text from nobody: a user
  message that is authored as a notice, a summary, or injected.
- What goes into the telemetry is of the types that it is told by; a warning is a text.
- Every removal is on the record: one eviction for each message, the count, and the characters of the window before and after.
- A result that leaves the window removes nothing and folds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.notice import is_notice
from otel_footprint.core.window.record import (
    BudgetPressure,
    FoldedSpan,
    Pins,
    Refusal,
    RemovalPlan,
    Spend,
    WindowEviction,
    WindowRecord,
)
from otel_footprint.core.window.recording import chars_of
from otel_footprint.core.window.strategy import Rebase, WindowResult, WindowStrategyInput
from otel_footprint.core.window.summary import is_summary_in


@dataclass(frozen=True, slots=True)
class Allowed:
    """True where the result may be used; else ``reason`` says which rule it breaks."""

    reason: str | None = None

    def __bool__(self) -> bool:
        return self.reason is None


def allowed(result: WindowResult, input: WindowStrategyInput) -> Allowed:
    """Check a result against the visit it was given for. Never raises for a result of the right type."""
    return Allowed(_broken(result, input))


def _broken(result: WindowResult, input: WindowStrategyInput) -> str | None:
    before, record = input.history, result.record
    if not _written_down(result, record):
        return "what it says of itself is not of the right types"
    if (result.window is None) != (result.rebase is None):
        return "a window and a rebase come together or not at all"
    if record.window_chars_before != chars_of(before):
        return "window_chars_before is not what the window had"
    if result.window is None or result.rebase is None:
        if result.evictions or result.folded or record.removed_message_count:
            return "something is said to have left, but the window stays"
        if record.window_chars_after != record.window_chars_before:
            return "window_chars_after differs, but the window stays"
        return None
    return (
        _misplaced(before, result.window, result.rebase)
        or _forbidden(result, input, result.rebase)
        or _unrecorded(result, before, result.window, result.rebase)
    )


def _written_down(result: WindowResult, record: WindowRecord) -> bool:
    """Whether everything that is written down about the visit can be."""
    pins = (record.observations, *((record.ledger_facts,) if record.ledger_facts is not None else ()))
    return (
        isinstance(record, WindowRecord)
        and isinstance(result.warning, (str, NoneType))
        and isinstance(result.budget_pressure, (BudgetPressure, NoneType))
        and isinstance(result.spend, (Spend, NoneType))
        and all(isinstance(span, FoldedSpan) for span in result.folded)
        and all(isinstance(eviction, WindowEviction) for eviction in result.evictions)
        and all(isinstance(refusal, Refusal) for refusal in record.refusals)
        and all(isinstance(kept, Pins) for kept in pins)
    )


def _misplaced(before: Sequence[Message], after: Sequence[Message], rebase: Rebase) -> str | None:
    head, tail = rebase.head_count, rebase.kept_tail_count
    if head < 0 or tail < 0 or head + tail > len(before):
        return "the head and the tail that are kept do not fit into the window"
    if any(not 0 <= index < len(before) or not is_notice(before[index]) for index in rebase.absorbed):
        return "only drop notices are absorbed"
    origins = rebase.origins(len(before))
    if len(origins) != len(after):
        return "the new window is not as long as the rebase says"
    for message, origin in zip(after, origins, strict=True):
        if origin is None:
            if message.role != "user" or not all(isinstance(part, Text) for part in message.parts):
                return "the message that was put in is not a user message of text"
            if message.authored not in ("notice", "summary", "injected"):
                return 'the message that was put in does not say who wrote it: set authored to "summary" or "injected"'
        elif message is not before[origin] and _words(message) != _words(before[origin]):
            return "a message that is kept was changed"
    return None


def _words(message: Message) -> tuple[object, ...]:
    return (message.role, message.name, message.authored, message.parts)


def _forbidden(result: WindowResult, input: WindowStrategyInput, rebase: Rebase) -> str | None:
    low, high = rebase.head_count, len(input.history) - rebase.kept_tail_count
    leaving: list[int] = []
    between = low
    for number, turn in enumerate(input.turns):
        if turn.last < low or turn.first >= high:
            continue
        if turn.first < low or turn.last >= high:
            return f"turn {number} left in part"
        if between < turn.first and not _notices(input.history[between : turn.first]):
            return "a message left that is in no turn"
        leaving.append(number)
        between = turn.last + 1
    if not _notices(input.history[between:high]):
        return "a message left that is in no turn"
    return _refused(input, leaving, result.record.keep_recent_turns or 0) if leaving else None


def _refused(input: WindowStrategyInput, leaving: Sequence[int], keep: int) -> str | None:
    plan = input.plan_removal(keep)
    if _holds(plan, leaving):
        return None
    # A strategy that folds may step over an earlier summary, for there is nothing to gain from it.
    if _holds(input.plan_removal(keep, is_summary_in(input.history)), leaving):
        return None
    refused = next((refusal for refusal in plan.refusals if refusal.turn_index in leaving), None)
    if refused is not None:
        return f"turn {refused.turn_index} had to stay ({refused.reason})"
    return f"turn {leaving[0]} is not in the span that may leave"


def _holds(plan: RemovalPlan, turns: Sequence[int]) -> bool:
    return plan.first is not None and plan.last is not None and plan.first <= turns[0] and turns[-1] <= plan.last


def _notices(messages: Sequence[Message]) -> bool:
    return all(is_notice(message) for message in messages)


def _unrecorded(
    result: WindowResult, before: Sequence[Message], after: Sequence[Message], rebase: Rebase
) -> str | None:
    left = _left(len(before), rebase)
    if sorted([eviction.index for eviction in result.evictions]) != left:
        return "the evictions are not the messages that left"
    if result.record.removed_message_count != len(left):
        return "removed_message_count is not how many messages left"
    if result.record.window_chars_after != chars_of(after):
        return "window_chars_after is not what the new window has"
    return None


def _left(size: int, rebase: Rebase) -> list[int]:
    between = range(rebase.head_count, size - rebase.kept_tail_count)
    return sorted({*between, *rebase.absorbed}) if rebase.absorbed else list(between)
