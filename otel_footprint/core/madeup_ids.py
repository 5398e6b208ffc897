"""Which call a result answers where an API gives its calls no ids and somebody made them up from name and place.

Rules
-----
- Gemini's calls mostly have no id. OpenTelemetry's instrumentation makes ``<name>_<place of the part>`` for calls and for
  results alike; where a text stands in front of the calls, the places differ and so do the ids.
- A result whose id no open call has takes that of the oldest open call of the same name. Any other keeps its own.
- A message of the model closes the earlier calls, once any of them was answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_footprint.core.messages import Message


class MadeUpIds:
    """The calls of one history that wait for a result, fed in order."""

    __slots__ = ("_answered", "_open")

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []
        self._answered = False

    def new_turn(self) -> None:
        """A message of the model begins."""
        if self._answered:
            self._open.clear()
            self._answered = False

    def call(self, call_id: str, name: str) -> None:
        """A call waits."""
        self._open.append((name, call_id))

    def result(self, result_id: str) -> str:
        """The id of the call that the result with this id answers."""
        self._answered = True
        name = result_id.rpartition("_")[0]
        found = next((call for call in self._open if call[1] == result_id), None)
        if found is None:
            found = next((call for call in self._open if call[0] == name), None)
        if found is None:
            return result_id
        self._open.remove(found)
        return found[1]


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages, each result with the id of the call it answers; those that have it are the very objects."""
    ids = MadeUpIds()
    made: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            ids.new_turn()
            for call in message.tool_calls:
                if call.id:
                    ids.call(call.id, call.name)
        result = message.result
        if result is not None and result.id and (answered := ids.result(result.id)) != result.id:
            message = replace(message, parts=(replace(result, id=answered), *message.parts[1:]))
        made.append(message)
    return tuple(made)
