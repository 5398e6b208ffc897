"""The typed values of one text, ready to be asked; numbers of a JSON field are filed without making a value of each.

Rules
-----
- A value is asked for by what would satisfy it: exact keys, or an interval of numbers under a unit.
- All numbers of one field have the same readings, each a straight line (``size_kb`` 7 is 7,000 bytes and a bare 7): the
  lines are taken from the field's own reading of sample numbers, once per field name.
- Short strings repeat from row to row and from result to result: how they read is remembered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.reader import leaves
from otel_footprint.core.messages import Json

HasYear: TypeAlias = Callable[["int | None"], bool]
"""Whether a year stands anywhere in the evidence, or the evidence names no year at all."""

_TELLING_DIGITS: Final = 3
"""Digits from which on a number is rare enough to be recognised without its unit."""
_SHORT: Final = 64
_REMEMBERED_LEAVES: Final = 8_192
_REMEMBERED_FIELDS: Final = 2_048
_SLACK: Final = Decimal("1e-15")
"""Relative slack for numbers that went through a line: they are only nearly exact."""


class Line(NamedTuple):
    """One reading of a field's numbers: ``number * factor + shift`` under ``unit``, as a value of ``kind``."""

    unit: str | None
    kind: typed.Kind
    factor: Decimal
    shift: Decimal


class _Filed(NamedTuple):
    number: Decimal
    kind: typed.Kind


class TypedIndex:
    """What one text carries. ``years`` are the years its dates name."""

    __slots__ = ("_by_unit", "_keys", "_sorted", "years")

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()
        self._by_unit: dict[str | None, list[_Filed]] = {}
        self._sorted = True
        self.years: set[int] = set()

    def add(self, values: Iterable[typed.Typed]) -> None:
        """File values."""
        for value in values:
            for part in (value, *value.parts):
                for key in part.carried:
                    self._keys.add(key)
                    if isinstance(key, tuple) and key[0] in ("date", "month"):
                        self.years.add(key[1])
                for offer in part.offers:
                    self._by_unit.setdefault(offer.unit, []).append(_Filed(offer.number, part.kind))
                    self._sorted = False

    def add_json(self, value: Json) -> None:
        """File every leaf and key of a JSON value."""
        for key, leaf in leaves(value):
            if isinstance(leaf, str):
                self.add(of_string(key, leaf) if len(leaf) <= _SHORT else typed.of_leaf(key, leaf))
            elif isinstance(leaf, (int, float)) and not isinstance(leaf, bool):
                self.add_number(key, leaf)

    def add_number(self, key: str | None, number: int | float) -> None:
        """File a number of a field."""
        lines = lines_of(key, number)
        if lines is None:
            self.add(typed.of_leaf(key, number))
            return
        exact = Decimal(number) if isinstance(number, int) else Decimal(repr(number))
        for unit, kind, factor, shift in lines:
            self._by_unit.setdefault(unit, []).append(_Filed(exact * factor + shift, kind))
        self._sorted = False

    def match(self, asked: typed.Typed, has_year: HasYear) -> bool:
        """Whether a carried value is the one asked for, perhaps in another spelling.

        A date with a year is satisfied by one without only when ``has_year`` says so of its year.
        """
        for key in asked.asked:
            if key in self._keys and (not _lacks_year(key) or has_year(_year_of(asked))):
                return True
        if not asked.wants:
            return False
        if not self._sorted:
            for numbers in self._by_unit.values():
                numbers.sort()
            self._sorted = True
        for unit, low, high in asked.wants:
            filed = self._by_unit.get(unit)
            if not filed:
                continue
            slack = abs(high) * _SLACK
            place = bisect_left(filed, low - slack, key=lambda one: one.number)
            while place < len(filed) and filed[place].number <= high + slack:
                if unit is not None or unit_may_lack(asked, filed[place].kind):
                    return True
                place += 1
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


@lru_cache(maxsize=_REMEMBERED_LEAVES)
def of_string(key: str | None, leaf: str) -> tuple[typed.Typed, ...]:
    """The typed values of a short string leaf."""
    return typed.of_leaf(key, leaf)


def lines_of(key: str | None, number: int | float) -> tuple[Line, ...] | None:
    """The readings of a field's numbers of this one's sort; None where the number has to be read by itself."""
    if (
        number < 0 or number != number or number >= 1e8 or 1.9e7 <= number < 2.1e7
    ):  # epochs, phones, dates without dashes
        return None
    if isinstance(number, int) or number == int(number):
        return _lines(key, "whole") if number > 1 else None
    return _lines(key, "decimal" if number > 1 else "fraction")


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
