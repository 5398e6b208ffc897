"""What one text carries: its tokens, its typed values and its rows, each read at most once and only when asked for.

Rules
-----
- A result is read by the one reader; words (said, handed in) as plain text.
- System instructions are the same in conversation after conversation: how they read is remembered by text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.haystack import Grade, Haystack, Question
from otel_footprint.core.evidence.reader import Reading, read
from otel_footprint.core.evidence.rows import Row, rows_of
from otel_footprint.core.evidence.typed_index import HasYear, TypedIndex

_REMEMBERED_TEXTS: Final = 64
_REMEMBERED_CHARS: Final = 65_536


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
    def index(self) -> TypedIndex:
        """Its typed values."""
        if self._index is None:
            self._index = self._read_typed()
        return self._index

    def match(self, asked: typed.Typed, has_year: HasYear) -> bool:
        """Whether it carries a typed value that the asked one states; ``has_year`` as in ``TypedIndex.match``."""
        return self.index.match(asked, has_year)

    def _read_typed(self) -> TypedIndex:
        if not self.result:
            return _index_of_words(self.text) if len(self.text) <= _REMEMBERED_CHARS else _words(self.text)
        index = TypedIndex()
        for value in self.reading.values:
            index.add_json(value)
        if self.reading.tail.strip():
            index.add(typed.find(self.reading.tail))
        return index


def _words(text: str) -> TypedIndex:
    index = TypedIndex()
    index.add(typed.find(text))
    return index


_index_of_words = lru_cache(maxsize=_REMEMBERED_TEXTS)(_words)
