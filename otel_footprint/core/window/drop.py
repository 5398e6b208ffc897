"""Dropping a span of turns: the mechanic of both drop strategies.

Rules
-----
- The span is what the refusal engine lets go; nothing is written in its place but a drop notice.
- A notice is written only where the removal reaches the front of what may leave. It is owed to the wire where the message
  that would become the head is not a user's; otherwise it is written only if it is smaller than what leaves.
- Ladder: the notice with tool names, without them, none (unless it is owed); else nothing leaves, and the span is refused as
  ``replacement-not-smaller``. So a drop never makes a window longer.
- The notice takes the head, or the place just after the current request where that is what stands at the head.
"""

from __future__ import annotations

from otel_footprint.core.messages import Message
from otel_footprint.core.window.notice import drop_notice
from otel_footprint.core.window.record import BudgetPressure, RemovalFacts
from otel_footprint.core.window.recording import Own, Span, changed, span_of, unchanged, window_after
from otel_footprint.core.window.strategy import WindowResult, WindowStrategyInput


def drop(input: WindowStrategyInput, own: Own) -> WindowResult:
    """Drop what may leave outside the last ``own.keep_recent_turns`` turns. Always gives a record."""
    plan = input.plan_removal(own.keep_recent_turns)
    span = span_of(input, plan)
    if span is None:
        return WindowResult(record=unchanged(input, own, plan), budget_pressure=_pressure(own, left=False))
    facts = input.removal_facts(span.removed)
    notice = _notice(input, own, span, facts)
    if notice is None and _owed(input, span):
        record = unchanged(input, own, plan, span=span, reason="replacement-not-smaller")
        return WindowResult(record=record, budget_pressure=_pressure(own, left=False))
    rebase = span.rebase(len(input.history), None if notice is None else input.now)
    return WindowResult(
        record=changed(input, own, plan, span=span, facts=facts, new=notice),
        window=window_after(input.history, rebase, notice),
        rebase=rebase,
        evictions=facts.evictions,
        budget_pressure=_pressure(own, left=True),
    )


def _owed(input: WindowStrategyInput, span: Span) -> bool:
    """Whether a window without a notice would open with a message that is not a user's."""
    if not span.at_head:
        return False
    head = next((m for i, m in enumerate(input.history) if i > span.last and i not in span.notices), None)
    return head is None or head.role != "user"


def _notice(input: WindowStrategyInput, own: Own, span: Span, facts: RemovalFacts) -> Message | None:
    """The longest notice that is smaller than what leaves; None further in, and where none is."""
    if not span.reaches_front:
        return None
    tools = [eviction.tool for eviction in facts.evictions if eviction.role == "tool"]
    for named in (True, False):
        notice = drop_notice(
            left=span.messages_left,
            iteration=input.iteration,
            strategy=own.strategy,
            request_kept=span.after_request,
            tools=tools,
            named=named,
        )
        if notice.chars < span.chars:
            return notice
    return None


def _pressure(own: Own, *, left: bool) -> BudgetPressure | None:
    if own.threshold_tokens is None or own.measured_tokens is None:
        return None
    return BudgetPressure(own.threshold_tokens, own.measured_tokens, "evict" if left else "none")
