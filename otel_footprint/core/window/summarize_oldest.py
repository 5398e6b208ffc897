"""``SummarizeOldest``: the oldest turns are folded into one summary that a model writes.

Rules
-----
- Engages by the tokens that the provider reported, like ``TokenBudget``.
- The summariser is asked once for a visit. Where it raises, or gives no text, nothing is folded and the run goes on.
- A summary that is not smaller than its span, label included, is not used. The span is remembered by its content, so it is
  not paid for again.
- A span that is one earlier summary is not summarised again.
- The folded span is given back together with the change of the window.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, ClassVar, Final

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.raising import position
from otel_footprint.core.window.meter import over_budget
from otel_footprint.core.window.record import BudgetPressure, FoldedSpan, Retain, Spend, WindowRecord
from otel_footprint.core.window.recording import Own, changed, chars_of, span_of, unchanged, window_after
from otel_footprint.core.window.strategy import Billing, WindowResult, WindowStrategyInput
from otel_footprint.core.window.summary import (
    Summary,
    is_summary_in,
    prompt_for,
    span_digest,
    summary_message,
    summary_of,
)
from otel_footprint.core.window.validation import check_budget, one_of, plain_text

REMEMBERED_SPANS: Final = 1024


@dataclass(frozen=True, slots=True)
class SummarizeOldest:
    """Fold what may leave into one summary when the last call's reported input tokens exceed ``threshold_tokens``.

    ``summarizer`` is a function (plain or async) that is given the prompt and gives back the text, or the text with the
    input and output tokens it took; or a provider's client, which is then asked with ``model``. ``model`` names who writes
    the summary, on the record and to the model that reads it. With ``retain="conversation"`` the messages are kept with
    the conversation, with ``"discard"`` only what they were. Raises ConfigurationError; at a call,
    WindowUnmeasurableError where the provider reports no usage.
    """

    name: ClassVar[str] = "summarize-oldest"

    threshold_tokens: int
    summarizer: Any
    model: str
    keep_recent_turns: int = 6
    retain: Retain = "conversation"
    provider: str | None = field(default=None, init=False, compare=False)
    _refused: OrderedDict[str, None] = field(default_factory=OrderedDict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_budget("SummarizeOldest", self.threshold_tokens, self.keep_recent_turns)
        if self.summarizer is None or isinstance(self.summarizer, (str, bytes, int, float)):
            raise ConfigurationError(
                f"SummarizeOldest: summarizer={self.summarizer!r} cannot be asked; give a function that takes the prompt "
                "and returns the text, or a provider's client, for example summarizer=openai.OpenAI()"
            )
        plain_text("SummarizeOldest", "model", self.model, example="gpt-4o-mini", why="which model writes the summary")
        one_of("SummarizeOldest", "retain", self.retain, ("conversation", "discard"))

    @property
    def billing(self) -> Billing:
        """What it will spend."""
        return Billing(self.provider, self.model)

    def asking(self, summarizer: Callable[[str], object], *, provider: str | None = None) -> SummarizeOldest:
        """The same strategy with a function in the place of a client; ``provider`` is whom that function asks.

        What one of the two was refused for its size the other does not pay for again.
        """
        bound = replace(self, summarizer=summarizer)
        object.__setattr__(bound, "provider", provider)
        object.__setattr__(bound, "_refused", self._refused)
        return bound

    async def plan(self, input: WindowStrategyInput) -> WindowResult | None:
        """Fold where the last call was over the threshold. Suspends only where the summariser does."""
        reading = over_budget(
            input,
            strategy=self.name,
            threshold_tokens=self.threshold_tokens,
            keep_recent_turns=self.keep_recent_turns,
        )
        if not isinstance(reading, int):
            return reading
        if input.cancelled():
            return None
        history = input.history
        plan = input.plan_removal(self.keep_recent_turns, is_summary_in(history))
        own = Own(self.name, self.keep_recent_turns, self.threshold_tokens, reading)
        span = span_of(input, plan)
        if span is None:
            return self._left(unchanged(input, own, plan))
        facts = input.removal_facts(span.removed)
        leaving = [eviction for eviction in facts.evictions if eviction.index not in span.notices]
        messages = tuple([history[eviction.index] for eviction in leaving])
        digest = span_digest(messages)
        if digest in self._refused:
            return self._left(
                unchanged(input, own, plan, span=span, reason="replacement-not-smaller", summarizer_skipped=True)
            )
        attempt = Attempt()
        with attempt:
            answer = input.as_child(self.summarizer, prompt_for(messages, [eviction.tool for eviction in leaving]))
            attempt.summary = summary_of(await answer if inspect.isawaitable(answer) else answer)
        summary = attempt.summary
        if summary is None:
            return self._left(
                unchanged(input, own, plan, span=span, reason="summarizer-failed"), warning=attempt.warning
            )
        message = summary_message(summary.text, model=self.model, stands_for=len(messages), retain=self.retain)
        cost = (message.chars, summary.input_tokens, summary.output_tokens)
        spend = Spend(self.model, summary.input_tokens, summary.output_tokens)
        if message.chars >= span.chars:
            self._remember(digest)
            return self._left(
                unchanged(input, own, plan, span=span, reason="replacement-not-smaller", summary=cost), spend=spend
            )
        rebase = span.rebase(len(history), input.now)
        folded = FoldedSpan(
            summary=summary.text,
            messages=messages if self.retain == "conversation" else (),
            message_count=len(messages),
            chars=chars_of(messages),
            iteration=input.iteration,
            run_id=input.run_id,
            retain=self.retain,
            digest=digest,
            removed_span_ids=tuple([None if one.born is None else one.born.span_id for one in leaving]),
        )
        return WindowResult(
            record=changed(input, own, plan, span=span, facts=facts, new=message, turns_put=1, summary=cost),
            window=window_after(history, rebase, message),
            rebase=rebase,
            evictions=facts.evictions,
            folded=(folded,),
            spend=spend,
            budget_pressure=BudgetPressure(self.threshold_tokens, reading, "summarize"),
        )

    def _left(self, record: WindowRecord, *, spend: Spend | None = None, warning: str | None = None) -> WindowResult:
        """The result of a visit that left the window as it is."""
        measured = record.measured_tokens or 0
        pressure = BudgetPressure(self.threshold_tokens, measured, "none")
        return WindowResult(record=record, budget_pressure=pressure, spend=spend, warning=warning)

    def _remember(self, digest: str) -> None:
        # Single operations of the dictionary: several threads may plan with this strategy at once.
        self._refused[digest] = None
        if len(self._refused) > REMEMBERED_SPANS:
            self._refused.popitem(last=False)


class Attempt:
    """The one question to a summariser, which is the application's code and may fail in any way.

    Cancellation and interrupts pass; any other exception ends the block, and ``warning`` says what happened.
    """

    __slots__ = ("summary", "warning")

    def __init__(self) -> None:
        self.summary: Summary | None = None
        self.warning = "the summariser gave no text; the window was left as it is"

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            where = f"{type(error).__name__} ({position(error)})"  # never its text, which may quote the conversation
            self.warning = f"the summariser raised {where}; the window was left as it is"
            return True
        return False
