"""Turns, the removal units of a window; what counts as one; and the names of tool results.

Rules
-----
- A turn starts at any message that is not a tool result; tool results join the turn in progress. A tool result that opens
  the window opens a turn of its own. So a call and its results leave together or not at all.
- A tool result is named by its own name, else by the call with the same id that is nearest before it, else not at all.
- In a conversation a result is referred to by its id; the n-th result with a repeated id is ``<id>#<n>`` from n = 2.
  Results without an id are ``result:<n>``, counted by themselves. A call is referred to by the name its result will have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_footprint.core.messages import Message, ServerToolResult, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """One removal unit: the messages from ``first`` to ``last``, both included, counted from 0 in the window."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def segment(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Cut a window into turns; every message is in exactly one of them."""
    starts = [index for index, message in enumerate(messages) if index == 0 or message.result is None]
    ends = [start - 1 for start in starts[1:]]
    if starts:
        ends.append(len(messages) - 1)
    return tuple(Turn(first, last) for first, last in zip(starts, ends, strict=True))


def calls_in_turn(messages: Sequence[Message]) -> int:
    """How many calls of the model were made since a person spoke last: the assistant messages that asked for tools."""
    calls = 0
    for message in reversed(messages):
        role = message.role
        if role == "assistant":
            for part in message.parts:
                if isinstance(part, ToolCall):
                    calls += 1
                    break
        elif role == "user" and message.said_by_person:
            break
    return calls


def tools_of_results(messages: Sequence[Message]) -> tuple[str | None, ...]:
    """For each message, the name of the tool whose result it is; None for what is no result or cannot be named."""
    called: dict[str, str] = {}
    names: list[str | None] = []
    for message in messages:
        result = message.result
        if result is not None:
            names.append(result.name or (called.get(result.id) if result.id else None))
            continue
        names.append(None)
        for call in message.tool_calls:
            if call.id:
                called[call.id] = call.name
    return tuple(names)


@dataclass(frozen=True, slots=True)
class SavedNames:
    """Results so far and calls that wait for one, by their ids; tools by the ids of their calls."""

    results: tuple[tuple[str | None, int], ...] = ()
    waiting: tuple[tuple[str | None, int], ...] = ()
    tools: tuple[tuple[str, str], ...] = ()


class ResultNames:
    """Gives every call and result of one history its reference, in the order they appear.

    Holds one entry for each distinct id, so its size follows the number of results.
    """

    __slots__ = ("_results", "_tools", "_waiting")

    def __init__(self) -> None:
        self._results: dict[str | None, int] = {}
        self._waiting: dict[str | None, int] = {}
        self._tools: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._results) + len(self._tools)

    def knows(self, call_id: str | None) -> bool:
        """Whether a call with this id was seen."""
        return call_id in self._tools

    def new_message(self) -> None:
        """An assistant message with calls begins: calls before it that nobody answered are no longer waited for."""
        self._waiting.clear()

    def call(self, call_id: str | None, tool: str) -> str:
        """The reference of the result that this call will get."""
        call_id = call_id or None
        if call_id is not None:
            self._tools[call_id] = tool
        waiting = self._waiting[call_id] = self._waiting.get(call_id, 0) + 1
        return result_reference(call_id, self._results.get(call_id, 0) + waiting)

    def result(self, result: ToolResult | ServerToolResult) -> tuple[str, str | None]:
        """The reference of this result and the name of its tool."""
        call_id = result.id or None
        count = self._results[call_id] = self._results.get(call_id, 0) + 1
        if self._waiting.get(call_id):
            self._waiting[call_id] -= 1
        tool = result.name or (self._tools.get(call_id) if call_id is not None else None)
        return result_reference(call_id, count), tool

    def saved(self) -> SavedNames:
        """What it knows, as values."""
        return SavedNames(tuple(self._results.items()), tuple(self._waiting.items()), tuple(self._tools.items()))

    @classmethod
    def restored(cls, saved: SavedNames) -> ResultNames:
        """One that knows this."""
        names = cls()
        names._results, names._waiting, names._tools = dict(saved.results), dict(saved.waiting), dict(saved.tools)
        return names

    def fork(self) -> ResultNames:
        """A copy that goes its own way."""
        copy = ResultNames()
        copy._results = dict(self._results)
        copy._waiting = dict(self._waiting)
        copy._tools = dict(self._tools)
        return copy


def result_reference(call_id: str | None, count: int) -> str:
    """The reference of the ``count``-th result with this id."""
    if call_id is None:
        return f"result:{count}"
    return call_id if count == 1 else f"{call_id}#{count}"
