"""The public names and where they live, so that ``import otel_footprint`` loads none of them before it is asked."""

from __future__ import annotations

from importlib import import_module
from typing import Final

PUBLIC: Final = {
    "ConfigurationError": "otel_footprint.core.errors",
    "Conversation": "otel_footprint.handle",
    "Evidence": "otel_footprint.core.evidence.options",
    "Findings": "otel_footprint.core.findings.options",
    "FootprintError": "otel_footprint.core.errors",
    "Shape": "otel_footprint.core.evidence.options",
    "SlidingWindow": "otel_footprint.core.window.sliding_window",
    "SummarizeOldest": "otel_footprint.core.window.summarize_oldest",
    "TokenBudget": "otel_footprint.core.window.token_budget",
    "UnreadableInputError": "otel_footprint.core.errors",
    "UnsupportedValuesError": "otel_footprint.core.errors",
    "WindowRecord": "otel_footprint.core.window.record",
    "WindowResult": "otel_footprint.core.window.strategy",
    "WindowStrategy": "otel_footprint.core.window.strategy",
    "WindowUnmeasurableError": "otel_footprint.core.errors",
    "absent": "otel_footprint.core.absence",
    "check": "otel_footprint.offline.check",
    "conversation": "otel_footprint.handle",
    "coverage": "otel_footprint.core.absence",
    "current_conversation": "otel_footprint.context",
    "instrument": "otel_footprint.runtime",
    "uninstrument": "otel_footprint.runtime",
}


def load(name: str) -> object:
    """The public object of that name; AttributeError for any other, as a module says it."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'otel_footprint' has no attribute {name!r}")
    return getattr(import_module(PUBLIC[name]), name)


def listed() -> list[str]:
    """What ``dir(otel_footprint)`` shows: the public names, loaded or not, and what the module holds by now."""
    return sorted({*vars(import_module("otel_footprint")), *PUBLIC})
