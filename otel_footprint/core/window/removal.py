"""The refusal engine: which turns may leave a window, and by name why every other one stays.

Rules
-----
- Of one turn the first reason in the order of ``REFUSAL_REASONS`` is named. The last ``keep_recent_turns`` turns are named
  ``inside-keep-window`` unless a reason above it holds that is not a pin.
- A call and its result leave together or not at all, also where they stand in two turns: such turns, with what is between
  them, are one block. Where one of a block has to stay, the others are refused as ``unresolved-tool-call``.
- The span is the longest run of removable turns that begins at the oldest one; unremovable ones before it are stepped over.
- Where the whole run is one existing summary, that turn is refused (there is nothing to gain from it) and stepped over.
- Every turn is in the span, named in the refusals, or counted as unreached: removable, but behind the end of the run.
- A drop notice is no turn, so it neither ends a run nor is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.turns import Turn
from otel_footprint.core.window.pins import Candidate, admit
from otel_footprint.core.window.reading import WindowReading
from otel_footprint.core.window.record import Refusal, RefusalReason, RemovalPlan


@dataclass(frozen=True, slots=True)
class PinRules:
    """The candidates for pins with their ceilings. ``facts`` is None where findings are off."""

    observations: tuple[Candidate, ...] = ()
    keep_last_tool_results: int = 0
    facts: tuple[Candidate, ...] | None = None
    keep_ledger_facts: int = 0
    stand_down: bool = False


_refusal: Final = tuple.__new__
"""Half the time of a named tuple's own constructor, where there is one for almost every turn of a long window."""


def plan_removal(
    reading: WindowReading,
    pins: PinRules,
    keep_recent_turns: int,
    is_existing_summary: Callable[[Turn], bool] | None = None,
) -> RemovalPlan:
    """Ask every turn of the window. ``keep_recent_turns`` counts from the end; 0 keeps none for being recent."""
    turns = reading.turns
    kept_from = max(0, len(turns) - max(0, keep_recent_turns))
    observations = admit(
        reading, pins.observations, limit=pins.keep_last_tool_results, kept_from=kept_from, stand_down=pins.stand_down
    )
    facts = (
        None
        if pins.facts is None
        else admit(reading, pins.facts, limit=pins.keep_ledger_facts, kept_from=kept_from, stand_down=pins.stand_down)
    )
    reasons = list(reading.reasons)
    for pin in observations.pinned:
        reasons[pin.turn_index] = reasons[pin.turn_index] or "last-tool-result"
    for pin in facts.pinned if facts is not None else ():
        reasons[pin.turn_index] = reasons[pin.turn_index] or "ledger-fact"
    for turn in range(kept_from, len(turns)):
        reasons[turn] = reasons[turn] or "inside-keep-window"
    _bind_pairs(reasons, reading.pairs)
    first, last = _run(reasons, turns, is_existing_summary)
    refusals = tuple(
        [
            _refusal(Refusal, (reason, turn, turns[turn].first))
            for turn, reason in enumerate(reasons)
            if reason is not None
        ]
    )
    removable = len(turns) - len(refusals)
    unreached = removable if first is None or last is None else removable - (last - first + 1)
    return RemovalPlan(first, last, refusals, observations, facts, unreached)


def _bind_pairs(reasons: list[RefusalReason | None], pairs: Sequence[tuple[int, int]]) -> None:
    """Refuse what cannot leave because the other half of a call and its result stays."""
    blocks: list[tuple[int, int]] = []
    for start, end in sorted(pairs):
        if blocks and start <= blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], max(end, blocks[-1][1]))
        else:
            blocks.append((start, end))
    for start, end in blocks:
        if any(reasons[start : end + 1]):
            for turn in range(start, end + 1):
                reasons[turn] = reasons[turn] or "unresolved-tool-call"


def _run(
    reasons: list[RefusalReason | None],
    turns: Sequence[Turn],
    is_existing_summary: Callable[[Turn], bool] | None,
) -> tuple[int | None, int | None]:
    """The bounds of the run. A summary that would be all of it is refused in ``reasons``."""
    turn = 0
    while turn < len(reasons):
        if reasons[turn] is not None:
            turn += 1
            continue
        last = turn
        while last + 1 < len(reasons) and reasons[last + 1] is None:
            last += 1
        if last > turn or is_existing_summary is None or not is_existing_summary(turns[turn]):
            return turn, last
        reasons[turn] = "only-existing-summary"
        turn += 1
    return None, None
