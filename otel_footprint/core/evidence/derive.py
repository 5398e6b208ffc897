"""Reach values by the closed set of derivations, and say how: the chain over one answer, and what earlier answers computed.

Rules
-----
- Operands come from the answer itself (values that are accounted for) first, then from rows that the answer or the last
  call names, then from whole columns. A value that becomes computed is an operand for the next: repeat until nothing
  changes, with a small budget for every value before a larger one for any.
- Identifiers, dates and small counts are never derived from arithmetic; a date only as a carried date plus or minus a
  stated number of days, or as the day of the month that a person gave alone.
- An equation written out beside a value is checked: when it gives the value, that is the derivation; when it does not,
  nothing else is tried.
- A value computed in an earlier answer stays computed when a later answer repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.attempt import Attempt
from otel_footprint.core.evidence.named_rows import Surroundings
from otel_footprint.core.evidence.said_days import said_days
from otel_footprint.core.evidence.shifted import shifted_dates
from otel_footprint.core.evidence.stated import ACCOUNTED, Unit, numeric
from otel_footprint.core.evidence.verdicts import Derivation

if TYPE_CHECKING:
    from otel_footprint.core.evidence.extract import Extraction
    from otel_footprint.core.evidence.judge import Finding

MAX_TARGETS: Final = 60
"""Values of one answer that are tried; those after them stay open, and ``bounded``."""
MAX_REMEMBERED: Final = 2_000
MAX_STATED_BEFORE: Final = 12
MAX_TEXT_BEFORE: Final = 4_000

__all__ = ["Deriver", "Surroundings"]


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
            said_days(findings, around.said)
            shifted_dates(extraction.text, findings, around.window, around.said)
            numbers = [
                finding for finding in findings if finding.status is None and numeric(finding.candidate) is not None
            ]
        if numbers:
            for finding in numbers:
                self._recall(finding)
            attempt = Attempt(extraction, findings, around, self._stated_before, self._text_before)
            numbers = [finding for finding in numbers if finding.status is None]
            attempt.run(numbers[:MAX_TARGETS])
            for finding in numbers[MAX_TARGETS:]:
                finding.bounded = finding.bounded or finding.status is None
            bounded = attempt.bounded and any(finding.status is None for finding in numbers)
        self._remember(extraction.text, findings)
        return bounded

    def amounts_before(self) -> tuple[Decimal, ...]:
        """The amounts that the answer before stated and could account for, last first, then those computed earlier."""
        stated = [number for unit, number in reversed(self._stated_before) if unit == "money"]
        return tuple(
            dict.fromkeys([*stated, *(number for unit, number in reversed(self._computed) if unit == "money")])
        )

    def derive_from_gone(
        self, extraction: Extraction, findings: Sequence[Finding], around: Surroundings
    ) -> list[Finding]:
        """The values that only numbers which have left the window reach; nothing is remembered of them."""
        numbers = [finding for finding in findings if finding.status is None and numeric(finding.candidate) is not None]
        before = [(finding, finding.derivation) for finding in numbers]
        if numbers:
            Attempt(extraction, findings, around, self._stated_before, self._text_before).run(numbers[:MAX_TARGETS])
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
