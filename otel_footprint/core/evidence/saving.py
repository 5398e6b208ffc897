"""What a corpus knows, as values that can be written down, and a corpus made from them again.

Rules
-----
- With the texts the new corpus judges as the old one did: everything is there, in the order in which it came.
- Without them there is a digest for each. Its text is taken when it comes by again (:func:`open_texts`); until then the
  corpus says that there is history it has not seen. What earlier answers computed and stated is not in it either.
- The bounds of a corpus hold for a restored one: results that do not fit are forgotten, those that left first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.carried import Carried, kept_bytes
from otel_footprint.core.evidence.corpus import MAX_CALLS, MAX_LEFT, Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.sealed import SealedText
from otel_footprint.core.evidence.shelf import Shelf, Words
from otel_footprint.core.evidence.sources import CallMade, Outcome, Source, Stack
from otel_footprint.core.evidence.stated import Unit
from otel_footprint.core.evidence.verdicts import Derivation
from otel_footprint.core.stubs import Content, Digest, kept

CALLS_LIMIT: Final = MAX_CALLS
LEFT_LIMIT: Final = MAX_LEFT


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSource:
    """One result, or one text that was handed in."""

    ref: str
    content: Content
    turn: int
    call_id: str | None = None
    tool: str | None = None
    position: int | None = None
    served: CallRef | None = None
    outcome: Outcome = "good"
    handed_in: bool = False
    opaque: bool = False
    unread: bool = False
    in_window: bool = True
    decision: str = ""
    decided_by: str = ""
    dropped: CallRef | None = None


@dataclass(frozen=True, slots=True)
class SavedCall:
    """One call of the model's."""

    ref: str
    tool: str
    content: Content
    turn: int
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """What earlier answers computed, and what the last one stated and said."""

    computed: tuple[tuple[Unit, Decimal, Derivation], ...] = ()
    stated: tuple[tuple[Unit, Decimal], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCorpus:
    """A whole corpus. ``memory`` is None where there was one and it is not in it."""

    said: tuple[Content, ...] = ()
    sources: tuple[SavedSource, ...] = ()
    calls: tuple[SavedCall, ...] = ()
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    memory: Memory | None = field(default_factory=Memory)
    forgot: bool = False
    calls_forgotten: int = 0


def save(corpus: Corpus, *, text: bool) -> SavedCorpus:
    """What the corpus knows; without ``text``, digests of the texts."""
    deriver = corpus._deriver
    memory = Memory(
        tuple((unit, number, derivation) for (unit, number), derivation in deriver._computed.items()),
        deriver._stated_before,
        deriver._text_before,
    )
    return SavedCorpus(
        said=tuple(_content(words, text=text) for words in corpus._said),
        sources=tuple(_saved(source, text=text) for source in corpus._sources),
        calls=tuple(
            SavedCall(call.ref, call.tool, _content(call.carried, text=text), call.turn, call.position)
            for call in corpus._calls
        ),
        outcomes=tuple(corpus._outcomes.items()),
        memory=None if corpus._lost or (memory != Memory() and not text) else memory,
        forgot=corpus._forgot,
        calls_forgotten=corpus._calls_forgotten,
    )


def restored(options: Evidence, saved: SavedCorpus) -> Corpus:
    """A corpus that knows this."""
    corpus = Corpus(options)
    for content in saved.said:
        words = _carried(content, result=False)
        corpus._said.append(words)
        if isinstance(content, str):
            corpus._said_texts.add(content)
        corpus._other_bytes += len(words.text)
    for one in saved.sources:
        source = Source(
            one.ref,
            one.call_id,
            one.tool,
            _carried(one.content, result=not one.handed_in),
            one.turn,
            one.position,
            one.served,
            one.outcome,
            handed_in=one.handed_in,
            opaque=one.opaque,
            unread=one.unread,
            in_window=one.in_window,
            decision=one.decision,
            decided_by=one.decided_by,
            dropped=one.dropped,
        )
        corpus._sources.append(source)
        corpus._current[source.ref] = source
        corpus._gone += not source.in_window
        corpus._result_bytes += len(source.carried.text)
        corpus._kept_bytes += kept_bytes(source.carried.text)
    for call in saved.calls:
        made = CallMade(call.ref, call.tool, _carried(call.content, result=True), call.turn, call.position)
        corpus._calls.append(made)
        corpus._other_bytes += len(made.carried.text)
    corpus._outcomes.update(saved.outcomes)
    if saved.memory is None:
        corpus._lost = True
    else:
        corpus._deriver._computed = {(unit, number): derivation for unit, number, derivation in saved.memory.computed}
        corpus._deriver._stated_before = saved.memory.stated
        corpus._deriver._text_before = saved.memory.text
    corpus._forgot = saved.forgot
    corpus._calls_forgotten = saved.calls_forgotten
    _put_up(corpus)
    _keep_bounds(corpus)
    return corpus


def digests(corpus: Corpus) -> set[bytes]:
    """The digests of the texts that it does not have."""
    carried = [
        *corpus._said,
        *(source.carried for source in corpus._sources),
        *(call.carried for call in corpus._calls),
    ]
    return {text.digest.digest for text in carried if isinstance(text, SealedText)}


def open_texts(corpus: Corpus, known: Mapping[bytes, str]) -> None:
    """Take the texts that it lacked, where they are among those ``known``, by their digests."""
    opened = False

    def text_of(carried: Carried) -> Carried:
        nonlocal opened
        if not isinstance(carried, SealedText) or carried.digest.digest not in known:
            return carried
        opened = True
        return Carried(known[carried.digest.digest], result=carried.result)

    for index, words in enumerate(corpus._said):
        corpus._said[index] = text_of(words)
        if corpus._said[index] is not words:
            corpus._said_texts.add(corpus._said[index].text)
            corpus._other_bytes += len(corpus._said[index].text)
    for source in corpus._sources:
        before, source.carried = source.carried, text_of(source.carried)
        if source.carried is not before:
            corpus._result_bytes += len(source.carried.text)
            corpus._kept_bytes += kept_bytes(source.carried.text)
    for index, call in enumerate(corpus._calls):
        carried = text_of(call.carried)
        if carried is not call.carried:
            corpus._calls[index] = CallMade(call.ref, call.tool, carried, call.turn, call.position)
            corpus._other_bytes += len(carried.text)
    if opened:
        _put_up(corpus)
        _keep_bounds(corpus)


def _put_up(corpus: Corpus) -> None:
    """Put the texts where they are asked together."""
    corpus._words = Words(corpus._said)
    corpus._arguments = Shelf(call.carried for call in corpus._calls)
    corpus._stack = Stack(corpus._sources)
    corpus._sealed = bool(digests(corpus))


def _keep_bounds(corpus: Corpus) -> None:
    if corpus._result_bytes <= corpus.options.corpus_bytes or corpus._room_for(0):
        return
    for source in corpus._sources:  # what is in the window and does not fit is not read
        if corpus._result_bytes <= corpus.options.corpus_bytes:
            break
        corpus._result_bytes -= len(source.carried.text)
        corpus._kept_bytes -= kept_bytes(source.carried.text)
        source.unread = source.unread or bool(source.carried.text)
        source.carried = Carried("", result=source.carried.result)
    _put_up(corpus)


def _saved(source: Source, *, text: bool) -> SavedSource:
    return SavedSource(
        ref=source.ref,
        content=_content(source.carried, text=text),
        turn=source.turn,
        call_id=source.call_id,
        tool=source.tool,
        position=source.position,
        served=source.served,
        outcome=source.outcome,
        handed_in=source.handed_in,
        opaque=source.opaque,
        unread=source.unread,
        in_window=source.in_window,
        decision=source.decision,
        decided_by=source.decided_by,
        dropped=source.dropped,
    )


def _content(carried: Carried, *, text: bool) -> Content:
    return carried.digest if isinstance(carried, SealedText) else kept(carried.text, whole=text)


def _carried(content: Content, *, result: bool) -> Carried:
    return SealedText(content, result=result) if isinstance(content, Digest) else Carried(content, result=result)
