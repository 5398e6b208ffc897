"""What one text carries: its tokens, its typed values and its numbers, each read at most once and only when asked for.

Rules
-----
- A result is read by the one reader; words (said, handed in) as plain text.
- Typed values are indexed by what they can satisfy: exact keys in a set, numbers sorted by unit.
- Reading typed values of very much text is bounded by the caller, who sees ``typed_cost``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.haystack import Grade, Haystack, Question
from otel_footprint.core.evidence.reader import Reading, leaves, read
from otel_footprint.core.evidence.rows import Row, rows_of

_REMEMBERED_TEXTS: Final = 64
_REMEMBERED_CHARS: Final = 65_536
_TELLING_DIGITS: Final = 3
"""Digits from which on a number is rare enough to be recognised without its unit."""

HasYear: TypeAlias = Callable[["int | None"], bool]
"""Whether a year stands anywhere in the evidence, or the evidence names no year at all."""


class TypedIndex:
    """The typed values of one text, ready to be asked. ``years`` are the years its dates name."""

    __slots__ = ("_by_key", "_by_unit", "years")

    def __init__(self, values: Iterable[typed.Typed]) -> None:
        self._by_key: dict[Hashable, typed.Typed] = {}
        self.years: set[int] = set()
        by_unit: dict[str | None, list[tuple[Decimal, int, typed.Typed]]] = {}
        for value in values:
            for part in (value, *value.parts):
                for key in part.carried:
                    self._by_key.setdefault(key, part)
                    if isinstance(key, tuple) and key[0] in ("date", "month"):
                        self.years.add(key[1])
                for offer in part.offers:
                    bucket = by_unit.setdefault(offer.unit, [])
                    bucket.append((offer.number, len(bucket), part))
        for bucket in by_unit.values():
            bucket.sort(key=lambda item: item[:2])
        self._by_unit = by_unit

    def match(self, asked: typed.Typed, has_year: HasYear) -> typed.Typed | None:
        """A carried value that the asked one states in another spelling.

        A date with a year is satisfied by one without only when ``has_year`` says so of its year.
        """
        by_key = self._by_key
        for key in asked.asked:
            found = by_key.get(key)
            if found is not None and (not _lacks_year(key) or has_year(_year_of(asked))):
                return found
        for unit, low, high in asked.wants:
            bucket = self._by_unit.get(unit)
            if not bucket:
                continue
            place = bisect_left(bucket, low, key=lambda item: item[0])
            while place < len(bucket) and bucket[place][0] <= high:
                if unit is not None or _unit_may_lack(asked, bucket[place][2]):
                    return bucket[place][2]
                place += 1
        return None


def _lacks_year(key: Hashable) -> bool:
    return isinstance(key, tuple) and isinstance(key[0], str) and key[0].startswith("yearless")


def _year_of(asked: typed.Typed) -> int | None:
    for key in asked.asked:
        if isinstance(key, tuple) and key[0] == "date":
            year = key[1]
            return year if isinstance(year, int) else None
    return None


def _unit_may_lack(asked: typed.Typed, carried: typed.Typed) -> bool:
    """Whether a carried number may stand for one with a unit although one of the two states none.

    A small count stands for anything, so it stands for no amount of a unit; and what was carried with a unit of its own
    is no bare number.
    """
    if carried.kind != "number":
        return carried.kind == asked.kind or {carried.kind, asked.kind} == {"money", "number"}
    if asked.kind in ("number", "money"):
        return True
    return sum(char.isdigit() for char in asked.text) >= _TELLING_DIGITS


class Carried:
    """One text with what was read from it so far. ``result`` says that it is a tool result."""

    __slots__ = ("_index", "_reading", "_rows", "haystack", "result")

    def __init__(self, text: str, *, result: bool) -> None:
        self.haystack = Haystack(text, result=result)
        self.result = result
        self._index: TypedIndex | None = None
        self._reading: Reading | None = None
        self._rows: list[Row] | None = None

    @property
    def text(self) -> str:
        """The text as given."""
        return self.haystack.text

    @property
    def reading(self) -> Reading:
        """The JSON values and the tail of a result."""
        if self._reading is None:
            self._reading = read(self.text) if self.result else Reading((), self.text)
        return self._reading

    @property
    def rows(self) -> list[Row]:
        """The rows of a result, for arithmetic."""
        if self._rows is None:
            self._rows = rows_of(self.reading.values)
        return self._rows

    def grade(self, question: Question) -> Grade:
        """How well it carries a form."""
        return self.haystack.grade(question)

    @property
    def typed_cost(self) -> int:
        """Characters that ``match`` has yet to read."""
        return 0 if self._index is not None else len(self.text)

    @property
    def index(self) -> TypedIndex:
        """Its typed values."""
        if self._index is None:
            if self.result:
                self._index = TypedIndex(_of_reading(self.reading))
            elif len(self.text) <= _REMEMBERED_CHARS:
                self._index = _index_of_words(self.text)
            else:
                self._index = TypedIndex(typed.find(self.text))
        return self._index

    def match(self, asked: typed.Typed, has_year: HasYear) -> typed.Typed | None:
        """A typed value it carries that the asked one states; ``has_year`` as in ``TypedIndex.match``."""
        return self.index.match(asked, has_year)


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def _index_of_words(text: str) -> TypedIndex:
    # System instructions are the same in conversation after conversation.
    return TypedIndex(typed.find(text))


def _of_reading(reading: Reading) -> Iterable[typed.Typed]:
    for value in reading.values:
        for key, leaf in leaves(value):
            if leaf is not None and not isinstance(leaf, bool):
                yield from typed.of_leaf(key, leaf)
    if reading.tail.strip():
        yield from typed.find(reading.tail)
