"""Ask whether an index of typed values carries the one an answer states; and how the numbers of a JSON field read.

Rules
-----
- A value is asked for by what would satisfy it: exact keys, or an interval of numbers under a unit.
- All numbers of one field have the same readings, each a straight line (``size_kb`` 7 is 7,000 bytes and a bare 7): the
  lines are taken from the field's own reading of two sample numbers, once per field name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from otel_footprint.core.evidence import typed

HasYear: TypeAlias = Callable[["int | None"], bool]
"""Whether a year stands anywhere in the evidence, or the evidence names no year at all."""

_TELLING_DIGITS: Final = 3
"""Digits from which on a number is rare enough to be recognised without its unit."""
_GLUED: Final = re.compile(r"\d[A-Za-z]")
"""``1000ml`` is one token: it grounds no prose ``1000``."""
_REMEMBERED_FIELDS: Final = 2_048


class Line(NamedTuple):
    """One reading of a field's numbers: ``number * factor + shift`` under ``unit``, as a value of ``kind``."""

    unit: str | None
    kind: typed.Kind
    factor: Decimal
    shift: Decimal


def carries(index: typed.LeafIndex, asked: typed.Typed, has_year: HasYear) -> bool:
    """Whether the index carries the asked value, perhaps in another spelling.

    A date with a year is satisfied by one without only when ``has_year`` says so of its year.
    """
    for key in asked.asked:
        if index.carrier(key) is not None and (not _lacks_year(key) or has_year(_year_of(asked))):
            return True
    for interval in asked.wants:
        for carried in index.within(interval):
            if interval.unit is None:
                if unit_may_lack(asked, carried.kind):
                    return True
            elif asked.kind != "number" or _GLUED.search(carried.text) is None:
                return True
    return False


def unit_may_lack(asked: typed.Typed, carried: typed.Kind) -> bool:
    """Whether a carried number may stand for one with a unit although one of the two states none.

    A small count stands for anything, so it stands for no amount of a unit; and what was carried with a unit of its own
    is no bare number.
    """
    if carried != "number":
        return carried == asked.kind or {carried, asked.kind} == {"money", "number"}
    if asked.kind in ("number", "money"):
        return True
    return sum(char.isdigit() for char in asked.text) >= _TELLING_DIGITS


def lines_of_sort(key: str | None, sort: str) -> tuple[Line, ...] | None:
    """The readings of a field's ``whole``, ``decimal`` or ``fraction`` numbers."""
    return _lines(key, sort)


_SAMPLES: Final[dict[str, tuple[int | float, int | float]]] = {
    "whole": (7, 11),
    "decimal": (7.25, 11.25),
    "fraction": (0.25, 0.75),
}


@lru_cache(maxsize=_REMEMBERED_FIELDS)
def _lines(key: str | None, sort: str) -> tuple[Line, ...] | None:
    one, other = _SAMPLES[sort]
    first, second = typed.of_leaf(key, one), typed.of_leaf(key, other)
    if len(first) != 1 or len(second) != 1 or first[0].carried or len(first[0].offers) != len(second[0].offers):
        return None
    width = Decimal(repr(other)) - Decimal(repr(one))
    lines: list[Line] = []
    for near, far in zip(first[0].offers, second[0].offers, strict=True):
        if near.unit != far.unit:
            return None
        factor = (far.number - near.number) / width
        lines.append(Line(near.unit, first[0].kind, factor, near.number - factor * Decimal(repr(one))))
    return tuple(lines)


def _lacks_year(key: Hashable) -> bool:
    return isinstance(key, tuple) and isinstance(key[0], str) and key[0].startswith("yearless")


def _year_of(asked: typed.Typed) -> int | None:
    for key in asked.asked:
        if isinstance(key, tuple) and key[0] == "date":
            year = key[1]
            return year if isinstance(year, int) else None
    return None
