"""What one call added to the findings of its history."""

from __future__ import annotations

from dataclasses import dataclass

from otel_footprint.core.assessment.fold import AnswerAssessment
from otel_footprint.core.findings.rows import Row


@dataclass(frozen=True, slots=True)
class FindingsChange:
    """What one call added. ``declared`` counts declarations, ``malformed`` the fields of theirs that were dropped.

    ``assessments`` has one entry for each answer that stands, in the order of the judgements.
    """

    rows: tuple[Row, ...] = ()
    declared: int = 0
    malformed: int = 0
    assessments: tuple[AnswerAssessment, ...] = ()
