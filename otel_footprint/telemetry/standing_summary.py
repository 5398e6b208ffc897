"""How far answers stand, and what was found beside them, in words and counts, for spans. A pure fold.

Rules
-----
- Words and numbers only, no text of the model: it may live as long as the conversation does.
- Of several choices the least settled one counts: ask, not-sure, not-assessed, consistent, known, in this order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from otel_footprint.core.assessment.fold import AnswerAssessment, AnswerStanding, Assessment, ReasonCode
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.findings.rows import ConflictRow, ContingentRow, Row, UnsettledRow

LEAST_SETTLED_FIRST: Final[tuple[AnswerStanding, ...]] = ("ask", "not-sure", "not-assessed", "consistent", "known")


@dataclass(frozen=True, slots=True)
class StandingSummary:
    """How far one answer stands. ``checked`` names the checks that ran."""

    assessment: Assessment
    standing: AnswerStanding
    reasons: tuple[ReasonCode, ...]
    checked: tuple[str, ...]

    @classmethod
    def of(cls, assessments: Iterable[AnswerAssessment]) -> StandingSummary | None:
        """That of the least settled of one call's answers; None where none was assessed."""
        worst = min(assessments, key=lambda one: LEAST_SETTLED_FIRST.index(one.standing), default=None)
        if worst is None:
            return None
        return cls(
            worst.assessment,
            worst.standing,
            tuple(reason.code for reason in worst.reasons),
            tuple(one.check for one in worst.checked),
        )


@dataclass(frozen=True, slots=True)
class FindingCounts:
    """What was declared and found."""

    declared: int = 0
    malformed: int = 0
    conflicts: int = 0
    contingent: int = 0
    unsettled: int = 0

    @classmethod
    def of(cls, change: FindingsChange) -> FindingCounts:
        """The counts of one call."""
        kinds = Counter(type(row) for row in change.rows)
        return cls(change.declared, change.malformed, kinds[ConflictRow], kinds[ContingentRow], kinds[UnsettledRow])

    def __add__(self, other: FindingCounts) -> FindingCounts:
        return FindingCounts(
            self.declared + other.declared,
            self.malformed + other.malformed,
            self.conflicts + other.conflicts,
            self.contingent + other.contingent,
            self.unsettled + other.unsettled,
        )


@dataclass(frozen=True, slots=True)
class FindingsSummary:
    """The findings of many calls: counts, the standing of the last answer, and of all answers how many stand so far."""

    counts: FindingCounts = field(default_factory=FindingCounts)
    last: StandingSummary | None = None
    standings: Mapping[AnswerStanding, int] = field(default_factory=dict)

    def add(self, change: FindingsChange) -> FindingsSummary:
        """With what one more call found, but for its answers."""
        return replace(self, counts=self.counts + FindingCounts.of(change))

    def filed(self, rows: Iterable[Row]) -> FindingsSummary:
        """With rows that no call filed."""
        return self.add(FindingsChange(tuple(rows)))

    def add_answers(self, assessments: tuple[AnswerAssessment, ...]) -> FindingsSummary:
        """With the answers of one more call."""
        standings = dict(self.standings)
        for one in assessments:
            standings[one.standing] = standings.get(one.standing, 0) + 1
        return replace(self, last=StandingSummary.of(assessments), standings=standings)

    def revise(self, before: tuple[AnswerAssessment, ...], after: tuple[AnswerAssessment, ...]) -> FindingsSummary:
        """With the answers of a call, which are in it, standing otherwise."""
        standings = dict(self.standings)
        for one in before:
            standings[one.standing] = standings.get(one.standing, 0) - 1
        summary = replace(self, standings={word: count for word, count in standings.items() if count > 0})
        revised = summary.add_answers(after)
        return revised if self.last == StandingSummary.of(before) else replace(revised, last=self.last)
