"""The clock times an answer states, and the time between two of them: how long a journey takes that it lists leg by leg.

Rules
-----
- Only times that are accounted for count. Where the last of a group is earlier than its first, midnight lies between. Of two
  readings ("9:30" may be evening) the one that makes it shortest is meant.
- A value that stands among times is the time from the first to the last of its sentence, line or list item.
- Where its line speaks of a journey: also from the first to the last of its block, of the block behind it and of the one
  before it, then of the times directly behind and before it, leg by leg. Of what is called flying (or driving) time, the
  legs together, without what lies between them.
- Where its line speaks of a layover: between the time before and the time behind it, then between neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.families import Result, spelled_clock
from otel_footprint.core.evidence.stated import Operand, Stated
from otel_footprint.core.evidence.verdicts import Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

MAX_CLOCKS: Final = 200
MAX_PAIRS: Final = 12
MAX_LEGS: Final = 4
_DAY: Final = 1440
_JOURNEY: Final = re.compile(
    r"\b(?:journeys?|travel(?:l?ing)?|trips?|flights?|flying|routes?|itinerar\w+|door.to.door|durations?|drives?|driving|rides?)\b"
)
_MOVING: Final = re.compile(r"\b(?:flight|flying|air|driving|riding|train)[ -]?time\b|\bin the air\b")
_WAIT: Final = re.compile(r"\b(?:layovers?|stop-?overs?|connections?|connecting|wait(?:ing|s)?|gap|break|between)\b")


@dataclass(frozen=True, slots=True)
class Clock:
    """One occurrence of a time of day: the minutes it may be ("9:30" without its half is two); ``places``: its groups."""

    minutes: tuple[int, ...]
    start: int
    places: tuple[tuple[str, object], ...]


def clocks_of(stated: Stated, findings: Sequence[Finding], accounted: Container[Status | None]) -> list[Clock]:
    """The times that are accounted for, in order."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for finding in findings:
        value = finding.candidate.value if finding.status in accounted else None
        minutes = minutes_of_day(value) if value is not None and value.kind == "time" else ()
        if minutes:
            found += ((start, minutes) for start, _ in finding.candidate.spans[:MAX_CLOCKS])
    return [Clock(minutes, start, stated.places(start)) for start, minutes in sorted(found)[:MAX_CLOCKS]]


def minutes_of_day(value: typed.Typed) -> tuple[int, ...]:
    """The minutes of the day that a time may be, the earliest first; empty for another value."""
    keys = (key for key in value.carried if isinstance(key, tuple) and key[0] == "time")
    return tuple(sorted({key[1] for key in keys if isinstance(key[1], int)}))


def durations(clocks: Sequence[Clock], target: Operand, line: str) -> Iterator[Result]:
    """What the time between two of them may be, in seconds, the likeliest first, each once. ``line`` is the target's, folded."""
    seen: set[Decimal] = set()
    for result in _durations(clocks, target, line):
        if result[0] and result[0] not in seen:
            seen.add(result[0])
            yield result


def _durations(clocks: Sequence[Clock], target: Operand, line: str) -> Iterator[Result]:
    moving = _MOVING.search(line) is not None
    journey = moving or _JOURNEY.search(line) is not None
    if moving:
        yield from map(_legs, _journeys(clocks, target))
    for group in target.places:
        if group[0] != "block" and len(inside := [clock for clock in clocks if group in clock.places]) > 1:
            yield _between(inside[0], inside[-1])
    if journey:
        yield from (_between(inside[0], inside[-1]) for inside in _journeys(clocks, target))
    if _WAIT.search(line) is not None:
        yield from _neighbours(clocks, target)


def _journeys(clocks: Sequence[Clock], target: Operand) -> Iterator[list[Clock]]:
    """The times of the block around a value, of those behind and before it, and those directly behind and before it."""
    block = dict(target.places).get("block")
    if isinstance(block, int):
        for number in (block, block + 1, block - 1):
            inside = [clock for clock in clocks if ("block", number) in clock.places]
            if len(inside) > 1:
                yield inside
    behind = [clock for clock in clocks if clock.start > target.start]
    before = [clock for clock in clocks if clock.start < target.start]
    for count in range(2, 2 * MAX_LEGS + 1, 2):
        if len(behind) >= count:
            yield behind[:count]
        if len(before) >= count:
            yield before[-count:]


def _neighbours(clocks: Sequence[Clock], target: Operand) -> Iterator[Result]:
    before = [clock for clock in clocks if clock.start < target.start]
    behind = [clock for clock in clocks if clock.start > target.start]
    if before and behind:
        yield _between(before[-1], behind[0])
    near = sorted(pairwise(clocks), key=lambda pair: abs(pair[0].start - target.start))
    yield from (_between(first, second) for first, second in near[:MAX_PAIRS])


def _legs(clocks: Sequence[Clock]) -> Result:
    """From the first time to the second, from the third to the fourth …, together."""
    legs = [_between(first, last) for first, last in zip(clocks[::2], clocks[1::2], strict=False)]
    return sum((length for length, _ in legs), Decimal(0)), tuple(time for _, times in legs for time in times)[:16]


def _between(first: Clock, last: Clock) -> Result:
    length, start, end = min(((end - start) % _DAY, start, end) for start in first.minutes for end in last.minutes)
    return Decimal(length * 60), (spelled_clock(start), spelled_clock(end))
