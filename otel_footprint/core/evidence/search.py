"""Search the derivations of one value in order of cumulative cost, and measure how likely a wrong value is reached too.

Rules
-----
- Every result that a wrong value of the same precision could have been marks that value. The share of all values of the
  target's precision between its half and its double that are marked is the chance that a wrong value would have matched.
- Up to 2 % a match is ``computed``; past 3 % the search stops; in between a match may be chance.
- Zero, negative and off-precision results mark nothing, equal results count once, and the match itself does not count.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, Literal, TypeAlias

from otel_footprint.core.evidence.families import Family, Result
from otel_footprint.core.evidence.verdicts import Derivation

COMPUTED_SHARE: Final = Decimal("0.02")
STOP_SHARE: Final = Decimal("0.03")
MAX_STEPS: Final = 4_000
"""Results of one search; with few marks by then the value is simply not reached."""

Answer: TypeAlias = Literal["computed", "derivable"]
Unreached: TypeAlias = Literal["so far", "for good"]


@dataclass(frozen=True, slots=True)
class Target:
    """A value that is looked for. It is stated in multiples of ``step``: a cent, an hour in seconds.

    ``rounds`` admits results that only round to it; the step is a power of ten then.
    """

    number: Decimal
    step: Decimal
    rounds: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A derivation that gives the value."""

    answer: Answer
    derivation: Derivation


@dataclass(slots=True)
class Effort:
    """Work that one answer may cost, in results of derivations; ``left`` counts down."""

    left: int


def search(target: Target, families: Sequence[Family], budget: float, effort: Effort) -> Found | Unreached:
    """The first derivation that gives the target, families stepped together by cumulative cost up to ``budget``.

    ``for good`` says that a larger budget would find nothing either.
    """
    low, high = target.number / 2, target.number * 2
    universe = (high - low) / target.step
    marked: set[Decimal] = set()
    queue: list[tuple[float, int, Iterator[Result]]] = []
    for place, family in enumerate(families):
        queue.append((family.cost, place, family.results()))
    heapq.heapify(queue)
    steps = 0
    while queue:
        cost, place, results = queue[0]
        if cost > budget:
            return "so far"
        if steps >= MAX_STEPS or effort.left <= 0:
            return "for good"
        result = next(results, None)
        if result is None:
            heapq.heappop(queue)
            continue
        heapq.heapreplace(queue, (cost + families[place].cost, place, results))
        steps += 1
        effort.left -= 1
        number = result[0]
        if number <= 0 or not low <= number <= high:
            continue
        if not target.rounds and number % target.step:
            continue
        rounded = number.quantize(target.step, rounding=ROUND_HALF_UP) if target.rounds else number
        if rounded == target.number:
            share = len(marked) / universe
            answer: Answer = "computed" if share <= COMPUTED_SHARE else "derivable"
            return Found(answer, Derivation(families[place].name, result[1]))
        marked.add(rounded)
        if len(marked) > STOP_SHARE * universe and len(marked) > 1:
            return "for good"
    return "for good"
