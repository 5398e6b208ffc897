"""``TokenBudget``: turns are dropped when the provider reports more input tokens than a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from otel_footprint.core.window.drop import drop
from otel_footprint.core.window.meter import over_budget
from otel_footprint.core.window.recording import Own
from otel_footprint.core.window.strategy import WindowResult, WindowStrategyInput
from otel_footprint.core.window.validation import check_budget


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Drop what may leave when the last call's reported input tokens exceed ``threshold_tokens``.

    The last ``keep_recent_turns`` turns stay. Tokens are the provider's count, never an estimate. Raises
    ConfigurationError; at a call, WindowUnmeasurableError where the provider reports no usage.
    """

    name: ClassVar[str] = "token-budget"

    threshold_tokens: int
    keep_recent_turns: int = 6

    def __post_init__(self) -> None:
        check_budget("TokenBudget", self.threshold_tokens, self.keep_recent_turns)

    def plan(self, input: WindowStrategyInput) -> WindowResult | None:
        """Drop where the last call was over the threshold."""
        reading = over_budget(
            input,
            strategy=self.name,
            threshold_tokens=self.threshold_tokens,
            keep_recent_turns=self.keep_recent_turns,
        )
        if not isinstance(reading, int):
            return reading
        return drop(input, Own(self.name, self.keep_recent_turns, self.threshold_tokens, reading))
