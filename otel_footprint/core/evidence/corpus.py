"""The evidence of one thread: what was said, called, returned and dropped, and the judge over it.

Rules
-----
- Not thread-safe and without a clock: the session that owns it holds the lock.
- Adding is cheap and reads no text: reading happens when an answer asks, once for each text.
- Words that were said stay said for life. A result that left stays known only to say ``evicted``, and goes first when the
  bound is reached; a result of the window that does not fit is not read, and the window counts as not wholly seen.
- Of results that left, and of calls, only the newest are kept. Once something was forgotten, what is not found accuses
  nobody any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.argument_leaves import ArgumentExtraction
from otel_footprint.core.evidence.arguments import judge_arguments
from otel_footprint.core.evidence.arithmetic import exactly
from otel_footprint.core.evidence.carried import NOTHING, Carried, kept_bytes
from otel_footprint.core.evidence.derive import Deriver
from otel_footprint.core.evidence.judge import Ground, judge
from otel_footprint.core.evidence.misplaced_judging import RowNames
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.reader import without_looked_for
from otel_footprint.core.evidence.shelf import SMALL, Shelf, Words
from otel_footprint.core.evidence.sources import CallMade, Outcome, Source, Stack, outcome_of
from otel_footprint.core.evidence.verdicts import ArgumentValue, CallJudgement, Judgement, Reason
from otel_footprint.core.messages import (
    Json,
    ServerToolResult,
    ToolCall,
    ToolResult,
    canonical_json,
    content_text,
    is_unspelled,
)

_OPAQUE: Final = attrgetter("opaque")
_UNREAD: Final = attrgetter("unread")

MAX_LEFT: Final = 1_024
"""Results that left the window, the newest, which are kept."""
MAX_CALLS: Final = 1_024
"""Calls, the newest, whose arguments are kept."""
_AT_ONCE: Final = 64
SOURCE_BYTES: Final = 2_000
CALL_BYTES: Final = 1_000
"""What one result, or one call, costs beside its text, about."""


class Corpus:
    """Everything one thread's answers may draw on. ``options`` are the settings every answer is judged by.

    ``lost`` says that something it should hold is not known.
    """

    def __init__(self, options: Evidence, *, lost: bool = False) -> None:
        self.options = options
        self._said: list[Carried] = []
        self._words = Words()
        self._said_texts: set[str] = set()
        self._sources: list[Source] = []
        self._stack = Stack()
        self._row_names = RowNames()
        self._current: dict[str, Source] = {}
        self._calls: list[CallMade] = []
        self._arguments = Shelf()
        self._outcomes: dict[str, Outcome] = {}
        self._deriver = Deriver()
        self._gone = 0
        self._forgot = False
        self._sealed = False  # of some texts only a digest is known
        self._lost = lost
        self._calls_forgotten = 0
        self._result_bytes = 0
        self._kept_bytes = 0
        self._read_bytes = 0
        self._other_bytes = 0

    @property
    def size_bytes(self) -> int:
        """Bytes it keeps alive, about: the texts, and what was read from them."""
        calls = CALL_BYTES * len(self._calls)
        return self._kept_bytes + self._read_bytes + SOURCE_BYTES * len(self._sources) + calls + 2 * self._other_bytes

    def say(self, text: str) -> None:
        """Add words of a person or the application: exempt for life. The same words again change nothing."""
        if not text or text in self._said_texts:
            return
        self._said_texts.add(text)
        words = Carried(text, result=False)
        self._said.append(words)
        self._words.add(words)
        self._other_bytes += len(text)

    def hand_in(self, text: str, name: str) -> None:
        """Add evidence the application handed in under a name; it never leaves. The same again changes nothing."""
        known = self._current.get(name)
        if known is not None and known.handed_in and known.carried.text == text and not known.unread:
            return
        self._add(text, ref=name, call_id=None, tool=None, turn=0, served=None, position=None, handed_in=True)

    def call(self, call: ToolCall, *, ref: str, turn: int, position: int | None = None) -> None:
        """Add the model's arguments; ``ref`` pairs the call with its result. A call that is the answer adds nothing."""
        if call.name in self.options.answer_tools:
            return
        arguments = call.arguments
        text = arguments if isinstance(arguments, str) else "" if arguments is None else canonical_json(arguments)
        made = CallMade(ref, call.name, Carried(text, result=True), turn, position)
        self._calls.append(made)
        self._arguments.add(made.carried)
        self._other_bytes += len(text)
        if len(self._calls) > MAX_CALLS:
            self._forget_calls()

    def result(
        self,
        result: ToolResult | ServerToolResult,
        *,
        ref: str,
        tool: str | None,
        turn: int,
        served: CallRef | None,
        position: int | None = None,
    ) -> None:
        """Add a result that is in the window from now on. The same ref again replaces the one that left before."""
        text = _text(result.content)
        if (result.content is None and isinstance(result, ServerToolResult)) or is_unspelled(result.content, text):
            self._outcomes[ref] = "good"
            self._put(
                Source(ref, result.id, tool, Carried("", result=True), turn, position, served, "good", opaque=True)
            )
            return
        outcome = outcome_of(text, is_error=isinstance(result, ToolResult) and result.is_error)
        self._outcomes[ref] = outcome
        if outcome == "absent":
            text = without_looked_for(text)
        self._add(
            text, ref=ref, call_id=result.id, tool=tool, turn=turn, served=served, position=position, outcome=outcome
        )

    def serve(self, refs: Iterable[str], *, turn: int, served: CallRef | None) -> None:
        """Say that these results are in the window of this call (again)."""
        for ref in refs:
            source = self._current.get(ref)
            if source is None:
                continue
            source.served = served
            if not source.in_window:
                self._gone -= 1
                source.in_window = True
                source.turn = turn

    def leave(self, refs: Iterable[str], *, decision: str, decided_by: str, dropped: CallRef | None) -> None:
        """Say that these results have left the window, by which decision and in which call they were missing first."""
        for ref in refs:
            source = self._current.get(ref)
            if source is not None and source.in_window and not source.handed_in:
                source.in_window = False
                source.decision, source.decided_by, source.dropped = decision, decided_by, dropped
                self._has_left(source)

    def fork(self) -> Corpus:
        """A corpus that starts as this one and goes its own way; what was read is shared."""
        other = Corpus(self.options)
        other._said = list(self._said)
        other._words = Words(other._said)
        other._said_texts = set(self._said_texts)
        copies = {id(source): source.copy() for source in self._sources}
        other._sources = [copies[id(source)] for source in self._sources]
        other._stack = self._stack.fork(copies)
        other._current = {ref: copies[id(source)] for ref, source in self._current.items()}
        other._calls = list(self._calls)
        other._arguments = Shelf(call.carried for call in other._calls)
        other._outcomes = dict(self._outcomes)
        other._deriver = self._deriver.fork()
        other._result_bytes = self._result_bytes
        other._kept_bytes = self._kept_bytes
        other._read_bytes = self._read_bytes
        other._gone = self._gone
        other._forgot = self._forgot
        other._sealed, other._lost = self._sealed, self._lost
        other._calls_forgotten = self._calls_forgotten
        other._other_bytes = self._other_bytes
        return other

    @exactly
    def judge(
        self,
        text: str,
        *,
        choice: int = 0,
        turn: int,
        tools_offered: bool,
        blind: frozenset[Reason] = frozenset(),
        siblings: Sequence[Corpus] = (),
    ) -> Judgement:
        """Judge one answer. ``siblings`` are corpora whose results count as evidence here too.

        ``blind`` names why the window could not be wholly seen; what the corpus knows of that itself is added.
        """
        ground, reasons, anything = self._ground(blind, siblings, self._deriver, None)
        judgement = judge(
            text,
            ground,
            choice=choice,
            turn=turn,
            nothing_to_read=not (tools_offered or anything) and self.options.check != "always",
            blind=reasons,
        )
        self._measure()
        return judgement

    @property
    def is_sealed(self) -> bool:
        """Whether it was restored without its texts, and not all that belongs to it has come by again."""
        return self._sealed or self._lost

    @property
    def calls_made(self) -> int:
        """How many calls were added so far."""
        return self._calls_forgotten + len(self._calls)

    @exactly
    def judge_call(
        self,
        call: ToolCall,
        *,
        choice: int = 0,
        turn: int,
        calls_before: int | None = None,
        blind: frozenset[Reason] = frozenset(),
        siblings: Sequence[Corpus] = (),
        position: int | None = None,
    ) -> CallJudgement:
        """Judge the values in the arguments of a call that is emitted now. Changes nothing an answer is judged by.

        ``calls_before`` is what ``calls_made`` was before the message with this call, where some of it is added already;
        a call never grounds itself, nor those beside it. ``siblings`` and ``blind`` are those of ``judge``.
        """
        extraction = ArgumentExtraction(call.arguments, self.options)
        values: tuple[ArgumentValue, ...] = ()
        reasons = blind
        if extraction.candidates:
            ground, reasons, _ = self._ground(blind, siblings, self._deriver.fork(), calls_before)
            values = judge_arguments(extraction, ground, turn=turn, blind=reasons)
            self._measure()
        return CallJudgement(
            tool=call.name,
            tool_call_id=call.id,
            choice=choice,
            reasons=tuple(sorted(reasons)) if values else (),
            values=values,
            position=position,
        )

    def _ground(
        self, blind: frozenset[Reason], siblings: Sequence[Corpus], deriver: Deriver, calls_before: int | None
    ) -> tuple[Ground, frozenset[Reason], bool]:
        """What to judge by, why it is not all there was, and whether it holds anything to read."""
        sources = [source for source in self._sources if source.in_window]
        left = [source for source in self._sources if not source.in_window] if len(sources) < len(self._sources) else []
        stacks = [self._stack]
        for sibling in siblings:
            reporting = [source for source in sibling._sources if source.in_window]
            sources.extend(reporting)
            stacks.append(sibling._stack)
        reasons = set(blind)
        if self.is_sealed or any(sibling.is_sealed for sibling in siblings):
            reasons.add("unseen_history")
        if any(map(_OPAQUE, sources)):
            reasons.add("opaque_content")
        if any(map(_UNREAD, sources)):
            reasons.add("corpus_bound")
        if self._forgot:
            reasons.add("corpus_bound")
        ground = Ground(
            options=self.options,
            said=self._said,
            words=self._words,
            window=[source for source in sources if not source.opaque and not source.unread],
            stacks=stacks,
            left=[source for source in left if not source.opaque and not source.unread],
            calls=self._calls if calls_before is None else self._calls[: max(0, calls_before - self._calls_forgotten)],
            arguments=self._arguments,
            row_names=self._row_names,
            outcome=self._outcomes.get,
            deriver=deriver,
            has_year=_Years(self._words, sources),
        )
        return ground, frozenset(reasons), bool(self._sources) or bool(sources)

    def _add(
        self,
        text: str,
        *,
        ref: str,
        call_id: str | None,
        tool: str | None,
        turn: int,
        served: CallRef | None,
        position: int | None,
        outcome: Outcome = "good",
        handed_in: bool = False,
    ) -> None:
        unread = not self._room_for(len(text))
        if not unread:
            self._result_bytes += len(text)
            self._kept_bytes += kept_bytes(text)
        carried = Carried("" if unread else text, result=not handed_in)
        self._put(
            Source(ref, call_id, tool, carried, turn, position, served, outcome, handed_in=handed_in, unread=unread)
        )

    def _put(self, source: Source) -> None:
        before = self._current.get(source.ref)
        if before is not None and before.in_window and not source.handed_in:
            # Replaced without having left first: the content before is no longer in the window.
            before.in_window = False
            before.decision, before.decided_by, before.dropped = "rewrite", "application", source.served
            self._has_left(before)
        self._current[source.ref] = source
        self._sources.append(source)
        self._stack.add(source)

    def _has_left(self, source: Source) -> None:
        """Keep of a result that left what says ``evicted``; and of so many only the newest."""
        self._gone += 1
        source.carried.drop_rows()
        if self._gone > MAX_LEFT:
            surplus = self._gone - MAX_LEFT + _AT_ONCE
            oldest = list(islice((one for one in self._sources if not one.in_window), surplus))
            forgotten = set(map(id, oldest))
            self._sources = [one for one in self._sources if id(one) not in forgotten]
            for one in oldest:
                self._forget(one)

    def _forget(self, source: Source) -> None:
        self._gone -= 1
        self._forgot = True
        self._stack.drop(source)
        self._result_bytes -= len(source.carried.text)
        self._kept_bytes -= kept_bytes(source.carried.text)
        source.carried = NOTHING
        if self._current.get(source.ref) is source:
            del self._current[source.ref]

    def _forget_calls(self) -> None:
        """Forget the oldest calls, with what became of them."""
        oldest = self._calls[: len(self._calls) - MAX_CALLS + _AT_ONCE]
        del self._calls[: len(oldest)]
        self._calls_forgotten += len(oldest)
        self._forgot = True
        self._other_bytes -= sum(len(call.carried.text) for call in oldest)
        self._arguments = Shelf(call.carried for call in self._calls)
        still = {call.ref for call in self._calls}
        for ref in {call.ref for call in oldest} - still:
            self._outcomes.pop(ref, None)

    def _measure(self) -> None:
        """Take stock of what was read from the texts."""
        read = sum([source.carried.read_bytes for source in self._sources])
        self._read_bytes = read + sum([call.carried.read_bytes for call in self._calls])

    def _room_for(self, size: int) -> bool:
        """Make room for a text by forgetting what left the window, oldest first."""
        bound = self.options.corpus_bytes
        if self._result_bytes + size <= bound:
            return True
        for source in [source for source in self._sources if not source.in_window]:
            self._sources.remove(source)
            self._forget(source)
            if self._result_bytes + size <= bound:
                return True
        return self._result_bytes + size <= bound


class _Years:
    """The years that words and results name, gathered when a date first asks."""

    def __init__(self, words: Words, sources: Sequence[Source]) -> None:
        self._words = words
        self._sources = sources
        self._years: set[int] | None = None

    def __call__(self, year: int | None) -> bool:
        if self._years is None:
            texts = [source.carried for source in self._sources]
            much = sum(len(text.text) for text in texts) > SMALL
            self._years = self._words.years.union(*(text.iso_years if much else text.years for text in texts))
        return not self._years or year in self._years


def _text(content: Json) -> str:
    return content_text(content)
