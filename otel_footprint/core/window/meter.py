"""Whether a window is over its budget, by what the provider reported for the last call.

Rules
-----
- Reported, never estimated: before the first completed call nothing is known and nothing is done.
- A call that was not streamed and reported nothing, in a run whose provider never reported any: ``WindowUnmeasurableError``.
  Usage of 0 in and 0 out is nothing reported.
- A stream without usage, or a provider that stops reporting: a warning, and the window is left alone, on the record.
"""

from __future__ import annotations

from otel_footprint.core.errors import WindowUnmeasurableError
from otel_footprint.core.window.record import WindowRecord
from otel_footprint.core.window.recording import chars_of
from otel_footprint.core.window.strategy import WindowResult, WindowStrategyInput


def over_budget(
    input: WindowStrategyInput, *, strategy: str, threshold_tokens: int, keep_recent_turns: int
) -> int | WindowResult | None:
    """The reported input tokens where they exceed the threshold; None where they do not, or nothing is known yet.

    A result where the strategy stands down. Raises WindowUnmeasurableError.
    """
    measured, unreported = input.measured, input.unreported
    if measured is not None and (measured.input or measured.output):
        return measured.input if measured.input > threshold_tokens else None
    if measured is None and unreported is None:
        return None
    if unreported is None or unreported == "never":
        raise WindowUnmeasurableError(strategy, input.provider_name)
    chars = chars_of(input.history)
    return WindowResult(
        record=WindowRecord(
            strategy=strategy,
            iteration=input.iteration,
            window_chars_before=chars,
            window_chars_after=chars,
            inactive="unmeasured",
            keep_recent_turns=keep_recent_turns,
            turns_before=len(input.turns),
            turns_after=len(input.turns),
            threshold_tokens=threshold_tokens,
        ),
        warning=_warning(strategy, input.provider_name or "the provider", streamed=unreported == "stream"),
    )


def _warning(strategy: str, provider: str, *, streamed: bool) -> str:
    if streamed:
        return (
            f"{provider} reported no usage for a streamed call, so {strategy} leaves the window alone: ask for usage in "
            'streams (for OpenAI stream_options={"include_usage": True}), or use SlidingWindow'
        )
    return f"{provider} stopped reporting usage, so {strategy} leaves the window alone: use SlidingWindow"
