"""Say where a value that was read belongs to another row than the one the answer names beside it: advisory, never a flag.

Rules
-----
- Only what tables carry is judged (``misplaced_tables``), only beside a name (``misplaced_names``), and only where every
  row of that name has the field. No table with named rows: no work.
- A value (status read or respelled) is misplaced where its sentence names one row only, neither that row nor one around or
  inside it carries it, nothing outside of rows does, and every row that does carries it in a field the named row has too.
- A small number with a word beside it (``misplaced_counts``) is judged on the fields that word counts
  (``misplaced_fields``). It is about the last row named before it in its sentence (else the only one), and agrees when a
  named row of another table carries it in such a field. Rows named side by side ("A and B each …") are left alone, and so
  are numbers that sum up or look back (average, combined, last five, per game).
- So is a value beside words that refer to another thing, or to what is not (other, than, instead, would; 3 more).
- ``belongs_to`` is a row that carries the number in the same field, one the answer names where there is one; empty where
  only other fields carry it. A number that no row carries at all is not reported: it was not read.
- Where the small numbers about a row in a sentence are those of one other row (all of them, or three or more and all but
  one), the name is what is wrong: it is said once.
- Where another clause begins between the name and the number, with a name that no row has ("while the Sixers …"), the number
  may be that one's: nothing is said.
- Work is bounded by the limits below; what is beyond is not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.misplaced_counts import Count, counts_of, singular
from otel_footprint.core.evidence.misplaced_fields import Column, Fields, similarity, words_of_field
from otel_footprint.core.evidence.misplaced_lines import number
from otel_footprint.core.evidence.misplaced_names import Mention, Sentence, Sentences, mentions_of
from otel_footprint.core.evidence.misplaced_rows import Row, Tables
from otel_footprint.core.evidence.misplaced_tables import Words, keys_of
from otel_footprint.core.evidence.verdicts import Misplaced

MAX_COUNTS: Final = 1_000
MAX_NAMED: Final = 40
"""Names of one sentence; one with more is no sentence."""
MAX_ROWS_NAMED: Final = 12
MAX_SEARCHES: Final = 20_000
"""Rows that are looked at for the owners of an answer's values."""
_AND: Final = re.compile(r"\s*(?:,|,? and|,? or|,? &|/|with)\s*")
_SUMS_UP: Final = re.compile(
    r"\b(?:averag\w*|combin\w*|sum of|last|previous|past|per|over (?:his|her|its|their|the)|between|straight|in a row"
    r"|each|apiece|both)\b",
    re.IGNORECASE,
)
_REFERS: Final = re.compile(
    r"\b(?:others?|another|the third|than|instead|unlike|compared|of which|rest of|next one|second (?:one|leg)|whole trip"
    r"|(?:after|before) (?:the|an?)|if|would|could|should|needs?|needed|connect\w*|savings?"
    r"|you(?:['’]ll| will)? save)\b",
    re.IGNORECASE,
)
_REFERS_AFTER: Final = re.compile(
    r"\s+(?:[\w-]+\s+)?(?:more|fewer|less|unread|instead|yesterday|today|left (?:to|in stock))\b", re.IGNORECASE
)
_LABEL: Final = re.compile(r"[^\W\d_][^\n:;,()]{0,40}:[*_`]{0,3}\s{0,2}[*_`$€£¥#]{0,3}\Z")
_ANOTHER: Final = re.compile(
    r"\b(?:while|whereas|but|as|and|though|with|,) (?:the )?(?:[A-Z][\w'’-]+ ){1,3}(?!and\b)[a-z]"
)
_LOOK_BACK: Final = 45
_NEXT_TO: Final = 40
_COMPOUND: Final = re.compile(r" ?- ?[^\W\d_]+ [^\W\d_]+\b(?! ?-)")


class Asked(NamedTuple):
    """One value of the answer that was read: its spans, the tables of the results that carry it, whether a text does.

    ``spelled`` is how a cell that holds it and nothing else reads in small letters; empty where that is not sure.
    """

    spans: tuple[tuple[int, int], ...]
    spelled: str
    tables: Sequence[Tables]
    carried_by: Callable[[Carried], bool]


@dataclass(frozen=True, slots=True)
class SmallNumber:
    """A misplaced number that is no value of its own by the ordinary rule, with the row that carries it.

    ``phrase`` is the number with its word, in small letters.
    """

    text: str
    phrase: str
    place: Misplaced
    row: Row


@dataclass(frozen=True, slots=True)
class SmallNumbers:
    """The small numbers that are misplaced, and where those start that need no word: with the row that carries them."""

    misplaced: tuple[SmallNumber, ...] = ()
    carried: Mapping[int, Row] = field(default_factory=dict)


class Placement:
    """One answer, with its words, held against the tables that may have names in it."""

    def __init__(self, text: str, words: Words, tables: Sequence[Tables]) -> None:
        self._text = text
        self._tables = [one for one in tables if one.names]
        self._mentions = mentions_of(text, words, self._tables) if self._tables else []
        self._sentences = Sentences(text, self._mentions) if self._mentions else None
        self._searches = MAX_SEARCHES

    def __bool__(self) -> bool:
        return self._sentences is not None

    # --- values

    def of_value(self, asked: Asked) -> tuple[Misplaced, ...]:
        """Where a value that was read is beside the name of another row than its own."""
        if self._sentences is None:
            return ()
        found: list[Misplaced] = []
        for span in asked.spans:
            sentence = self._sentences.at(span[0])
            named = _only(sentence.mentions)
            if named is None or _inside(span, sentence.mentions):
                continue
            mentioned = [row for mention in sentence.mentions for row in mention.rows]
            if asked.spelled and any(asked.spelled in row.spelled for row in mentioned):
                continue  # it is a cell of a row that is named
            if self._refers(span, sentence) or self._labelled(span[0], named, sentence):
                continue
            if self._is_of_another(named.end, span[0]):
                continue
            owner = self._owner(asked, named, mentioned)
            if owner is not None and not self._hinted(owner, named, sentence):
                found.append(Misplaced(span, owner.label, self._spelled(named)))
        return tuple(found)

    def _owner(self, asked: Asked, named: Mention, mentioned: Sequence[Row]) -> Row | None:
        """The row that carries the value in place of the named ones; None when it is not misplaced."""
        if any(asked.carried_by(_carried(row)) for row in self._kin(mentioned)):
            return None
        owners: list[Row] = []
        for tables in asked.tables:
            for row in tables.rows:
                self._searches -= 1
                if self._searches < 0:
                    return None
                if not asked.carried_by(_carried(row)):
                    continue
                own = [other for other in named.rows if other.table is row.table]
                if not own or not any(
                    all(name in other.cells for other in own) and asked.carried_by(_leaf(name, cells))
                    for name, cells in row.cells.items()
                ):
                    return None
                owners.append(row)
        return self._nearest(owners)

    def _labelled(self, start: int, named: Mention, sentence: Sentence) -> bool:
        """Whether a label directly before the value, which is no field's, says what the value is of."""
        label = _LABEL.search(self._text, max(sentence.start, start - _LOOK_BACK), start)
        if label is None or (label.start() < named.end and named.start < label.end()):
            return False
        words = [singular(word.lower()) for word in keys_of(label[0])]
        fields = {part for row in named.rows for name in row.cells for part in words_of_field(name)}
        return not any(similarity(word, part) for word in words for part in fields)

    def _hinted(self, owner: Row, named: Mention, sentence: Sentence) -> bool:
        """Whether the sentence says a word of the owner's name that is none of the named row's."""
        own = {word.lower() for row in named.rows for name in row.names for word in keys_of(name)}
        hints = {word.lower() for name in owner.names for word in keys_of(name) if len(word) > 2} - own
        return any(word.lower() in hints for word in keys_of(self._text[sentence.start : sentence.end]))

    def _kin(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, those around them and those inside them."""
        wanted = set(rows)
        around = {above for row in wanted for above in _above(row)}
        yield from wanted
        yield from around
        for tables in self._tables:
            for row in tables.rows:
                if any(above in wanted for above in _above(row)):
                    yield row

    # --- small numbers

    def small_numbers(self) -> SmallNumbers:
        """The small numbers of the answer that are about a row."""
        if self._sentences is None:
            return SmallNumbers()
        counts = [count for count in counts_of(self._text)[:MAX_COUNTS] if not self._compound(count)]
        if all(count.article for count in counts):
            return SmallNumbers()  # "a" and "an" count only beside other counts
        uses: list[tuple[Count, Sentence, Mention]] = []
        for count in counts:
            sentence = self._sentences.at(count.start)
            before = [mention for mention in sentence.mentions if mention.end <= count.start or sentence.inherited]
            if 0 < len(sentence.mentions) <= MAX_NAMED and not _inside((count.start, count.end), sentence.mentions):
                named = before[-1] if before else sentence.mentions[0]
                if len(named.rows) <= MAX_ROWS_NAMED:
                    uses.append((count, sentence, named))
        fields = Fields((count, named.rows) for count, _, named in uses)
        judged: dict[tuple[int, int], list[_Judged]] = {}
        for count, sentence, _ in uses:
            one = self._judge(count, sentence, fields, counts)
            if one is not None:
                judged.setdefault((sentence.start, one.named.start), []).append(one)
        found: list[SmallNumber] = []
        carried: dict[int, Row] = {}
        for group in judged.values():
            wrong = [one for one in group if not one.agrees]
            carried.update((one.count.start, one.named.rows[0]) for one in group if one.agrees)
            other = _one_other_row(group) if len(wrong) > 1 else None
            if other is not None:
                # Of the one that does not fit nobody can say whose it is.
                fitting = [one for one in wrong if one in other.fits]
                carried.update((one.count.start, other.row) for one in fitting[1:])
                wrong = fitting[:1]
            owner = other.row if other is not None else None
            found.extend(small for one in wrong if (small := self._small(one, owner)) is not None)
        return SmallNumbers(tuple(found), carried)

    def _judge(self, count: Count, sentence: Sentence, fields: Fields, counts: Sequence[Count]) -> _Judged | None:
        rows = [row for mention in sentence.mentions for row in mention.rows]
        columns = fields.of(count, rows)
        if not columns or (count.article and not _listed(count, counts)):
            return None
        having = [mention for mention in sentence.mentions if _has(mention, columns)]
        before = [mention for mention in having if mention.end <= count.start or sentence.inherited]
        named = before[-1] if before else _only(having)
        if named is None or len(named.rows) > MAX_ROWS_NAMED or self._side_by_side(named, sentence):
            return None
        if self._refers((count.start, count.end), sentence) or self._is_of_another(named.end, count.start):
            return None
        own = {row.table for row in named.rows}
        others = [mention for mention in having if own.isdisjoint(row.table for row in mention.rows)]
        agrees = any(_carries(mention.rows, count, columns) for mention in (named, *others))
        return _Judged(count, named, columns, agrees)

    def _small(self, one: _Judged, owner: Row | None) -> SmallNumber | None:
        count, named = one.count, one.named
        owner = owner or self._nearest(one.owners)
        carrier = owner
        if carrier is None:
            tables = dict.fromkeys(row.table for row in named.rows)
            elsewhere = (index.get(count.number) for table in tables for index in table.index.values())
            carrier = next((rows[0] for rows in elsewhere if rows), None)
        if carrier is None:
            return None
        place = Misplaced((count.start, count.end), owner.label if owner else "", self._spelled(named))
        spelled = self._text[count.start : count.end]
        return SmallNumber(spelled, " ".join((spelled, *count.words[:1])).lower(), place, carrier)

    def _compound(self, count: Count) -> bool:
        """Whether a number and its word only describe the word after them ("a three-point line", "a 33-point quarter")."""
        if count.slot or count.glue != "-":
            return False
        return count.worded or _COMPOUND.match(self._text, count.end) is not None

    def _side_by_side(self, named: Mention, sentence: Sentence) -> bool:
        place = sentence.mentions.index(named)
        if place == 0:
            return False
        before = sentence.mentions[place - 1]
        return _AND.fullmatch(self._text, before.end, named.start) is not None

    def _refers(self, span: tuple[int, int], sentence: Sentence) -> bool:
        """Whether words beside a value say that it sums up, looks back or is of another thing."""
        start, end = span
        first = max(sentence.start, start - _LOOK_BACK)
        before = any(words.search(self._text, first, start) is not None for words in (_SUMS_UP, _REFERS))
        return before or _REFERS_AFTER.match(self._text, end) is not None

    def _is_of_another(self, end: int, start: int) -> bool:
        """Whether between a name and a number another clause begins with a name that no row has."""
        return end < start and _ANOTHER.search(self._text, end, start) is not None

    def _nearest(self, owners: Sequence[Row]) -> Row | None:
        """One of the rows that the answer names, else the first."""
        if len(owners) > 1:
            named = {row for mention in self._mentions for row in mention.rows}
            return next((row for row in owners if row in named), owners[0])
        return owners[0] if owners else None

    def _spelled(self, mention: Mention) -> str:
        start = mention.start - self._text.startswith("#", max(0, mention.start - 1))
        return self._text[start : mention.end]


@dataclass(frozen=True, slots=True)
class _Judged:
    count: Count
    named: Mention
    columns: frozenset[Column]
    agrees: bool

    @property
    def owners(self) -> list[Row]:
        """The rows beside the named ones that carry the number in such a field, in order."""
        return [
            row
            for table in dict.fromkeys(row.table for row in self.named.rows)
            for name in table.fields
            if (table, name) in self.columns
            for row in table.index.get(name, {}).get(self.count.number, ())
        ]


def _only(mentions: Sequence[Mention]) -> Mention | None:
    """The one thing that is named, be it by several names ("Air Purifier (item 8302289002)"); None for none or more."""
    if not mentions:
        return None
    shared = [row for row in mentions[0].rows if all(row in mention.rows for mention in mentions[1:])]
    if not shared or len(shared) > MAX_ROWS_NAMED:
        return None
    return Mention(mentions[0].start, mentions[0].end, tuple(shared))


def _inside(span: tuple[int, int], mentions: Sequence[Mention]) -> bool:
    return any(mention.start < span[1] and span[0] < mention.end for mention in mentions)


def _has(mention: Mention, columns: frozenset[Column]) -> bool:
    return any(row.table is table and name in row.cells for table, name in columns for row in mention.rows)


def _carries(rows: Iterable[Row], count: Count, columns: frozenset[Column]) -> bool:
    wanted = set(rows)
    return any(row in wanted for table, name in columns for row in table.index.get(name, {}).get(count.number, ()))


@dataclass(frozen=True, slots=True)
class _Other:
    """Another row that carries nearly all numbers of a sentence, and those."""

    row: Row
    fits: tuple[_Judged, ...]


def _one_other_row(group: Sequence[_Judged]) -> _Other | None:
    """The row that is meant where the name is what is wrong: all numbers fit it, or three or more and all but one."""
    fits: dict[Row, list[_Judged]] = {}
    for one in group:
        named = set(one.named.rows)
        for row in dict.fromkeys(row for row in one.owners if row not in named):
            fits.setdefault(row, []).append(one)
    best = max(fits.items(), key=lambda found: len(found[1]), default=None)
    if best is None or len(best[1]) <= max(1, sum(one.agrees for one in group)):
        return None
    missing = len(group) - len(best[1])
    if not missing or (missing == 1 and len(best[1]) > 2):
        return _Other(best[0], tuple(best[1]))
    return None


def _listed(count: Count, counts: Sequence[Count]) -> bool:
    """Whether "a", "an" or "no" counts: it stands in a list of counts."""
    return any(
        other.words[:1] != count.words[:1]
        and not other.article
        and (0 <= count.start - other.end < _NEXT_TO or 0 <= other.start - count.end < _NEXT_TO)
        for other in counts
    )


def _above(row: Row) -> Iterator[Row]:
    above = row.around
    while above is not None:
        yield above
        above = above.around


def _carried(row: Row) -> Carried:
    if not isinstance(row.carried, Carried):
        row.carried = Carried(
            json.dumps({name: [_raw(cell) for cell in cells] for name, cells in row.cells.items()}, ensure_ascii=False),
            result=True,
        )
    return row.carried


def _leaf(name: str, cells: Sequence[str]) -> Carried:
    return Carried(json.dumps({name: [_raw(cell) for cell in cells]}, ensure_ascii=False), result=True)


def _raw(cell: str) -> str | float:
    found = number(cell) if "," not in cell else None
    return cell if found is None or str(found) != cell else float(found) if "." in cell else int(found)
