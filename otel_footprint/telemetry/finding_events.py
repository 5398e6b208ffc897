"""The rows of the findings ledger as events, and the standing of an answer as the standard evaluation result.

Rules
-----
- What the model wrote is text of the model: a proposition, a line, an assertion, a subject, and an id that no result has. It
  goes out under the capture level ``all`` only; at any other, what has to be told apart is a keyed hash.
- Verdicts are no events here: the check of an answer has its own.
- A result that is ruled out on the word of an absence is said so on the event of its standing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from otel_footprint.core.assessment.fold import AnswerAssessment
from otel_footprint.core.assessment.verdict_rows import AskedRow, StoppedEarlyRow, ValidatedRow
from otel_footprint.core.assessment.witness import ScriptShownRow, StepsUnfinishedRow
from otel_footprint.core.findings.rows import (
    Assertion,
    BasisRow,
    ConflictRow,
    ContingentRow,
    CoverageGapRow,
    DeclaredAbsentRow,
    EmptyRow,
    Row,
    StandingRow,
    UnsettledRow,
)
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import Attributes
from otel_footprint.telemetry.capture import Capture
from otel_footprint.telemetry.event_plan import PlannedEvent, plan_event
from otel_footprint.telemetry.limits import Bounds

_EVALUATION: Final = "agentfootprint.answer"


def ledger_events(rows: Sequence[Row], capture: Capture, bounds: Bounds) -> Iterator[PlannedEvent]:
    """What results and declarations filed, in the order it was filed."""
    for index, row in enumerate(rows):
        match row:
            case BasisRow():
                yield plan_event(names.EVENT_FINDINGS_DECLARED, partial(_basis, row, capture, bounds))
            case StandingRow():
                unsettled = any(
                    isinstance(after, UnsettledRow) and after.ref == row.ref for after in _following(rows, index)
                )
                yield plan_event(names.EVENT_FINDINGS_STANDING, partial(_standing, row, unsettled, capture, bounds))
            case ConflictRow():
                yield plan_event(names.EVENT_FINDINGS_CONFLICT, partial(_conflict, row, capture, bounds))
            case DeclaredAbsentRow() | CoverageGapRow() | EmptyRow():
                yield plan_event(names.EVENT_TOOLS_ABSENT, partial(_absence, row, bounds))
            case _:
                pass


def answer_events(rows: Iterable[Row], bounds: Bounds) -> Iterator[PlannedEvent]:
    """What an answer rests on and shows, and what the application said of it."""
    for row in rows:
        match row:
            case ContingentRow(moment="answer"):
                yield plan_event(names.EVENT_FINDINGS_CONTINGENT, partial(_contingent, row, bounds))
            case ScriptShownRow():
                yield plan_event(names.EVENT_ANSWER_SCRIPT_SHOWN, partial(_script, row, bounds))
            case StepsUnfinishedRow():
                yield plan_event(names.EVENT_SKILL_STEPS_UNFINISHED, partial(_steps, row, bounds))
            case ValidatedRow() | AskedRow() | StoppedEarlyRow():
                yield plan_event(names.EVENT_ANSWER_WITNESS, partial(_witness, row, bounds))
            case _:
                pass


def dispatch_events(rows: Iterable[Row], bounds: Bounds) -> Iterator[PlannedEvent]:
    """What the arguments of emitted calls rest on."""
    for row in rows:
        if isinstance(row, ContingentRow) and row.moment == "dispatch":
            yield plan_event(names.EVENT_FINDINGS_CONTINGENT, partial(_contingent, row, bounds))


def standing_result(assessment: AnswerAssessment, choice: int, response_id: str | None, bounds: Bounds) -> Attributes:
    """How far an answer stands, as the standard evaluation result."""
    attributes: Attributes = {
        names.GEN_AI_EVALUATION_NAME: _EVALUATION,
        names.GEN_AI_EVALUATION_SCORE_LABEL: assessment.standing,
        names.GEN_AI_EVALUATION_EXPLANATION: bounds.text(standing_explanation(assessment)),
        names.EVIDENCE_CHOICE: choice,
    }
    if response_id is not None:
        attributes[names.GEN_AI_RESPONSE_ID] = bounds.text(response_id)
    return attributes


def standing_explanation(assessment: AnswerAssessment) -> str:
    """The standing in a sentence of counts and closed words."""
    checks = len(assessment.checked)
    ran = f"{checks} {'check' if checks == 1 else 'checks'} ran" if checks else "no check ran"
    if not assessment.reasons:
        return f"{assessment.assessment}: {ran}, no reason against it"
    return f"{assessment.assessment}: {ran}; because of {', '.join(reason.code for reason in assessment.reasons)}"


def _following(rows: Sequence[Row], index: int) -> Iterator[Row]:
    """The rows that a standing filed beside it: those before the next declaration."""
    for row in rows[index + 1 :]:
        if not isinstance(row, (ConflictRow, UnsettledRow)):
            return
        yield row


def _basis(row: BasisRow, capture: Capture, bounds: Bounds) -> Attributes:
    attributes: Attributes = {names.FINDING_TOOL: bounds.text(row.tool), names.FINDING_BASIS: row.basis}
    if row.ref:
        attributes[names.FINDING_TOOL_CALL_ID] = bounds.text(row.ref)
    if row.expect is not None:
        attributes[names.FINDING_EXPECT] = row.expect
    if row.cut:
        attributes[names.FINDING_TEXT_CUT] = True
    texts = {names.FINDING_PROPOSITION: row.proposition, names.FINDING_PREDICTS: row.predicts}
    return attributes | _texts(texts, capture, bounds)


def _standing(row: StandingRow, unsettled: bool, capture: Capture, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.TURN: row.turn,
        names.ITERATION: row.iteration,
        names.FINDING_STANDING: row.standing,
        names.FINDING_DECLARED_BY: row.declared_by,
    }
    if row.unknown_id:
        attributes[names.FINDING_UNKNOWN_ID] = True
        attributes[names.FINDING_ID_HASH] = capture.text_hash(row.ref)
    else:
        attributes[names.FINDING_TOOL_CALL_ID] = bounds.text(row.ref)
    if unsettled:
        attributes[names.FINDING_UNSETTLED] = True
    if row.assertions:
        attributes[names.FINDING_ASSERTIONS] = len(row.assertions)
    if row.cut:
        attributes[names.FINDING_TEXT_CUT] = True
    if capture.shows_findings and row.assertions:
        kept, omitted = bounds.items(map(_asserted, row.assertions))
        attributes[names.FINDING_ASSERTED] = kept
        if omitted:
            attributes[names.FINDING_ASSERTED_OMITTED] = omitted
    texts = {
        names.FINDING_SOUGHT: row.sought,
        names.FINDING_SETTLES: row.settles,
        names.FINDING_LINE: row.line,
        names.FINDING_UNKNOWN_REF: row.ref if row.unknown_id else None,
    }
    return attributes | _texts(texts, capture, bounds)


def _asserted(assertion: Assertion) -> str:
    return f"{assertion.kind} {assertion.id} {assertion.predicate} = {assertion.value}"


def _conflict(row: ConflictRow, capture: Capture, bounds: Bounds) -> Attributes:
    key = "\x1f".join((row.subject_kind, row.subject_id, row.predicate))
    attributes: Attributes = {names.FINDING_KEY_HASH: capture.text_hash(key), **_results(row.witnesses, bounds)}
    texts = {
        names.FINDING_SUBJECT: f"{row.subject_kind} {row.subject_id}",
        names.FINDING_PREDICATE: row.predicate,
    }
    return attributes | _texts(texts, capture, bounds)


def _contingent(row: ContingentRow, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.FINDING_MOMENT: row.moment,
        names.VALUE_INDEX: row.value_index,
        names.VALUE_SHAPE: bounds.text(row.shape),
        **_results(row.carriers, bounds),
    }
    if row.tool is not None:
        attributes[names.FINDING_TOOL] = bounds.text(row.tool)
    return attributes


def _results(refs: Sequence[str], bounds: Bounds) -> Attributes:
    kept, omitted = bounds.items(refs)
    attributes: Attributes = {names.FINDING_TOOL_CALL_IDS: kept}
    if omitted:
        attributes[names.FINDING_TOOL_CALL_IDS_OMITTED] = omitted
    return attributes


def _texts(texts: Mapping[str, str | None], capture: Capture, bounds: Bounds) -> Attributes:
    if not capture.shows_findings:
        return {}
    return {name: bounds.text(text) for name, text in texts.items() if text is not None}


def _absence(row: DeclaredAbsentRow | CoverageGapRow | EmptyRow, bounds: Bounds) -> Attributes:
    attributes: Attributes = {
        names.ABSENCE_KIND: row.kind,
        names.ABSENCE_TOOL_CALL_ID: bounds.text(row.ref),
        names.ABSENCE_GAPS: 0 if isinstance(row, EmptyRow) else row.gaps,
    }
    if row.tool is not None:
        attributes[names.ABSENCE_TOOL] = bounds.text(row.tool)
    return attributes


def _steps(row: StepsUnfinishedRow, bounds: Bounds) -> Attributes:
    kept, omitted = bounds.items(step.tool for step in row.remaining)
    attributes: Attributes = {
        names.TURN: row.turn,
        names.ITERATION: row.iteration,
        names.STEPS_SKILL_ID: bounds.text(row.skill_id),
        names.STEPS_TOTAL: row.total,
        names.STEPS_REMAINING: len(row.remaining),
        names.STEPS_REMAINING_TOOLS: kept,
        names.STEPS_ACTION: row.action,
    }
    if omitted:
        attributes[names.STEPS_REMAINING_TOOLS_OMITTED] = omitted
    return attributes


def _script(row: ScriptShownRow, bounds: Bounds) -> Attributes:
    attributes: Attributes = {names.SCRIPT_BLOCK: row.block, names.SCRIPT_LABEL: row.label}
    if row.reason is not None:
        attributes[names.SCRIPT_REASON] = row.reason
    if row.tool is not None:
        attributes[names.SCRIPT_TOOL] = bounds.text(row.tool)
    if row.tool_call_id is not None:
        attributes[names.SCRIPT_TOOL_CALL_ID] = bounds.text(row.tool_call_id)
    if row.dispatch is not None:
        attributes[names.SCRIPT_DISPATCH] = row.dispatch
    if row.exit_code is not None:
        attributes[names.SCRIPT_EXIT_CODE] = row.exit_code
    return attributes


def _witness(row: ValidatedRow | AskedRow | StoppedEarlyRow, bounds: Bounds) -> Attributes:
    attributes: Attributes = {names.WITNESS_KIND: row.kind, names.TURN: row.turn, names.ITERATION: row.iteration}
    if isinstance(row, ValidatedRow):
        attributes[names.WITNESS_CHECK] = bounds.text(row.check)
        attributes[names.WITNESS_OK] = row.ok
        attributes[names.WITNESS_EXACT] = row.digest is not None
    elif isinstance(row, StoppedEarlyRow):
        attributes[names.WITNESS_REASON] = bounds.text(row.reason)
    return attributes
