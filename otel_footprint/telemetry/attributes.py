"""Decisions as attributes of a span: of the call's, and of the agent's around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias, TypeVar

from opentelemetry.util.types import AnyValue

from otel_footprint.core.assessment.witness import ScriptShownRow
from otel_footprint.core.call import Call
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.verdicts import STATUSES, CallJudgement
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.telemetry import names
from otel_footprint.telemetry.limits import Bounds
from otel_footprint.telemetry.standing_summary import FindingCounts, FindingsSummary, StandingSummary
from otel_footprint.telemetry.summary import AnswerSummary, Summary

Attributes: TypeAlias = dict[str, AnyValue]
_T = TypeVar("_T")
NO_STATUS: Final = "none"
"""What stands for the worst status of an answer that states no value."""


def tally(things: Iterable[_T]) -> dict[_T, int]:
    """How often each occurs, in order of appearance. Of few things a third of what a ``Counter`` costs."""
    counts: dict[_T, int] = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def call_attributes(decisions: Decisions, call: Call, bounds: Bounds) -> Attributes:
    """What stands on the span of the call itself, without what :func:`limit_attributes` adds."""
    window = decisions.window
    attributes: Attributes = {
        names.CONVERSATION_ID: bounds.text(decisions.conversation),
        names.CONVERSATION_MATCH: decisions.match,
        names.THREAD: decisions.thread,
        names.TURN: decisions.turn,
        names.ITERATION: decisions.iteration,
        names.WINDOW_DECISION: window.decision,
        names.WINDOW_DECIDED_BY: bounds.text(window.decided_by),
        names.WINDOW_MESSAGES_BEFORE: window.messages_before,
        names.WINDOW_MESSAGES_AFTER: window.messages_after,
        names.WINDOW_CHARS_BEFORE: window.chars_before,
        names.WINDOW_CHARS_AFTER: window.chars_after,
        names.WINDOW_EVICTED: len(window.evictions),
        names.WINDOW_REWRITTEN: len(window.rewrites),
        names.WINDOW_INSERTED: window.inserted,
        names.EVIDENCE_TOOL_RESULTS_THIS_TURN: decisions.tool_results_this_turn,
    }
    if decisions.forked_from is not None:
        attributes[names.THREAD_FORKED_FROM] = decisions.forked_from
    if window.dropped_tools:
        kept, omitted = bounds.items(window.dropped_tools)
        attributes[names.WINDOW_DROPPED_TOOLS] = kept
        if omitted:
            attributes[names.WINDOW_DROPPED_TOOLS_OMITTED] = omitted
    if not window.settled:
        attributes[names.WINDOW_SETTLED] = False
    if compacted(decisions, call):
        attributes[names.GEN_AI_CONVERSATION_COMPACTED] = True
    if call.planned is not None:
        if call.planned.is_revision:
            attributes[names.EVIDENCE_REVISION] = True
        if call.planned.stream_unheld:
            attributes[names.EVIDENCE_STREAM_UNHELD] = True
    if decisions.calls:
        attributes |= argument_attributes(decisions.calls)
    answer = AnswerSummary.worst(decisions)
    if answer is not None:
        attributes |= answer_attributes(answer)
        attributes[names.EVIDENCE_CHOICES] = answer.choices
    if decisions.findings is not None:
        attributes |= _change_attributes(decisions.findings, bounds)
    return attributes


def _change_attributes(change: FindingsChange, bounds: Bounds) -> Attributes:
    """What was declared and found in a call, and how far its answer stands."""
    counts = FindingCounts.of(change)
    attributes = _count_attributes(counts)
    if counts.unsettled:
        attributes[names.FINDINGS_UNSETTLED] = counts.unsettled
    if change.undecorated:
        kept, omitted = bounds.items(tool for tool, _ in change.undecorated)
        attributes[names.FINDINGS_UNDECORATED] = len(change.undecorated)
        attributes[names.FINDINGS_UNDECORATED_TOOLS] = kept
        if omitted:
            attributes[names.FINDINGS_UNDECORATED_TOOLS_OMITTED] = omitted
    for label, number in Counter(row.label for row in change.rows if isinstance(row, ScriptShownRow)).items():
        attributes[names.ANSWER_SCRIPTS[label]] = number
    standing = StandingSummary.of(change.assessments)
    return attributes if standing is None else attributes | standing_attributes(standing, bounds)


def _count_attributes(counts: FindingCounts) -> Attributes:
    return {
        names.FINDINGS_DECLARED: counts.declared,
        names.FINDINGS_MALFORMED: counts.malformed,
        names.FINDINGS_CONFLICTS: counts.conflicts,
        names.FINDINGS_CONTINGENT: counts.contingent,
    }


def standing_attributes(standing: StandingSummary, bounds: Bounds) -> Attributes:
    """How far one answer stands."""
    attributes: Attributes = {
        names.ANSWER_ASSESSMENT: standing.assessment,
        names.ANSWER_STANDING: standing.standing,
    }
    if standing.reasons:
        attributes[names.ANSWER_REASONS] = list(standing.reasons)
        attributes[names.ANSWER_REASON] = standing.reasons[0]
    if standing.checked:
        kept, omitted = bounds.items(standing.checked)
        attributes[names.ANSWER_CHECKED] = kept
        if omitted:
            attributes[names.ANSWER_CHECKED_OMITTED] = omitted
    return attributes


def findings_attributes(summary: FindingsSummary, bounds: Bounds) -> Attributes:
    """The findings of an agent's calls, and how far its last answer stands."""
    attributes = _count_attributes(summary.counts)
    if summary.last is not None:
        attributes |= standing_attributes(summary.last, bounds)
    for standing, count in summary.standings.items():
        attributes[names.TOTALS_STANDING[standing]] = count
    return attributes


def compacted(decisions: Decisions, call: Call) -> bool:
    """Whether this call's history was folded: by the provider, by what it says, or by a window strategy of ours.

    An application's own summary is inferred from its messages, which is not enough to say it under a standard name.
    """
    window = decisions.window
    return (window.decision == "summarize" and window.decided_by != "application") or any(
        edit.kind == "summarize" for edit in call.edits
    )


def answer_attributes(answer: AnswerSummary) -> Attributes:
    """The summary of one answer, the same on spans and on the event."""
    attributes: Attributes = {
        names.EVIDENCE_CHOICE: answer.choice,
        names.EVIDENCE_VERDICT: answer.verdict,
        names.EVIDENCE_WORST_STATUS: answer.worst_status or NO_STATUS,
        names.EVIDENCE_ACTION: answer.action,
        names.EVIDENCE_POSTURE: answer.posture,
        names.EVIDENCE_CANDIDATES: answer.candidates,
        names.EVIDENCE_LOOKED_UP: answer.looked_up,
        names.EVIDENCE_EARLIER_TURNS_ONLY: answer.earlier_turns_only,
        names.EVIDENCE_TOOL_RESULTS_THIS_TURN: answer.tool_results_this_turn,
    }
    if answer.misplaced:
        attributes[names.EVIDENCE_MISPLACED] = answer.misplaced
    if answer.reasons:
        attributes[names.EVIDENCE_REASONS] = list(answer.reasons)
        attributes[names.EVIDENCE_REASON] = answer.reasons[0]
    for status, count in answer.counts.items():
        attributes[names.EVIDENCE_STATUS[status]] = count
    return attributes


def argument_attributes(calls: Sequence[CallJudgement]) -> Attributes:
    """The summary of the arguments of emitted tool calls."""
    values = [value for call in calls for value in call.values]
    worst = max(values, key=lambda value: (value.unaccounted, STATUSES.index(value.status)), default=None)
    attributes: Attributes = {
        names.ARGUMENTS_CANDIDATES: len(values),
        names.ARGUMENTS_UNACCOUNTED: sum(value.unaccounted for value in values),
        names.ARGUMENTS_WORST_STATUS: NO_STATUS if worst is None else worst.status,
    }
    for status, count in tally([value.status for value in values]).items():
        attributes[names.ARGUMENTS_STATUS[status]] = count
    reasons = sorted({reason for call in calls for reason in call.reasons})
    if reasons:
        attributes[names.ARGUMENTS_REASONS] = reasons
    return attributes


def agent_attributes(summary: Summary, bounds: Bounds) -> Attributes:
    """What stands on the agent's span: its last answer, and totals over its calls."""
    attributes: Attributes = {names.TOTALS_CALLS: summary.calls, names.TOTALS_ANSWERS: summary.answers}
    if summary.findings is not None:
        attributes |= findings_attributes(summary.findings, bounds)
    if summary.conversation is None:
        return attributes
    attributes[names.CONVERSATION_ID] = bounds.text(summary.conversation)
    if summary.match is not None:
        attributes[names.CONVERSATION_MATCH] = summary.match
    attributes |= {
        names.THREAD: summary.thread,
        names.TURN: summary.turn,
        names.ITERATION: summary.iteration,
        names.EVIDENCE_TOOL_RESULTS_THIS_TURN: summary.tool_results_this_turn,
        names.TOTALS_EVICTED: summary.evicted,
    }
    if summary.revisions:
        attributes[names.TOTALS_REVISIONS] = summary.revisions
    for status, count in summary.argument_statuses.items():
        attributes[names.TOTALS_ARGUMENT_STATUS[status]] = count
    if summary.last is None:
        return attributes
    attributes |= answer_attributes(summary.last)
    attributes[names.EVIDENCE_CHOICES] = summary.last.choices
    if summary.worst_verdict is not None:
        attributes[names.TOTALS_WORST_VERDICT] = summary.worst_verdict
        attributes[names.TOTALS_WORST_STATUS] = summary.worst_status or NO_STATUS
    for verdict, count in summary.verdicts.items():
        attributes[names.TOTALS_VERDICT[verdict]] = count
    for status, count in summary.statuses.items():
        attributes[names.TOTALS_STATUS[status]] = count
    return attributes


def limit_attributes(bounds: Bounds, *, events_dropped: int = 0, links_dropped: int = 0) -> Attributes:
    """What the limits left out; nothing where they left nothing out."""
    if not (events_dropped or links_dropped or bounds.texts_cut or bounds.items_omitted):
        return {}
    counts = {
        names.LIMITS_EVENTS_DROPPED: events_dropped,
        names.LIMITS_LINKS_DROPPED: links_dropped,
        names.LIMITS_TEXTS_CUT: bounds.texts_cut,
        names.LIMITS_ITEMS_OMITTED: bounds.items_omitted,
    }
    return {name: count for name, count in counts.items() if count}
