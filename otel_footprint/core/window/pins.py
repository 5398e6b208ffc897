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
from typing import Final

from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.turns import Turn
from otel_footprint.core.window.reading import Held, WindowReading
from otel_footprint.core.window.record import PIN_REASONS, Pin, Pins, WindowRecord

KEEP_LAST_TOOL_RESULTS: Final = 2
KEEP_LEDGER_FACTS: Final = 6

_RANK: Final[dict[Standing | None, int]] = {"fact": 4, "open": 3, None: 2, "ruled-out": 1, "noise": 0}


def last_result_pins(reading: WindowReading, results: Sequence[Held]) -> tuple[Pin, ...]:
    """The candidates among the latest results of the tools in use, newest first."""
    after = -1 if reading.request is None else reading.request
    seen: set[str] = set()
    turns: set[int] = set()
    pins: list[Pin] = []
    for held in reversed(results):
        if held.index <= after:
            break
        if held.tool is None or held.tool in seen:
            continue
        seen.add(held.tool)
        if held.turn not in turns:
            turns.add(held.turn)
            pins.append(_pin(reading, held.turn, (held.ref,), held.tool))
    return tuple(pins)


def ledger_fact_pins(
    reading: WindowReading, results: Sequence[Held], standing: Callable[[str], Standing | None]
) -> tuple[Pin, ...]:
    """The candidates among the turns that the model declared facts, newest first."""
    after = -1 if reading.request is None else reading.request
    pins: list[Pin] = []
    for turn, members in _by_turn(results):
        current = [held for held in members if held.index > after]
        named = [held.tool for held in current if held.tool is not None]
        if named and _best(standing(held.ref) for held in members) == "fact":
            pins.append(_pin(reading, turn, tuple(held.ref for held in current), named[-1]))
    return tuple(reversed(pins))


def turn_standings(
    results: Sequence[Held], turns: Sequence[Turn], standing: Callable[[str], Standing | None]
) -> Callable[[Turn], Standing | None]:
    """The standing of a turn, as a strategy may ask for it; None where nothing was declared or it has no result."""
    members = {turns[turn]: held for turn, held in _by_turn(results)}

    def standing_of(turn: Turn) -> Standing | None:
        return _best(standing(held.ref) for held in members.get(turn, ()))

    return standing_of


def admit(candidates: Sequence[Pin], *, limit: int, kept_from: int, stand_down: bool) -> Pins:
    """Spend the ceiling on the candidates outside the keep window, which begins at turn ``kept_from``."""
    if stand_down or limit == 0:
        return Pins(limit=limit, stand_down=stand_down and limit > 0)
    outside = [pin for pin in candidates if pin.turn_index < kept_from]
    return Pins(tuple(outside[:limit]), max(0, len(outside) - limit), limit)


def stands_down(previous: Sequence[WindowRecord | None]) -> bool:
    """Whether the pins release at this visit. ``previous`` are the visits before, oldest first; None one without a record."""
    return len(previous) >= 2 and all(
        record is not None
        and record.removed_message_count == 0
        and any(refusal.reason in PIN_REASONS for refusal in record.refusals)
        for record in previous[-2:]
    )


def _pin(reading: WindowReading, turn: int, refs: tuple[str, ...], tool: str) -> Pin:
    bounds = reading.turns[turn]
    chars = sum(message.chars for message in reading.history[bounds.first : bounds.last + 1])
    return Pin(refs, tool, turn, bounds.first, chars)


def _by_turn(results: Sequence[Held]) -> list[tuple[int, list[Held]]]:
    grouped: dict[int, list[Held]] = {}
    for held in results:
        grouped.setdefault(held.turn, []).append(held)
    return list(grouped.items())


def _best(standings: Iterable[Standing | None]) -> Standing | None:
    return max(standings, key=_RANK.__getitem__, default=None)
