"""A live conversation as values, and a live one from them.

Rules
-----
- Saving changes nothing, and what is saved shares nothing that changes.
- With texts a restored conversation decides about its next call exactly as the one that was saved would have.
- Without them it goes on all the same: windows are compared by the keys of messages, counts and names go on, and evidence is
  what :mod:`~otel_footprint.core.state.opening` finds again in the calls to come.
- Threads refer to each other by number; one that is gone is referred to by nobody.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.saving import restored as restored_corpus
from otel_footprint.core.evidence.saving import save as save_corpus
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.findings.track import Track
from otel_footprint.core.session import Session
from otel_footprint.core.state.opening import Opening, sealed_words
from otel_footprint.core.state.values import SavedResponse, SavedSession, SavedSlot, SavedThread
from otel_footprint.core.stubs import kept, marked
from otel_footprint.core.thread import Slot, Thread, without_system
from otel_footprint.core.turns import ResultNames


def save(session: Session, responses: Callable[[Thread], Iterable[SavedResponse]], *, text: bool) -> SavedSession:
    """The state of a conversation. ``responses`` are those of a thread that may be named as the previous one."""
    words = () if session.opening is None else session.opening.words
    return SavedSession(
        created=session._created,
        tools_seen=session._tools_seen,
        handed_in=(
            *((name, kept(given, whole=text)) for given, name in session._handed_in),
            *((one.name, one.digest) for one in words if one.name is not None),
        ),
        said=(
            *(kept(given, whole=text) for given in session._said),
            *(one.digest for one in words if one.name is None),
        ),
        threads=tuple(_save(thread, responses(thread), text=text) for thread in session.index),
        lost=session.lost,
    )


def _save(thread: Thread, responses: Iterable[SavedResponse], *, text: bool) -> SavedThread:
    places = {id(slot): index for index, slot in enumerate(thread.slots)}
    return SavedThread(
        number=thread.number,
        instruction=kept(thread.instruction, whole=text),
        first_system=kept(thread.first_system, whole=text),
        forked_from=thread.forked_from,
        parent=None if thread.parent is None else thread.parent.number,
        agent=thread.agent,
        tools=thread.tools,
        system=thread.system,
        slots=tuple(map(_save_slot, thread.slots)),
        outputs=tuple(map(_save_slot, thread.outputs)),
        attempted=thread.attempted,
        chars=thread.chars,
        calls=thread.calls,
        turn=thread.turn,
        iteration=thread.iteration,
        results_this_turn=thread.results_this_turn,
        trace=thread.trace,
        last=thread.last,
        completed_at=thread.completed_at,
        unseen=thread.unseen,
        unreadable=thread.unreadable,
        system_unreadable=thread.system_unreadable,
        system_is_summary=thread.system_is_summary,
        names=thread.names.saved(),
        gone=tuple((key, tuple(known)) for key, known in thread.gone.items()),
        final=kept(thread.final, whole=text),
        reports=tuple(
            (sibling.number, held)
            for sibling, slots in thread.reports.items()
            if (held := tuple(places[id(slot)] for slot in slots if slot.alive and id(slot) in places))
        ),
        responses=tuple(responses),
        server_threads=tuple(thread.server_threads),
        corpus=save_corpus(thread.corpus, text=text),
        track=None if thread.track is None else thread.track.saved(text=text),
    )


def _save_slot(slot: Slot) -> SavedSlot:
    return SavedSlot(
        message=slot.message,
        born_at=slot.born_at,
        born=slot.born,
        born_call=slot.born_call,
        turn=slot.turn,
        refs=slot.refs,
        tool=slot.tool,
        unreadable=slot.unreadable,
        fed=slot.fed,
    )


def restored(
    conversation: str, saved: SavedSession, *, inferred: bool, evidence: Evidence
) -> tuple[Session, list[Thread]]:
    """A conversation as it was saved, and its threads in their order. In no store yet."""
    session = Session(conversation, inferred=inferred, evidence=evidence)
    session._created = max([saved.created, *(one.number for one in saved.threads)])
    session._tools_seen = saved.tools_seen
    session.lost = saved.lost
    for name, content in saved.handed_in:
        if isinstance(content, str):
            session._handed_in.append((content, name))
            session._handed_in_chars += len(content)
    for content in saved.said:
        if isinstance(content, str):
            session._said[content] = None
            session._said_chars += len(content)
    threads = [_restored(session, one) for one in saved.threads]
    numbered = {thread.number: thread for thread in threads}
    for thread, one in zip(threads, saved.threads, strict=True):
        thread.parent = numbered.get(one.parent) if one.parent is not None else None
        for number, places in one.reports:
            if number in numbered:
                thread.reports[numbered[number]] = [thread.slots[place] for place in places]
    session.opening = Opening(session, sealed_words(saved))
    return session, threads


def _restored(session: Session, saved: SavedThread) -> Thread:
    corpus = restored_corpus(session.evidence, saved.corpus)
    thread = Thread(session, saved.number, corpus, marked(saved.instruction), forked_from=saved.forked_from)
    thread.first_system = marked(saved.first_system)
    thread.agent, thread.tools = saved.agent, saved.tools
    thread.system = saved.system
    thread.slots = [_slot(one) for one in saved.slots]
    thread.outputs = [_slot(one) for one in saved.outputs]
    thread.sent = tuple(slot.message for slot in thread.slots)
    thread.plain = without_system(thread.sent)
    thread.attempted = saved.attempted
    thread.chars, thread.calls = saved.chars, saved.calls
    thread.turn, thread.iteration = saved.turn, saved.iteration
    thread.results_this_turn = saved.results_this_turn
    thread.trace, thread.last, thread.completed_at = saved.trace, saved.last, saved.completed_at
    thread.unseen, thread.unreadable = saved.unseen, saved.unreadable
    thread.system_unreadable, thread.system_is_summary = saved.system_unreadable, saved.system_is_summary
    thread.names = ResultNames.restored(saved.names)
    thread.gone = OrderedDict((key, list(known)) for key, known in saved.gone)
    thread.final = marked(saved.final)
    if saved.track is not None:
        thread.track = Track.restored(Findings(), saved.track)
    return thread


def _slot(saved: SavedSlot) -> Slot:
    return Slot(
        saved.message,
        saved.born_at,
        saved.born,
        saved.born_call,
        saved.turn,
        saved.refs,
        saved.tool,
        unreadable=saved.unreadable,
        fed=saved.fed,
    )
