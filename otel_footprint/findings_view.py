"""``conversation().findings``: what was declared about results, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from otel_footprint.core.findings.rows import ConflictRow, ContingentRow, StandingRow

if TYPE_CHECKING:
    from otel_footprint.core.findings.change import FindingsChange
    from otel_footprint.core.findings.offer import Undecorated
    from otel_footprint.core.findings.rows import Row
    from otel_footprint.core.findings.standing import Standing
    from otel_footprint.core.findings.track import Track

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class FindingsTally:
    """What the calls of one handle declared, in numbers, and which tools the argument could not be offered to."""

    declared: int = 0
    malformed: int = 0
    undecorated: Mapping[str, Undecorated] = field(default_factory=dict)

    def add(self, change: FindingsChange) -> FindingsTally:
        """With one more call."""
        return FindingsTally(
            self.declared + change.declared,
            self.malformed + change.malformed,
            {**self.undecorated, **dict(change.undecorated)} if change.undecorated else self.undecorated,
        )


@dataclass(frozen=True, slots=True)
class FindingsView:
    """The findings of the thread that was called last, as they are now.

    ``rows`` is its ledger, oldest first, of which the ``forgotten`` oldest that no longer counted are gone. Of the calls made
    under this handle ``declared`` counts the declarations, ``malformed`` the fields in them that were dropped, and
    ``undecorated`` names the tools that the argument could not be offered to, with the reason (``strict``, ``owned``,
    ``no-object``, ``no-schema``).
    """

    rows: tuple[Row, ...]
    forgotten: int
    declared: int
    malformed: int
    undecorated: Mapping[str, Undecorated]
    _current: Mapping[str, StandingRow]

    @classmethod
    def of(cls, track: Track | None, tally: FindingsTally) -> FindingsView:
        """The view of a history; None where there is none yet."""
        rows = () if track is None else track.ledger.rows
        forgotten = 0 if track is None else track.ledger.forgotten
        current = {} if track is None else track.ledger.current
        return cls(rows, forgotten, tally.declared, tally.malformed, tally.undecorated, current)

    def standing_of(self, tool_call_id: str) -> Standing | None:
        """What a result is said to be: the last declaration counts. None where nobody said, or no result has the name."""
        row = self._current.get(tool_call_id)
        return None if row is None else row.standing

    @property
    def facts(self) -> tuple[StandingRow, ...]:
        """The last word on each result that is declared a fact."""
        return self._standing("fact")

    @property
    def open(self) -> tuple[StandingRow, ...]:
        """The last word on each result that is not settled."""
        return self._standing("open")

    @property
    def noise(self) -> tuple[StandingRow, ...]:
        """The last word on each result that is of no use."""
        return self._standing("noise")

    @property
    def ruled_out(self) -> tuple[StandingRow, ...]:
        """The last word on each result that is ruled out."""
        return self._standing("ruled-out")

    @property
    def unknown(self) -> tuple[StandingRow, ...]:
        """Declarations about a name that no result had; they stand for nothing."""
        return tuple(row for row in self._of(StandingRow) if row.unknown_id)

    @property
    def conflicts(self) -> tuple[ConflictRow, ...]:
        """Facts that contradict each other: the subject, the predicate and the results, and never a winner."""
        return self._of(ConflictRow)

    @property
    def contingent(self) -> tuple[ContingentRow, ...]:
        """Values of answers and of calls whose every carrier of the turn was not a fact."""
        return self._of(ContingentRow)

    def _standing(self, standing: Standing) -> tuple[StandingRow, ...]:
        return tuple(row for row in self._current.values() if row.standing == standing)

    def _of(self, kind: type[R]) -> tuple[R, ...]:
        return tuple(row for row in self.rows if isinstance(row, kind))
