"""What one call added to the findings of its history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from otel_footprint.core.assessment.fold import AnswerAssessment
from otel_footprint.core.findings.offer import Undecorated
from otel_footprint.core.findings.rows import Row


@dataclass(frozen=True, slots=True)
class FindingsChange:
    """What one call added. ``declared`` counts declarations, ``malformed`` the fields of theirs that were dropped.

    ``assessments`` has one entry for each answer that stands, in the order of the judgements. ``undecorated`` are the tools of the
    call that the argument could not be offered to, with the reason. Rows that the application filed are in none: no call added them.
    """

    rows: tuple[Row, ...] = ()
    declared: int = 0
    malformed: int = 0
    assessments: tuple[AnswerAssessment, ...] = ()
    undecorated: tuple[tuple[str, Undecorated], ...] = ()


def with_drafts(change: FindingsChange | None, drafts: FindingsChange | None) -> FindingsChange | None:
    """What a call added, with what its drafts added that went out after all."""
    if change is None or drafts is None:
        return change
    return replace(change, rows=change.rows + drafts.rows, assessments=change.assessments + drafts.assessments)
