"""The findings of one history: follows its results, calls and answers, and files what each of them means.

Rules
-----
- A result is taken in once, under its name in the history; what it says about nothing is filed in the turn it came in.
- What was declared in an output is filed before the output is judged; the values of its calls are contingent by what stands
  then, those of an answer too.
- An answer that was sent back files nothing. For the one that stands: its verdict, the scripts it shows, and the
  assessment, which is folded from rows alone.
- The application may say what a result is as soon as the call for it was made; the model only of results it was served.
- A fork knows the rows filed before it left, and the results in its window.
- Results are remembered by name, the newest ``RESULTS_LIMIT`` of them; of scripts those of the current turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from otel_footprint.core.assessment.fold import AnswerAssessment, assess
from otel_footprint.core.assessment.scripts import Submission, exit_code_of, script_of, script_rows
from otel_footprint.core.assessment.verdict_rows import FlaggedRow, UnreachableRow, digest_of, verdict_row
from otel_footprint.core.assessment.witness import GroundedRow, ScriptShownRow, grounded_row
from otel_footprint.core.emptiness import CoverageGap, DeclaredAbsent, EmptyUndeclared, read_emptiness
from otel_footprint.core.evidence.verdicts import CallJudgement, Judgement
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.findings.declaring import DeclaredStanding
from otel_footprint.core.findings.ledger import At, Ledger
from otel_footprint.core.findings.offer import Offer, Undecorated, offer_of
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.findings.rows import (
    ContingentRow,
    CoverageGapRow,
    DeclaredAbsentRow,
    EmptyRow,
    Row,
    UnsettledRow,
)
from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.findings.stripping import Emission
from otel_footprint.core.messages import Json, Message, ToolCall

RESULTS_LIMIT: Final = 4096
SCRIPTS_LIMIT: Final = 256
BEGINNING: Final = At(0, 1)


@dataclass(slots=True)
class _Known:
    """A result by its name. ``gaps`` is what an absence says it did not check."""

    tool: str | None
    gaps: int


@dataclass(frozen=True, slots=True)
class SavedTrack:
    """All that a track knows.

    ``rows`` are those of the ledger, which has forgotten ``forgotten`` others; ``results`` each a name, a tool and the gaps of
    an absence; ``scripts`` those of the turn ``scripts_turn`` by the names of their results; ``new`` rows no call has told of
    yet; ``answer`` when the last answer was given, and its digest; ``own`` the places in ``rows`` of those filed for it;
    ``awaited`` results of calls that the model made last; ``at`` the last call.
    """

    rows: tuple[Row, ...] = ()
    forgotten: int = 0
    results: tuple[tuple[str, str | None, int], ...] = ()
    scripts_turn: int = 0
    scripts: tuple[tuple[str, Submission], ...] = ()
    new: tuple[Row, ...] = ()
    answer: tuple[At, str] | None = None
    own: tuple[int, ...] | None = None
    awaited: tuple[str, ...] = ()
    at: At = BEGINNING


@dataclass(slots=True)
class _Answer:
    """The last answer that stands, for what the application says of it afterwards. ``own`` are the rows filed for it, None
    where they cannot be told from those of other answers of its call."""

    at: At
    digest: str
    own: tuple[Row, ...] | None = None


class Track:
    """Follows one history. Not thread-safe; no clock."""

    def __init__(self, options: Findings, *, ledger: Ledger | None = None) -> None:
        self.options = options
        self.ledger: Final = Ledger() if ledger is None else ledger
        self._results: OrderedDict[str, _Known] = OrderedDict()
        self._scripts: dict[str, Submission] = {}
        self._scripts_turn = 0
        self._new: list[Row] = []
        self._answer: _Answer | None = None
        self._awaited: frozenset[str] = frozenset()
        self._at = BEGINNING

    @property
    def at(self) -> At:
        """Turn and iteration of the last call."""
        return self._at

    @property
    def refs(self) -> tuple[str, ...]:
        """The names of the results, in the order they came."""
        return tuple(self._results)

    @property
    def last_answer(self) -> tuple[At, str] | None:
        """Turn and iteration of the last answer that stands, and its digest."""
        return None if self._answer is None else (self._answer.at, self._answer.digest)

    def standing_of(self, ref: str) -> Standing | None:
        """What a result is said to be."""
        return self.ledger.standing_of(ref)

    def offer(self, window: Sequence[Message] = (), names: Sequence[str | None] | None = None) -> Offer:
        """The results that the model may name, with those in ``window`` that are served for the first time.

        ``names`` are those of its messages where they are known: a window that lost some cannot be counted.
        """
        return offer_of((*self.refs, *self._to_come(window, names)), self.standing_of)

    def _to_come(self, window: Sequence[Message], given: Sequence[str | None] | None) -> list[str]:
        """The names that results in the window will have which were not followed yet."""
        if given is not None:
            return [name for name in given if name is not None and name not in self._results]
        known: dict[str, int] = {}
        for ref in self._results:
            known[ref.partition("#")[0]] = known.get(ref.partition("#")[0], 0) + 1
        seen: dict[str, int] = {}
        names: list[str] = []
        for message in window:
            id_ = message.result.id if message.result is not None else None
            if not id_:
                continue
            count = seen[id_] = seen.get(id_, 0) + 1
            if count > known.get(id_, 0):
                names.append(id_ if count == 1 else f"{id_}#{count}")
        return names

    def knows(self, ref: str) -> bool:
        """Whether a result has that name."""
        return ref in self._results

    def awaits(self, ref: str) -> bool:
        """Whether the result of a call that the model made last will have that name."""
        return ref in self._awaited

    def gaps(self, ref: str) -> int:
        """How many things the absence of that name says it did not check; 0 for what is none."""
        known = self._results.get(ref)
        return 0 if known is None else known.gaps

    def called(self, call: ToolCall, ref: str, at: At) -> None:
        """A tool call of the model is in the history: a script, where the tool runs code."""
        if call.name not in self.options.scripts:
            return
        script = script_of(call.arguments, self.options.scripts[call.name])
        if at.turn != self._scripts_turn:
            self._scripts, self._scripts_turn = {}, at.turn
        if script is not None and len(self._scripts) < SCRIPTS_LIMIT:
            self._scripts[ref] = Submission(script, call.name, call.id, len(self._scripts) + 1)

    def served(self, ref: str, tool: str | None, content: Json, at: At, *, is_error: bool) -> None:
        """A result has come in. A rewritten one, under a name that is known, is what it was."""
        if (submission := self._scripts.get(ref)) is not None and not submission.done:
            self._scripts[ref] = replace(submission, done=True, exit_code=exit_code_of(content), is_error=is_error)
        if ref in self._results:
            return
        found = read_emptiness(content, is_error=is_error)
        gaps = found.gaps if isinstance(found, DeclaredAbsent) else 0
        self._results[ref] = _Known(tool, gaps)
        if len(self._results) > RESULTS_LIMIT:
            self._results.popitem(last=False)
        if gaps and self.standing_of(ref) == "ruled-out":  # the application said so before it came
            self._new += self.ledger.file((UnsettledRow(turn=at.turn, iteration=at.iteration, ref=ref),))
        row: Row
        match found:
            case None:
                return
            case DeclaredAbsent(gaps=count):
                row = DeclaredAbsentRow(turn=at.turn, iteration=at.iteration, ref=ref, tool=tool, gaps=count)
            case CoverageGap(gaps=count):
                row = CoverageGapRow(turn=at.turn, iteration=at.iteration, ref=ref, tool=tool, gaps=count)
            case EmptyUndeclared():
                row = EmptyRow(turn=at.turn, iteration=at.iteration, ref=ref, tool=tool)
            case _:
                assert_never(found)
        self._new += self.ledger.file((row,))

    def completed(
        self,
        outputs: Sequence[tuple[Message, tuple[Emission, ...]]],
        judgements: Sequence[tuple[Judgement, str]],
        calls: Sequence[CallJudgement],
        at: At,
        *,
        refs: Sequence[Sequence[str]] = (),
        after_revision: bool = False,
        undecorated: tuple[tuple[str, Undecorated], ...] = (),
    ) -> FindingsChange:
        """A call has completed. ``outputs`` are its messages, stripped, with what was declared in them, and ``refs`` the names
        that the results of their calls will have; ``judgements`` the verdicts with the text they are on.

        Of several choices all declarations are filed: the ledger does not know which of them the application takes.
        """
        declared = malformed = 0
        self._at = at
        names = refs or [[call.id or "" for call in message.tool_calls] for message, _ in outputs]
        for (message, emissions), named in zip(outputs, names, strict=True):
            made = message.tool_calls
            for emission in emissions:
                declared += 1
                malformed += emission.declared.malformed
                call = made[emission.call] if emission.call is not None else None
                self._new += self.ledger.declare(
                    emission.declared,
                    at,
                    known=self.knows,
                    gaps=self.gaps,
                    ref=None if emission.call is None else named[emission.call],
                    tool="" if call is None else call.name,
                )
        for judged in calls:
            if "corpus_bound" not in judged.reasons:
                self._new += self.ledger.contingent(judged.values, at, moment="dispatch", tool=judged.tool)
        self._awaited = frozenset(ref for named in names for ref in named if ref)
        assessments = self._answered(judgements, at, after_revision)
        rows, self._new = tuple(self._new), []
        return FindingsChange(rows, declared, malformed, assessments, undecorated)

    def stands(self, judgements: Sequence[tuple[Judgement, str]], at: At) -> FindingsChange:
        """Drafts that were to be revised stand after all, since nothing came of their revision."""
        assessments = self._answered(judgements, at, after_revision=False)
        rows, self._new = tuple(self._new), []
        return FindingsChange(rows, assessments=assessments)

    def _answered(
        self, judgements: Sequence[tuple[Judgement, str]], at: At, after_revision: bool
    ) -> tuple[AnswerAssessment, ...]:
        assessments: list[AnswerAssessment] = []
        for judgement, text in judgements:
            if judgement.action != "recheck":
                self._file_answer(judgement, text, at, after_revision)
                found = self.reassessed()
                assert found is not None
                assessments.append(found)
        return tuple(assessments)

    def _file_answer(self, judgement: Judgement, text: str, at: At, after_revision: bool) -> None:
        """File the rows of one answer that stands."""
        rows: list[Row] = []
        if "corpus_bound" not in judgement.reasons:
            rows += self.ledger.contingent(judgement.values, at, moment="answer")
        witness = [
            grounded_row(judgement, turn=at.turn, iteration=at.iteration, after_revision=after_revision),
            verdict_row(judgement, turn=at.turn, iteration=at.iteration, after_revision=after_revision),
        ]
        filed: list[Row] = [row for row in witness if row is not None]
        if self.options.scripts:
            submissions = list(self._scripts.values()) if self._scripts_turn == at.turn else []
            filed += script_rows(text, submissions, turn=at.turn, iteration=at.iteration)
        rows += self.ledger.file(filed)
        self._new += rows
        self._answer = _Answer(at, digest_of(text), tuple(rows))

    def reassessed(self) -> AnswerAssessment | None:
        """The standing of the last answer by the rows on record now; None before the first."""
        if self._answer is None:
            return None
        at, digest, own = self._answer.at, self._answer.digest, self._answer.own
        rows = self.ledger.of_turn(at.turn)
        if own is not None:  # of several choices, and of a call that was made again, each is assessed by its own rows
            mine = set(map(id, own))
            rows = tuple(row for row in rows if id(row) in mine or not _is_of_an_answer(row, at))
        return assess(rows, turn=at.turn, iteration=at.iteration, digest=digest)

    def declare(self, declared: DeclaredStanding, at: At) -> tuple[Row, ...]:
        """The application says itself what a result is, or what the result of a call that was made will be."""
        ref = declared.tool_call_id
        known = self.knows(ref) or self.awaits(ref)
        return self.ledger.stand(declared, at, known=known, gaps=self.gaps(ref), declared_by="application")

    def say(self, row: Row) -> tuple[Row, ...]:
        """The application files a row about the answer, or about how the turn ended."""
        return self.ledger.file((row,))

    @property
    def said_at(self) -> At:
        """When something that is said of the answer is filed: with the answer of this turn, else with its last call."""
        answer = self._answer
        return answer.at if answer is not None and answer.at.turn == self._at.turn else self._at

    def saved(self, *, text: bool) -> SavedTrack:
        """What it knows, as values. Without ``text``, not the scripts that were submitted in this turn."""
        own: tuple[int, ...] | None = None
        if self._answer is not None and self._answer.own is not None:
            mine = set(map(id, self._answer.own))
            own = tuple(place for place, row in enumerate(self.ledger.rows) if id(row) in mine)
        return SavedTrack(
            self.ledger.rows,
            self.ledger.forgotten,
            tuple((ref, known.tool, known.gaps) for ref, known in self._results.items()),
            self._scripts_turn,
            tuple(self._scripts.items()) if text else (),
            tuple(self._new),
            None if self._answer is None else (self._answer.at, self._answer.digest),
            own,
            tuple(sorted(self._awaited)),
            self._at,
        )

    @classmethod
    def restored(cls, options: Findings, saved: SavedTrack) -> Track:
        """One that knows this."""
        track = cls(options, ledger=Ledger(saved.rows))
        track.ledger.forgotten = saved.forgotten
        for ref, tool, gaps in saved.results[-RESULTS_LIMIT:]:
            track._results[ref] = _Known(tool, gaps)
        track._scripts, track._scripts_turn = dict(saved.scripts[:SCRIPTS_LIMIT]), saved.scripts_turn
        track._new = list(saved.new)
        if saved.answer is not None:
            own = None if saved.own is None else tuple(saved.rows[place] for place in saved.own)
            track._answer = _Answer(*saved.answer, own)
        track._awaited, track._at = frozenset(saved.awaited), saved.at
        return track

    def fork(self, at: At | None = None, without: Collection[str] = ()) -> Track:
        """A copy that goes its own way behind the call ``at``; None: from here. Results ``without`` are not in its window."""
        gone = frozenset(without)
        rows = [row for row in self.ledger.rows if getattr(row, "ref", None) not in gone]
        copy = Track(self.options, ledger=Ledger(row for row in rows if at is None or _is_before(row, at)))
        copy._results = OrderedDict((ref, replace(known)) for ref, known in self._results.items() if ref not in gone)
        copy._scripts = {ref: one for ref, one in self._scripts.items() if ref not in gone}
        copy._scripts_turn = self._scripts_turn
        copy._awaited = self._awaited
        copy._at = self._at if at is None else at
        answer = self._answer
        if answer is not None and (at is None or (answer.at.turn, answer.at.iteration) <= (at.turn, at.iteration)):
            copy._answer = answer
        return copy


def _is_before(row: Row, at: At) -> bool:
    """Whether a fork that leaves behind that call has the row: what a result says is with the result."""
    earlier = (row.turn, row.iteration) <= (at.turn, at.iteration)
    return earlier or (row.turn <= at.turn and isinstance(row, (DeclaredAbsentRow, CoverageGapRow, EmptyRow)))


def _is_of_an_answer(row: Row, at: At) -> bool:
    """Whether the row was filed for an answer given then."""
    about = isinstance(row, (GroundedRow, FlaggedRow, UnreachableRow, ScriptShownRow)) or (
        isinstance(row, ContingentRow) and row.moment == "answer"
    )
    return about and (row.turn, row.iteration) == (at.turn, at.iteration)
