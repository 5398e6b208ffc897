"""Where threads are looked up: by their last outputs, by what was sent before them, by their openings.

Rules
-----
- An index holds a thread in the place where its last call left it. There is one index for each conversation, and one for
  all of them; in that one openings are looked up within a trace only.
- Everything is kept in the order in which threads were asked last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

from otel_footprint.core.messages import Message
from otel_footprint.core.per_call import per_call
from otel_footprint.core.thread import Thread, opening_of

_Asked: TypeAlias = tuple[str | None, str]
_Window: TypeAlias = tuple[int, bytes, bytes, bytes]
_Whole: TypeAlias = tuple[bytes, int, bytes, bytes, bytes]
_K = TypeVar("_K")


@per_call(frozen=True, slots=True)
class Place:
    """What a thread is looked up by, as its last call left it.

    ``outputs`` are keys of its last outputs, ``last`` that of the message sent before them (empty for none), ``whole`` what
    tells the whole window from most others, ``asked`` ids and names of the calls in the outputs, ``opening`` the key of the
    first message.
    """

    outputs: tuple[bytes, ...]
    last: bytes
    whole: _Window
    asked: tuple[_Asked, ...]
    opening: bytes
    trace: int | None


def window_of(messages: Sequence[Message], length: int) -> _Window:
    """Its length and its last, first and middle messages: windows that differ seldom have all of them in common."""
    if not length:
        return 0, b"", b"", b""
    return length, messages[length - 1].key, messages[0].key, messages[length // 2].key


def place_of(thread: Thread) -> Place:
    """Where to look a thread up, by the call it has just had."""
    plain, outputs = thread.plain, thread.outputs
    asked = [(call.id, call.name) for slot in outputs for call in slot.message.tool_calls if call.id]
    return Place(
        outputs=tuple(dict.fromkeys([slot.message.key for slot in outputs])),
        last=plain[-1].key if plain else b"",
        whole=window_of(plain, len(plain)),
        asked=tuple(dict.fromkeys(asked)),
        opening=opening_of(plain if thread.attempted is None else thread.attempted),
        trace=thread.trace,
    )


class ThreadIndex:
    """Threads by what a call may hold of them. ``by_trace``: openings are looked up within a trace only."""

    def __init__(self, *, by_trace: bool) -> None:
        self._by_trace = by_trace
        self.outputs: dict[bytes, dict[bytes, dict[Thread, None]]] = {}
        self.wholes: dict[_Whole, dict[Thread, None]] = {}
        self.windows: dict[_Window, dict[Thread, None]] = {}
        self.asked: dict[_Asked, dict[Thread, None]] = {}
        self._openings: dict[tuple[int | None, bytes], dict[Thread, None]] = {}
        self.traces: dict[int, int] = {}
        self._places: dict[Thread, Place] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Thread]:
        return iter(self._places)

    def __contains__(self, thread: object) -> bool:
        return thread in self._places

    def newest(self, count: int) -> list[Thread]:
        """The threads asked last, the newest first."""
        return list(islice(reversed(self._places), count))

    def put(self, thread: Thread, place: Place) -> None:
        """Take a thread in, or note that its last call is another now."""
        self.drop(thread)
        self._places[thread] = place
        for output in place.outputs:
            self.outputs.setdefault(output, {}).setdefault(place.last, {})[thread] = None
            self.wholes.setdefault((output, *place.whole), {})[thread] = None
        if place.outputs:
            self.windows.setdefault(place.whole, {})[thread] = None
        for asked in place.asked:
            self.asked.setdefault(asked, {})[thread] = None
        if not self._by_trace or place.trace is not None:
            self._openings.setdefault(self._opening(place), {})[thread] = None
        if place.trace is not None:
            self.traces[place.trace] = self.traces.get(place.trace, 0) + 1

    def drop(self, thread: Thread) -> None:
        """Forget a thread; nothing happens when it is not here."""
        place = self._places.pop(thread, None)
        if place is None:
            return
        for output in place.outputs:
            befores = self.outputs[output]
            _remove(befores, place.last, thread)
            if not befores:
                del self.outputs[output]
            _remove(self.wholes, (output, *place.whole), thread)
        if place.outputs:
            _remove(self.windows, place.whole, thread)
        for asked in place.asked:
            _remove(self.asked, asked, thread)
        if not self._by_trace or place.trace is not None:
            _remove(self._openings, self._opening(place), thread)
        if place.trace is not None:
            self.traces[place.trace] -= 1
            if not self.traces[place.trace]:
                del self.traces[place.trace]

    def near(self, trace: int | None, opening: bytes) -> Iterable[Thread]:
        """Threads whose last call began with this message, the newest first: all of an id, or those in a trace."""
        if self._by_trace and trace is None:
            return ()
        return reversed(self._openings.get((trace if self._by_trace else None, opening), {}))

    def _opening(self, place: Place) -> tuple[int | None, bytes]:
        return place.trace if self._by_trace else None, place.opening


def _remove(threads: dict[_K, dict[Thread, None]], key: _K, thread: Thread) -> None:
    here = threads[key]
    here.pop(thread, None)
    if not here:
        del threads[key]
