"""The numbers an answer states, with where they stand: the operands that arithmetic prefers.

Rules
-----
- Every occurrence of a numeric value is an operand of its own; one counts only while its value is accounted for.
- Places in prose: sentence, line, list item, list, block (between blank lines). Places in JSON: the object or list around
  a leaf, and the name of its field.
- Small counts (1 to 12, in digits or words) stand beside the operands: they only ever multiply.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from otel_footprint.core.evidence.answer_json import Piece
from otel_footprint.core.evidence.extract import Candidate, Extraction
from otel_footprint.core.evidence.rows import clean, is_money
from otel_footprint.core.evidence.verdicts import Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

Unit: TypeAlias = Literal["money", "percent", "number", "duration", "quantity"]

ACCOUNTED: Final[frozenset[Status]] = frozenset({"said", "read", "respelled", "computed"})
"""Statuses whose values may be operands."""
MAX_OPERANDS: Final = 400
_BREAKDOWN: Final = re.compile(r"\d\s{0,2}\([^()\n]{0,120}?\+[^()\n]{0,120}\)")
_PROSE_LEAF: Final = 80

_BREAK: Final = re.compile(r"[.!?](?=\s+[A-Z*\-#\d]|\s*$)|\n|;", re.MULTILINE)
_ITEM: Final = re.compile(r"^([ \t]*)(?:[-*•+–]|\d{1,2}[.)]|\(?[a-zA-Z][.)])[ \t]+", re.MULTILINE)
_BLANK: Final = re.compile(r"\n[ \t]*\n")
_COUNT: Final = re.compile(
    r"(?<![\w.,:/$#\-])(?:(1[0-2]|[1-9])|(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|each))(?![\w:/\-]|[.,]\d)",
    re.IGNORECASE,
)
_WORDS: Final = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
} | {"both": 2}


@dataclass(slots=True)
class Operand:
    """One occurrence of a number. ``number`` is its size without sign; ``places`` are the groups it stands in, narrow first.

    ``used`` counts the sums it entered, ``base`` the differences that were taken from it.
    """

    number: Decimal
    unit: Unit
    unit_name: str | None
    start: int
    end: int
    finding: Finding
    places: tuple[tuple[str, object], ...]
    key: str | None
    used: int = 0
    base: int = 0


@dataclass(slots=True)
class Layout:
    """Offsets at which the groups of a prose answer begin."""

    sentences: list[int]
    lines: list[int]
    items: list[int]
    blocks: list[int]

    @classmethod
    def of(cls, text: str) -> Layout:
        return cls(
            sentences=[0, *(match.end() for match in _BREAK.finditer(text))],
            lines=[0, *(match.end() for match in re.finditer(r"\n", text))],
            items=[match.start() for match in _ITEM.finditer(text)],
            blocks=[0, *(match.end() for match in _BLANK.finditer(text))],
        )

    def places(self, at: int) -> tuple[tuple[str, object], ...]:
        found: list[tuple[str, object]] = [
            ("sentence", bisect_right(self.sentences, at)),
            ("line", bisect_right(self.lines, at)),
        ]
        block = bisect_right(self.blocks, at)
        item = bisect_right(self.items, at)
        if item and self.items[item - 1] >= self.blocks[block - 1]:
            found.append(("item", item))
        found.append(("block", block))
        return tuple(found)


class Stated:
    """All numeric occurrences of one answer, in order, and the small counts beside them."""

    def __init__(self, extraction: Extraction, findings: Sequence[Finding]) -> None:
        text = extraction.text
        self.text = text
        operands: list[Operand] = []
        self._layout = Layout.of(text) if extraction.pieces is None else None
        self._layouts: dict[int, Layout] = {}
        self._pieces = {piece.start: piece for piece in extraction.pieces or ()}
        self._piece_starts = sorted(self._pieces)
        for finding in findings:
            read = numeric(finding.candidate)
            if read is None:
                continue
            number, unit, unit_name = read
            for start, end in finding.candidate.spans:
                key = finding.candidate.key if self._layout is not None else self._piece(start).key
                operands.append(Operand(number, unit, unit_name, start, end, finding, self.places(start), key))
                if len(operands) >= MAX_OPERANDS:
                    break
        operands.sort(key=lambda operand: operand.start)
        self._starts = [operand.start for operand in operands]
        self._of: dict[int, list[Operand]] = {}
        for operand in operands:
            self._of.setdefault(id(operand.finding), []).append(operand)
        breakdowns = [match.span() for match in _BREAKDOWN.finditer(text)]
        for operand in operands:
            # "$306 ($196 + $110)": what stands in the brackets is already in the value before them.
            if any(left < operand.start < right for left, right in breakdowns):
                operand.used += 1
        self.operands = operands
        self.counts = tuple(
            (match.start(), int(match.group(1)) if match.group(1) else _WORDS.get(match.group(2).lower(), 1))
            for match in _COUNT.finditer(text)
        )

    def of(self, finding: Finding) -> list[Operand]:
        """The occurrences of one value."""
        return self._of.get(id(finding), [])

    def places(self, at: int) -> tuple[tuple[str, object], ...]:
        """The groups in which a place of the answer stands, narrow first."""
        if self._layout is not None:
            return self._layout.places(at)
        return _json_places(self._piece(at), self._layouts, at)

    def _piece(self, at: int) -> Piece:
        return self._pieces[self._piece_starts[max(bisect_right(self._piece_starts, at) - 1, 0)]]

    def at(self, place: int) -> Operand | None:
        """The operand that covers a place of the text."""
        found = bisect_right(self._starts, place) - 1
        return self.operands[found] if found >= 0 and place < self.operands[found].end else None


def numeric(candidate: Candidate) -> tuple[Decimal, Unit, str | None] | None:
    """The number a candidate states, its unit; None for what is no number arithmetic may touch."""
    value = candidate.value
    if (
        value is not None
        and value.number is not None
        and value.kind in ("money", "percent", "duration", "quantity", "number")
    ):
        number = clean(value.number)
        if number is None:
            return None
        unit: Unit = value.kind
        if unit == "number" and is_money(candidate.key or "", number):
            unit = "money"
        return abs(number), unit, value.unit
    if candidate.shape == "number":
        try:
            number = Decimal(candidate.number_form or candidate.form)
        except ArithmeticError:
            return None
        return number, "money" if is_money(candidate.key or "", number) else "number", None
    return None


def _json_places(piece: Piece, layouts: dict[int, Layout], at: int) -> tuple[tuple[str, object], ...]:
    """Groups of a JSON answer: those within a long text leaf first, then the objects around it."""
    around = piece.path[:-1]
    places: list[tuple[str, object]] = []
    if len(piece.spelled) > _PROSE_LEAF:
        layout = layouts.get(piece.start)
        if layout is None:
            # A line break stands as its escape; two characters take the place of two.
            layout = layouts[piece.start] = Layout.of(piece.spelled.replace("\\n", " \n"))
        places += [(kind, (piece.start, place)) for kind, place in layout.places(at - piece.start)]
    elif at > piece.start:
        places.append(("sentence", piece.start))
    places += [("object", around[:depth]) for depth in range(len(around), -1, -1)]
    return tuple(places)
