"""What one text carries: its tokens, its typed values and its rows, each read at most once and only when asked for.

Rules
-----
- A result is read by the one reader; words (said, handed in) as plain text.
- System instructions are the same in conversation after conversation: how they read is remembered by text.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.bulk import Bulk, years_in
from otel_footprint.core.evidence.haystack import Grade, Haystack, Question
from otel_footprint.core.evidence.misplaced_rows import Tables
from otel_footprint.core.evidence.misplaced_tables import may_hold_rows, tables_of
from otel_footprint.core.evidence.reader import Reading, read
from otel_footprint.core.evidence.rows import Row, rows_of
from otel_footprint.core.evidence.typed_index import HasYear, carries

BULK_CHARS: Final = 16_384
"""Characters from which on a text's typed values are looked for one by one instead of being indexed."""
_REMEMBERED_TEXTS: Final = 64
_INDEX_BYTES: Final = 160
_ROWS_BYTES: Final = 220
_TABLES_BYTES: Final = 200
_TREE_BYTES: Final = 90
"""Bytes per comma or colon of a text, as measured on rows of names and numbers."""


def kept_bytes(text: str) -> int:
    """Bytes that a text costs by itself, about: as given, folded, and folded among others; its numbers."""
    return len(text) * 3


class Carried:
    """One text with what was read from it so far. ``result`` says that it is a tool result."""

    __slots__ = ("_bulk", "_index", "_marks", "_reading", "_row_chars", "_rows", "_tables", "haystack", "result")

    def __init__(self, text: str, *, result: bool) -> None:
        self.haystack = Haystack(text, result=result)
        self.result = result
        self._index: typed.LeafIndex | None = None
        self._reading: Reading | None = None
        self._rows: list[Row] | None = None
        self._row_chars = -1
        self._marks = -1
        self._tables: Tables | None = None
        self._bulk = Bulk(self.haystack, result=result) if len(text) > BULK_CHARS else None

    @property
    def text(self) -> str:
        """The text as given."""
        return self.haystack.text

    @property
    def reading(self) -> Reading:
        """The JSON values and the tail of a result."""
        if self._reading is not None:
            return self._reading
        reading = read(self.text) if self.result else Reading((), self.text)
        if self._bulk is None:
            self._reading = reading
        return reading

    @property
    def rows(self) -> list[Row]:
        """The rows of a result, for arithmetic."""
        if self._rows is None:
            self._rows = rows_of(self.reading.values)
            self._reading = None  # rows come last: the tree is not needed any more
        return self._rows

    @property
    def row_chars(self) -> int:
        """Its characters if there may be tables in it, else 0."""
        if self._row_chars < 0:
            self._row_chars = len(self.text) if may_hold_rows(self.text) else 0
        return self._row_chars

    @property
    def tables(self) -> Tables:
        """Its tables with named rows, to see whose a value is."""
        if self._tables is None:
            self._tables = tables_of(self.reading)
        return self._tables

    def drop_rows(self) -> None:
        """Forget what is read for arithmetic and for names of rows; it is read again when it is asked for."""
        self._rows = self._tables = self._reading = None

    @property
    def read_bytes(self) -> int:
        """Bytes that what was read from it so far costs beside the text, about."""
        if self._index is None and self._rows is None and self._tables is None:
            return 0
        if self._marks < 0:
            self._marks = self.text.count(",") + self.text.count(":")
        cost = 0
        if self._index is not None:
            cost += 500 + _INDEX_BYTES * self._marks
        if self._rows is not None:
            cost += 500 + _ROWS_BYTES * self._marks
        if self._tables is not None:
            cost += 500 + _TABLES_BYTES * self._marks
        if self._reading is not None:
            cost += _TREE_BYTES * self._marks
        return cost

    def grade(self, question: Question) -> Grade:
        """How well it carries a form."""
        return self.haystack.grade(question)

    @property
    def years(self) -> set[int]:
        """The years its dates name."""
        return self._bulk.years if self._bulk is not None else self._leaf_index.years

    @property
    def iso_years(self) -> set[int]:
        """The years of the ISO dates in it: what can be told without reading it."""
        return years_in(self.haystack.folded)

    @property
    def is_bulky(self) -> bool:
        """Whether it is so long that typed values are looked for one by one."""
        return self._bulk is not None

    def take_bounded(self) -> bool:
        """Whether, since the last time, a typed value could not be looked for everywhere."""
        return self._bulk is not None and self._bulk.take_bounded()

    def match(self, asked: typed.Typed, has_year: HasYear) -> bool:
        """Whether it carries a typed value that the asked one states; ``has_year`` as in ``carries``."""
        if self._bulk is not None:
            return self._bulk.match(asked, has_year)
        return carries(self._leaf_index, asked, has_year)

    @property
    def _leaf_index(self) -> typed.LeafIndex:
        if self._index is None:
            self._index = self._read_typed()
        return self._index

    def _read_typed(self) -> typed.LeafIndex:
        if not self.result:
            index = typed.LeafIndex(())
            index.take(values_of_words(self.text))
            return index
        reading = self.reading
        found = chain.from_iterable(typed.named_leaves(value) for value in reading.values)
        return typed.LeafIndex(found, reading.tail)


NOTHING: Final = Carried("", result=False)
"""What carries nothing, in the place of a text that was forgotten."""


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def values_of_words(text: str) -> tuple[typed.Typed, ...]:
    """The typed values that words state."""
    return typed.find(text)
