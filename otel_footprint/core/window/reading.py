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

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from otel_footprint.core.call import CallRef
from otel_footprint.core.messages import Message, ToolCall, ToolResult
from otel_footprint.core.turns import ResultNames, Turn
from otel_footprint.core.window.notice import is_notice
from otel_footprint.core.window.record import RefusalReason


class Birth(Protocol):
    """Where one message of the window came from. ``result_ref`` names the tool result it holds, None where it holds none.

    ``born_at`` is in Unix seconds and ``born`` the call that sent it first, both None where that is not known;
    ``born_call`` is the number of that call in the thread.
    """

    @property
    def born_at(self) -> float | None: ...
    @property
    def born(self) -> CallRef | None: ...
    @property
    def born_call(self) -> int: ...
    @property
    def result_ref(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Born:
    """A :class:`Birth` as a plain value; without arguments, of a message that nobody saw coming."""

    born_at: float | None = None
    born: CallRef | None = None
    born_call: int = 0
    result_ref: str | None = None


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
class Held:
    """One tool result: its message, its turn, the name of its tool (None where it cannot be named) and its reference."""

    index: int
    turn: int
    tool: str | None
    ref: str


@dataclass(frozen=True, slots=True)
class WindowReading:
    """What planning knows of a window.

    ``reasons`` has, for each turn, why it can never leave (the reasons above the pins, by their precedence) or None.
    ``pairs`` are the turns (of a call, of its result) of every call that is answered in a later turn. ``tools`` has, for
    each message, the name of the tool whose result it is. ``notices`` are the indices of the drop notices, ``chars`` the
    characters of the window.
    """

    history: Sequence[Message]
    turns: tuple[Turn, ...]
    request: int | None
    reasons: tuple[RefusalReason | None, ...]
    pairs: tuple[tuple[int, int], ...]
    tools: tuple[str | None, ...]
    results: tuple[int, ...]
    result_turns: tuple[int, ...]
    notices: tuple[int, ...]
    chars: int
    never_ran: frozenset[str] = field(default_factory=frozenset)


def read_window(history: Sequence[Message], guards: Guards) -> WindowReading:
    """Read a window. Takes time in proportion to its messages."""
    firsts: list[int] = []
    lasts: list[int] = []
    tools: list[str | None] = []
    notices: list[int] = []
    results: list[int] = []
    result_turns: list[int] = []
    systems: list[int] = []
    calls = _Calls()
    request = None if guards.request is None else guards.request.strip()
    said_last: tuple[int, int] | None = None
    asked_last: tuple[int, int] | None = None
    chars = 0
    turn = -1
    for index, message in enumerate(history):
        chars += message.chars
        tools.append(None)
        if message.role == "user":
            if is_notice(message):
                notices.append(index)
                continue
            if message.authored is None:
                said_last = (index, turn + 1)
                if request is not None and message.text.strip() == request:
                    asked_last = said_last
        elif message.role == "tool" and (result := message.result) is not None:
            if turn >= 0:
                lasts[turn] = index
                tools[index] = calls.answered(result, turn)
                results.append(index)
                result_turns.append(turn)
                continue
            tools[index] = result.name
            results.append(index)
            result_turns.append(0)
        turn += 1
        firsts.append(index)
        lasts.append(index)
        if message.role == "assistant":
            for part in message.parts:
                if isinstance(part, ToolCall):
                    calls.made(part, turn)
        elif message.role == "system":
            systems.append(turn)
    said = asked_last or said_last
    return WindowReading(
        history=history,
        turns=tuple(map(Turn, firsts, lasts)),
        request=None if said is None else said[0],
        reasons=_reasons(len(firsts), guards, calls, systems, None if said is None else said[1]),
        pairs=tuple(calls.pairs),
        tools=tuple(tools),
        results=tuple(results),
        result_turns=tuple(result_turns),
        notices=tuple(notices),
        chars=chars,
        never_ran=frozenset(guards.never_ran),
    )


class _Calls:
    """The calls of a window as it is read: who waits for a result, and what tools are called."""

    __slots__ = ("named", "newest", "pairs", "waiting")

    def __init__(self) -> None:
        self.named: dict[str, str] = {}
        self.newest: dict[str, int] = {}
        self.waiting: dict[str | None, list[int]] = {}
        self.pairs: list[tuple[int, int]] = []

    def made(self, call: ToolCall, turn: int) -> None:
        id_ = call.id or None
        self.waiting.setdefault(id_, []).append(turn)
        if id_ is not None:
            self.named[id_] = call.name
            self.newest[id_] = turn

    def answered(self, result: ToolResult, turn: int) -> str | None:
        """The name of the tool whose result it is."""
        id_ = result.id or None
        callers = self.waiting.get(id_)
        if callers:
            caller = callers.pop()
            if caller != turn:
                self.pairs.append((caller, turn))
        return result.name or (self.named.get(id_) if id_ is not None else None)


def _reasons(
    size: int, guards: Guards, calls: _Calls, systems: Sequence[int], asked: int | None
) -> tuple[RefusalReason | None, ...]:
    """Why each turn can never leave. From the weakest reason to the strongest, so that the first in the order stands."""
    reasons: list[RefusalReason | None] = [None] * size
    for callers in calls.waiting.values():
        for caller in callers:
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


def held_results(reading: WindowReading, births: Sequence[Birth]) -> tuple[Held, ...]:
    """The results of the window, in order, without those that say that their call never ran."""
    names = ResultNames()
    held: list[Held] = []
    for index, turn in zip(reading.results, reading.result_turns, strict=True):
        result = reading.history[index].result
        assert result is not None
        own, _ = names.result(result)
        ref = births[index].result_ref or own
        if ref not in reading.never_ran:
            held.append(Held(index, turn, reading.tools[index], ref))
    return tuple(held)
