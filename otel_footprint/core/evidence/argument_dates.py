"""Dates that a tool call is given because a person asked for them in other words.

Rules
-----
- By distance: "a day later", "in three weeks" from a date that was said or read; "next Friday" from one that was said.
- By range: a day between two that one text joins ("May 20 to May 25"), of a month at most.
- Only short texts count as a person's words: in a long document some distance stands beside any date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.judge import Finding, Ground
from otel_footprint.core.evidence.shifted import calendar_day, steps_in
from otel_footprint.core.evidence.verdicts import Derivation

MAX_WORDS: Final = 2_000
"""Characters of the longest text that is taken for a person's."""
MAX_TEXTS: Final = 20
"""The newest texts of that kind that are looked at."""
MAX_READ: Final = 1_000_000
"""Characters of results up to which a distance counts from the dates in them; among more, some date fits any."""
MAX_RANGE_DAYS: Final = 31
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_REACH: Final = 13
_ONE_DAY: Final = re.compile(r"\b(?:(?:a|1|one|single) day|(?:one|a) night)\b", re.IGNORECASE)
_TWO_DAYS: Final = re.compile(r"\bcouple of days\b", re.IGNORECASE)
_JOINED: Final = re.compile(r"\s*(?:-|–|—|to|through|thru|until|till|and)\s*(?:on\s+)?", re.IGNORECASE)


def asked_for(finding: Finding, ground: Ground) -> None:
    """Give ``computed`` to a date that a person asked for by a distance or a range."""
    day = calendar_day(finding)
    if day is None:
        return
    texts = [said.text for said in ground.said if len(said.text) <= MAX_WORDS][-MAX_TEXTS:]
    for text in reversed(texts):
        ends = next((ends for ends in _ranges(text, day.year) if ends[0] < day < ends[1]), None)
        if ends is not None:
            finding.status = "computed"
            finding.derivation = Derivation("date in range", (ends[0].isoformat(), ends[1].isoformat()))
            return
    for text in reversed(texts):
        for step in dict.fromkeys(_steps(text)):
            if _counted_from(finding, ground, day, step, read=True):
                return
        name = _WEEKDAYS[day.weekday()]
        if re.search(rf"\b(?:{name}|{name[:3]})\b", text, re.IGNORECASE):
            for step in range(1, _WEEKDAY_REACH + 1):
                if _counted_from(finding, ground, day, step, read=False):
                    return


def _steps(text: str) -> Iterator[int]:
    yield from steps_in(text)
    if _ONE_DAY.search(text):
        yield from (1, -1)
    if _TWO_DAYS.search(text):
        yield from (2, -2)


def _counted_from(finding: Finding, ground: Ground, day: date, step: int, *, read: bool) -> bool:
    try:
        origin = day - timedelta(days=step)
    except OverflowError:
        return False
    value = next((one for one in typed.find(origin.isoformat()) if one.kind == "date"), None)
    if value is None:
        return False
    read = read and sum(len(source.carried.text) for source in ground.window) <= MAX_READ
    sources = tuple(source for source in ground.window if read and ground.states(source.carried, value))
    if not sources and not any(ground.states(said, value) for said in ground.said):
        return False
    finding.status, finding.sources = "computed", sources
    finding.derivation = Derivation("date plus days", (origin.isoformat(), str(step)))
    return True


def _ranges(text: str, year: int) -> Iterator[tuple[date, date]]:
    dates = [one for one in typed.find(text) if one.kind == "date"]
    for first, second in pairwise(dates):
        if not _JOINED.fullmatch(text, first.end, second.start):
            continue
        for low in _days(first, year):
            for high in _days(second, year):
                if 0 < (high - low).days <= MAX_RANGE_DAYS:
                    yield low, high


def _days(value: typed.Typed, year: int) -> Iterator[date]:
    """The days a date may be; one without a year is in that year."""
    for key in value.asked:
        if isinstance(key, tuple) and key[0] in ("date", "day"):
            parts = key[1:] if key[0] == "date" else (year, *key[1:])
            if len(parts) == 3 and all(isinstance(part, int) for part in parts):
                try:
                    yield date(*parts)
                except ValueError:
                    continue
