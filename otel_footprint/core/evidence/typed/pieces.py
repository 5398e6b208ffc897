"""The pieces of a value that several carriers, or several fields of one, may carry.

Rules
-----
- A full date: its day and month where the carrier states no year, and its year where any is stated at all.
- A date-time: its date and its time. A duration or length in several units: each of its numbers.
- The value is accounted for when every piece is. A year counts as carried, too, when no text carries any year
  (``YEAR_ASKED`` asks).
"""

from __future__ import annotations

from typing import Final

from otel_footprint.core.evidence.typed.dates import ANY_YEAR, pieces_of_date
from otel_footprint.core.evidence.typed.value import Typed

YEAR_ASKED: Final = Typed("date", 0, 0, "", asked=frozenset({ANY_YEAR}))
"""Asks whether a text carries any year."""


def pieces(value: Typed) -> tuple[Typed, ...]:
    """What ``value`` may be carried as when nothing carries it whole; empty where it is one piece."""
    if value.parts:
        return value.parts
    if value.kind == "date":
        return pieces_of_date(value)
    return ()


def is_year(piece: Typed) -> bool:
    """Whether this piece of a date is its year."""
    return any(isinstance(key, tuple) and key[0] == "year" for key in piece.asked)
