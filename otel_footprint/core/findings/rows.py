"""The rows of the findings ledger: what was declared, and what follows from it, one value each.

Rules
-----
- Rows are only ever added. The last standing of a result is the one that counts.
- A row names, and does not repeat: a conflict names its witnesses and never the values; a contingent row names carriers.
- Text of the model is cut at ``TEXT_LIMIT`` characters, and ``cut`` says so.
- ``turn`` and ``iteration`` say when a row was filed. ``ref`` is a result's name in the conversation (``<id>``, or
  ``<id>#<n>`` for the n-th with a repeated id).
"""

from __future__ import annotations

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
from otel_footprint.core.findings.standing import Standing

Basis: TypeAlias = Literal["direct", "exploratory"]
Expect: TypeAlias = Literal["low", "medium", "high"]
DeclaredBy: TypeAlias = Literal["model", "application"]
Moment: TypeAlias = Literal["answer", "dispatch"]
Scalar: TypeAlias = str | int | float | bool | None

BASES: Final[tuple[Basis, ...]] = get_args(Basis)
EXPECTATIONS: Final[tuple[Expect, ...]] = get_args(Expect)
TEXT_LIMIT: Final = 240


@dataclass(frozen=True, slots=True)
class Assertion:
    """A value the model gives for one predicate of one subject."""

    kind: str
    id: str
    predicate: str
    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class BasisRow:
    """Why the model makes a call: declared with it."""

    turn: int
    iteration: int
    ref: str
    tool: str
    basis: Basis
    expect: Expect | None = None
    proposition: str | None = None
    predicts: str | None = None
    cut: bool = False
    kind: Literal["basis"] = "basis"


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """What a result is said to be.

    ``ref`` is as it was written; ``unknown_id`` says that no result has that name. ``assertions`` are asserted by a
    ``fact`` and only quoted by an ``open`` or ``ruled-out`` one; ``noise`` has none.
    """

    turn: int
    iteration: int
    ref: str
    standing: Standing
    declared_by: DeclaredBy = "model"
    unknown_id: bool = False
    sought: str | None = None
    settles: str | None = None
    line: str | None = None
    assertions: tuple[Assertion, ...] = ()
    cut: bool = False
    kind: Literal["standing"] = "standing"

    @property
    def provenance(self) -> str:
        """Where it comes from, as the served list names it."""
        return f"tool:{self.ref}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRow:
    """Two current facts give one predicate of one subject different values; ``witnesses`` are their results."""

    turn: int
    iteration: int
    subject_kind: str
    subject_id: str
    predicate: str
    witnesses: tuple[str, ...]
    kind: Literal["conflict"] = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContingentRow:
    """A value used in an answer or in a call's arguments, every carrier of which the model has set aside or left open.

    ``value_index`` counts from 0 among the values of the answer or of that call; ``tool`` names the called tool.
    """

    turn: int
    iteration: int
    moment: Moment
    value_index: int
    shape: str
    carriers: tuple[str, ...]
    tool: str | None = None
    kind: Literal["contingent"] = "contingent"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsettledRow:
    """A result ruled out on the word of an absence that says what it did not check."""

    turn: int
    iteration: int
    ref: str
    kind: Literal["unsettled-by-absence"] = "unsettled-by-absence"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredAbsentRow:
    """A tool's result of this turn that says that it looked and there is nothing; ``gaps`` counts what it did not check."""

    turn: int
    iteration: int
    ref: str
    tool: str | None
    gaps: int = 0
    kind: Literal["declared-absent"] = "declared-absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageGapRow:
    """A result of this turn whose coverage ledger names things that were not checked or cannot be."""

    turn: int
    iteration: int
    ref: str
    tool: str | None
    gaps: int
    kind: Literal["coverage-gap"] = "coverage-gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyRow:
    """An empty result of this turn that says nothing about what was looked at."""

    turn: int
    iteration: int
    ref: str
    tool: str | None
    kind: Literal["empty-undeclared"] = "empty-undeclared"


Row: TypeAlias = (
    BasisRow
    | StandingRow
    | ConflictRow
    | ContingentRow
    | UnsettledRow
    | DeclaredAbsentRow
    | CoverageGapRow
    | EmptyRow
    | GroundedRow
    | StepsUnfinishedRow
    | ScriptShownRow
    | FlaggedRow
    | UnreachableRow
    | ValidatedRow
    | AskedRow
    | StoppedEarlyRow
)
