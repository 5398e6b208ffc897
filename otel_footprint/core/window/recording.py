"""What the strategies put on their records, and how a span of messages is laid out for a change.

Rules
-----
- Characters are those of the whole window that was handed in, before and after, counted and never estimated.
- A change that is refused as a whole is refused for every turn of its span, by name.
- A removal that reaches the front of what may leave takes the old drop notices with it: the front is the head, or the place
  just after the current request where that stands at the head. A removal further in leaves them where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from otel_footprint.core.messages import Message
from otel_footprint.core.window.notice import is_notice
from otel_footprint.core.window.record import Refusal, RefusalReason, RemovalFacts, RemovalPlan, WindowRecord
from otel_footprint.core.window.strategy import Rebase, WindowStrategyInput

SummaryCost: TypeAlias = tuple[int | None, int | None, int | None]
"""Characters of the summary with its label, and the input and output tokens that it took."""


@dataclass(frozen=True, slots=True)
class Own:
    """A strategy's own numbers on its record."""

    strategy: str
    keep_recent_turns: int
    threshold_tokens: int | None = None
    measured_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The messages that a plan lets go, with the notices that go with them.

    ``first`` to ``last`` are the message indices of the turns; ``removed`` are all indices that leave, in order, and
    ``chars`` their characters. ``at_head`` and ``after_request`` say where its front is; both False further in.
    """

    first: int
    last: int
    turns: range
    removed: tuple[int, ...]
    notices: frozenset[int]
    chars: int
    at_head: bool
    after_request: bool

    @property
    def reaches_front(self) -> bool:
        return self.at_head or self.after_request

    @property
    def messages_left(self) -> int:
        """How many messages of the conversation leave: the notices are not of it."""
        return len(self.removed) - len(self.notices.intersection(self.removed))

    def rebase(self, size: int, inserted_at: float | None) -> Rebase:
        """How a window of ``size`` messages lies on the old one when this span leaves it."""
        head, last, leaving = self.first, self.last, set(self.removed)
        while head - 1 in leaving:
            head -= 1
        while last + 1 in leaving:
            last += 1
        absorbed = tuple(i for i in self.removed if i < head or i > last)
        return Rebase(head, size - 1 - last, inserted_at, absorbed)


def span_of(input: WindowStrategyInput, plan: RemovalPlan) -> Span | None:
    """The span of a plan, None where nothing may leave."""
    if plan.first is None or plan.last is None:
        return None
    history, turns, request = input.history, input.turns, input.current_request
    first, last = turns[plan.first].first, turns[plan.last].last
    notices = frozenset([i for i, message in enumerate(history) if message.role == "user" and is_notice(message)])
    at_head = plan.first == 0
    after_request = plan.first == 1 and request is not None and turns[0].first <= request <= turns[0].last
    removed = tuple(range(first, last + 1))
    if notices and (at_head or after_request):
        removed = tuple(sorted(notices.union(removed)))
    return Span(
        first,
        last,
        range(plan.first, plan.last + 1),
        removed,
        notices,
        sum([history[index].chars for index in removed]),
        at_head,
        after_request,
    )


def chars_of(history: Sequence[Message]) -> int:
    """The characters of a window."""
    return sum([message.chars for message in history])


def window_after(history: Sequence[Message], rebase: Rebase, new: Message | None) -> tuple[Message, ...]:
    """The new window, of the old one's own messages and the new one."""
    head, tail = history[: rebase.head_count], history[len(history) - rebase.kept_tail_count :]
    if not rebase.absorbed:
        return (*head, *tail) if new is None else (*head, new, *tail)
    laid = [new if i is None else history[i] for i in rebase.origins(len(history))]
    return tuple([message for message in laid if message is not None])


def unchanged(
    input: WindowStrategyInput,
    own: Own,
    plan: RemovalPlan,
    *,
    span: Span | None = None,
    reason: RefusalReason | None = None,
    summary: SummaryCost = (None, None, None),
    summarizer_skipped: bool = False,
) -> WindowRecord:
    """The record of a visit that removed nothing. With ``reason`` every turn of ``span`` is refused for it."""
    refusals = plan.refusals
    if span is not None and reason is not None:
        whole = [Refusal(reason, turn, input.turns[turn].first) for turn in span.turns]
        refusals = tuple(sorted([*refusals, *whole], key=lambda refusal: refusal.turn_index))
    chars = chars_of(input.history)
    return WindowRecord(
        strategy=own.strategy,
        iteration=input.iteration,
        window_chars_before=chars,
        window_chars_after=chars,
        refusals=refusals,
        unreached=plan.unreached,
        observations=plan.observations,
        ledger_facts=plan.ledger_facts,
        keep_recent_turns=own.keep_recent_turns,
        turns_before=len(input.turns),
        turns_after=len(input.turns),
        threshold_tokens=own.threshold_tokens,
        measured_tokens=own.measured_tokens,
        summary_chars=summary[0],
        summarizer_input_tokens=summary[1],
        summarizer_output_tokens=summary[2],
        summarizer_skipped=summarizer_skipped,
    )


def changed(
    input: WindowStrategyInput,
    own: Own,
    plan: RemovalPlan,
    *,
    span: Span,
    facts: RemovalFacts,
    new: Message | None,
    turns_put: int = 0,
    summary: SummaryCost = (None, None, None),
) -> WindowRecord:
    """The record of a visit that removed ``span`` and put ``new`` in its place."""
    before = chars_of(input.history)
    turns = len(input.turns)
    return WindowRecord(
        strategy=own.strategy,
        iteration=input.iteration,
        removed_span_ids=facts.removed_span_ids,
        removed_message_count=len(span.removed),
        window_chars_before=before,
        window_chars_after=before - span.chars + (0 if new is None else new.chars),
        refusals=plan.refusals,
        unreached=plan.unreached,
        dropped_observations=dropped_tools(facts),
        observations=plan.observations,
        ledger_facts=plan.ledger_facts,
        keep_recent_turns=own.keep_recent_turns,
        turns_before=turns,
        turns_after=turns - len(span.turns) + turns_put,
        threshold_tokens=own.threshold_tokens,
        measured_tokens=own.measured_tokens,
        summary_chars=summary[0],
        summarizer_input_tokens=summary[1],
        summarizer_output_tokens=summary[2],
    )


def dropped_tools(facts: RemovalFacts) -> tuple[str, ...]:
    """Every tool whose result left, once, in the order in which they did."""
    return tuple(dict.fromkeys(eviction.tool for eviction in facts.evictions if eviction.tool is not None))
