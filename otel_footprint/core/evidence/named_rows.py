"""The rows of the window's results that an answer is about: those it names, and those that its words stand beside.

Rules
-----
- Rows are named by the answer, this turn's calls, the last words said and the answer before: a name is a token there, or a
  phrase. Of alternative fields (the prices of three cabins) only those that the answer mentions count.
- Rows are read once, newest result first, and only when the answer's own numbers do not do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.bills import Line, lines_of
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.normal import fold, tokens
from otel_footprint.core.evidence.reader import is_beyond_reading
from otel_footprint.core.evidence.rows import MAX_NUMBERS, Cell, Row
from otel_footprint.core.evidence.sources import CallMade, Source
from otel_footprint.core.evidence.stated import ACCOUNTED, Operand
from otel_footprint.core.evidence.verdicts import Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.extract import Extraction

MAX_ROW_TEXT: Final = 400_000
"""Characters of results whose rows are read for one answer; more makes the answer's arithmetic bounded."""
MAX_NAMING_CALLS: Final = 12
_TOTAL: Final = re.compile(r"\b(?:total|all|combined|sum|altogether|together|balances?)\b")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around an answer: the results, the calls made, and the last words that were said to the model.

    ``accounted`` are the statuses whose values may be operands; ``said`` is everything that was said.
    """

    window: Sequence[Source]
    calls: Sequence[CallMade]
    last_said: str
    turn: int
    accounted: frozenset[Status] = ACCOUNTED
    said: Sequence[Carried] = ()


class NamedRows:
    """The rows around one answer. ``bounded`` says that some result was too long or too deep to read all its rows from."""

    def __init__(self, extraction: Extraction, around: Surroundings, text_before: str) -> None:
        self.extraction = extraction
        self.around = around
        self.text_before = text_before
        self.bounded = False
        self._fields_said: dict[str, bool] = {}
        self._beside: dict[int, list[Row]] = {}

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the lists in named rows (passengers of a reservation)."""
        return tuple(dict.fromkeys(length for row in self.named for length in row.lists.values() if 1 < length <= 12))

    @cached_property
    def rows(self) -> list[Row]:
        """All rows of the window, newest result first."""
        found: list[Row] = []
        room = MAX_ROW_TEXT
        for source in reversed(self.around.window):
            if len(source.carried.text) > room:
                self.bounded = True
                continue
            room -= len(source.carried.text)
            rows = source.carried.rows
            found += rows
            if sum([len(row.cells) for row in rows]) >= MAX_NUMBERS or (
                not rows and is_beyond_reading(source.carried.text)
            ):
                self.bounded = True
        return found

    def tagged(self, words: set[str]) -> list[Row]:
        """The rows that one of these words tags, in order."""
        places = {place for word in words for place in self._by_tag.get(word, ())}
        return [self.rows[place] for place in sorted(places)]

    @cached_property
    def _by_tag(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, row in enumerate(self.rows):
            for tag in row.tags:
                found.setdefault(tag, []).append(place)
        return found

    @cached_property
    def lines(self) -> list[Line]:
        """The rows of the window that price a number of things."""
        return lines_of(self.rows)

    @cached_property
    def lines_named(self) -> list[Line]:
        """The lines that the naming text names, and those inside what it names."""
        named = self._named_ids
        return [
            line
            for line in self.lines
            if id(line.row) in named or (line.row.owner is not None and id(line.row.owner) in named)
        ]

    @cached_property
    def _all(self) -> list[Row]:
        """The rows, and the rows around them that hold nothing of their own."""
        found = {id(row): row for row in self.rows}
        for row in self.rows:
            if row.owner is not None:
                found.setdefault(id(row.owner), row.owner)
        return list(found.values())

    @cached_property
    def _named_ids(self) -> set[int]:
        """The rows that the naming text names, by their ``id``."""
        return {id(row) for row in _Named(self._all).find(self.words, self.naming)}

    @cached_property
    def _named_by(self) -> _Named:
        return _Named(self.named)

    @cached_property
    def by_number(self) -> dict[Decimal, list[tuple[Row, Cell]]]:
        """The rows that carry an amount."""
        found: dict[Decimal, list[tuple[Row, Cell]]] = {}
        for row in self.rows:
            for cell in row.cells:
                if cell.money:
                    found.setdefault(cell.number, []).append((row, cell))
        return found

    @cached_property
    def by_name(self) -> dict[str, list[Row]]:
        """The rows of each name."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            for name in row.names:
                found.setdefault(name, []).append(row)
        return found

    @cached_property
    def naming(self) -> str:
        """The text that names rows: the answer, this turn's calls, the last words said, the answer before."""
        calls = [call for call in self.around.calls[-MAX_NAMING_CALLS:] if call.turn == self.around.turn]
        texts = [
            self.extraction.text,
            *(call.carried.text for call in calls),
            self.around.last_said[-2_000:],
            self.text_before,
        ]
        return fold("\n".join(texts))

    @cached_property
    def words(self) -> set[str]:
        """The tokens of the naming text."""
        return {token.form for token in tokens(self.naming)}

    def words_beside(self, place: Operand) -> set[str]:
        """The words of the field or line a target stands in, joined words taken apart, plurals cut; a line must say "total"."""
        beside = fold(place.key) if place.key is not None else self.line(place)
        if place.key is None and not _TOTAL.search(beside):
            return set()
        pieces = [piece for piece in re.split(r"[^a-z]+", beside) if len(piece) > 2][:40]
        found = {piece.rstrip("s") for piece in pieces} | set(pieces)
        found.update(f"{one}_{other.rstrip('s')}" for one, other in pairwise(pieces))
        return found

    def line(self, place: Operand) -> str:
        """The line a target stands in, folded, as far as 300 characters around it."""
        text = self.extraction.text
        start = text.rfind("\n", 0, place.start) + 1
        end = text.find("\n", place.end)
        return fold(text[max(start, place.start - 300) : min(end if end >= 0 else len(text), place.end + 300)])

    @cached_property
    def named(self) -> list[Row]:
        """The rows that the naming text names, with the amounts whose field it mentions where fields are alternatives."""
        return [self._mentioned(row) for row in self.rows if id(row) in self._named_ids]

    @cached_property
    def owned(self) -> list[Row]:
        """The rows inside named rows."""
        return [self._mentioned(row) for row in self.rows if row.owner is not None and id(row.owner) in self._named_ids]

    def _mentioned(self, row: Row) -> Row:
        """The row without the amounts of alternative fields that nobody mentions (the other cabins' prices)."""
        groups: dict[str, list[Cell]] = {}
        for cell in row.cells:
            prefix, dot, _ = cell.field.rpartition(".")
            if dot:
                groups.setdefault(prefix, []).append(cell)
        dropped: set[int] = set()
        for cells in groups.values():
            kept = [cell for cell in cells if self._says_field(cell.field)]
            if kept and len(kept) < len(cells):
                dropped.update(id(cell) for cell in cells if cell not in kept)
        if not dropped:
            return row
        return replace(row, cells=[cell for cell in row.cells if id(cell) not in dropped])

    def _says_field(self, path: str) -> bool:
        name = fold(path.rpartition(".")[2])
        known = self._fields_said.get(name)
        if known is None:
            folded = self.folded
            known = self._fields_said[name] = name in folded or name.replace("_", " ") in folded
        return known

    @cached_property
    def folded(self) -> str:
        """The answer, folded."""
        return fold(self.extraction.text)

    def named_beside(self, place: Operand) -> list[Row]:
        """The rows named in the target's own line."""
        known = self._beside.get(id(place))
        if known is None:
            known = self._beside[id(place)] = self._find_beside(place)
        return known

    def _find_beside(self, place: Operand) -> list[Row]:
        line = self.line(place) if place.key is None else fold(place.key)
        words = {token.form for token in tokens(line)}
        if place.key is not None:
            pieces = re.split(r"[_\-\s]+", line)
            words.update(pieces)
            words.update(
                "_".join(pieces[start:end]) for start in range(len(pieces)) for end in range(start + 2, start + 4)
            )
        return self._named_by.find(words, line)


class _Named:
    """Rows by what they are called: a name is a word of a text, or a phrase in it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._by_name: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            for name in row.names:
                self._by_name.setdefault(name.strip("#"), []).append(place)
        self._phrases = [name for name in self._by_name if " " in name]

    def find(self, words: set[str], text: str) -> list[Row]:
        """The rows that a text names, in order; ``words`` are its tokens."""
        names = words & self._by_name.keys()
        names.update([name for name in self._phrases if name in text])
        return [self._rows[place] for place in sorted({place for name in names for place in self._by_name[name]})]
