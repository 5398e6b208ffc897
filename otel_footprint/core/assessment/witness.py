"""The witness rows of the answer that stands: verdicts as rows, so that a later reader folds the same.

Rules
-----
- A row is filed only for the answer that stands: a draft that was sent back files none. At most one row of a kind for an
  answer; of ``script-shown`` one for each block.
- Names, enums and counts only: never a value of the answer, a quote, or code.
- ``turn`` is always there: iterations begin anew with each turn.
- A clean verdict (``grounded``) is a check that ran. It never supports an answer: that a value was found says nothing about
  what is said of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_footprint.core.evidence.verdicts import Judgement, Posture

StepsAction: TypeAlias = Literal["accepted", "cut-short"]
ScriptLabel: TypeAlias = Literal["submitted", "ran", "failed", "unmatched"]
UnmatchedReason: TypeAlias = Literal["no-submissions", "no-equal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedRow:
    """Every name and number of the answer was found, or was exempt. Counts are of distinct values."""

    turn: int
    iteration: int
    posture: Posture
    candidates: int
    looked_up: int
    after_revision: bool = False
    kind: Literal["grounded"] = "grounded"


@dataclass(frozen=True, slots=True)
class UnfinishedStep:
    """A declared step that was not reached: its position, from 0, and its tool."""

    index: int
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsUnfinishedRow:
    """The answer came before the declared steps of a procedure were done. ``total`` counts all of them."""

    turn: int
    iteration: int
    skill_id: str
    remaining: tuple[UnfinishedStep, ...]
    total: int
    action: StepsAction
    kind: Literal["steps-unfinished"] = "steps-unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptShownRow:
    """One fenced block of the answer, compared with the scripts that were submitted to a code tool in this turn.

    ``block`` counts from 1 among the blocks that were read. ``label`` says what became of the submission it equals:
    ``ran`` (exit code 0 or none stated), ``failed``, ``submitted`` (no result seen), or ``unmatched`` with its ``reason``. On
    a match ``tool_call_id`` (absent where the provider gives none), ``tool``, ``dispatch`` (the submission's ordinal in the
    turn, from 1) and ``exit_code`` (only where the tool states one).
    """

    turn: int
    iteration: int
    block: int
    label: ScriptLabel
    reason: UnmatchedReason | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    dispatch: int | None = None
    exit_code: int | None = None
    kind: Literal["script-shown"] = "script-shown"


WitnessRow: TypeAlias = GroundedRow | StepsUnfinishedRow | ScriptShownRow


def grounded_row(judgement: Judgement, *, turn: int, iteration: int, after_revision: bool) -> GroundedRow | None:
    """The clean verdict as a row; None for any other verdict, and for a draft that is sent back."""
    if judgement.verdict != "grounded":
        return None
    return GroundedRow(
        turn=turn,
        iteration=iteration,
        posture=judgement.posture,
        candidates=judgement.candidates,
        looked_up=judgement.looked_up,
        after_revision=after_revision,
    )


def steps_unfinished_row(
    *, turn: int, iteration: int, skill_id: str, remaining: Iterable[tuple[int, str]], total: int, action: StepsAction
) -> StepsUnfinishedRow:
    """A declared procedure that was left early, as a row: positions and tools of its steps, never their notes."""
    steps = tuple(UnfinishedStep(index, tool) for index, tool in remaining)
    return StepsUnfinishedRow(
        turn=turn, iteration=iteration, skill_id=skill_id, remaining=steps, total=total, action=action
    )
