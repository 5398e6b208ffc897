"""A date that is a carried date plus or minus a stated number of days.

Rules
-----
- The number of days stands beside the date ("three days later", "next day", "a week after"); a range ("5 to 7 business
  days") states none. The date it starts from is one that the answer states and that is accounted for.
- A date that reads two ways (05/06/2024) is each of them, the one that it starts from as well.
- Work is bounded: what was not looked at leaves a date open, and ``bounded``.
- "Tomorrow" and "yesterday" count from the day that someone called the present ("The current time is 2024-05-15"), where
  anybody did.
- A date is also the day after such a date when a clock time beside it is carried with ``+1``, or when a person asked for
  the next day ("tomorrow") in words of their own, which are short.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import product
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.stated import ACCOUNTED
from otel_footprint.core.evidence.verdicts import Derivation

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

MAX_DAYS: Final = 400
MAX_PLACES: Final = 20
"""Occurrences of one value whose neighbours are looked at."""
MAX_SEARCHED: Final = 100_000_000
"""Characters of results that one answer may be searched in for the mark of a next day."""
_BESIDE: Final = 80
_TIME_BESIDE: Final = 40
_DAYS: Final = re.compile(
    r"(?<![\d–-])(?<!to )\b(\d{1,3}|one|two|three|four|five|six|seven|ten)[ -](?:calendar )?(days?|weeks?)\b"
    r"|(next[ -]day|day after|following day|tomorrow|overnight|\+1\b)|(day before|previous day|yesterday)|(a week|one week)",
    re.IGNORECASE,
)
_ASKED_NEXT: Final = re.compile(r"\b(?:tomorrow|next day|day after|following day)\b", re.IGNORECASE)
_RELATIVE: Final = re.compile(r"\b(?:tomorrow|yesterday)\b", re.IGNORECASE)
_PRESENT: Final = re.compile(
    r"\b(?:current (?:time|date|day)|today(?:'s date)?|now)\b[^.\n0-9]{0,24}(\d{4}-\d\d-\d\d)", re.IGNORECASE
)
OWN_WORDS: Final = 2_000
"""Characters of the longest text that is taken for a person's own words."""
_RANGE_AFTER: Final = re.compile(r"\s*(?:-|–|to|or)\s*\d")
_WORDS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}


def shifted_dates(text: str, findings: Sequence[Finding], window: Sequence[Source], said: Sequence[Carried]) -> None:
    """Give ``computed`` to the dates among ``findings`` that such a step reaches; ``said`` are the texts of people."""
    wanted = [
        (finding, days)
        for finding in findings
        if finding.status is None
        and finding.candidate.shape in ("date", "datetime")
        and (days := calendar_days(finding))
    ]
    if not wanted:
        return
    known = {day for finding in findings if finding.status in ACCOUNTED for day in calendar_days(finding)}
    asked_next = any(len(words.text) <= OWN_WORDS and _ASKED_NEXT.search(words.text) for words in said)
    marks = _Marks(findings, window)
    present = todays(said)
    for finding, days in wanted:
        for start, end in finding.candidate.spans[:MAX_PLACES]:
            beside = text[max(0, start - _BESIDE) : end + _BESIDE]
            if present and _RELATIVE.search(beside) is not None and len([*_DAYS.finditer(beside)]) == 1:
                known_here = known & present  # tomorrow is the day after today, and after no other
            else:
                known_here = known
            steps = [*steps_in(beside)]
            if 1 not in steps and (asked_next or marks.beside(start, end)):
                steps.append(1)
            for day, step in product(days, steps):
                origin = day - timedelta(days=step)
                if origin in known_here or (origin in present and _RELATIVE.search(beside) is not None):
                    finding.status = "computed"
                    finding.derivation = Derivation("date plus days", (origin.isoformat(), str(step)))
        finding.bounded = finding.bounded or (marks.room < 0 and finding.status is None)


def todays(said: Sequence[Carried]) -> set[date]:
    """The dates that people or the application call the present."""
    found: set[date] = set()
    for words in said:
        for match in _PRESENT.finditer(words.text):
            try:
                found.add(date.fromisoformat(match[1]))
            except ValueError:
                continue
    return found


def steps_in(beside: str) -> Iterator[int]:
    """The distances in days that a text states, each to be tried."""
    for match in _DAYS.finditer(beside):
        count, unit, after, before, week = match.groups()
        if count:
            if _RANGE_AFTER.match(beside, match.end(1)):
                continue
            days = (_WORDS.get(count.lower()) or int(count)) * (7 if unit.lower().startswith("week") else 1)
            if days <= MAX_DAYS:
                yield days
                yield -days
        elif after:
            yield 1
        elif before:
            yield -1
        elif week:
            yield 7
            yield -7


class _Marks:
    """The times of an answer that results carry with a mark of the next day. ``room`` falls below 0 with the bound."""

    def __init__(self, findings: Sequence[Finding], window: Sequence[Source]) -> None:
        self._times = [
            (span, finding)
            for finding in findings
            if finding.candidate.shape == "time" and finding.candidate.value is not None
            for span in finding.candidate.spans[:MAX_PLACES]
        ]
        self._times.sort(key=lambda found: found[0])
        self._window = window
        self._known: dict[str, bool] = {}
        self._marked: list[str] | None = None  # the texts that mark any time so
        self.room = MAX_SEARCHED

    def beside(self, start: int, end: int) -> bool:
        """Whether one of them stands beside a place."""
        first = bisect_left(self._times, start - 2 * _TIME_BESIDE, key=lambda found: found[0][0])
        for (left, right), finding in self._times[first:]:
            if left - end > _TIME_BESIDE:
                return False
            if start - right <= _TIME_BESIDE and any(map(self._is_marked, _clocks(finding))):
                return True
        return False

    def _is_marked(self, clock: str) -> bool:
        known = self._known.get(clock)
        if known is None:
            if self._marked is None:
                self.room -= sum(len(source.carried.text) for source in self._window)
                texts = [source.carried.text for source in self._window] if self.room >= 0 else []
                self._marked = [text for text in texts if "+" in text and "+1" in text]  # one sign is found faster
            spellings = (f"{clock}:00+1", f"{clock}+1", f"{clock} +1")
            self.room -= len(spellings) * sum(map(len, self._marked))
            known = self._known[clock] = self.room >= 0 and any(
                one in text for text in self._marked for one in spellings
            )
        return known


def _clocks(finding: Finding) -> Iterator[str]:
    for key in finding.candidate.value.asked if finding.candidate.value is not None else ():
        minute = key[1] if isinstance(key, tuple) and len(key) > 1 else None
        if isinstance(minute, int):
            yield f"{minute // 60:02d}:{minute % 60:02d}"


def calendar_days(finding: Finding) -> tuple[date, ...]:
    """The full calendar dates that a value may state, the earliest first; empty for any other value."""
    value = finding.candidate.value
    if value is None:
        return ()
    days: set[date] = set()
    for one in (value, *value.parts):
        for key in one.asked:
            if isinstance(key, tuple) and len(key) == 4 and key[0] == "date":
                try:
                    days.add(date(key[1], key[2], key[3]))
                except ValueError:
                    continue
    return tuple(sorted(days))
