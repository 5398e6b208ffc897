"""The reserved argument in a stream of OpenAI's chat completions: the chunks, and the events of the SDK's helper.

Rules
-----
- A delta of a chunk is changed in place. What is held back comes with the next delta of the same call or text; what is still
  held when the choice ends (its text was cut) comes with the chunk that ends it.
- The helper tells each chunk first and then what it means; what it means is peeled by itself, in copies: a snapshot is the
  helper's own, which it goes on adding to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otel_footprint.core.findings.peeling import peel_text
from otel_footprint.providers.findings_form import (
    Arriving,
    EmissionMemory,
    as_list,
    without,
)


class ChatPeeler:
    """Peels the chunks of one stream."""

    def __init__(self, memory: EmissionMemory, owned: frozenset[str]) -> None:
        self._memory = memory
        self._owned = owned
        self._calls: dict[tuple[int, int], tuple[Arriving, Any]] = {}
        self._answers: dict[int, Arriving] = {}
        self._told: dict[tuple[int, int], Arriving] = {}
        self._choice = 0

    def feed(self, event: Any) -> Iterable[Any]:
        """The chunk, changed in place; of the helper's events a changed copy."""
        match getattr(event, "type", None):
            case "chunk":
                self._chunk(event.chunk)
                return (event.model_copy(update={"snapshot": self.result(event.snapshot)}),)
            case "content.delta":
                arriving = self._told.setdefault((self._choice, -1), Arriving())
                return (event.model_copy(update={"delta": arriving.feed(event.delta), "snapshot": arriving.seen}),)
            case "content.done":
                return self._done(event, -1, "content")
            case "tool_calls.function.arguments.delta" if event.name not in self._owned:
                arriving = self._told.setdefault((self._choice, event.index), Arriving())
                changes = {"arguments_delta": arriving.feed(event.arguments_delta), "arguments": arriving.seen}
                return (event.model_copy(update={**changes, "parsed_arguments": without(event.parsed_arguments)}),)
            case "tool_calls.function.arguments.done" if event.name not in self._owned:
                return self._done(event, event.index, "arguments")
            case _:
                self._chunk(event)
                return (event,)

    def _done(self, event: Any, index: int, field: str) -> Iterable[Any]:
        """The helper says that a text or a call is whole."""
        arriving = self._told.pop((self._choice, index), None)
        if arriving is None:
            return (event,)
        arriving.close()
        changes: dict[str, Any] = {field: arriving.seen} if arriving.removed else {}
        if index >= 0:
            changes["parsed_arguments"] = without(event.parsed_arguments)
        return (event.model_copy(update=changes),)

    def _chunk(self, event: Any) -> None:
        for choice in as_list(getattr(event, "choices", None)):
            delta = getattr(choice, "delta", None)
            if delta is None:
                continue
            number = self._choice = getattr(choice, "index", 0)
            for call in as_list(getattr(delta, "tool_calls", None)):
                self._call(number, call)
            content = getattr(delta, "content", None)
            if isinstance(content, str):
                delta.content = self._answers.setdefault(number, Arriving()).feed(content)
            if getattr(choice, "finish_reason", None) is not None:
                self._end(number, delta)

    def close(self) -> Iterable[Any]:
        """Nothing is owed: a stream that broke off gives what it gave."""
        return ()

    def result(self, value: Any) -> Any:
        """A completion, whole or so far, without it: a copy, since the helper goes on adding to its own."""
        if not as_list(getattr(value, "choices", None)) or not hasattr(value, "model_copy"):
            return value
        copy = value.model_copy(deep=True)
        for choice in copy.choices:
            message = getattr(choice, "message", None)
            calls = as_list(getattr(message, "tool_calls", None))
            for call in calls:
                function = getattr(call, "function", None)
                if function is not None and function.name not in self._owned and isinstance(function.arguments, str):
                    function.arguments = peel_text(function.arguments)[0]
                    if isinstance(getattr(function, "parsed_arguments", None), dict):
                        function.parsed_arguments = without(function.parsed_arguments)
            content = getattr(message, "content", None)
            if message is not None and isinstance(content, str) and not calls and content.lstrip().startswith("{"):
                message.content = peel_text(content)[0]
        return copy

    def _call(self, choice: int, call: Any) -> None:
        place = (choice, getattr(call, "index", 0))
        arriving = self._calls.get(place, (Arriving(), None))[0]
        self._calls[place] = (arriving, call)
        arriving.id = getattr(call, "id", None) or arriving.id
        function = getattr(call, "function", None)
        if function is None:
            return
        arriving.name = getattr(function, "name", None) or arriving.name
        piece = getattr(function, "arguments", None)
        if isinstance(piece, str) and arriving.name not in self._owned:
            function.arguments = arriving.feed(piece)

    def _end(self, choice: int, delta: Any) -> None:
        """The choice is whole: hand out what is still held (of text that was cut), and remember what the model wrote."""
        for place in [place for place in self._calls if place[0] == choice]:
            arriving, call = self._calls.pop(place)
            rest = arriving.close()
            if rest:
                piece = call.model_copy(update={"id": None, "type": None})
                piece.function = call.function.model_copy(update={"name": None, "arguments": rest})
                delta.tool_calls = [*as_list(delta.tool_calls), piece]
            if arriving.removed:
                self._memory.keep_call(arriving.id, arriving.name, arriving.seen, arriving.written)
        answer = self._answers.pop(choice, None)
        if answer is not None:
            rest = answer.close()
            if rest:
                delta.content = (delta.content or "") + rest
            if answer.removed:
                self._memory.keep_answer(answer.seen, answer.written)
