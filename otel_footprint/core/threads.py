"""Which thread a call belongs to: the six rules, and the indexes that keep them from reading every conversation.

Rules: the first that holds wins; ties go to the same trace, then the longest last call, then the newest
-----
(By rule 2 the thread that shares most messages goes before the one with the longest last call: real conversations have
whole messages in common, even tool calls with their ids.)
Candidates are the threads under the same system instruction (equal but for digits), or with the same agent name and tool
names, both not empty; of the explicit id when there is one, else of the whole store. System text never counts as a message.
1. CONTINUES: the call begins with the thread's whole last call and output.
2. HOLDS: it holds the thread's last output and one more message of its last call. Without an id and from another trace the
   output must hold a tool call or at least 32 characters: nothing is merged on equal greetings.
   Here a thread whose system envelope was only added to is a candidate too, when something of it is missing: an
   application that folds old messages into a system message.
   By rules 1 and 2 the output may also be held in other words, when no thread's output is held as it was: after the whole
   last call, a message like it; elsewhere, a message with no other calls than its, by id, name and arguments. (Frameworks
   drop the text beside a call, or keep one of several calls, or give them other ids.) Without an id and from another
   trace such text must have 32 characters too.
3. AGAIN: same id or trace, and equal to the thread's last call.
4. FORK: same id or trace, and the same first message: a new thread.
5. LONE: an explicit id with one thread only, nothing shared but perhaps the last output, and no call of it running.
6. Nothing holds: a new thread.
A thread none of whose calls completed has no history yet: rule 3 or 4 finds it again, and it starts then.

A tool call id identifies nothing: ids repeat within and across conversations. Where very many threads share an output the
search looks at the newest ``_CROWD`` of them, so that no traffic makes a call expensive.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import islice
from typing import Final

from otel_footprint.core.messages import Message
from otel_footprint.core.per_call import per_call
from otel_footprint.core.thread import Thread, opening_of
from otel_footprint.core.thread_index import ThreadIndex, window_of
from otel_footprint.core.window.observe import alike, but_for_digits, same_calls

_STRONG_OUTPUT: Final = 32
_CROWD: Final = 1024
_BUDGET: Final = 100_000
"""Messages that are looked at in threads that share an output, beside four times those of the call; a thread counts as ``_VISIT``
more."""
_VISIT: Final = 20
_ENVELOPES: Final = 256


class Rule(Enum):
    """The rule by which a thread was found."""

    CONTINUES = 1
    HOLDS = 2
    AGAIN = 3
    FORK = 4
    LONE = 5
    ASKED = 6
    """As HOLDS, by the calls of its output alone: their ids, names and arguments."""


@per_call(frozen=True, slots=True)
class Found:
    """A thread, and the rule that found it."""

    rule: Rule
    thread: Thread


@per_call(frozen=True, slots=True)
class Question:
    """What is asked of an index: the call as far as its thread depends on it.

    ``messages`` are without system messages; ``named`` says that the index holds the threads of an explicit id.
    """

    messages: tuple[Message, ...]
    instruction: str
    agent: str | None
    tools: frozenset[str]
    trace: int | None
    started_at: float | None
    named: bool

    def admits(self, thread: Thread) -> bool:
        """Whether the thread is a candidate."""
        return thread.instruction == self.instruction or (
            bool(self.agent) and bool(self.tools) and thread.agent == self.agent and thread.tools == self.tools
        )

    def admits_grown(self, thread: Thread) -> bool:
        """Whether this system envelope begins as the thread's did when it started, and messages of it are missing."""
        return (
            bool(thread.first_system)
            and self.instruction.startswith(thread.first_system)
            and self.messages[: len(thread.plain)] != thread.plain
        )

    def near(self, thread: Thread) -> bool:
        """Whether an id or the trace ties the call to the thread, whatever it holds."""
        return self.named or self.same_trace(thread)

    def same_trace(self, thread: Thread) -> bool:
        """Whether the thread's last call was in this call's trace."""
        return self.trace is not None and thread.trace == self.trace

    def rank(self, thread: Thread) -> tuple[bool, int, int]:
        """What decides ties; the greatest wins."""
        return self.same_trace(thread), len(thread.plain), thread.order


class Instructions:
    """System envelopes as one text in which every run of digits is alike; equal ones are the same object. Bounded."""

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[bytes, ...], str] = OrderedDict()
        self._interned: OrderedDict[str, str] = OrderedDict()

    def of(self, system: tuple[Message, ...]) -> str:
        """The text of this envelope; empty for none."""
        if not system:
            return ""
        keys = tuple(message.key for message in system)
        text = self._texts.get(keys)
        if text is None:
            text = "\n".join(but_for_digits(message.text.strip()) for message in system)
            text = self._interned.setdefault(text, text)
            self._texts[keys] = text
            if len(self._texts) > _ENVELOPES:
                self._texts.popitem(last=False)
            if len(self._interned) > _ENVELOPES:
                self._interned.popitem(last=False)
        return text


def find(index: ThreadIndex, question: Question) -> Found | None:
    """The thread of a call by the rules above; None for a new one."""
    for rule, look in _IN_ORDER:
        thread = look(index, question)
        if thread is not None:
            return Found(rule, thread)
    return None


def _continued(index: ThreadIndex, question: Question) -> Thread | None:
    messages = question.messages
    rivals = question.trace is not None and question.trace in index.traces
    best: Thread | None = None
    for place in range(len(messages) - 1, -1, -1):
        output = messages[place].key
        if output not in index.outputs:
            continue
        threads = index.wholes.get((output, *window_of(messages, place)))
        for thread in islice(reversed(threads), _CROWD) if threads else ():
            if not question.admits(thread) or thread.plain != messages[:place]:
                continue
            if best is None or question.same_trace(thread):
                best = thread
            if not rivals or question.same_trace(best):
                return best
    return best


def _held(index: ThreadIndex, question: Question) -> Thread | None:
    keys = {message.key for message in question.messages}
    budget = _BUDGET + 4 * len(keys)
    best: Thread | None = None
    best_rank: tuple[bool, int, int, int] | None = None
    for output in index.outputs.keys() & keys:
        befores = index.outputs[output]
        for thread in _sharing(befores, keys):
            if thread is best or (best_rank is not None and question.same_trace(thread) < best_rank[0]):
                continue
            if not question.admits(thread) and not question.admits_grown(thread):
                continue
            if not question.near(thread) and not _strong(thread, output):
                continue
            budget -= len(thread.plain) + _VISIT
            shared = _shared(thread, output, question, keys)
            if shared:
                same_trace, length, order = question.rank(thread)
                rank = (same_trace, shared, length, order)
                if best_rank is None or rank > best_rank:
                    best, best_rank = thread, rank
            if budget < 0:
                return best
    return best


def _sharing(befores: dict[bytes, dict[Thread, None]], keys: set[bytes]) -> Iterator[Thread]:
    """Threads with an output, those whose message before it is in the call first."""
    near = befores.keys() & keys
    for before in near:
        yield from islice(reversed(befores[before]), _CROWD)
    crowd = 0
    for before in reversed(befores):
        if before in near:
            continue
        for thread in islice(reversed(befores[before]), _CROWD - crowd):
            crowd += 1
            yield thread
        if crowd >= _CROWD:
            return


def _continued_in_other_words(index: ThreadIndex, question: Question) -> Thread | None:
    messages = question.messages
    best: Thread | None = None
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role != "assistant":
            continue
        strong = bool(message.tool_calls) or len(message.text.strip()) >= _STRONG_OUTPUT
        threads = index.windows.get(window_of(messages, place))
        for thread in islice(reversed(threads), _CROWD) if threads else ():
            if (
                question.admits(thread)
                and thread.plain == messages[:place]
                and (strong or question.near(thread))
                and any(alike(slot.message, message) for slot in thread.outputs)
                and (best is None or question.rank(thread) > question.rank(best))
            ):
                best = thread
    return best


def _held_in_other_words(index: ThreadIndex, question: Question) -> Thread | None:
    keys = {message.key for message in question.messages}
    budget = _BUDGET + 4 * len(keys)
    best: Thread | None = None
    best_rank: tuple[bool, int, int, int] | None = None
    for message in reversed(question.messages):
        calls = message.tool_calls
        threads = index.asked.get((calls[0].id, calls[0].name)) if calls and message.role == "assistant" else None
        for thread in islice(reversed(threads), _CROWD) if threads else ():
            budget -= len(thread.plain) + _VISIT
            shared = sum(1 for held in thread.plain if held.key in keys)
            if not shared or not question.admits(thread):
                continue
            same_trace, length, order = question.rank(thread)
            rank = (same_trace, shared, length, order)
            if (best_rank is None or rank > best_rank) and any(
                same_calls(slot.message, message) for slot in thread.outputs
            ):
                best, best_rank = thread, rank
        if budget < 0:
            break
    return best


def _near(index: ThreadIndex, question: Question) -> list[Thread]:
    """Candidates with the same first message, tied to the call by the id or the trace."""
    near = islice(index.near(question.trace, opening_of(question.messages)), _CROWD)
    return [thread for thread in near if question.admits(thread)]


def _again(index: ThreadIndex, question: Question) -> Thread | None:
    near = _near(index, question)
    again = [
        thread
        for thread in near
        if question.messages == (thread.plain if thread.attempted is None else thread.attempted)
    ]
    if not again and question.messages:
        again = [thread for thread in near if thread.attempted is not None]
    return max(again, key=question.rank, default=None)


def _forked(index: ThreadIndex, question: Question) -> Thread | None:
    return max(_near(index, question), key=question.rank, default=None) if question.messages else None


def _lone(index: ThreadIndex, question: Question) -> Thread | None:
    if not question.named or len(index) != 1:
        return None
    thread = next(iter(index))
    if not question.admits(thread):
        return None
    running = (
        question.started_at is not None
        and thread.completed_at is not None
        and question.started_at < thread.completed_at
    )
    keys = {message.key for message in question.messages}
    if running or any(message.key in keys for message in thread.plain):
        return None
    return thread


_IN_ORDER: Final[tuple[tuple[Rule, Callable[[ThreadIndex, Question], Thread | None]], ...]] = (
    (Rule.CONTINUES, _continued),
    (Rule.HOLDS, _held),
    (Rule.AGAIN, _again),
    (Rule.HOLDS, _continued_in_other_words),
    (Rule.ASKED, _held_in_other_words),
    (Rule.FORK, _forked),
    (Rule.LONE, _lone),
)


def _strong(thread: Thread, output: bytes) -> bool:
    """Whether this output is so much of its own that holding it says something."""
    message = next(slot.message for slot in thread.outputs if slot.message.key == output)
    return bool(message.tool_calls) or len(message.text.strip()) >= _STRONG_OUTPUT


def _shared(thread: Thread, output: bytes, question: Question, keys: set[bytes]) -> int:
    """How many messages of the thread's last call the call holds beside its output.

    Where that call held a message equal to its output, the one in this call may be that: then only what followed it counts.
    """
    plain = thread.plain
    twin = max((place for place, message in enumerate(plain) if message.key == output), default=-1)
    if twin >= 0 and sum(1 for message in question.messages if message.key == output) == 1:
        plain = plain[twin + 1 :]
    return sum(1 for message in plain if message.key in keys)
