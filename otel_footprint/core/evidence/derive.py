"""Reach values by the closed set of derivations, and say how: the chain over one answer, and what earlier answers computed.

Rules
-----
- Operands come from the answer itself (values that are accounted for) first, then from rows that the answer or the last
  call names, then from whole columns. A value that becomes computed is an operand for the next: repeat until nothing
  changes, with a small budget for every value before a larger one for any.
- Identifiers, dates and small counts are never derived from arithmetic; a date only as a carried date plus or minus a
  stated number of days.
- An equation written out beside a value is checked: when it gives the value, that is the derivation; when it does not,
  nothing else is tried.
- A value computed in an earlier answer stays computed when a later answer repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence import families as ways
from otel_footprint.core.evidence.equations import Equation, equations
from otel_footprint.core.evidence.families import Family
from otel_footprint.core.evidence.normal import fold, tokens
from otel_footprint.core.evidence.rows import Cell, Row
from otel_footprint.core.evidence.search import Effort, Found, Target, search
from otel_footprint.core.evidence.shifted import shifted_dates
from otel_footprint.core.evidence.sources import CallMade, Source
from otel_footprint.core.evidence.stated import ACCOUNTED, Operand, Stated, Unit, numeric
from otel_footprint.core.evidence.verdicts import Derivation, Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.extract import Extraction
    from otel_footprint.core.evidence.judge import Finding

BUDGETS: Final = (1.0, 4.0, 12.0, 40.0, 400.0)
MAX_ROW_TEXT: Final = 400_000
"""Characters of results whose rows are read for one answer; more makes the answer's arithmetic bounded."""
MAX_TARGETS: Final = 60
MAX_EFFORT: Final = 20_000
"""Results of derivations that one answer may cost; a long answer full of arithmetic takes a thousand."""
MAX_REMEMBERED: Final = 2_000

MAX_COUNT_DISTANCE: Final = 400
MAX_STATED_BEFORE: Final = 12
MAX_TEXT_BEFORE: Final = 4_000
MAX_NAMING_CALLS: Final = 12
_TOTAL: Final = re.compile(r"\b(?:total|all|combined|sum|altogether|together|balances?)\b")
_REST: Final = re.compile(r"\b(?:remain\w*|rest|other|left|off|instead|missing|balance)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around an answer: the results, the calls made, and the last words that were said to the model.

    ``accounted`` are the statuses whose values may be operands.
    """

    window: Sequence[Source]
    calls: Sequence[CallMade]
    last_said: str
    turn: int
    accounted: frozenset[Status] = ACCOUNTED


class Deriver:
    """The derivations of one conversation; it remembers what earlier answers computed and stated."""

    def __init__(self) -> None:
        self._computed: dict[tuple[Unit, Decimal], Derivation] = {}
        self._stated_before: tuple[tuple[Unit, Decimal], ...] = ()
        self._text_before = ""

    def fork(self) -> Deriver:
        """A copy that goes its own way."""
        other = Deriver()
        other._computed = dict(self._computed)
        other._stated_before = self._stated_before
        other._text_before = self._text_before
        return other

    def derive(self, extraction: Extraction, findings: Sequence[Finding], around: Surroundings) -> bool:
        """Give ``computed`` (or a derivation that may be chance) to what it reaches; True when the work bound was hit."""
        numbers: list[Finding] = []
        bounded = False
        if any(finding.status is None for finding in findings):
            shifted_dates(extraction.text, findings, around.window)
            numbers = [
                finding for finding in findings if finding.status is None and numeric(finding.candidate) is not None
            ]
        if numbers:
            for finding in numbers:
                self._recall(finding)
            attempt = _Attempt(extraction, findings, around, self._stated_before, self._text_before)
            attempt.run(numbers[:MAX_TARGETS])
            bounded = attempt.bounded and any(finding.status is None for finding in numbers)
        self._remember(extraction.text, findings)
        return bounded

    def derive_from_gone(
        self, extraction: Extraction, findings: Sequence[Finding], around: Surroundings
    ) -> list[Finding]:
        """The values that only numbers which have left the window reach; nothing is remembered of them."""
        numbers = [finding for finding in findings if finding.status is None and numeric(finding.candidate) is not None]
        before = [(finding, finding.derivation) for finding in numbers]
        if numbers:
            _Attempt(extraction, findings, around, self._stated_before, self._text_before).run(numbers[:MAX_TARGETS])
        for finding, derivation in before:
            if finding.status is None:
                finding.derivation = derivation
        return [finding for finding in numbers if finding.status is not None]

    def _recall(self, finding: Finding) -> None:
        read = numeric(finding.candidate)
        known = None if read is None else self._computed.get((read[1], read[0]))
        if known is not None:
            finding.status, finding.derivation = "computed", known

    def _remember(self, text: str, findings: Sequence[Finding]) -> None:
        stated: list[tuple[Unit, Decimal]] = []
        for finding in findings:
            read = numeric(finding.candidate)
            if read is None or finding.status not in ACCOUNTED:
                continue
            number, unit, _ = read
            stated.append((unit, number))
            if finding.status == "computed" and finding.derivation is not None and len(self._computed) < MAX_REMEMBERED:
                self._computed.setdefault((unit, number), finding.derivation)
        if stated:
            self._stated_before = tuple(stated[-MAX_STATED_BEFORE:])
        self._text_before = text[:MAX_TEXT_BEFORE]


class _Attempt:
    """One answer's chain of derivations. Rows are read only when the answer's own numbers do not do."""

    def __init__(
        self,
        extraction: Extraction,
        findings: Sequence[Finding],
        around: Surroundings,
        stated_before: tuple[tuple[Unit, Decimal], ...],
        text_before: str,
    ) -> None:
        self.extraction = extraction
        self.stated = Stated(extraction, findings)
        self.around = around
        self.stated_before = stated_before
        self.text_before = text_before
        self.bounded = False
        self._effort = Effort(MAX_EFFORT)
        self._written = {equation.at: equation for equation in equations(extraction.text)}
        self._closed: set[int] = set()
        self._round = 0
        self._tried: dict[int, int] = {}  # the round after which a value was given up for good
        self._fields_said: dict[str, bool] = {}

    def run(self, targets: Sequence[Finding]) -> None:
        open_targets = [finding for finding in targets if finding.status is None]
        for budget in BUDGETS:
            changed = True
            while changed and open_targets:
                changed = False
                for finding in open_targets:
                    if self._effort.left <= 0:
                        self.bounded = True
                        return
                    if id(finding) not in self._closed and self._tried.get(id(finding)) != self._round:
                        changed = self._try(finding, budget) or changed
                open_targets = [finding for finding in open_targets if finding.status is None]

    def _try(self, finding: Finding, budget: float) -> bool:
        """Try one value; True when it became computed."""
        read = numeric(finding.candidate)
        if read is None or read[0] == 0:
            self._closed.add(id(finding))
            return False
        number, unit, unit_name = read
        written = self._equation_of(finding, number)
        if written is not None:
            return self._check(finding, written)
        target = Target(number, precision(number, unit, finding), rounds=unit == "percent")
        unreached = 0
        places = self.stated.of(finding)[:2]
        for place in places:
            self._effort.left -= len(self.stated.operands) // 4
            found = search(target, self._families(place, unit, unit_name), budget, self._effort)
            if isinstance(found, str):
                unreached += found == "for good"
                continue
            finding.derivation = found.derivation
            if found.answer == "computed":
                finding.status = "computed"
                self._round += 1
                self._use(found, place)
                return True
        if unreached == len(places):
            self._tried[id(finding)] = self._round
        return False

    def _check(self, finding: Finding, written: Equation) -> bool:
        if not written.holds:
            self._closed.add(id(finding))
            finding.derivation = None
            return False
        if not self._sound(written):
            return False
        finding.status = "computed"
        finding.derivation = Derivation("equation", tuple(ways.spelled(one) for _, one in written.operands))
        self._round += 1
        return True

    def _equation_of(self, finding: Finding, number: Decimal) -> Equation | None:
        if self._written:
            for start, end in finding.candidate.spans:
                for at in range(start, min(end, start + 12)):
                    equation = self._written.get(at)
                    if equation is not None and equation.stated == number:
                        return equation
        return None

    def _sound(self, equation: Equation) -> bool:
        """Whether no operand of the equation is a value that nothing accounts for."""
        operands = (self.stated.at(at) for at, _ in equation.operands)
        return all(operand is None or operand.finding.status in self.around.accounted for operand in operands)

    def _use(self, found: Found, target: Operand) -> None:
        """Operands that entered a sum are worse ones for the next; what a difference was taken from is a better one."""
        taken_from = found.derivation.name == "difference"
        for spelled in found.derivation.inputs:
            same = [
                operand
                for operand in self.stated.operands
                if operand is not target and ways.spelled(operand.number) == spelled
            ]
            if not same:
                continue
            nearest = min(same, key=lambda operand: abs(operand.start - target.start))
            if taken_from:
                nearest.base += 1
            else:
                nearest.used += 1

    def _families(self, place: Operand, unit: Unit, unit_name: str | None) -> list[Family]:
        at = place.start
        near = [
            operand
            for operand in self.stated.operands
            if operand.finding is not place.finding
            and operand.finding.status in self.around.accounted
            and self._compatible(operand, unit)
        ]
        if unit == "percent":
            return self._percent_families(place, near)
        if unit == "quantity":
            return []
        if unit == "duration":
            return [
                Family("sum", 1, lambda: ways.groups(near, place)),
                Family("duration", 1, lambda: ways.clock_spans(self.named)),
                Family("duration", 4, lambda: ways.clock_spans(self.rows)),
            ]
        if unit == "number":
            return self._number_families(place, near)
        ranked = ways.nearest(near, at)
        counts = self._counts(at)
        here = [number for kind, number in self.stated_before if kind == unit]
        # What entered a sum before, and what is a sum itself, is less likely an addend of the next.
        fresh = [operand for operand in near if not operand.used]
        leaves = [operand for operand in fresh if operand.finding.status != "computed"]
        return [
            Family("sum", 1, lambda: ways.runs(leaves, at)),
            Family("sum", 1, lambda: ways.runs(fresh, at)),
            Family("sum", 1, lambda: ways.groups(fresh, place)),
            Family("sum", 3, lambda: ways.groups(near, place)),
            Family("sum", 3, lambda: ways.runs(near, at)),
            Family("sum or difference of items", 1, lambda: ways.item_ends(fresh, place)),
            Family("difference of field", 1, lambda: ways.from_fields(ranked, self._named_beside(place))),
            Family("difference", 1, lambda: ways.neighbour_differences(near, place)),
            Family("difference of variants", 1, lambda: ways.kin_differences(ranked, self.by_number, self.by_name)),
            Family("column sum", 1, lambda: ways.owned_columns(self.owned, money=True)),
            Family("column sum", 1, lambda: ways.named_columns(self._named_beside(place), money=True)),
            Family("count times value", 1, lambda: ways.counted(ranked, counts)),
            Family("difference", 2, lambda: ways.pairs(ranked)),
            Family("count times field", 2, lambda: ways.fields_counted(self._named_beside(place), counts)),
            Family("sum of group", 1, lambda: ways.tagged_sums(self.rows, self._words_beside(place), money=True)),
            Family("column sum", 2, lambda: ways.named_columns(self.named, money=True)),
            Family("count times sum", 2, lambda: ways.runs_counted(near, at, counts)),
            Family("count times column sum", 3, lambda: ways.columns_counted(self.owned, counts, money=True)),
            Family("remainder", 4, lambda: ways.remainders(near, at)),
            Family("difference from column sum", 3, lambda: ways.from_columns(ranked, self.owned)),
            Family("difference of rows", 4, lambda: ways.named_pairs(self.named, money=True)),
            Family("difference", 4, lambda: ways.with_others(ranked, here[::-1])),
            Family("column sum", 8, lambda: ways.owned_columns(self.rows, money=True)),
            Family("sum and difference", 8, lambda: ways.twice(ranked)),
            Family("sum of rows", 10, lambda: ways.named_triples(self.named, money=True)),
        ]

    def _number_families(self, place: Operand, near: Sequence[Operand]) -> list[Family]:
        """A number without a unit may be an id, so it is only a sum or a count, never a difference or a product."""
        counted = [operand for operand in near if operand.unit == "number"]
        return [
            Family("sum", 1, lambda: ways.runs(counted, place.start)),
            Family("sum", 1, lambda: ways.groups(counted, place)),
            Family("count of rows", 1, lambda: ways.row_lengths(self.rows)),
            Family("column sum", 1, lambda: ways.owned_columns(self.owned, money=False)),
            Family("column sum", 2, lambda: ways.named_columns(self.named, money=False)),
            Family("sum of group", 1, lambda: ways.tagged_sums(self.rows, self._words_beside(place), money=False)),
            Family("column sum", 5, lambda: ways.owned_columns(self.rows, money=False)),
        ]

    def _compatible(self, operand: Operand, unit: Unit) -> bool:
        if operand.unit == unit:
            return True
        # A bare number of a JSON answer is money when that is what a result carries it as.
        return (
            unit == "money"
            and operand.unit == "number"
            and operand.key is not None
            and operand.number in self.by_number
        )

    def _percent_families(self, place: Operand, near: Sequence[Operand]) -> list[Family]:
        narrow = place.places[:1]
        amounts = [
            operand.number
            for operand in self.stated.operands
            if operand.unit in ("money", "number")
            and operand.finding.status in self.around.accounted
            and operand.places[:1] == narrow
        ]
        found = [
            Family("percentage", 1, lambda: ways.shares(amounts[:6])),
            Family("sum", 1, lambda: ways.groups(near, place)),
        ]
        if _REST.search(self.extraction.text[max(0, place.start - 60) : place.end + 40]):
            hundred = Decimal(100)
            found.append(
                Family("complement", 1, lambda: ((hundred - one.number, (ways.spelled(one.number),)) for one in near))
            )
        return found

    def _counts(self, at: int) -> tuple[int, ...]:
        near = sorted((abs(place - at), count) for place, count in self.stated.counts if count > 1)
        ordered = dict.fromkeys(count for distance, count in near if distance <= MAX_COUNT_DISTANCE)
        return tuple(dict.fromkeys((*tuple(ordered)[:3], *self.lengths[:2])))

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
            found += source.carried.rows
        return found

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

    def _words_beside(self, place: Operand) -> set[str]:
        """The words of the field or line a target stands in, joined words taken apart, plurals cut; a line must say "total"."""
        beside = fold(place.key) if place.key is not None else self._line(place)
        if place.key is None and not _TOTAL.search(beside):
            return set()
        pieces = [piece for piece in re.split(r"[^a-z]+", beside) if len(piece) > 2][:40]
        found = {piece.rstrip("s") for piece in pieces} | set(pieces)
        found.update(f"{one}_{other.rstrip('s')}" for one, other in pairwise(pieces))
        return found

    def _line(self, place: Operand) -> str:
        text = self.extraction.text
        start = text.rfind("\n", 0, place.start) + 1
        end = text.find("\n", place.end)
        return fold(text[max(start, place.start - 300) : min(end if end >= 0 else len(text), place.end + 300)])

    @cached_property
    def named(self) -> list[Row]:
        """The rows that the naming text names, with the amounts whose field it mentions where fields are alternatives."""
        found = [row for row in self.rows if any(_is_named(name, self.words, self.naming) for name in row.names)]
        return [self._mentioned(row) for row in found]

    @cached_property
    def owned(self) -> list[Row]:
        """The rows inside named rows."""
        return [
            self._mentioned(row)
            for row in self.rows
            if row.owner is not None and any(_is_named(name, self.words, self.naming) for name in row.owner.names)
        ]

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

    def _named_beside(self, place: Operand) -> list[Row]:
        """The rows named in the target's own line."""
        line = self._line(place) if place.key is None else fold(place.key)
        words = {token.form for token in tokens(line)}
        if place.key is not None:
            pieces = re.split(r"[_\-\s]+", line)
            words.update(pieces)
            words.update(
                "_".join(pieces[start:end]) for start in range(len(pieces)) for end in range(start + 2, start + 4)
            )
        return [row for row in self.named if any(_is_named(name, words, line) for name in row.names)]


def _is_named(name: str, words: set[str], naming: str) -> bool:
    bare = name.strip("#")
    return bare in words or (" " in bare and bare in naming)


def precision(number: Decimal, unit: Unit, finding: Finding) -> int:
    """The decimal places a value was stated with; negative where a k or M scales them away."""
    value = finding.candidate.value
    if value is not None and value.decimals is not None and (value.decimals < 0 or unit in ("duration", "quantity")):
        return value.decimals
    exponent = number.as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) else 0
    if unit == "money" and 0 < decimals < 2:
        return 2
    return max(decimals, 0)
