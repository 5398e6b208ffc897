"""Amounts that a tool call is given because they were worked out for it: what is left to pay, and so many times a price.

Rules
-----
- What is left: a total that an answer before stated, or that a short result of this turn names ("total price is 305"),
  minus the amounts beside it in the same call that are accounted for.
- So many times: an amount of a row that the call names, or one that the answer before stated, times the length of a list
  in the call (of passengers, of items).
- The coincidence bound is that of answers: a match that a wrong amount would have had as easily is ``derivable``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.argument_leaves import ArgumentExtraction
from otel_footprint.core.evidence.families import Family, Result, spelled
from otel_footprint.core.evidence.judge import Finding, Ground
from otel_footprint.core.evidence.normal import fold, tokens
from otel_footprint.core.evidence.search import Effort, Found, Target, search
from otel_footprint.core.evidence.stated import ACCOUNTED, numeric

MAX_SAYING: Final = 500
"""Characters of the longest result that is taken for a sentence about the call before."""
MAX_ROW_TEXT: Final = 200_000
"""Characters of results whose rows are read for one call."""
_EFFORT: Final = 2_000
_BUDGET: Final = 400.0


def worked_out(targets: Sequence[Finding], findings: Sequence[Finding], extraction: ArgumentExtraction, ground: Ground, turn: int) -> None:  # fmt: skip
    """Give ``computed`` or ``derivable`` to the amounts among ``targets`` that such a step reaches."""
    prices: list[Decimal] | None = None
    totals = [*ground.deriver.amounts_before(), *_totals_in_results(ground, turn)]
    for finding in targets:
        read = numeric(finding.candidate)
        if read is None or read[1] != "money":
            continue
        number = read[0]
        beside = [amount for other in findings for amount in _amounts(other) if other is not finding]
        if prices is None:
            prices = _prices(extraction, ground) if extraction.lengths else []
        exponent = number.as_tuple().exponent
        cents = isinstance(exponent, int) and exponent < 0
        target = Target(number, Decimal("0.01") if cents else Decimal(1), rounds=False)
        families = _families(totals, beside, prices, extraction.lengths)
        found = search(target, families, _BUDGET, Effort(_EFFORT))
        if isinstance(found, Found):
            if found.answer == "computed":
                finding.status, finding.derivation, finding.sources = "computed", found.derivation, ()
            elif finding.status == "unsupported":
                finding.status, finding.derivation = "derivable", found.derivation


def _families(
    totals: Sequence[Decimal], beside: Sequence[Decimal], prices: Sequence[Decimal], lengths: Sequence[int]
) -> list[Family]:
    def remainders() -> Iterator[Result]:
        for total in totals:
            yield total - sum(beside, Decimal(0)), tuple(map(spelled, (total, *beside)))

    def partial() -> Iterator[Result]:
        for total in totals:
            for amount in beside:
                yield total - amount, (spelled(total), spelled(amount))

    def counted(numbers: Sequence[Decimal]) -> Iterator[Result]:
        for length in lengths:
            for number in numbers:
                yield number * length, (spelled(number), str(length))

    families = [Family("count times field", 1, lambda: counted(prices))]
    if beside:
        families.append(Family("remainder", 1, remainders))
    if len(beside) > 1:
        families.append(Family("difference", 4, partial))
    families.append(Family("count times value", 2, lambda: counted(totals)))
    return families


def _amounts(finding: Finding) -> list[Decimal]:
    """The amount of a finding that is accounted for, as often as the call holds it."""
    read = numeric(finding.candidate) if finding.status in ACCOUNTED else None
    return [read[0]] * len(finding.candidate.spans) if read is not None and read[1] == "money" else []


def _totals_in_results(ground: Ground, turn: int) -> Iterator[Decimal]:
    for source in reversed(ground.window):
        text = source.carried.text
        if source.turn == turn and len(text) <= MAX_SAYING and text.lstrip()[:1] not in ("{", "[", '"'):
            for value in typed.find(text):
                if value.kind in ("money", "number") and value.number is not None:
                    yield abs(value.number)


def _prices(extraction: ArgumentExtraction, ground: Ground) -> list[Decimal]:
    """Amounts of the rows that the call names, those whose field it mentions first."""
    folded = fold(extraction.text)
    words = {token.form for token in tokens(folded)}
    mentioned: dict[Decimal, None] = {}
    others: dict[Decimal, None] = {}
    room = MAX_ROW_TEXT
    for source in reversed(ground.window):
        room -= len(source.carried.text)
        if room < 0:
            break
        for row in source.carried.rows:
            if not any(name.strip("#") in words for name in row.names):
                continue
            for cell in row.cells:
                if cell.money:
                    field = fold(cell.field.rpartition(".")[2])
                    (mentioned if field in folded else others)[cell.number] = None
    return [*mentioned, *(number for number in others if number not in mentioned)]
