"""The ledger of one history: rows are added, folded, and compared with each other.

Rules
-----
- Append-only: the last standing of a result counts. Of what is no current standing the oldest rows go past ``ROWS_LIMIT``;
  how many went is counted.
- Conflict: two current facts give one key (subject kind, subject id, predicate) values that are not the same, as the
  evidence check compares values. Filed once for a key, also when the model takes one back and says it again. No winner.
- Contingent: every carrier of a value among this turn's results is open, noise or ruled-out. One fact, or one that nobody
  judged, and it stands. Not judged where carriers were cut, and where no result of this turn carries it.
- Unsettled: a result that is ruled out and is an absence which says what it did not check.
- An id that names no known result is kept as it was written and marked; it is never resolved by its place, and a result that
  gets the name later has no standing by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from otel_footprint.core.evidence.normal import fold, tokens
from otel_footprint.core.evidence.verdicts import ArgumentValue, Value
from otel_footprint.core.findings.declaring import Declared, DeclaredStanding
from otel_footprint.core.findings.rows import (
    Assertion,
    BasisRow,
    ConflictRow,
    ContingentRow,
    DeclaredBy,
    Moment,
    Row,
    Scalar,
    StandingRow,
    UnsettledRow,
)
from otel_footprint.core.findings.standing import SET_ASIDE, Standing

ROWS_LIMIT: Final = 4096
CARRIERS_NAMED: Final = 8

_Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class At:
    """When rows are filed."""

    turn: int
    iteration: int


class Ledger:
    """The rows of one history. Not thread-safe; no clock."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row] = []
        self._current: dict[str, StandingRow] = {}
        self._facts: dict[_Key, dict[str, str]] = {}
        self._conflicts: set[_Key] = set()
        self.forgotten: int = 0
        for row in rows:
            self._add(row)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows that are kept, oldest first."""
        return tuple(self._rows)

    @property
    def current(self) -> dict[str, StandingRow]:
        """The last standing row of each known result, by its name, in the order they were filed first."""
        return dict(self._current)

    def standing_of(self, ref: str) -> Standing | None:
        """What the result is said to be; None when nobody said."""
        row = self._current.get(ref)
        return None if row is None else row.standing

    def of_turn(self, turn: int) -> tuple[Row, ...]:
        """The rows filed in a turn, oldest first."""
        return tuple(row for row in self._rows if row.turn == turn)

    def file(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Add rows as they are."""
        added = tuple(rows)
        for row in added:
            self._add(row)
        return added

    def declare(
        self,
        declared: Declared,
        at: At,
        *,
        known: Callable[[str], bool],
        gaps: Callable[[str], int],
        ref: str | None = None,
        tool: str = "",
    ) -> tuple[Row, ...]:
        """Take one reserved argument in; the rows it filed.

        ``known`` tells the names of results; ``gaps`` how many things an absence says it did not check (0 for what is no
        absence); ``ref`` and ``tool`` name the call it came with, None where it came with an answer.
        """
        filed: list[Row] = []
        if declared.basis is not None and ref is not None:
            row = BasisRow(
                turn=at.turn,
                iteration=at.iteration,
                ref=ref,
                tool=tool,
                basis=declared.basis,
                expect=declared.expect,
                proposition=declared.proposition,
                predicts=declared.predicts,
                cut=declared.cut,
            )
            self._add(row)
            filed.append(row)
        for one in declared.previous:
            filed += self.stand(one, at, known=known(one.tool_call_id), gaps=gaps(one.tool_call_id))
        return tuple(filed)

    def stand(
        self, declared: DeclaredStanding, at: At, *, known: bool, gaps: int = 0, declared_by: DeclaredBy = "model"
    ) -> tuple[Row, ...]:
        """File what one result is said to be, and what follows from it."""
        row = StandingRow(
            turn=at.turn,
            iteration=at.iteration,
            ref=declared.tool_call_id,
            standing=declared.standing,
            declared_by=declared_by,
            unknown_id=not known,
            sought=declared.sought,
            settles=declared.settles,
            line=declared.line,
            assertions=declared.assertions,
            cut=declared.cut,
        )
        self._add(row)
        filed: list[Row] = [row]
        if row.standing == "fact" and known:
            filed += self._conflicting(row, at)
        if row.standing == "ruled-out" and known and gaps:
            unsettled = UnsettledRow(turn=at.turn, iteration=at.iteration, ref=row.ref)
            self._add(unsettled)
            filed.append(unsettled)
        return tuple(filed)

    def contingent(
        self, values: Sequence[Value | ArgumentValue], at: At, *, moment: Moment, tool: str | None = None
    ) -> tuple[ContingentRow, ...]:
        """File the values whose every carrier of this turn is set aside or open."""
        filed: list[ContingentRow] = []
        if not any(row.standing in SET_ASIDE for row in self._current.values()):
            return ()
        for index, value in enumerate(values):
            carriers = [carrier.ref for carrier in value.carriers if carrier.turn == at.turn]
            if not carriers or value.carriers_cut:
                continue
            if all(self.standing_of(ref) in SET_ASIDE for ref in carriers):
                row = ContingentRow(
                    turn=at.turn,
                    iteration=at.iteration,
                    moment=moment,
                    value_index=index,
                    shape=value.shape,
                    carriers=tuple(carriers[:CARRIERS_NAMED]),
                    tool=tool,
                )
                self._add(row)
                filed.append(row)
        return tuple(filed)

    def _conflicting(self, row: StandingRow, at: At) -> list[ConflictRow]:
        filed: list[ConflictRow] = []
        for key in dict.fromkeys(_key(assertion) for assertion in row.assertions):
            said = self._facts.get(key, {})
            if key in self._conflicts or len(set(said.values())) < 2:
                continue
            conflict = ConflictRow(
                turn=at.turn,
                iteration=at.iteration,
                subject_kind=key[0],
                subject_id=key[1],
                predicate=key[2],
                witnesses=tuple(sorted(said)),
            )
            self._add(conflict)
            filed.append(conflict)
        return filed

    def _add(self, row: Row) -> None:
        if isinstance(row, StandingRow) and not row.unknown_id:
            self._retract(self._current.get(row.ref))
            self._current[row.ref] = row
            if row.standing == "fact":
                for assertion in row.assertions:
                    self._facts.setdefault(_key(assertion), {})[row.ref] = comparable(assertion.value)
        elif isinstance(row, ConflictRow):
            self._conflicts.add((row.subject_kind, row.subject_id, row.predicate))
        self._rows.append(row)
        if len(self._rows) > ROWS_LIMIT:
            self._forget()

    def _retract(self, row: StandingRow | None) -> None:
        for assertion in () if row is None else row.assertions:
            said = self._facts.get(_key(assertion))
            if said is not None and row is not None:
                said.pop(row.ref, None)
                if not said:
                    del self._facts[_key(assertion)]

    def _forget(self) -> None:
        """Let the oldest eighth of what is not current go; where all is current, the oldest standings."""
        spare = ROWS_LIMIT // 8
        current = {id(row) for row in self._current.values()}
        going = [row for row in self._rows if id(row) not in current][:spare] or self._rows[:spare]
        gone = {id(row) for row in going}
        for row in going:
            if isinstance(row, StandingRow) and self._current.get(row.ref) is row:
                self._retract(row)
                del self._current[row.ref]
        self._rows = [row for row in self._rows if id(row) not in gone]
        self.forgotten += len(gone)


def comparable(value: Scalar) -> str:
    """A value in the spelling by which the evidence check compares: equal for equal values."""
    if value is None or isinstance(value, bool):
        return f"<{value}>"
    folded = fold(str(value))
    spelled = " ".join(token.form for token in tokens(folded))
    return spelled or folded.strip()


def _key(assertion: Assertion) -> _Key:
    return assertion.kind, assertion.id, assertion.predicate
