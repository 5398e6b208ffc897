"""A window read once for planning: its turns, the current request, who holds what, and the results in it.

Rules
-----
- A drop notice belongs to no turn (one that stands among the results of a turn is inside that turn's bounds).
- The current request is the last message a person said whose text is the run's request, else the last one a person said,
  else none. Texts are compared trimmed, as messages are.
- A call is answered by a later result with its id; a result belongs to the nearest such call before it that has none yet.
  Calls that the provider itself executes are never waited for.
- A result is referred to by the name it was given in the conversation, else by its name among the results of this window.
- One pass over the messages; everything else is worked out when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from otel_footprint.core.call import CallRef
from otel_footprint.core.messages import Message, ToolCall, ToolResult
from otel_footprint.core.turns import ResultNames, Turn
from otel_footprint.core.window.notice import is_notice
from otel_footprint.core.window.record import RefusalReason


class Birth(Protocol):
    """The call that brought a message into the window; messages of one call may share it.

    ``born_at`` is in Unix seconds and ``born`` the call that sent it first, both None where that is not known;
    ``born_call`` is the number of that call in the thread.
    """

    @property
    def born_at(self) -> float | None: ...
    @property
    def born(self) -> CallRef | None: ...
    @property
    def born_call(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Born:
    """A :class:`Birth` as a plain value; without arguments, of a message that nobody saw coming."""

    born_at: float | None = None
    born: CallRef | None = None
    born_call: int = 0


@dataclass(frozen=True, slots=True)
class Guards:
    """What else holds a turn in the window.

    ``request`` is the text the run is to answer, None where the application did not say. ``paused`` and ``pending`` are
    ids of tool calls: the one the run is paused on, and those that wait for a person's consent; an id names the newest
    call with it. ``never_ran`` are the references of results that say that their call never ran: they are no results.
    """

    request: str | None = None
    paused: Collection[str] = ()
    pending: Collection[str] = ()
    never_ran: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class WindowReading:
    """What planning knows of a window.

    ``reasons`` has, for each turn, why it can never leave (the reasons above the pins, by their precedence) or None.
    ``pairs`` are the turns (of a call, of its result) of every call that is answered in a later turn. ``tools`` has, for
    each message, the name of the tool whose result it is, and ``call_ids`` the id of the call it answers as the result says
    it. ``results`` are the indices of the results and ``result_turns`` their turns.
    """

    history: Sequence[Message]
    turns: tuple[Turn, ...]
    request: int | None
    reasons: tuple[RefusalReason | None, ...]
    pairs: tuple[tuple[int, int], ...]
    tools: tuple[str | None, ...]
    call_ids: tuple[str | None, ...]
    results: tuple[int, ...]
    result_turns: tuple[int, ...]
    never_ran: frozenset[str]


def read_window(history: Sequence[Message], guards: Guards) -> WindowReading:
    """Read a window. Takes time in proportion to its messages."""
    firsts: list[int] = []
    lasts: list[int] = []
    tools: list[str | None] = [None] * len(history)
    call_ids: list[str | None] = [None] * len(history)
    results: list[int] = []
    result_turns: list[int] = []
    systems: list[int] = []
    calls = _Calls()
    request = None if guards.request is None else guards.request.strip()
    said_last: tuple[int, int] | None = None
    asked_last: tuple[int, int] | None = None
    turn = -1
    for index, message in enumerate(history):
        role = message.role
        if role == "tool" and message.parts and isinstance(result := message.parts[0], ToolResult):
            results.append(index)
            call_ids[index] = result.id
            if turn >= 0:
                lasts[turn] = index
                tools[index] = calls.answered(result, turn)
                result_turns.append(turn)
                continue
            tools[index] = result.name or None
            result_turns.append(0)
        elif role == "user":
            if is_notice(message):
                continue
            if message.authored is None:
                said_last = (index, turn + 1)
                if request is not None and message.text.strip() == request:
                    asked_last = said_last
        turn += 1
        firsts.append(index)
        lasts.append(index)
        if role == "assistant":
            for part in message.parts:
                if isinstance(part, ToolCall):
                    calls.made(part, turn)
        elif role == "system":
            systems.append(turn)
    said = asked_last or said_last
    return WindowReading(
        history=history,
        turns=tuple(map(_turn, firsts, lasts)),
        request=None if said is None else said[0],
        reasons=_reasons(len(firsts), guards, calls, systems, None if said is None else said[1]),
        pairs=tuple(calls.pairs),
        tools=tuple(tools),
        call_ids=tuple(call_ids),
        results=tuple(results),
        result_turns=tuple(result_turns),
        never_ran=frozenset(guards.never_ran),
    )


_turn: Final = lru_cache(8_192)(Turn)
"""A turn is the same value at each visit: made once, it costs neither its making again nor the collector's attention."""


class _Calls:
    """The calls of a window as it is read: which of them wait for a result, and what tools are called."""

    __slots__ = ("_earlier", "_named", "_waiting", "newest", "pairs")

    def __init__(self) -> None:
        self.newest: dict[str, int] = {}
        self.pairs: list[tuple[int, int]] = []
        self._named: dict[str, str] = {}
        # By id the turn of the newest call that waits; calls with the same id that waited before it are put aside.
        self._waiting: dict[str | None, int] = {}
        self._earlier: dict[str | None, list[int]] = {}

    def made(self, call: ToolCall, turn: int) -> None:
        id_ = call.id or None
        if id_ in self._waiting:
            self._earlier.setdefault(id_, []).append(self._waiting[id_])
        self._waiting[id_] = turn
        if id_ is not None:
            self._named[id_] = call.name
            self.newest[id_] = turn

    def answered(self, result: ToolResult, turn: int) -> str | None:
        """The name of the tool whose result it is."""
        id_ = result.id or None
        caller = self._waiting.pop(id_, None)
        if caller is not None:
            if caller != turn:
                self.pairs.append((caller, turn))
            if self._earlier and (earlier := self._earlier.get(id_)):
                self._waiting[id_] = earlier.pop()
        return result.name or (self._named.get(id_) if id_ is not None else None) or None

    def waiting(self) -> Iterator[int]:
        """The turns of the calls that have no result."""
        yield from self._waiting.values()
        for turns in self._earlier.values():
            yield from turns


def _reasons(
    size: int, guards: Guards, calls: _Calls, systems: Sequence[int], asked: int | None
) -> tuple[RefusalReason | None, ...]:
    """Why each turn can never leave. From the weakest reason to the strongest, so that the first in the order stands."""
    reasons: list[RefusalReason | None] = [None] * size
    for caller in calls.waiting():
        reasons[caller] = "unresolved-tool-call"
    for id_ in guards.pending:
        if id_ in calls.newest:
            reasons[calls.newest[id_]] = "pending-check-in"
    for id_ in guards.paused:
        if id_ in calls.newest:
            reasons[calls.newest[id_]] = "paused-tool"
    for turn in systems:
        reasons[turn] = "system-envelope"
    if asked is not None:
        reasons[asked] = "current-request"
    return tuple(reasons)


class Results:
    """The results of a window by their place among them, from 0. Worked out as far as it is asked for."""

    __slots__ = ("_given", "_reading", "_refs")

    def __init__(self, reading: WindowReading, refs: Sequence[str | None] | None) -> None:
        self._reading = reading
        self._given = refs
        self._refs: list[str] | None = None

    @property
    def refs(self) -> Sequence[str]:
        """The names of the results in the conversation."""
        if self._refs is None:
            places = self._reading.results
            given = [None] * len(places) if self._given is None else [self._given[index] for index in places]
            named = [ref for ref in given if ref]
            if len(named) < len(given):
                named = [ref or own for ref, own in zip(given, self._own_names(), strict=True)]
            self._refs = named
        return self._refs

    def ran(self, place: int) -> bool:
        """Whether it is a result at all: not one that says that its call never ran."""
        return not self._reading.never_ran or self.refs[place] not in self._reading.never_ran

    def by_turn(self, turns: Collection[int] | None = None) -> dict[int, list[int]]:
        """The places of the results of each turn that has any, in order; only of ``turns`` where they are given."""
        found: dict[int, list[int]] = {}
        for place, turn in enumerate(self._reading.result_turns):
            if (turns is None or turn in turns) and self.ran(place):
                found.setdefault(turn, []).append(place)
        return found

    def _own_names(self) -> list[str]:
        names = ResultNames()
        held = [self._reading.history[index].result for index in self._reading.results]
        return [names.result(result)[0] for result in held if result is not None]
