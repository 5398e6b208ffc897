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
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence import families as ways
from otel_footprint.core.evidence.equations import Equation, equations
from otel_footprint.core.evidence.families import Family
from otel_footprint.core.evidence.normal import fold, tokens
from otel_footprint.core.evidence.rows import Row
from otel_footprint.core.evidence.search import Found, Target, search
from otel_footprint.core.evidence.sources import CallMade, Source
from otel_footprint.core.evidence.stated import Operand, Stated, Unit, numeric
from otel_footprint.core.evidence.verdicts import Derivation, Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.extract import Extraction
    from otel_footprint.core.evidence.judge import Finding

ACCOUNTED: Final[frozenset[Status]] = frozenset({"said", "read", "respelled", "computed"})
BUDGETS: Final = (1.0, 4.0, 12.0, 40.0, 400.0)
MAX_ROW_TEXT: Final = 2_000_000
"""Characters of results whose rows are read for one answer; more makes the answer's arithmetic bounded."""
MAX_TARGETS: Final = 60
MAX_REMEMBERED: Final = 2_000

_DAYS: Final = re.compile(
    r"(?:\b(\d{1,3}|one|two|three|four|five|six|seven|ten)\b[\s-](?:business[\s-]|calendar[\s-])?days?\b)|(next[\s-]day|day after"
    r"|following[\s-]day|tomorrow|overnight|\+1)|(day before|previous[\s-]day|yesterday)|(\bweek\b)",
    re.IGNORECASE,
)
_WORDS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}


class Deriver:
    """The derivations of one conversation; it remembers what earlier answers computed."""

    def __init__(self) -> None:
        self._computed: dict[tuple[Unit, Decimal], Derivation] = {}

    def fork(self) -> Deriver:
        """A copy that goes its own way."""
        other = Deriver()
        other._computed = dict(self._computed)
        return other

    def derive(
        self,
        extraction: Extraction,
        findings: Sequence[Finding],
        window: Sequence[Source],
        calls: Sequence[CallMade],
    ) -> bool:
        """Give ``computed`` (or a derivation that may be chance) to what it reaches; True when the work bound was hit."""
        targets = [finding for finding in findings if finding.status is None]
        if not targets:
            return False
        _shifted_dates(extraction.text, targets, findings)
        numbers = [finding for finding in targets if finding.status is None and numeric(finding.candidate) is not None]
        if not numbers:
            return False
        for finding in numbers:
            self._recall(finding)
        attempt = _Attempt(extraction, findings, window, calls)
        attempt.run(numbers[:MAX_TARGETS])
        for finding in numbers:
            if finding.status == "computed" and finding.derivation is not None:
                read = numeric(finding.candidate)
                if read is not None and len(self._computed) < MAX_REMEMBERED:
                    self._computed.setdefault((read[1], read[0]), finding.derivation)
        return attempt.bounded and any(finding.status is None for finding in numbers)

    def _recall(self, finding: Finding) -> None:
        read = numeric(finding.candidate)
        known = None if read is None else self._computed.get((read[1], read[0]))
        if known is not None:
            finding.status, finding.derivation = "computed", known


class _Attempt:
    """One answer's chain of derivations. Rows are read only when the answer's own numbers do not do."""

    def __init__(
        self, extraction: Extraction, findings: Sequence[Finding], window: Sequence[Source], calls: Sequence[CallMade]
    ) -> None:
        self.extraction = extraction
        self.stated = Stated(extraction, findings)
        self.window = window
        self.calls = calls
        self.bounded = False
        self._rows: list[Row] | None = None
        self._named: list[Row] | None = None
        self._lengths: tuple[int, ...] | None = None
        self._checked = list(equations(extraction.text))
        self._wrong: set[int] = set()

    def run(self, targets: Sequence[Finding]) -> None:
        open_targets = [finding for finding in targets if finding.status is None]
        for budget in BUDGETS:
            changed = True
            while changed and open_targets:
                changed = False
                for finding in open_targets:
                    if self._try(finding, budget):
                        changed = True
                open_targets = [finding for finding in open_targets if finding.status is None]

    def _try(self, finding: Finding, budget: float) -> bool:
        """Try one value; True when it became computed."""
        if id(finding) in self._wrong:
            return False
        read = numeric(finding.candidate)
        if read is None or read[0] == 0:
            return False
        number, unit, unit_name = read
        written = self._written(finding, number)
        if written is not None:
            if not written.holds:
                self._wrong.add(id(finding))
                finding.derivation = None
                return False
            if self._sound(written):
                finding.status = "computed"
                finding.derivation = Derivation("equation", tuple(ways.spelled(one) for _, one in written.operands))
                return True
            return False
        target = Target(number, _decimals(number, unit, finding), rounds=unit in ("percent",))
        for place in [operand for operand in self.stated.operands if operand.finding is finding][:2]:
            found = search(target, self._families(place, unit, unit_name), budget)
            if found is not None:
                finding.derivation = found.derivation
                if found.answer == "computed":
                    finding.status = "computed"
                    self._use(found, place)
                    return True
        return False

    def _written(self, finding: Finding, number: Decimal) -> Equation | None:
        for equation in self._checked:
            if equation.stated == number and any(start <= equation.at < end for start, end in finding.candidate.spans):
                return equation
        return None

    def _sound(self, equation: Equation) -> bool:
        """Whether no operand of the equation is a value that nothing accounts for."""
        for at, _ in equation.operands:
            for operand in self.stated.operands:
                if operand.start <= at < operand.end and operand.finding.status not in ACCOUNTED:
                    return False
        return True

    def _use(self, found: Found, target: Operand) -> None:
        """Operands that entered a sum are worse ones for the next."""
        if found.derivation.name.startswith("difference"):
            return
        used = set(found.derivation.inputs)
        for operand in self.stated.operands:
            if operand is not target and ways.spelled(operand.number) in used:
                operand.used += 1

    def _families(self, place: Operand, unit: Unit, unit_name: str | None) -> list[Family]:
        text_at = place.start
        near = [
            operand
            for operand in self.stated.operands
            if operand.finding is not place.finding
            and operand.finding.status in ACCOUNTED
            and _compatible(operand, unit, unit_name)
        ]
        ranked = ways.nearest(near, text_at)
        if unit == "percent":
            others = [
                operand
                for operand in self.stated.operands
                if operand.unit in ("money", "number") and operand.finding.status in ACCOUNTED
            ]
            values = [operand.number for operand in ways.nearest(others, text_at)][:8]
            hundred = Decimal(100)
            return [
                Family(
                    "complement", 1, lambda: ((hundred - one.number, (ways.spelled(one.number),)) for one in ranked)
                ),
                Family("percentage", 1, lambda: ways.shares(values)),
                Family("sum", 2, lambda: ways.runs(near, text_at)),
                Family("difference", 2, lambda: ways.pairs(ranked)),
            ]
        counts = self._counts(text_at)
        found = [
            Family("sum", 1, lambda: ways.runs(near, text_at)),
            Family("sum", 1, lambda: ways.groups(near, place)),
            Family("sum", 1.5, lambda: ways.item_ends(near, place)),
            Family("difference", 1, lambda: ways.pairs(ranked)),
            Family("count times value", 2, lambda: ways.counted(ranked, counts)),
            Family("count times sum", 6, lambda: ways.sums_with_counts(ranked, counts)),
            Family("sum and difference", 8, lambda: ways.twice(ranked)),
        ]
        if unit == "duration":
            found.append(Family("duration", 1, lambda: ways.clock_spans(self.named)))
            found.append(Family("duration", 3, lambda: ways.clock_spans(self.rows)))
            return found
        if unit == "quantity":
            return found
        money = unit == "money"
        found += [
            Family("column sum", 2, lambda: ways.named_columns(self.named, money=money)),
            Family("difference of rows", 4, lambda: ways.named_pairs(self.named, money=money)),
            Family("column sum", 5, lambda: ways.whole_columns(self.rows, money=money)),
            Family("count times field", 8, lambda: ways.cells_with_counts(self.named, counts, money=money)),
            Family("sum of rows", 10, lambda: ways.named_triples(self.named, money=money)),
        ]
        if not money:
            found.append(Family("count of rows", 2, lambda: ways.row_lengths(self.rows)))
        return found

    def _counts(self, at: int) -> tuple[int, ...]:
        near = sorted(self.stated.counts, key=lambda count: abs(count[0] - at))
        ordered = dict.fromkeys(count for _, count in near)
        ordered.update(dict.fromkeys(self.lengths))
        ordered.pop(1, None)
        return tuple(ordered)[:5]

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the lists in named rows (passengers of a reservation)."""
        if self._lengths is None:
            self._lengths = tuple(
                dict.fromkeys(length for row in self.named for length in row.lists.values() if 1 < length <= 12)
            )
        return self._lengths

    @property
    def rows(self) -> list[Row]:
        """All rows of the window, newest result first."""
        if self._rows is None:
            self._rows = []
            room = MAX_ROW_TEXT
            for source in reversed(self.window):
                room -= len(source.carried.text)
                if room < 0:
                    self.bounded = True
                    break
                self._rows += source.carried.rows
        return self._rows

    @property
    def named(self) -> list[Row]:
        """The rows that the answer, or the last call's arguments, name."""
        if self._named is None:
            naming = fold(self.extraction.text)
            if self.calls:
                naming += "\n" + self.calls[-1].carried.haystack.folded
            words = {token.form for token in tokens(naming)}
            self._named = [row for row in self.rows if any(_is_named(name, words, naming) for name in row.names)]
        return self._named


def _is_named(name: str, words: set[str], naming: str) -> bool:
    bare = name.strip("#")
    return bare in words or (" " in bare and bare in naming)


def _compatible(operand: Operand, unit: Unit, unit_name: str | None) -> bool:
    if unit == "number":
        return operand.unit in ("number", "money")
    if unit == "quantity":
        return operand.unit == "quantity" and operand.unit_name == unit_name
    return operand.unit == unit


def _decimals(number: Decimal, unit: Unit, finding: Finding) -> int:
    value = finding.candidate.value
    if unit == "duration":
        return -1 if number % 60 == 0 else 0
    if value is not None and value.decimals is not None and value.decimals < 0 and unit != "quantity":
        return value.decimals
    exponent = number.as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) else 0
    if unit == "money" and 0 < decimals < 2:
        return 2
    return max(decimals, 0)


def _shifted_dates(text: str, targets: Sequence[Finding], findings: Sequence[Finding]) -> None:
    """A date that is an accounted date plus or minus a number of days that the text states."""
    wanted = [(finding, _calendar(finding)) for finding in targets if finding.candidate.shape in ("date", "datetime")]
    if not any(day for _, day in wanted):
        return
    shifts = _shifts(text)
    if not shifts:
        return
    known = [day for finding in findings if finding.status in ACCOUNTED and (day := _calendar(finding)) is not None]
    for finding, day in wanted:
        if day is None:
            continue
        for start in known:
            for shift in shifts:
                if start + timedelta(days=shift) == day:
                    finding.status = "computed"
                    finding.derivation = Derivation("date plus days", (start.isoformat(), str(shift)))


def _shifts(text: str) -> tuple[int, ...]:
    found: dict[int, None] = {}
    for match in _DAYS.finditer(text):
        count, after, before, week = match.groups()
        if count:
            days = _WORDS.get(count.lower()) or int(count)
            found |= {days: None, -days: None}
        elif after:
            found[1] = None
        elif before:
            found[-1] = None
        elif week:
            found |= {7: None, -7: None}
    return tuple(found)[:12]


def _calendar(finding: Finding) -> date | None:
    value = finding.candidate.value
    if value is None:
        return None
    for one in (value, *value.parts):
        for key in one.asked:
            if isinstance(key, tuple) and len(key) == 4 and key[0] == "date":
                try:
                    return date(key[1], key[2], key[3])
                except ValueError:
                    return None
    return None
