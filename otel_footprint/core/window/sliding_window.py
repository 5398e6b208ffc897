"""``SlidingWindow``: the last turns stay, older ones are dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from otel_footprint.core.window.drop import drop
from otel_footprint.core.window.recording import Own
from otel_footprint.core.window.strategy import WindowResult, WindowStrategyInput
from otel_footprint.core.window.validation import whole_number


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Keep the last ``keep_recent_turns`` turns; of the older ones drop what may leave.

    A turn is a message with the tool results that follow it, so one step of an agent (a call and its results) is one
    turn. What stays in any case: the current request, system messages, calls without a result, and pinned results. Acts
    at every call whose window has more turns than that; needs no usage from the provider. Raises ConfigurationError.
    """

    name: ClassVar[str] = "sliding-window"

    keep_recent_turns: int

    def __post_init__(self) -> None:
        whole_number(
            "SlidingWindow",
            "keep_recent_turns",
            self.keep_recent_turns,
            least=1,
            example=12,
            why="how many of the last turns always stay",
        )

    def plan(self, input: WindowStrategyInput) -> WindowResult | None:
        """Drop where there are more turns than are kept."""
        if len(input.turns) <= self.keep_recent_turns:
            return None
        return drop(input, Own(self.name, self.keep_recent_turns))
