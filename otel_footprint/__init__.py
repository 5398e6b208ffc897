"""OpenTelemetry middleware for LLM agents: what the window kept, and whether an answer was read from tool results."""

from typing import TYPE_CHECKING

from otel_footprint._exports import listed as __dir__  # noqa: F401 - names that are not loaded yet are there too
from otel_footprint._exports import load as __getattr__  # noqa: F401 - names load when first asked for

if TYPE_CHECKING:
    from otel_footprint.context import current_conversation
    from otel_footprint.core.absence import absent, coverage
    from otel_footprint.core.errors import (
        ConfigurationError,
        FootprintError,
        UnreadableInputError,
        UnsupportedValuesError,
        WindowUnmeasurableError,
    )
    from otel_footprint.core.evidence.options import Evidence, Shape
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.window.record import WindowRecord
    from otel_footprint.core.window.sliding_window import SlidingWindow
    from otel_footprint.core.window.strategy import WindowResult, WindowStrategy
    from otel_footprint.core.window.summarize_oldest import SummarizeOldest
    from otel_footprint.core.window.token_budget import TokenBudget
    from otel_footprint.handle import Conversation, conversation
    from otel_footprint.offline.check import check
    from otel_footprint.runtime import instrument, uninstrument

__all__ = [
    "ConfigurationError",
    "Conversation",
    "Evidence",
    "Findings",
    "FootprintError",
    "Shape",
    "SlidingWindow",
    "SummarizeOldest",
    "TokenBudget",
    "UnreadableInputError",
    "UnsupportedValuesError",
    "WindowRecord",
    "WindowResult",
    "WindowStrategy",
    "WindowUnmeasurableError",
    "absent",
    "check",
    "conversation",
    "coverage",
    "current_conversation",
    "instrument",
    "uninstrument",
]
