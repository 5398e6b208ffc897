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
from otel_footprint.core.turns import Turn
from otel_footprint.core.window.meter import over_budget
from otel_footprint.core.window.record import BudgetPressure, FoldedSpan, PlanAction, Retain, Spend
from otel_footprint.core.window.recording import Own, changed, span_of, unchanged, window_after
from otel_footprint.core.window.strategy import Billing, WindowResult, WindowStrategyInput
from otel_footprint.core.window.summary import Summary, prompt_for, span_digest, summary_message, summary_of
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
        """The same strategy with a function in the place of a client; ``provider`` is whom that function asks."""
        bound = replace(self, summarizer=summarizer)
        object.__setattr__(bound, "provider", provider)
        return bound

    async def plan(self, input: WindowStrategyInput) -> WindowResult | None:
        """Fold where the last call was over the threshold. Suspends only where the summariser does."""
        reading = over_budget(
            input,
            strategy=self.name,
            threshold_tokens=self.threshold_tokens,
            keep_recent_turns=self.keep_recent_turns,
        )
        if not isinstance(reading, int) or input.cancelled():
            return None if isinstance(reading, int) else reading
        own = Own(self.name, self.keep_recent_turns, self.threshold_tokens, reading)
        history = input.history

        def is_summary(turn: Turn) -> bool:
            return turn.first == turn.last and history[turn.first].authored == "summary"

        plan = input.plan_removal(self.keep_recent_turns, is_summary)
        span = span_of(input, plan)
        if span is None:
            return WindowResult(record=unchanged(input, own, plan), budget_pressure=self._pressure(reading, "none"))
        facts = input.removal_facts(span.removed)
        kept = [i for i in span.removed if i not in span.notices]
        messages = tuple(history[i] for i in kept)
        digest = span_digest(messages)
        if digest in self._refused:
            record = unchanged(input, own, plan, span=span, reason="replacement-not-smaller", summarizer_skipped=True)
            return WindowResult(record=record, budget_pressure=self._pressure(reading, "none"))
        tools = {eviction.index: eviction.tool for eviction in facts.evictions}
        attempt = Attempt()
        with attempt:
            answer = input.as_child(self.summarizer, prompt_for(messages, [tools[i] for i in kept]))
            attempt.summary = summary_of(await answer if inspect.isawaitable(answer) else answer)
        summary = attempt.summary
        if summary is None:
            record = unchanged(input, own, plan, span=span, reason="summarizer-failed")
            return WindowResult(record=record, budget_pressure=self._pressure(reading, "none"), warning=attempt.warning)
        spend = Spend(self.model, summary.input_tokens, summary.output_tokens)
        tokens = (summary.input_tokens, summary.output_tokens)
        message = summary_message(summary.text, model=self.model, stands_for=len(messages), retain=self.retain)
        if message.chars >= span.chars:
            self._remember(digest)
            record = unchanged(
                input,
                own,
                plan,
                span=span,
                reason="replacement-not-smaller",
                summary_chars=message.chars,
                summarizer_tokens=tokens,
            )
            return WindowResult(record=record, spend=spend, budget_pressure=self._pressure(reading, "none"))
        rebase = span.rebase(len(history), input.now)
        folded = FoldedSpan(
            summary=summary.text,
            messages=messages if self.retain == "conversation" else (),
            message_count=len(messages),
            chars=sum(one.chars for one in messages),
            iteration=input.iteration,
            run_id=input.run_id,
            retain=self.retain,
            digest=digest,
            removed_span_ids=tuple(
                span_id
                for i, span_id in zip(span.removed, facts.removed_span_ids, strict=True)
                if i not in span.notices
            ),
        )
        return WindowResult(
            record=changed(
                input,
                own,
                plan,
                span=span,
                facts=facts,
                new=message,
                turns_put=1,
                summary_chars=message.chars,
                summarizer_tokens=tokens,
            ),
            window=window_after(history, rebase, message),
            rebase=rebase,
            evictions=facts.evictions,
            folded=(folded,),
            spend=spend,
            budget_pressure=self._pressure(reading, "summarize"),
        )

    def _pressure(self, measured: int, action: PlanAction) -> BudgetPressure:
        return BudgetPressure(self.threshold_tokens, measured, action)

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
            self.warning = f"the summariser raised {type(error).__name__}; the window was left as it is"
            return True
        return False
