"""One answer's chain of derivations: every open value tried against every family, cheap ones first, until nothing changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence import families as ways
from otel_footprint.core.evidence.bills import bills, line_totals
from otel_footprint.core.evidence.equations import Equation, equations
from otel_footprint.core.evidence.families import Family, Result
from otel_footprint.core.evidence.named_rows import NamedRows, Surroundings
from otel_footprint.core.evidence.replay import Replay
from otel_footprint.core.evidence.search import Effort, Found, Target, search
from otel_footprint.core.evidence.shifted import calendar_days
from otel_footprint.core.evidence.stated import Operand, Stated, Unit, numeric
from otel_footprint.core.evidence.stated_clocks import Clock, clocks_of, durations
from otel_footprint.core.evidence.verdicts import Derivation

if TYPE_CHECKING:
    from otel_footprint.core.evidence.extract import Extraction
    from otel_footprint.core.evidence.judge import Finding

BUDGETS: Final = (1.0, 4.0, 12.0, 40.0, 400.0)
MAX_EFFORT: Final = 20_000
"""Results of derivations that one answer may cost; a long answer full of arithmetic takes a thousand."""
MAX_COUNT_DISTANCE: Final = 400
_STEPS: Final = (86_400, 3_600, 60)
"""The largest of these, in seconds, that a stated duration is whole in, tells how exactly it was stated."""
_HOUR: Final = 3_600
_EXTREME: Final = re.compile(r"\b(?:lowest|cheapest|minimum|least|highest|maximum|most expensive)\b")
_REST: Final = re.compile(r"\b(?:remain\w*|rest|other|left|off|instead|missing|balance)\b", re.IGNORECASE)


class Attempt:
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
        self.findings = findings
        self.stated = Stated(extraction, findings)
        self.around = around
        self.stated_before = stated_before
        self.near_rows = NamedRows(extraction, around, text_before)
        self._spent = False
        self._effort = Effort(MAX_EFFORT)
        self._written = {equation.at: equation for equation in equations(extraction.text)}
        self._closed: set[int] = set()
        self._round = 0
        self._clocks_known: tuple[int, list[Clock]] = (-1, [])  # the times that are accounted for, as of which round
        self._tried: dict[int, int] = {}  # the round after which a value was given up for good
        rows = self.near_rows
        # What does not depend on the value is worked out once.
        self._of_owned = Replay(lambda: ways.owned_columns(rows.owned, money=True))
        self._of_named = Replay(lambda: ways.named_columns(rows.named, money=True))
        self._of_pairs = Replay(lambda: ways.named_pairs(rows.named, money=True))
        self._of_triples = Replay(lambda: ways.named_triples(rows.named, money=True))
        self._of_all = Replay(lambda: ways.owned_columns(rows.rows, money=True))
        self._numbers_owned = Replay(lambda: ways.owned_columns(rows.owned, money=False))
        self._numbers_named = Replay(lambda: ways.named_columns(rows.named, money=False))
        self._numbers_of_all = Replay(lambda: ways.owned_columns(rows.rows, money=False))
        self._spans = {
            (named, two): Replay(partial(self._row_spans, named, two))
            for named in (False, True)
            for two in (False, True)
        }
        self._row_lengths = Replay(lambda: ways.row_lengths(rows.rows))
        self._named_bills = Replay(lambda: bills(rows.lines_named))
        self._named_lines = Replay(lambda: line_totals(rows.lines_named))
        self._all_bills = Replay(lambda: bills(rows.lines))
        self._all_lines = Replay(lambda: line_totals(rows.lines))

    @property
    def bounded(self) -> bool:
        """Whether not everything was tried: too much text, or too much work."""
        return self._spent or self.near_rows.bounded

    def run(self, targets: Sequence[Finding]) -> None:
        open_targets = [finding for finding in targets if finding.status is None]
        for budget in BUDGETS:
            changed = True
            while changed and open_targets:
                changed = False
                for finding in open_targets:
                    if self._effort.left <= 0:
                        self._spent = True
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
        target = Target(number, _step(number, unit, finding), rounds=unit == "percent")
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
            line = self.near_rows.line(place)
            only = place.number % _HOUR == 0  # some two of many times are whole hours apart
            return [
                Family("sum", 1, lambda: ways.groups(near, place)),
                Family("duration between dates", 1, lambda: ways.date_spans(self._dates(at))),
                Family("duration between times", 0.25, lambda: durations(self._clocks(), place, line)),
                Family("duration", 1, lambda: iter(self._spans[True, only])),
                Family("duration", 4, lambda: iter(self._spans[False, only])),
            ]
        if unit == "number":
            return self._number_families(place, near)
        ranked = ways.nearest(near, at)
        counts = self._counts(at)
        here = [number for kind, number in self.stated_before if kind == unit]
        # What entered a sum before, and what is a sum itself, is less likely an addend of the next.
        fresh = [operand for operand in near if not operand.used]
        leaves = [operand for operand in fresh if operand.finding.status != "computed"]
        extremes = near if _EXTREME.search(self.near_rows.line(place)) else []
        return [
            Family("count times value", 1, lambda: ways.extremes_counted(extremes, counts)),
            Family("sum", 1, lambda: ways.runs(leaves, at)),
            Family("sum", 1, lambda: ways.runs(fresh, at)),
            Family("sum", 1, lambda: ways.groups(fresh, place)),
            Family("sum", 3, lambda: ways.groups(near, place)),
            Family("sum", 3, lambda: ways.runs(near, at)),
            Family("sum or difference of items", 1, lambda: ways.item_ends(fresh, place)),
            Family("difference of field", 1, lambda: ways.from_fields(ranked, self.near_rows.named_beside(place))),
            Family("difference", 1, lambda: ways.neighbour_differences(near, place)),
            Family(
                "difference of variants",
                1,
                lambda: ways.kin_differences(ranked, self.near_rows.by_number, self.near_rows.by_name),
            ),
            Family("column sum", 1, lambda: iter(self._of_owned)),
            Family("column sum", 1, lambda: ways.named_columns(self.near_rows.named_beside(place), money=True)),
            Family("count times value", 1, lambda: ways.counted(ranked, counts)),
            Family("difference", 2, lambda: ways.pairs(ranked)),
            Family("count times field", 2, lambda: ways.fields_counted(self.near_rows.named_beside(place), counts)),
            Family(
                "sum of group",
                1,
                lambda: self._tagged_sums(place, money=True),
            ),
            Family("column sum", 2, lambda: iter(self._of_named)),
            Family("sum of price times count", 2, lambda: iter(self._named_bills)),
            Family("price times count", 2, lambda: iter(self._named_lines)),
            Family("count times sum", 2, lambda: ways.runs_counted(near, at, counts)),
            Family("count times column sum", 3, lambda: ways.totals_counted(self._of_owned, counts)),
            Family("sum of price times count", 3, lambda: iter(self._all_bills)),
            Family("price times count", 4, lambda: iter(self._all_lines)),
            Family("remainder", 4, lambda: ways.remainders(near, at)),
            Family("difference from column sum", 3, lambda: ways.from_totals(ranked, self._of_owned)),
            Family("difference of rows", 4, lambda: iter(self._of_pairs)),
            Family("difference", 4, lambda: ways.with_others(ranked, here[::-1])),
            Family("column sum", 8, lambda: iter(self._of_all)),
            Family("sum and difference", 8, lambda: ways.twice(ranked)),
            Family("sum of rows", 10, lambda: iter(self._of_triples)),
        ]

    def _number_families(self, place: Operand, near: Sequence[Operand]) -> list[Family]:
        """A number without a unit may be an id, so it is only a sum or a count, never a difference or a product."""
        counted = [operand for operand in near if operand.unit == "number"]
        return [
            Family("sum", 1, lambda: ways.runs(counted, place.start)),
            Family("sum", 1, lambda: ways.groups(counted, place)),
            Family("count of rows", 1, lambda: iter(self._row_lengths)),
            Family("column sum", 1, lambda: iter(self._numbers_owned)),
            Family("column sum", 2, lambda: iter(self._numbers_named)),
            Family(
                "sum of group",
                1,
                lambda: self._tagged_sums(place, money=False),
            ),
            Family("column sum", 5, lambda: iter(self._numbers_of_all)),
        ]

    def _tagged_sums(self, place: Operand, *, money: bool) -> Iterator[Result]:
        words = self.near_rows.words_beside(place)
        return ways.tagged_sums(self.near_rows.tagged(words), words, money=money)

    def _compatible(self, operand: Operand, unit: Unit) -> bool:
        if operand.unit == unit:
            return True
        # A bare number of a JSON answer is money when that is what a result carries it as.
        return (
            unit == "money"
            and operand.unit == "number"
            and operand.key is not None
            and operand.number in self.near_rows.by_number
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

    def _row_spans(self, named: bool, two: bool) -> Iterator[Result]:
        return ways.clock_spans(self.near_rows.named if named else self.near_rows.rows, two=two)

    def _clocks(self) -> list[Clock]:
        if self._clocks_known[0] != self._round:
            self._clocks_known = self._round, clocks_of(self.stated, self.findings, self.around.accounted)
        return self._clocks_known[1]

    def _dates(self, at: int) -> list[date]:
        """The dates that the answer states and that are accounted for, nearest to a place first."""
        found: list[tuple[int, date]] = []
        for finding in self.findings:
            if finding.status in self.around.accounted:
                days = calendar_days(finding)
                found += [(abs(start - at), day) for start, _ in finding.candidate.spans for day in days]
        return list(dict.fromkeys(day for _, day in sorted(found)))[:4]

    def _counts(self, at: int) -> tuple[int, ...]:
        near = sorted((abs(place - at), count) for place, count in self.stated.counts if count > 1)
        ordered = dict.fromkeys(count for distance, count in near if distance <= MAX_COUNT_DISTANCE)
        return tuple(dict.fromkeys((*tuple(ordered)[:3], *self.near_rows.lengths[:2])))


def _step(number: Decimal, unit: Unit, finding: Finding) -> Decimal:
    """What a value was stated in: whole days, hours or minutes of a duration, else units of its last decimal place."""
    if unit == "duration":
        for step in _STEPS:
            if number % step == 0:
                return Decimal(step)
    return Decimal(1).scaleb(-precision(number, unit, finding))


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
