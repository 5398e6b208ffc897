"""Find the typed values in prose: an answer, or a tool result that is text."""

from __future__ import annotations

from otel_footprint.core.evidence.typed.value import Typed


def find(text: str) -> tuple[Typed, ...]:
    """The typed values of ``text``, non-overlapping, in order of their start. Linear in the length of the text."""
    return ()
