"""Pins: the turns that stay because of a tool result, with their ceilings and their stand-down.

Rules
-----
- Last tool result: one for each tool name, always its latest result; a result whose tool cannot be named is never pinned.
- Ledger fact: the turns whose standing the model declared to be ``fact``. A turn's standing is its most valuable result's,
  ``fact > open > undeclared > ruled-out > noise``. Only what was declared is read, never the text; what was not declared
  is no verdict.
- Both: newest first, one for each turn, nothing at or before the current request, so that a new request releases them all.
- Inside the keep window a pin costs nothing and is not named. The others are admitted newest first up to the ceiling; what
  it turned away is counted as ``yielded``.
- Stand-down: when the two visits before both removed nothing and both named a pin, all pins release for one visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.turns import Turn
from otel_footprint.core.window.reading import Results, WindowReading
from otel_footprint.core.window.record import PIN_REASONS, Pin, Pins, WindowRecord

KEEP_LAST_TOOL_RESULTS: Final = 2
KEEP_LEDGER_FACTS: Final = 6

_RANK: Final[dict[Standing | None, int]] = {"fact": 4, "open": 3, None: 2, "ruled-out": 1, "noise": 0}


class Candidate(NamedTuple):
    """A turn that a pin may hold: the results it would be held for, by reference, and the tool that names it."""

    turn: int
    refs: tuple[str, ...]
    tool: str


def last_result_candidates(reading: WindowReading, results: Results) -> tuple[Candidate, ...]:
    """The latest results of the tools in use, newest first."""
    after = -1 if reading.request is None else reading.request
    seen: set[str] = set()
    turns: set[int] = set()
    candidates: list[Candidate] = []
    tools = reading.tools
    in_use = len(set(tools)) - (None in tools)
    for place in range(len(reading.results) - 1, -1, -1):
        if len(seen) == in_use:
            break
        index = reading.results[place]
        if index <= after:
            break
        tool = tools[index]
        if tool is None or tool in seen or not results.ran(place):
            continue
        seen.add(tool)
        turn = reading.result_turns[place]
        if turn not in turns:
            turns.add(turn)
            candidates.append(Candidate(turn, (results.refs[place],), tool))
    return tuple(candidates)


def ledger_fact_candidates(
    reading: WindowReading, results: Results, standing: Callable[[str], Standing | None]
) -> tuple[Candidate, ...]:
    """The turns that the model declared facts, newest first."""
    after = -1 if reading.request is None else reading.request
    candidates: list[Candidate] = []
    facts = {
        turn
        for place, (turn, ref) in enumerate(zip(reading.result_turns, results.refs, strict=True))
        if standing(ref) == "fact" and results.ran(place)
    }
    for turn, places in results.by_turn(facts).items():
        current = [place for place in places if reading.results[place] > after]
        named = [tool for place in current if (tool := reading.tools[reading.results[place]]) is not None]
        if named:
            candidates.append(Candidate(turn, tuple([results.refs[place] for place in current]), named[-1]))
    candidates.reverse()
    return tuple(candidates)


def turn_standings(
    turns: Sequence[Turn], results: Results, standing: Callable[[str], Standing | None]
) -> Callable[[Turn], Standing | None]:
    """The standing of a turn, as a strategy may ask for it; None where nothing was declared or it has no result."""

    members: dict[Turn, list[int]] = {}

    def standing_of(turn: Turn) -> Standing | None:
        if not members:
            members.update((turns[number], places) for number, places in results.by_turn().items())
        return best_standing(standing(results.refs[place]) for place in members.get(turn, ()))

    return standing_of


def best_standing(standings: Iterable[Standing | None]) -> Standing | None:
    """The most valuable of the standings of a turn's results."""
    return max(standings, key=_RANK.__getitem__, default=None)


def admit(
    reading: WindowReading, candidates: Sequence[Candidate], *, limit: int, kept_from: int, stand_down: bool
) -> Pins:
    """Spend the ceiling on the candidates outside the keep window, which begins at turn ``kept_from``."""
    if stand_down or limit == 0:
        return Pins(limit=limit, stand_down=stand_down and limit > 0)
    outside = [candidate for candidate in candidates if candidate.turn < kept_from]
    pinned = tuple([_pin(reading, candidate) for candidate in outside[:limit]])
    return Pins(pinned, max(0, len(outside) - limit), limit)


def stands_down(previous: Sequence[WindowRecord | None]) -> bool:
    """Whether the pins release at this visit. ``previous`` are the visits before, oldest first; None one without a record."""
    return len(previous) >= 2 and all(
        record is not None
        and record.removed_message_count == 0
        and any(refusal.reason in PIN_REASONS for refusal in record.refusals)
        for record in previous[-2:]
    )


def _pin(reading: WindowReading, candidate: Candidate) -> Pin:
    bounds = reading.turns[candidate.turn]
    chars = sum(message.chars for message in reading.history[bounds.first : bounds.last + 1])
    return Pin(candidate.refs, candidate.tool, candidate.turn, bounds.first, chars)
