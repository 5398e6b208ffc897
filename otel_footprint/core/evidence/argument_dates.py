"""Dates and times that a tool call is given because a person asked for them in other words.

Rules
-----
- By distance: "a day later", "in three weeks" from a date that was said or read; "next Friday" from one that was said.
- By range: a day between two that one text joins ("May 20 to May 25"), of a month at most.
- A moment is a date and a time, each accounted for by itself: "tomorrow at 2 pm". A time is also as long after another
  one of the call as a person said ("for an hour"); the edges of a day (00:00, 23:59) in a moment are no claim.
- Only short texts count as a person's words: in a long document some distance stands beside any date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.judge import Finding, Ground
from otel_footprint.core.evidence.shifted import OWN_WORDS, calendar_days, steps_in
from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.stated import ACCOUNTED
from otel_footprint.core.evidence.stated_clocks import minutes_of_day
from otel_footprint.core.evidence.verdicts import STATUSES, Derivation, Status

MAX_TEXTS: Final = 20
"""The newest texts of that kind that are looked at."""
MAX_READ: Final = 1_000_000
"""Characters of results up to which a distance counts from the dates in them; among more, some date fits any."""
MAX_RANGE_DAYS: Final = 31
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_REACH: Final = 13
_EDGES: Final = frozenset((0, 23 * 60 + 59))
_SPELLED_HOUR: Final = re.compile(r"\b(half[ -](?:an )?)?(?:an |one )?hour\b", re.IGNORECASE)
_ONE_DAY: Final = re.compile(r"\b(?:(?:a|1|one|single) day|(?:one|a) night)\b", re.IGNORECASE)
_TWO_DAYS: Final = re.compile(r"\bcouple of days\b", re.IGNORECASE)
_JOINED: Final = re.compile(r"\s*(?:-|–|—|to|through|thru|until|till|and)\s*(?:on\s+)?", re.IGNORECASE)


class _How(NamedTuple):
    """How a date or a time is accounted for."""

    status: Status
    sources: tuple[Source, ...] = ()
    derivation: Derivation | None = None


def asked_for(finding: Finding, findings: Sequence[Finding], ground: Ground) -> None:
    """Account for a date, a time or both as a person asked for them. ``findings`` are all of the call."""
    value = finding.candidate.value
    if value is None:
        return
    texts = [said.text for said in ground.said if len(said.text) <= OWN_WORDS][-MAX_TEXTS:]
    texts.reverse()
    days = calendar_days(finding)
    clocks = [part for part in (value, *value.parts) if part.kind == "time"]
    found: list[_How | None] = []
    if days:
        dates = [part for part in value.parts if part.kind == "date"]
        carried = _carried(dates[0], ground) if dates else None
        in_words = (_in_other_words(day, texts, ground) for day in days)
        found.append(carried or next((way for way in in_words if way is not None), None))
    if clocks:
        found.append(_hour(clocks[0], finding, findings, texts, ground))
    ways = [way for way in found if way is not None]
    if ways and len(ways) == len(found):
        worst = max(ways, key=lambda way: STATUSES.index(way.status))
        finding.status = worst.status
        finding.sources = tuple({id(source): source for way in ways for source in way.sources}.values())
        finding.derivation = worst.derivation


def _carried(value: typed.Typed, ground: Ground) -> _How | None:
    if any(ground.states(said, value) for said in ground.said):
        return _How("said")
    sources = tuple(source for source in ground.window if ground.states(source.carried, value))
    return _How("respelled", sources) if sources else None


def _in_other_words(day: date, texts: Sequence[str], ground: Ground) -> _How | None:
    """A day by its distance from one that is known, or within a range."""
    for text in texts:
        for low, high in _ranges(text, day.year):
            if low < day < high:
                return _How("computed", (), Derivation("date in range", (low.isoformat(), high.isoformat())))
    for text in texts:
        for step in dict.fromkeys(_steps(text)):
            way = _counted_from(ground, day, step, read=True)
            if way is not None:
                return way
        name = _WEEKDAYS[day.weekday()]
        if re.search(rf"\b(?:{name}|{name[:3]})\b", text, re.IGNORECASE):
            for step in range(1, _WEEKDAY_REACH + 1):
                way = _counted_from(ground, day, step, read=False)
                if way is not None:
                    return way
    return None


def _hour(
    clock: typed.Typed, finding: Finding, findings: Sequence[Finding], texts: Sequence[str], ground: Ground
) -> _How | None:
    """A time that is said or read, the edge of a day, or so long after another one of the call as a person said."""
    minutes = minutes_of_day(clock)
    if not _EDGES.isdisjoint(minutes) and finding.candidate.shape == "datetime":
        return _How("said")
    way = _carried(clock, ground)
    if way is not None or not minutes:
        return way
    for other in findings:
        value = other.candidate.value
        if other is finding or value is None or other.status not in ACCOUNTED:
            continue
        for part in (value, *value.parts):
            starts = minutes_of_day(part) if part.kind == "time" else ()
            for apart in sorted({minute - start for minute in minutes for start in starts}):
                if any(apart == length for text in texts for length in _lengths(text)):
                    return _How("computed", (), Derivation("time plus duration", (part.text, str(apart))))
    return None


def _lengths(text: str) -> Iterator[int]:
    """How many minutes something may last, as a text says."""
    for value in typed.find(text):
        if value.kind == "duration" and value.number is not None and value.number % 60 == 0:
            yield int(value.number) // 60
    for match in _SPELLED_HOUR.finditer(text):
        yield 30 if match[1] else 60


def _steps(text: str) -> Iterator[int]:
    yield from steps_in(text)
    if _ONE_DAY.search(text):
        yield from (1, -1)
    if _TWO_DAYS.search(text):
        yield from (2, -2)


def _counted_from(ground: Ground, day: date, step: int, *, read: bool) -> _How | None:
    try:
        origin = day - timedelta(days=step)
    except OverflowError:
        return None
    value = next((one for one in typed.find(origin.isoformat()) if one.kind == "date"), None)
    if value is None:
        return None
    read = read and sum(len(source.carried.text) for source in ground.window) <= MAX_READ
    sources = tuple(source for source in ground.window if read and ground.states(source.carried, value))
    if not sources and not any(ground.states(said, value) for said in ground.said):
        return None
    return _How("computed", sources, Derivation("date plus days", (origin.isoformat(), str(step))))


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
