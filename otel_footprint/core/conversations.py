"""The bounded store of conversations: finds the one a call belongs to, and lets the oldest go.

Rules
-----
- A call belongs to the conversation with its explicit id; else to the one whose response or server-held thread it names;
  else to the one of the thread that the rules of ``threads`` find; else to a new one, whose id is ours and inferred.
- A call we acted on says which thread it goes on with, as far as that is known and nothing else went on there meanwhile.
- Bounds: idle time, number, bytes; the conversation touched longest ago goes first, and all that go are counted. Where one
  conversation alone is too large, its oldest threads go.
- Pure and not thread-safe: time comes with the calls, ids from ``new_id``; the caller holds a lock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from otel_footprint.core.call import Call
from otel_footprint.core.decisions import Decisions, Match
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.findings.observed import as_observed
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.findings.stripping import Emission, Stripper
from otel_footprint.core.findings.track import Track
from otel_footprint.core.messages import Message
from otel_footprint.core.server_held import Read, ServerHeld, known_window
from otel_footprint.core.session import Session
from otel_footprint.core.state import keeping
from otel_footprint.core.state.values import SavedSession
from otel_footprint.core.thread import Thread, without_system
from otel_footprint.core.thread_index import ThreadIndex, place_of
from otel_footprint.core.threads import Found, Instructions, Question, Rule, find
from otel_footprint.core.window.planned_call import as_planned


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the store: live conversations, bytes of all of them (about), seconds without a call."""

    conversations: int = 1000
    bytes: int = 256_000_000
    idle_s: float = 3600.0


class Conversations:
    """All live conversations.

    Args:
        evidence: how answers are judged where a call does not bring its own settings.
        limits: the bounds.
        new_id: makes the id of a conversation that nobody named.
    """

    def __init__(self, *, evidence: Evidence, limits: Limits, new_id: Callable[[], str]) -> None:
        self._evidence = evidence
        self._limits = limits
        self._new_id = new_id
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._index = ThreadIndex(by_trace=True)
        self._server_held = ServerHeld()
        self._instructions = Instructions()
        self._stripper = Stripper()
        self._bytes = 0
        self._sealed = 0  # conversations that were restored and lack something
        self._order = 0
        self.evicted_conversations: int = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def size_bytes(self) -> int:
        """About how many bytes all conversations keep alive."""
        return self._bytes

    def observe(
        self,
        call: Call,
        *,
        evidence: Evidence | None = None,
        findings: Findings | None = None,
        declared: tuple[tuple[Emission, ...], ...] = (),
    ) -> Decisions:
        """Take one call in and decide about it.

        ``evidence`` are the settings of its conversation, where it has its own. ``findings`` are on where they are given, and
        stay on for the conversation; ``call`` and ``declared`` are then what ``stripped`` gave.
        """
        self._expire(call.now)
        if call.planned is not None:
            call = as_planned(call, call.planned)
        self._open_sealed(call)
        read = self._server_held.read(call)
        question = self._question(call, read.window)
        session, found, match = self._find(call, read, question)
        if session is None:
            session = self._open(call.conversation_id or self._new_id(), inferred=not call.conversation_id)
        if evidence is not None:
            session.judge_by(evidence)
        if findings is not None:
            session.follow(findings)
        if read.unseen and found is not None and found.rule is Rule.LONE:
            read = Read((*known_window(found.thread), *read.window), unseen=True)
            question = self._question(call, read.window)
        decisions, thread = session.observe(
            call,
            read.window,
            found=found,
            match=match,
            question=question,
            unseen=read.unseen,
            declared=declared,
        )
        self._order += 1
        thread.order = self._order
        place = place_of(thread)
        session.index.put(thread, place)
        self._index.put(thread, place)
        if call.outputs:
            self._server_held.note(call, thread)
        thread.size = thread.size_bytes()
        self._settle(session, call.now)
        return decisions

    def stripped(self, call: Call) -> tuple[Call, tuple[tuple[Emission, ...], ...]]:
        """A call without what the model declares in it and what is ours, and what was declared in each output."""
        return as_observed(call, self._stripper)

    def track_of(self, conversation_id: str, thread: int) -> Track | None:
        """The findings of a thread; None where the thread is not known or findings are off."""
        session = self._sessions.get(conversation_id)
        known = None if session is None else session.numbered.get(thread)
        return None if known is None else known.track

    def tracks(self, conversation_id: str) -> tuple[tuple[int, Track], ...]:
        """The threads of a conversation by number, with their findings; the one that was called last first."""
        session = self._sessions.get(conversation_id)
        threads = [] if session is None else sorted(session.numbered.values(), key=lambda one: -one.order)
        return tuple((one.number, one.track) for one in threads if one.track is not None)

    def newest_track(self, conversation_id: str) -> tuple[int, Track] | None:
        """The thread of a conversation that was called last, with its findings."""
        return next(iter(self.tracks(conversation_id)), None)

    def saved(self, conversation_id: str, *, text: bool) -> SavedSession | None:
        """The state of a conversation as values; None where it is not known. Without ``text``, digests of all texts."""
        session = self._sessions.get(conversation_id)
        return None if session is None else keeping.save(session, self._server_held.saved, text=text)

    def restore(
        self,
        conversation_id: str,
        saved: SavedSession,
        *,
        inferred: bool = False,
        evidence: Evidence | None = None,
        now: float,
    ) -> None:
        """Go on with a conversation that was saved, in the place of what is known of it. ``now`` in Unix seconds.

        Words that were said here and evidence that was handed in stay.
        """
        self._expire(now)
        session, threads = keeping.restored(
            conversation_id, saved, inferred=inferred, evidence=evidence or self._evidence
        )
        before = self._sessions.pop(conversation_id, None)
        if before is not None:
            self._let_go(before)
        self._sessions[conversation_id] = session
        for thread, one in zip(threads, saved.threads, strict=True):
            self._order += 1
            thread.order = self._order
            place = place_of(thread)
            session.index.put(thread, place)
            session.numbered[thread.number] = thread
            self._index.put(thread, place)
            self._server_held.restore(one, thread)
            thread.size = thread.size_bytes()
        if before is not None:
            session.hear(before)
        if session.opening is not None and session.opening.done:
            session.opening = None
        self._sealed += session.opening is not None
        self._settle(session, now)

    def _open_sealed(self, call: Call) -> None:
        """Show the call to the conversations that were restored without texts and that it may belong to."""
        if not self._sealed:
            return
        instruction = self._instructions.of(call.system)
        if call.conversation_id:
            named = self._sessions.get(call.conversation_id)
            sessions = [] if named is None else [named]
        else:
            sessions = [session for session in self._sessions.values() if session.inferred]
        for session in sessions:
            if session.opening is not None:
                session.opening.show(call, instruction)
                if session.opening.done:
                    session.opening = None
                    self._sealed -= 1

    def hand_in(self, conversation_id: str, text: str, name: str, *, now: float) -> None:
        """Evidence that no tool returned, for a conversation that may not have had a call yet. ``now`` in Unix seconds."""
        self._expire(now)
        session = self._named(conversation_id)
        session.hand_in(text, name)
        self._settle(session, now)

    def say(self, conversation_id: str, text: str, *, now: float) -> None:
        """Words of a person or the application that are in no message: the request, declared defaults."""
        self._expire(now)
        session = self._named(conversation_id)
        session.say(text)
        self._settle(session, now)

    def _named(self, conversation_id: str) -> Session:
        return self._sessions.get(conversation_id) or self._open(conversation_id, inferred=False)

    def _open(self, conversation_id: str, *, inferred: bool) -> Session:
        session = Session(conversation_id, inferred=inferred, evidence=self._evidence)
        self._sessions[conversation_id] = session
        return session

    def _question(self, call: Call, window: tuple[Message, ...]) -> Question:
        trace = None if call.ref is None else call.ref.trace_id or None
        return Question(
            messages=without_system(window),
            instruction=self._instructions.of(call.system),
            agent=call.agent,
            tools=frozenset(call.tools or ()),
            trace=trace,
            started_at=call.started_at,
            named=bool(call.conversation_id),
        )

    def _find(self, call: Call, read: Read, question: Question) -> tuple[Session | None, Found | None, Match]:
        if call.conversation_id:
            match: Match = "ambient" if call.conversation_source == "ambient" else "explicit"
            session = self._sessions.get(call.conversation_id)
            if session is None:
                return None, None, match
            known = self._planned(call, question)
            if known is not None and known.thread.session is session:
                return session, known, match
            if read.thread is not None and read.thread.session is session:
                return session, _tied(read.thread, question), match
            found = _unmistaken(find(session.index, question), call)
            if read.thread is not None and found is not None and found.rule is Rule.LONE:
                found = None  # it goes on with a response of another conversation, so nothing of this one was reset
            return session, found, match
        if read.thread is not None:
            return read.thread.session, _tied(read.thread, question), "response_id"
        found = self._planned(call, question) or find(self._index, question)
        if found is None:
            return None, None, "new"
        return found.thread.session, found, "tool_call" if found.rule is Rule.ASKED else "messages"

    def _planned(self, call: Call, question: Question) -> Found | None:
        """The thread that the planner knows this call to go on with, if that is where it was left."""
        planned = call.planned
        if planned is None or planned.hint is None:
            return None
        session = self._sessions.get(planned.hint[0])
        thread = None if session is None else session.numbered.get(planned.hint[1])
        if thread is None or not thread.calls or thread.last != planned.after:
            return None
        return Found(Rule.AGAIN if planned.again else Rule.CONTINUES, thread)

    def _settle(self, session: Session, now: float) -> None:
        """Account for what grew, and keep the bounds."""
        crowded = session.crowded()
        if crowded is not None:
            self._forget_thread(session, crowded)
        session.touched = now
        self._sessions.move_to_end(session.id)
        self._account(session)
        while len(self._sessions) > max(1, self._limits.conversations):
            self._forget_oldest()
        while self._bytes > self._limits.bytes and len(self._sessions) > 1:
            self._forget_oldest()
        while self._bytes > self._limits.bytes and len(session.index) > 1:
            self._forget_thread(session, next(iter(session.index)))
            self._account(session)

    def _account(self, session: Session) -> None:
        self._bytes -= session.size
        session.size = session.size_bytes()
        self._bytes += session.size

    def _expire(self, now: float) -> None:
        while self._sessions:
            oldest = next(iter(self._sessions.values()))
            if oldest.touched + self._limits.idle_s >= now:
                return
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, session = self._sessions.popitem(last=False)
        self._let_go(session)
        self.evicted_conversations += 1

    def _let_go(self, session: Session) -> None:
        for thread in list(session.index):
            self._forget_thread(session, thread)
        self._bytes -= session.size
        self._sealed -= session.opening is not None

    def _forget_thread(self, session: Session, thread: Thread) -> None:
        session.forget(thread)
        self._index.drop(thread)
        self._server_held.drop(thread)


def _tied(thread: Thread, question: Question) -> Found:
    """The rule for a call whose window the provider holds: it goes on, asks again, or goes on from an earlier response."""
    messages = question.messages
    if thread.calls:
        count = len(thread.plain)
        outputs = {slot.message.key for slot in thread.outputs}
        if messages == thread.plain:
            return Found(Rule.AGAIN, thread)
        if not (len(messages) > count and messages[:count] == thread.plain and messages[count].key in outputs):
            return Found(Rule.FORK, thread)
    return Found(Rule.CONTINUES, thread)


def _unmistaken(found: Found | None, call: Call) -> Found | None:
    """Nothing shared is no reason where what is shared is what a strategy took out before the call: it is a fork then."""
    planned = call.planned
    if planned is None or found is None or found.rule is not Rule.LONE or not planned.withheld:
        return found
    answered = {slot.message.key for slot in found.thread.outputs}
    if any(message.key in answered for message in call.messages):
        return found  # it goes on with what the model said last
    shared = any(message.key in planned.withheld for message in found.thread.plain)
    return Found(Rule.FORK, found.thread) if shared else found
