"""Read the typed values of one JSON leaf, with what its field name says about it."""

from __future__ import annotations

from otel_footprint.core.evidence.typed.value import Typed


def of_leaf(key: str | None, value: object) -> tuple[Typed, ...]:
    """The typed values a leaf carries; none for containers, booleans and null. ``key`` is the name of its field."""
    return ()
