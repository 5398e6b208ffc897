"""The bounded store of lines: finds the one a list goes on with, and lets the oldest go.

Rules
-----
Candidates are the lines of the same conversation id (or of none) and system instruction (equal but for digits), or with the
same agent name and tool names, both not empty; and those that went under this instruction before. *Near* is a line with the id or
in the same trace. By 2 and 3 also a line whose instruction was only added to since it started, if near or its output is strong.
A system prompt may change with every call (a weekday, a memory, documents). So under an id, by 1 and 2 a line with the same
agent and the same tools, none of whose calls is under way, is a candidate whatever its instruction, where the list holds an
answer that both share: sub-agents that have no more than a question in common stay apart. The first that holds wins:
1. AGAIN: near, and the list is the one that was tried or completed last: the same call once more. A call that failed also
   where its line is found by rule 2.
2. APPEND: the list begins with the line's whole last list and its output, equal or alike. The output must be there: nothing
   is merged on equal greetings. Without an id and from another trace, an output in other words must hold a tool call or 32
   characters. Or near, and it begins with a list that failed; a completed call that was asked again and failed changed
   nothing. The longest wins, then the same trace, then the newest.
3. REWRITTEN: it holds the line's last output and one more message of its window; without an id and from another trace the
   output must be as strong. Or an explicit id with one line only, with nothing in common and no call of it under way.
4. FORKED: near, and it begins as a line's list does, beyond all that left there, with a request of its own or one that was
   kept: a new line, in which what left stays out. An answer that was not taken, an edited message, parallel fan-outs. (An
   earlier list as it was, for another answer, is sent as it would have been then.)
5. Else it is a new line.
Where the provider holds the window the list says nothing of where it belongs: it is that of the only line that is near.
Bounds: idle time, number, bytes; the line asked longest ago goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias, TypeVar

from otel_footprint.core.messages import Message
from otel_footprint.core.window.candidates import Asked as Asked
from otel_footprint.core.window.candidates import How as How
from otel_footprint.core.window.candidates import Line as Line
from otel_footprint.core.window.candidates import admitted, answered, rank, strong
from otel_footprint.core.window.items import Kept
from otel_footprint.core.window.line import Keys, State

_CROWD: Final = 64
_Whole: TypeAlias = tuple[str | None, int, bytes, bytes]
_Head: TypeAlias = tuple[str | None, bytes]
_K = TypeVar("_K")


@dataclass(frozen=True, slots=True)
class Going:
    """A line, the state to go on from, and how.

    ``output_at`` is where a rewritten list holds the output, None for nowhere; ``shared`` counts the messages that a forked
    list has in common with that of ``base``.
    """

    line: Line
    base: State
    how: How
    output_at: int | None = None
    shared: int = 0


class Lines:
    """All lines. Not thread-safe; no clock."""

    def __init__(self, *, count: int, bytes_: int, idle_s: float) -> None:
        self._count = count
        self._bytes_limit = bytes_
        self._idle_s = idle_s
        self._lines: OrderedDict[Line, None] = OrderedDict()
        self._wholes: dict[_Whole, dict[Line, None]] = {}
        self._heads: dict[_Head, dict[Line, None]] = {}
        self._outputs: dict[bytes, dict[Line, None]] = {}
        self._named: dict[str, dict[Line, None]] = {}
        self._traces: dict[int, dict[Line, None]] = {}
        self._places: dict[Line, tuple[_Whole | None, tuple[bytes, ...], int | None]] = {}
        self._order = 0
        self.size_bytes: int = 0
        self.evicted: int = 0

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, line: object) -> bool:
        return line in self._lines

    def of(self, conversation: str) -> list[Line]:
        """The lines of an explicit id, the one asked longest ago first."""
        return list(self._named.get(conversation, ()))

    def find(self, asked: Asked) -> Going | None:
        """The line this list goes on with, by the rules above; None for a new one."""
        if asked.held:
            return self._held(asked)
        return (
            self._again(asked)
            or self._appended(asked)
            or self._rewritten(asked)
            or self._lone(asked)
            or self._forked(asked)
        )

    def put(self, line: Line, now: float) -> None:
        """Take a line in, or note that it changed; then keep the bounds."""
        self._drop(line)
        self._order += 1
        line.order, line.touched = self._order, now
        done = line.done
        whole = None
        outputs: tuple[bytes, ...] = ()
        if done is not None:
            whole = _whole(line.conversation, done.keys, len(done.keys))
            outputs = tuple(dict.fromkeys(message.key for message in done.outputs))
            self._wholes.setdefault(whole, {})[line] = None
            self._heads.setdefault(whole[::2], {})[line] = None
            for key in outputs:
                self._outputs.setdefault(key, {})[line] = None
        if line.conversation is not None:
            self._named.setdefault(line.conversation, {})[line] = None
        if line.trace is not None:
            self._traces.setdefault(line.trace, {})[line] = None
        self._places[line] = whole, outputs, line.trace
        self._lines[line] = None
        line.size = sum(state.size_bytes() for state in (line.done, line.tried) if state is not None)
        self.size_bytes += line.size
        while len(self._lines) > 1 and (len(self._lines) > self._count or self.size_bytes > self._bytes_limit):
            self._forget_oldest()

    def forget(self, conversation: str) -> None:
        """Let all lines of an explicit id go."""
        for line in self.of(conversation):
            self._drop(line)

    def expire(self, now: float) -> None:
        """Let go what was idle too long."""
        while self._lines:
            oldest = next(iter(self._lines))
            if oldest.touched + self._idle_s >= now:
                return
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        self._drop(next(iter(self._lines)))
        self.evicted += 1

    def _drop(self, line: Line) -> None:
        place = self._places.pop(line, None)
        if place is None:
            return
        whole, outputs, trace = place
        if whole is not None:
            _remove(self._wholes, whole, line)
            _remove(self._heads, whole[::2], line)
        for key in outputs:
            _remove(self._outputs, key, line)
        if line.conversation is not None:
            _remove(self._named, line.conversation, line)
        if trace is not None:
            _remove(self._traces, trace, line)
        del self._lines[line]
        self.size_bytes -= line.size

    def _near(self, asked: Asked, shared: Sequence[Message] = ()) -> Iterator[Line]:
        """The newest lines tied to the call by its id or trace; ``shared`` is what a list is known to begin with."""
        if asked.conversation is not None:
            found: Iterable[Line] = reversed(self._named.get(asked.conversation, {}))
        elif asked.trace is not None:
            found = reversed(self._traces.get(asked.trace, {}))
        else:
            return
        yield from (line for line in islice(found, _CROWD) if asked.admits(line) or asked.admits_shared(line, shared))

    def _again(self, asked: Asked) -> Going | None:
        best: Going | None = None
        best_place = False, False
        for line in self._near(asked, asked.messages):
            state = next((s for s in (line.tried, line.done) if s is not None and s.keys == asked.keys), None)
            place = asked.admits(line), asked.trace is None or asked.same_trace(line)
            if state is not None and (best is None or place > best_place):
                best, best_place = Going(line, state, How.AGAIN), place
        return best

    def _appended(self, asked: Asked) -> Going | None:
        messages, keys = asked.messages, asked.keys
        best: Going | None = None
        begun = bool(keys) and (asked.conversation, keys[0]) in self._heads  # else nothing is found at any place but 0
        for place in range(len(keys) - 1 if begun else min(len(keys), 1) - 1, -1, -1):
            if messages[place].role != "assistant":
                continue
            found = self._wholes.get(_whole(asked.conversation, keys, place))
            for line in islice(reversed(found), _CROWD) if found else ():
                done = line.done
                if done is None or done.keys != keys[:place] or not answered(asked, line, done, messages[place]):
                    continue
                if not (admitted(asked, line, messages[place]) or asked.admits_shared(line, messages[: place + 1])):
                    continue
                tried = line.tried
                if tried is not None and line.failed and tried.keys == keys:
                    return Going(line, tried, How.AGAIN)
                if best is None or rank(asked, line) > rank(asked, best.line):
                    best = Going(line, done, How.APPEND)
            if best is not None:
                break
        near = [*self._near(asked)] if best is None else [best.line, *self._near(asked)]
        for line in near:
            tried = line.tried
            if tried is None or not line.failed or tried.again or len(tried.keys) >= len(keys):
                continue
            if (best is None or len(tried.keys) > len(best.base.keys)) and keys[: len(tried.keys)] == tried.keys:
                best = Going(line, tried, How.APPEND)
        return best

    def _rewritten(self, asked: Asked) -> Going | None:
        keys = asked.keys
        held = set(keys)
        best: tuple[tuple[bool, int, int], Going] | None = None
        for place in range(len(keys) - 1, -1, -1):
            message = asked.messages[place]
            found = self._outputs.get(keys[place]) if message.role == "assistant" else None
            for line in islice(reversed(found), _CROWD) if found else ():
                done = line.done
                if done is None or not admitted(asked, line, message) or not (asked.near(line) or strong(message)):
                    continue
                shared = sum(1 for key in set(done.keys) if key in held and key != keys[place])
                order = (asked.same_trace(line), shared, line.order)
                if shared and (best is None or order > best[0]):
                    best = order, Going(line, done, How.REWRITTEN, place)
            if best is not None:
                return best[1]
        return None

    def _lone(self, asked: Asked) -> Going | None:
        if asked.conversation is None:
            return None
        lines = self._named.get(asked.conversation, {})
        if len(lines) != 1:
            return None
        line = next(iter(lines))
        if (
            line.done is None
            or line.running
            or not asked.admits(line)
            or not set(line.done.keys).isdisjoint(asked.keys)
        ):
            return None
        outputs = {message.key for message in line.done.outputs}
        held = (place for place in range(len(asked.keys) - 1, -1, -1) if asked.keys[place] in outputs)
        return Going(line, line.done, How.REWRITTEN, next(held, None))

    def _forked(self, asked: Asked) -> Going | None:
        said = max((j for j, message in enumerate(asked.messages) if message.said_by_person), default=-1)
        best: Going | None = None
        for line in self._near(asked):
            done = line.done
            shared = 0 if done is None else _common(done.keys, asked.keys)
            if done is None or not 0 < shared < len(asked.keys) or (best is not None and shared <= best.shared):
                continue
            kept = {item.index for item in done.items if isinstance(item, Kept)}
            left = [index for index in range(len(done.keys)) if index not in kept]
            beyond = left[-1] < shared if left else shared == len(done.keys)
            if beyond and (said >= shared or said in kept):
                best = Going(line, done, How.FORKED, shared=shared)
        return best

    def _held(self, asked: Asked) -> Going | None:
        lines = list(islice(self._near(asked), 2))
        if len(lines) != 1:
            return None
        line = lines[0]
        if line.tried is not None:
            return Going(line, line.tried, How.AGAIN) if line.tried.keys == asked.keys else None
        return None if line.done is None else Going(line, line.done, How.REWRITTEN)


def _common(one: Keys, other: Keys) -> int:
    """With how many equal keys both begin."""
    for place, (first, second) in enumerate(zip(one, other)):  # noqa: B905 - they may differ in length
        if first != second:
            return place
    return min(len(one), len(other))


def _whole(conversation: str | None, keys: Keys, length: int) -> _Whole:
    """What tells a list from most others: its length, its first and its last message."""
    if not length:
        return conversation, 0, b"", b""
    return conversation, length, keys[0], keys[length - 1]


def _remove(lines: dict[_K, dict[Line, None]], key: _K, line: Line) -> None:
    lines[key].pop(line, None)
    if not lines[key]:
        del lines[key]
