"""The summary of answers: of one call's, for its span, and of many calls', for the agent's span. A pure fold.

Rules
-----
- A summary holds words and numbers only, no value: it may live as long as the conversation does.
- A draft, which is an answer that was sent back to be revised (``recheck``), is no answer of an agent: it is counted as a
  revision. Where its revision failed and it goes out after all, :meth:`Summary.add_answers` puts it in.
- How far an answer stands may change after its call, by what the application says of it: :meth:`Summary.restand`.
- A call with several choices is summarised by its worst one: ungrounded, inconclusive, not_applicable, grounded,
  no_claims, in this order; between equals the worse status, then the first choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from otel_footprint.core.assessment.fold import AnswerAssessment
from otel_footprint.core.decisions import Decisions, Match
from otel_footprint.core.evidence.verdicts import (
    STATUSES,
    Action,
    Judgement,
    Posture,
    Reason,
    Status,
    Verdict,
)
from otel_footprint.core.findings.rows import Row
from otel_footprint.core.per_call import per_call
from otel_footprint.telemetry.standing_summary import FindingsSummary

WORST_FIRST: Final[tuple[Verdict, ...]] = ("ungrounded", "inconclusive", "not_applicable", "grounded", "no_claims")


@per_call(frozen=True, slots=True)
class AnswerSummary:
    """One call's answer in words and numbers. ``choice`` is the one it is about, of ``choices`` that were judged."""

    verdict: Verdict
    worst_status: Status | None
    action: Action
    posture: Posture
    reasons: tuple[Reason, ...]
    candidates: int
    looked_up: int
    counts: Mapping[Status, int]
    earlier_turns_only: int
    choice: int
    choices: int
    tool_results_this_turn: int
    misplaced: int = 0

    @classmethod
    def of(cls, judgement: Judgement, decisions: Decisions) -> AnswerSummary:
        """The summary of one judgement of this call."""
        return cls(
            verdict=judgement.verdict,
            worst_status=judgement.worst_status,
            action=judgement.action,
            posture=judgement.posture,
            reasons=judgement.reasons,
            candidates=judgement.candidates,
            looked_up=judgement.looked_up,
            counts=judgement.counts,
            earlier_turns_only=judgement.earlier_turns_only,
            choice=judgement.choice,
            choices=len(decisions.judgements),
            tool_results_this_turn=decisions.tool_results_this_turn,
            misplaced=judgement.misplaced,
        )

    @classmethod
    def worst(cls, decisions: Decisions) -> AnswerSummary | None:
        """The summary of the call's worst answer; None when it gave none."""
        if not decisions.judgements:
            return None
        if len(decisions.judgements) == 1:
            return cls.of(decisions.judgements[0], decisions)
        return cls.of(max(decisions.judgements, key=lambda j: _badness(j.verdict, j.worst_status)), decisions)


def _badness(verdict: Verdict, worst_status: Status | None) -> tuple[int, int]:
    return -WORST_FIRST.index(verdict), -1 if worst_status is None else STATUSES.index(worst_status)


@dataclass(frozen=True, slots=True)
class Summary:
    """What happened under one agent span: totals over its calls, and the last answer.

    ``Summary()`` is that of no call. Conversation, thread, turn and iteration are those of the last call.
    """

    calls: int = 0
    answers: int = 0
    conversation: str | None = None
    match: Match | None = None
    thread: int = 0
    turn: int = 0
    iteration: int = 0
    tool_results_this_turn: int = 0
    evicted: int = 0
    revisions: int = 0
    last: AnswerSummary | None = None
    worst_verdict: Verdict | None = None
    worst_status: Status | None = None
    verdicts: Mapping[Verdict, int] = field(default_factory=dict)
    statuses: Mapping[Status, int] = field(default_factory=dict)
    argument_statuses: Mapping[Status, int] = field(default_factory=dict)
    findings: FindingsSummary | None = None

    @classmethod
    def of(cls, calls: Iterable[Decisions]) -> Summary:
        """The summary of these calls, in their order."""
        summary = cls()
        for decisions in calls:
            summary = summary.add(decisions)
        return summary

    def add(self, decisions: Decisions) -> Summary:
        """The summary with one more call."""
        summary = replace(
            self,
            calls=self.calls + 1,
            conversation=decisions.conversation,
            match=decisions.match,
            thread=decisions.thread,
            turn=decisions.turn,
            iteration=decisions.iteration,
            tool_results_this_turn=decisions.tool_results_this_turn,
            evicted=self.evicted + (len(decisions.window.evictions) if decisions.window.settled else 0),
            argument_statuses=self._with_arguments(decisions),
        )
        if decisions.findings is not None:
            summary = replace(summary, findings=(self.findings or FindingsSummary()).add(decisions.findings))
        if any(judgement.action == "recheck" for judgement in decisions.judgements):
            return replace(summary, revisions=summary.revisions + 1)
        return summary.add_answers(decisions)

    def add_answers(self, decisions: Decisions) -> Summary:
        """The summary with the answers of a call that it holds already."""
        worst = AnswerSummary.worst(decisions)
        return self if worst is None else self._with_answers(decisions, worst)

    def filed(self, rows: Sequence[Row]) -> Summary:
        """The summary with rows that the application filed."""
        return replace(self, findings=(self.findings or FindingsSummary()).filed(rows))

    def restand(self, before: Sequence[AnswerAssessment], after: Sequence[AnswerAssessment]) -> Summary:
        """The summary with the answers of one call, which it holds, standing otherwise than ``before``."""
        findings = (self.findings or FindingsSummary()).revise(tuple(before), tuple(after))
        return replace(self, findings=findings)

    def _with_arguments(self, decisions: Decisions) -> Mapping[Status, int]:
        if not decisions.calls:
            return self.argument_statuses
        statuses = dict(self.argument_statuses)
        for call in decisions.calls:
            for value in call.values:
                statuses[value.status] = statuses.get(value.status, 0) + 1
        return statuses

    def _with_answers(self, decisions: Decisions, worst: AnswerSummary) -> Summary:
        verdicts, statuses = dict(self.verdicts), dict(self.statuses)
        worst_verdict, worst_status = self.worst_verdict, self.worst_status
        for judgement in decisions.judgements:
            verdicts[judgement.verdict] = verdicts.get(judgement.verdict, 0) + 1
            for status, count in judgement.counts.items():
                statuses[status] = statuses.get(status, 0) + count
        if self.worst_verdict is None or (
            _badness(worst.verdict, worst.worst_status) > _badness(self.worst_verdict, self.worst_status)
        ):
            worst_verdict, worst_status = worst.verdict, worst.worst_status
        findings = self.findings
        if findings is not None:
            assessments = decisions.findings.assessments if decisions.findings is not None else ()
            findings = findings.add_answers(assessments)
        return replace(
            self,
            findings=findings,
            answers=self.answers + len(decisions.judgements),
            last=worst,
            worst_verdict=worst_verdict,
            worst_status=worst_status,
            verdicts=verdicts,
            statuses=statuses,
        )
