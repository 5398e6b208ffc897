"""A date of which a person gave the day alone ("on the 6th"), in the month that the conversation is about.

Rules
-----
- The day stands in a person's own words, which are short, as an ordinal behind "the" that counts nothing ("the 6th flight").
  Up to the 12th, which may as well be an option of a list, it stands behind "on", "by", "until" or the like, or "day,".
- The month (and the year, where the answer states one) is that of a date that is the present, or of one that the answer
  states and that is accounted for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.shifted import OWN_WORDS, calendar_days, todays
from otel_footprint.core.evidence.stated import ACCOUNTED
from otel_footprint.core.evidence.verdicts import Derivation

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

MAX_SAID: Final = 200
"""Texts of persons that are looked at, the last ones."""
_ORDINAL: Final = re.compile(
    r"\bthe (\d{1,2})(?:st|nd|rd|th)\b(?=\s*(?:[.,;:!?)\]\"'\n]|$|(?:and|or|to|instead|if|please|at|for|through|until|but)\b))",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"(?:\b(?:on|by|from|until|till|through|before|after|since|between)|\bday,) $", re.IGNORECASE
)
_BEFORE: Final = 9
_MONTHS: Final = 12


def said_days(findings: Sequence[Finding], said: Sequence[Carried]) -> None:
    """Give ``computed`` to the dates among ``findings`` that are such a day."""
    wanted = [finding for finding in findings if finding.status is None and finding.candidate.shape == "date"]
    if not wanted:
        return
    days = {
        day
        for words in said[-MAX_SAID:]
        if len(words.text) <= OWN_WORDS
        for match in _ORDINAL.finditer(words.text)
        if (day := int(match[1])) > _MONTHS or _DATED.search(words.text, max(0, match.start() - _BEFORE), match.start())
    }
    if not days:
        return
    months: set[tuple[int | None, int]] = {(day.year, day.month) for day in todays(said)}
    for finding in findings:
        if finding.status in ACCOUNTED:
            months.update((year, month) for year, month, _ in _dates(finding))
    for finding in wanted:
        for year, month, day in _dates(finding):
            known = max((one[0] or 0 for one in months if one[1] == month and year in (None, one[0])), default=None)
            if day in days and known is not None:
                finding.status = "computed"
                in_month = f"{known}-{month:02d}" if known else f"{month:02d}"
                finding.derivation = Derivation("day of the month", (in_month, str(day)))
                break


def _dates(finding: Finding) -> Iterator[tuple[int | None, int, int]]:
    """The year where it is stated, the month and the day that a value may state, in order."""
    full = calendar_days(finding)
    if full:
        yield from ((day.year, day.month, day.day) for day in full)
        return
    value = finding.candidate.value
    keys = value.asked if value is not None else ()
    yield from sorted(
        (None, key[1], key[2])
        for key in keys
        if isinstance(key, tuple) and key[0] in ("yearless", "day") and len(key) == 3
    )
