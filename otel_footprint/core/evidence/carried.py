"""What one text carries: its tokens, its typed values and its numbers, each read at most once and only when asked for.

Rules
-----
- A result is read by the one reader; words (said, handed in) as plain text.
- Typed values are indexed by what they can satisfy: exact keys in a set, numbers sorted by unit.
- Reading typed values of very much text is bounded by the caller, who sees ``typed_cost``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.haystack import Grade, Haystack, Question
from otel_footprint.core.evidence.reader import Reading, leaves, read
from otel_footprint.core.evidence.rows import Row, rows_of

_REMEMBERED_TEXTS: Final = 64
_REMEMBERED_CHARS: Final = 65_536


class TypedIndex:
    """The typed values of one text, ready to be asked."""

    __slots__ = ("_by_key", "_by_unit")

    def __init__(self, values: Iterable[typed.Typed]) -> None:
        self._by_key: dict[Hashable, typed.Typed] = {}
        by_unit: dict[str | None, list[tuple[Decimal, int, typed.Typed]]] = {}
        for value in values:
            for part in (value, *value.parts):
                for key in part.carried:
                    self._by_key.setdefault(key, part)
                for offer in part.offers:
                    bucket = by_unit.setdefault(offer.unit, [])
                    bucket.append((offer.number, len(bucket), part))
        for bucket in by_unit.values():
            bucket.sort(key=lambda item: item[:2])
        self._by_unit = by_unit

    def match(self, asked: typed.Typed) -> typed.Typed | None:
        """A carried value that the asked one states in another spelling."""
        by_key = self._by_key
        for key in asked.asked:
            found = by_key.get(key)
            if found is not None:
                return found
        for unit, low, high in asked.wants:
            bucket = self._by_unit.get(unit)
            if bucket:
                place = bisect_left(bucket, low, key=lambda item: item[0])
                if place < len(bucket) and bucket[place][0] <= high:
                    return bucket[place][2]
        return None


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

    def match(self, asked: typed.Typed) -> typed.Typed | None:
        """A typed value it carries that the asked one states."""
        if self._index is None:
            if self.result:
                self._index = TypedIndex(_of_reading(self.reading))
            elif len(self.text) <= _REMEMBERED_CHARS:
                self._index = _index_of_words(self.text)
            else:
                self._index = TypedIndex(typed.find(self.text))
        return self._index.match(asked)


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
