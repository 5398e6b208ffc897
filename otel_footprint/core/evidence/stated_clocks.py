"""The clock times an answer states, and the time between two of them: how long a journey takes that it lists leg by leg.

Rules
-----
- Only times that are accounted for count. Where the last of a group is earlier than its first, midnight lies between.
- From the first to the last time of a group, the narrow group around the value first; then of the block behind it and of
  the one before it. Then between the time before and the time behind the value (a layover), then between neighbours.
- Of what is called flying (or driving) time, the legs of a group together, without what lies between them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.families import Result
from otel_footprint.core.evidence.stated import Operand, Stated
from otel_footprint.core.evidence.verdicts import Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

MAX_CLOCKS: Final = 200
MAX_PAIRS: Final = 12
MAX_LEGS: Final = 4
_DAY: Final = 1440


@dataclass(frozen=True, slots=True)
class Clock:
    """One occurrence of a time of day, in minutes; ``places`` are the groups it stands in."""

    minute: int
    start: int
    places: tuple[tuple[str, object], ...]


def clocks_of(stated: Stated, findings: Sequence[Finding], accounted: Container[Status | None]) -> list[Clock]:
    """The times that are accounted for, in order."""
    found: list[Clock] = []
    for finding in findings:
        minute = _minute(finding) if finding.status in accounted else None
        if minute is not None:
            found += (Clock(minute, start, stated.places(start)) for start, _ in finding.candidate.spans)
            if len(found) > MAX_CLOCKS:
                break
    return sorted(found, key=lambda clock: clock.start)[:MAX_CLOCKS]


def spans_of_groups(clocks: Sequence[Clock], target: Operand) -> Iterator[Result]:
    """From the first to the last time of each group around a value, in seconds, and of the blocks beside it."""
    for inside in _groups(clocks, target):
        yield _between(inside[0], inside[-1])


def legs_of_groups(clocks: Sequence[Clock], target: Operand) -> Iterator[Result]:
    """The time of each group's legs together, in seconds: from its first time to its second, its third to its fourth …"""
    for inside in _groups(clocks, target):
        if len(inside) > 2 and len(inside) % 2 == 0:
            legs = [_between(first, last) for first, last in zip(inside[::2], inside[1::2], strict=True)]
            yield (
                sum((length for length, _ in legs), Decimal(0)),
                tuple(time for _, times in legs for time in times)[:16],
            )


def spans_of_neighbours(clocks: Sequence[Clock], target: Operand) -> Iterator[Result]:
    """Between the times around a value, then between times that follow one another, nearest first."""
    before = [clock for clock in clocks if clock.start < target.start]
    behind = [clock for clock in clocks if clock.start > target.start]
    if before and behind:
        yield _between(before[-1], behind[0])
    near = sorted(pairwise(clocks), key=lambda pair: abs(pair[0].start - target.start))
    for first, second in near[:MAX_PAIRS]:
        yield _between(first, second)


def _groups(clocks: Sequence[Clock], target: Operand) -> Iterator[list[Clock]]:
    """The times of each group around a value, narrow first, then of the blocks beside it, then those directly behind and
    before it, leg by leg; each two or more."""
    groups = [*target.places]
    block = dict(target.places).get("block")
    if isinstance(block, int):
        groups += [("block", block + 1), ("block", block - 1)]
    for group in groups:
        inside = [clock for clock in clocks if group in clock.places]
        if len(inside) > 1:
            yield inside
    behind = [clock for clock in clocks if clock.start > target.start]
    before = [clock for clock in clocks if clock.start < target.start]
    for count in range(2, 2 * MAX_LEGS + 1, 2):
        if len(behind) >= count:
            yield behind[:count]
        if len(before) >= count:
            yield before[-count:]


def _between(first: Clock, last: Clock) -> Result:
    minutes = (last.minute - first.minute) % _DAY
    return Decimal(minutes * 60), (_spelled(first.minute), _spelled(last.minute))


def _spelled(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"


def _minute(finding: Finding) -> int | None:
    value = finding.candidate.value
    if value is None or value.kind != "time":
        return None
    for key in value.carried:
        if isinstance(key, tuple) and key[0] == "time" and isinstance(key[1], int):
            return key[1]
    return None
