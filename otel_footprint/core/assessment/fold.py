"""How far an answer stands: a pure fold over the rows of its turn.

Rules
-----
- ``ask`` where the turn ended waiting for a person; else ``not-sure`` where any reason fired; else ``known`` where a row
  supports the answer; else ``consistent`` where at least one check ran; else ``not-assessed``.
- Only a validation of these exact bytes supports. That a value was found never does, and ``consistent`` is not "verified".
- Rows about one answer (its verdict, its scripts, its contingent values) count for the answer of that iteration; rows about
  results, conflicts and steps count for the whole turn. A validation with a digest counts for the answer of that digest, one
  without for the answer of its iteration.
- A check that was not armed is absent. One that could not reach a verdict fires ``check-unreachable`` and has not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from otel_footprint.core.assessment.verdict_rows import (
    AskedRow,
    FlaggedRow,
    StoppedEarlyRow,
    UnreachableRow,
    ValidatedRow,
)
from otel_footprint.core.assessment.witness import GroundedRow, ScriptShownRow, StepsUnfinishedRow
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.core.findings.rows import (
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

Assessment: TypeAlias = Literal["unknown", "known", "unrefuted", "not-applicable"]
AnswerStanding: TypeAlias = Literal["ask", "not-sure", "known", "consistent", "not-assessed"]
ReasonCode: TypeAlias = Literal[
    "asked",
    "coverage-gap",
    "declared-absent",
    "empty-undeclared",
    "sources-conflict",
    "value-unsupported",
    "value-survived-revision",
    "value-evicted",
    "value-contingent",
    "stopped-early",
    "answer-check-failed",
    "check-unreachable",
    "steps-unfinished",
    "script-unmatched",
]
REASON_CODES: Final[tuple[ReasonCode, ...]] = get_args(ReasonCode)
NAMES_AND_NUMBERS: Final = "names-and-numbers"
SCRIPT_MATCH: Final = "script-match"


@dataclass(frozen=True, slots=True)
class AnswerReason:
    """Why an answer does not stand on its own, with the rows it rests on."""

    code: ReasonCode
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """A check that ran: it looked at ``ran`` of ``of`` things. Of names and numbers those that are the person's own words are
    not looked up."""

    check: str
    ran: int
    of: int


@dataclass(frozen=True, slots=True)
class AnswerAssessment:
    """The standing of one answer. ``support`` are the rows that support it; empty unless it is ``known``."""

    assessment: Assessment
    standing: AnswerStanding
    reasons: tuple[AnswerReason, ...] = ()
    support: tuple[Row, ...] = ()
    checked: tuple[Checked, ...] = ()


def assess(rows: Sequence[Row], *, turn: int, iteration: int, digest: str | None) -> AnswerAssessment:
    """The standing of the answer of ``turn`` and ``iteration``; ``digest`` is that of its bytes, None where unknown."""
    fired: dict[ReasonCode, list[Row]] = {}
    checked: dict[str, list[int]] = {}
    support: list[Row] = []
    for row in rows:
        if row.turn != turn:
            continue
        for code in _codes(row, iteration, digest):
            fired.setdefault(code, []).append(row)
        if isinstance(row, _CHECKS) and _is_of(row, iteration, digest):
            check, ran, of = _check(row)
            known = checked.setdefault(check, [0, 0])
            known[0] += ran
            known[1] += of
            if isinstance(row, ValidatedRow) and row.ok and row.digest is not None:
                support.append(row)
    reasons = tuple(AnswerReason(code, tuple(fired[code])) for code in REASON_CODES if code in fired)
    ran_checks = tuple(Checked(check, ran, of) for check, (ran, of) in checked.items())
    if "asked" in fired:
        return AnswerAssessment("unknown", "ask", reasons, (), ran_checks)
    if reasons:
        return AnswerAssessment("unknown", "not-sure", reasons, (), ran_checks)
    if support:
        return AnswerAssessment("known", "known", (), tuple(support), ran_checks)
    if ran_checks:
        return AnswerAssessment("unrefuted", "consistent", (), (), ran_checks)
    return AnswerAssessment("not-applicable", "not-assessed", (), (), ())


_CHECKS: Final = (GroundedRow, FlaggedRow, ScriptShownRow, ValidatedRow)


def _is_of(row: Row, iteration: int, digest: str | None) -> bool:
    """Whether a row about an answer is about the one of this iteration and digest."""
    if isinstance(row, ValidatedRow) and row.digest is not None:
        return row.digest == digest
    return row.iteration == iteration


def _check(row: GroundedRow | FlaggedRow | ScriptShownRow | ValidatedRow) -> tuple[str, int, int]:
    match row:
        case GroundedRow(candidates=count, looked_up=ran) | FlaggedRow(candidates=count, looked_up=ran):
            return NAMES_AND_NUMBERS, ran, count
        case ScriptShownRow():
            return SCRIPT_MATCH, 1, 1
        case ValidatedRow(check=name):
            return name, 1, 1


def _codes(row: Row, iteration: int, digest: str | None) -> tuple[ReasonCode, ...]:
    """The reasons a row fires for the answer of that iteration."""
    match row:
        case AskedRow():
            return ("asked",)
        case CoverageGapRow():
            return ("coverage-gap",)
        case DeclaredAbsentRow():
            return ("declared-absent",)
        case EmptyRow():
            return ("empty-undeclared",)
        case ConflictRow():
            return ("sources-conflict",)
        case StoppedEarlyRow():
            return ("stopped-early",)
        case StepsUnfinishedRow():
            return ("steps-unfinished",)
        case BasisRow() | StandingRow() | UnsettledRow() | GroundedRow():
            return ()
        case ContingentRow() | FlaggedRow() | UnreachableRow() | ScriptShownRow() | ValidatedRow():
            return _codes_of_answer(row) if _is_of(row, iteration, digest) else ()
        case _:
            return assert_never(row)


def _codes_of_answer(
    row: ContingentRow | FlaggedRow | UnreachableRow | ScriptShownRow | ValidatedRow,
) -> tuple[ReasonCode, ...]:
    match row:
        case ContingentRow():
            return ("value-contingent",) if row.moment == "answer" else ()
        case FlaggedRow():
            codes: list[ReasonCode] = []
            if row.unsupported:
                codes.append("value-survived-revision" if row.after_revision else "value-unsupported")
            if row.evicted:
                codes.append("value-evicted")
            return tuple(codes)
        case UnreachableRow():
            return ("check-unreachable",)
        case ScriptShownRow():
            return ("script-unmatched",) if row.label == "unmatched" else ()
        case ValidatedRow():
            return () if row.ok else ("answer-check-failed",)
        case _:
            return assert_never(row)
