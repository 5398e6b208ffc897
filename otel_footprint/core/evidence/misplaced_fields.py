"""Which fields of a table a word of the answer counts: "points" is ``PTS``, "boards" turns out to be ``REB``.

Rules
-----
- By name: the word equals a word of the field's name, one begins with the other, or the field is an abbreviation of it: its
  letters in their order, the first and the last among them (``PTS`` points, ``AST`` assists, ``QTY`` quantity). Of the
  fields of one table only the most similar count, the ones with fewest other words in their names. Words that all fields
  of a table share (``TEAM-``) say nothing.
- By use: the answer itself shows what it means. A field in which the named rows carry the word's numbers oftener than
  chance would have it is what the word counts.
- A field whose name says more than the word, or of two letters only, needs at least one use that fits.
- The two numbers of a pair ("7-of-14 shooting") are two fields at once, which chance hits rarely: one use that fits is enough
  where the pair has a word. By name they are the two fields that the word begins, with one more letter each, where the one is
  never the larger ("4-12 FG": ``FGM`` and ``FGA``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from otel_footprint.core.evidence.misplaced_counts import Count, singular
from otel_footprint.core.evidence.misplaced_lines import number
from otel_footprint.core.evidence.misplaced_rows import Row, Table

Column: TypeAlias = "tuple[Table, str]"

_NAME_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+\d*|\d+[A-Za-z]+")
_VOWELS: Final = frozenset("aeiouy")
_MIN_USES: Final = 2
_MIN_LIFT: Final = 0.4
"""Share of a word's numbers that must fit a field beyond those that chance would fit."""


_MAX_PAIRS: Final = 64
"""Pairs of fields that two numbers may be before they say nothing."""


@dataclass(slots=True)
class _Uses:
    total: int = 0
    fits: Counter[Column] = field(default_factory=Counter)
    chance: dict[Column, float] = field(default_factory=dict)
    pairs: Counter[tuple[Table, str, str]] = field(default_factory=Counter)
    asked: Counter[tuple[Decimal, Decimal]] = field(default_factory=Counter)
    learned: tuple[tuple[Table, str, str], ...] | None = None


class Fields:
    """What the words of one answer count. ``uses`` are its counts with the rows that are named for each."""

    def __init__(self, uses: Iterable[tuple[Count, tuple[Row, ...]]]) -> None:
        self._uses: dict[tuple[str, ...], _Uses] = {}
        self._words: dict[Table, dict[str, tuple[str, ...]]] = {}
        self._best: dict[tuple[str, Table], tuple[bool, tuple[Column, ...]]] = {}
        before: tuple[Count, tuple[Row, ...]] | None = None
        for count, rows in uses:
            if count.slot == 0:
                self._learn(count, rows)
            elif count.slot == 2 and before is not None and before[0].slot == 1:
                self._learn_pair(before[0], count, rows)
            before = (count, rows)

    def of(self, count: Count, rows: Sequence[Row]) -> frozenset[Column]:
        """The columns of these rows' tables that a count may be a cell of; empty when that is not clear."""
        uses = self._uses.get(count.key, _Uses())
        if count.slot:
            return self._named_pair(count, rows) or self._paired(count, uses)
        similar = self._similar(count.words[0], rows, uses.fits) if count.words else frozenset()
        learned = self._learned(uses)
        if similar:
            return (similar & learned) or similar
        if learned and not count.article:
            return learned
        for name in count.names:
            similar = self._similar(name, rows, uses.fits)
            if similar:
                return similar
        return frozenset()

    def _learn(self, count: Count, rows: Sequence[Row]) -> None:
        uses = self._uses.setdefault(count.key, _Uses())
        uses.total += 1
        for table in dict.fromkeys(row.table for row in rows):
            for name, index in table.index.items():
                found = index.get(count.number)
                if found:
                    column = (table, name)
                    uses.chance[column] = uses.chance.get(column, 0.0) + len(found) / len(table.rows)
                    if any(row in rows for row in found):
                        uses.fits[column] += 1

    def _learn_pair(self, one: Count, two: Count, rows: Sequence[Row]) -> None:
        uses = self._uses.setdefault(two.key, _Uses())
        uses.asked[one.number, two.number] += 1
        for table in dict.fromkeys(row.table for row in rows):
            own = [row for row in rows if row.table is table]
            ones = [name for name, index in table.index.items() if any(row in own for row in index.get(one.number, ()))]
            twos = [name for name, index in table.index.items() if any(row in own for row in index.get(two.number, ()))]
            if len(ones) * len(twos) > _MAX_PAIRS:
                continue
            for first in ones:
                for second in twos:
                    if first != second:
                        uses.pairs[table, first, second] += 1

    def _learned(self, uses: _Uses) -> frozenset[Column]:
        lifts = {column: fits - uses.chance[column] for column, fits in uses.fits.items() if fits >= _MIN_USES}
        best = max(lifts.values(), default=0.0)
        if best < _MIN_LIFT * uses.total:
            return frozenset()
        return frozenset(column for column, lift in lifts.items() if lift >= best - 0.5)

    def _paired(self, count: Count, uses: _Uses) -> frozenset[Column]:
        if uses.learned is None:
            lifts: dict[tuple[Table, str, str], float] = {}
            least = 1 if count.words else _MIN_USES
            for (table, first, second), fits in uses.pairs.most_common(_MAX_PAIRS):
                if fits < least:
                    break
                chance = 0.0
                for (one, two), times in uses.asked.items():
                    with_one = set(table.index[first].get(one, ()))
                    both = sum(row in with_one for row in table.index[second].get(two, ()))
                    chance += times * both / len(table.rows)
                if fits >= 2 * chance:
                    lifts[table, first, second] = fits - chance
            best = max(lifts.values(), default=0.0)
            uses.learned = tuple(pair for pair, lift in lifts.items() if lift >= best - 0.5)
        return frozenset((table, first if count.slot == 1 else second) for table, first, second in uses.learned)

    def _named_pair(self, count: Count, rows: Sequence[Row]) -> frozenset[Column]:
        """The column of a number in a pair whose word begins the names of two fields, one of which is never the larger."""
        found: set[Column] = set()
        for table in dict.fromkeys(row.table for row in rows) if count.words else ():
            begun = [name for name in table.index if _begins(count.words[0], name[:-1].lower())]
            for small, large in (begun, begun[::-1]) if len(begun) == 2 else ():
                if all(_least(row, small) <= _least(row, large) for row in table.rows):
                    found.add((table, small if count.slot == 1 else large))
                    break
        return frozenset(found)

    def _similar(self, word: str, rows: Sequence[Row], fits: Counter[Column]) -> frozenset[Column]:
        found: set[Column] = set()
        for table in dict.fromkeys(row.table for row in rows):
            known = self._best.get((word, table))
            if known is None:
                known = self._best[word, table] = self._most_similar(word, table)
            certain, columns = known
            found.update(column for column in columns if certain or fits[column])
        return frozenset(found)

    def _most_similar(self, word: str, table: Table) -> tuple[bool, tuple[Column, ...]]:
        """The columns whose names are nearest to a word, and whether the name alone is enough."""
        best: tuple[float, int] = (0.0, 0)
        columns: list[Column] = []
        for name, words in self._names(table).items():
            scores = [similarity(word, part) for part in words]
            score = max(scores, default=0.0)
            # Fewer words that the answer does not say are better.
            rank = (score, -scores.count(0.0))
            if score == 0 or rank < best:
                continue
            if rank > best:
                best, columns = rank, []
            columns.append((table, name))
        return best[0] >= 2 and best[1] == 0, tuple(columns)

    def _names(self, table: Table) -> dict[str, tuple[str, ...]]:
        names = self._words.get(table)
        if names is None:
            split = {name: words_of_field(name) for name in table.fields}
            shared = frozenset.intersection(*map(frozenset, split.values())) if split else frozenset()
            names = self._words[table] = {
                name: tuple(part for part in parts if part not in shared) or tuple(parts)
                for name, parts in split.items()
                if name in table.index
            }
        return names


def _begins(word: str, beginning: str) -> bool:
    """Whether a word is this beginning of a field's name; of one with a digit ("3Pt" of ``FG3M``) that digit tells."""
    return beginning == word or (word[0].isdigit() and beginning.endswith(word[0]))


def _least(row: Row, name: str) -> Decimal:
    return min((found for cell in row.cells.get(name, ()) if (found := number(cell)) is not None), default=Decimal(0))


def words_of_field(name: str) -> list[str]:
    """The words of a field's name in small letters, without numbers behind them (``TEAM-PTS_QTR1``: team, pts, qtr)."""
    return [re.sub(r"\d+$", "", part).lower() for part in _NAME_WORDS.findall(name)]


def similarity(word: str, part: str) -> float:
    """How well a word of the answer (small letters, singular) and a word of a field's name agree; 0 for not at all."""
    if len(word) < 3 or len(part) < 2:
        return 0.0
    if word == singular(part) or word == part:
        return 10.0
    if (len(part) > 2 and word.startswith(part)) or (len(word) > 3 and part.startswith(word)):
        return 6 + min(len(part), len(word)) / 10
    body = part[:-1] if len(part) > 2 and part[-1] == "s" else part
    if 3 <= len(part) <= 4 and part[0] == word[0] and body[-1] == word[-1] and _VOWELS.isdisjoint(part[1:]):
        if _in_order(part, word):
            return 3.5 + len(part) / 10
        if _in_order(body, word):
            return 3 + len(body) / 10
    return 1.0 if len(part) == 2 and word.startswith(part) else 0.0


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)
