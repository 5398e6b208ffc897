"""OpenAI chat completions as a surface: ``messages`` read, and written with another window.

Rules
-----
- One message of the list is one item: what stays is passed on as the very object the application gave.
- What ``extra_body`` names replaces the argument on the wire: a list in it is not ours to write.
- The leading system and developer messages are the envelope.
- A failed answer goes back as an assistant message of what the API takes back: text, refusal, spoken output by its id.
  A call of a declared answer tool goes back as text, since a call without a result would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Message
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.providers import openai_chat
from otel_footprint.providers.native import as_object, leading_system
from otel_footprint.providers.native_values import extra_body, names_of, plain, plains, settled, value_of, word_of
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.surface import Draft, Reading


class OpenAIChat:
    """``chat.completions``: create, parse and stream take the same history."""

    name: Final = "openai.chat"

    def __init__(self) -> None:
        self._remembered: Final = Remembered[Message]()

    def settle(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        return settled(kwargs, "messages", "tools", "functions")

    def read(self, kwargs: Mapping[str, Any]) -> Reading | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        messages = kwargs.get("messages")
        if not isinstance(messages, Sequence) or isinstance(messages, (str, bytes)) or "messages" in extra_body(kwargs):
            return None
        natives = openai_chat.read(plains(messages), remembered=self._remembered)
        envelope = leading_system(natives)
        return Reading(
            provider="openai",
            source=messages,
            natives=natives[envelope:],
            system=tuple(native.message for native in natives[:envelope]),
            envelope=envelope,
            tools=_tools(kwargs),
            model=word_of(kwargs, "model"),
        )

    def write(self, kwargs: Mapping[str, Any], reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        return with_history(kwargs, "messages", reading, items)

    def draft(self, kwargs: Mapping[str, Any], response: Any, choice: int = 0) -> Draft | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        body = plain(response)
        choices = body.get("choices") if isinstance(body, Mapping) else None
        for place, one in enumerate(choices if isinstance(choices, Sequence) else ()):
            if (
                isinstance(one, Mapping)
                and one.get("index", place) == choice
                and isinstance(one.get("message"), Mapping)
            ):
                return _draft(one["message"])
        return None

    def merge(self, kwargs: Mapping[str, Any], events: Sequence[Any]) -> Any | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        choices: dict[int, _Choice] = {}
        for event in events:
            chunk = plain(event)
            parts = chunk.get("choices") if isinstance(chunk, Mapping) else None
            for part in parts if isinstance(parts, Sequence) else ():
                if isinstance(part, Mapping):
                    choices.setdefault(part.get("index", 0), _Choice()).add(part)
        if not choices or any(choice.finish is None for choice in choices.values()):
            return None
        return {"choices": [choices[index].whole(index) for index in sorted(choices)]}


class _Choice:
    """One choice of a stream being put together."""

    def __init__(self) -> None:
        self.finish: Any = None
        self._texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._calls: dict[int, dict[str, Any]] = {}

    def add(self, part: Mapping[str, Any]) -> None:
        self.finish = part.get("finish_reason") or self.finish
        delta = part.get("delta")
        if not isinstance(delta, Mapping):
            return
        for key, texts in self._texts.items():
            if isinstance(delta.get(key), str):
                texts.append(delta[key])
        for call in delta.get("tool_calls") or ():
            self._add_call(call)

    def _add_call(self, call: Mapping[str, Any]) -> None:
        kept = self._calls.setdefault(
            call.get("index", len(self._calls)),
            {"id": None, "type": "function", "function": {"name": "", "arguments": ""}},
        )
        kept["id"] = call.get("id") or kept["id"]
        function = call.get("function") or {}
        for key in ("name", "arguments"):
            kept["function"][key] += function.get(key) or ""

    def whole(self, index: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant"}
        for key, texts in self._texts.items():
            if texts:
                message[key] = "".join(texts)
        if self._calls:
            message["tool_calls"] = [self._calls[place] for place in sorted(self._calls)]
        return {"index": index, "finish_reason": self.finish, "message": message}


def with_history(kwargs: Mapping[str, Any], name: str, reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
    """New arguments of an API that takes native items as they come, with this window as the argument ``name``."""
    copy = dict(kwargs)
    if reading.is_whole(items):
        return copy
    history = list(reading.source[: reading.envelope])
    for item in items:
        match item:
            case Kept(index=index):
                history += [reading.source[position] for position in reading.natives[index].positions]
            case Put(message=message, native=native):
                history += native or (written(message),)
    copy[name] = history
    return copy


def written(message: Message) -> dict[str, Any]:
    """A message of ours as the API takes it: a role and one text."""
    return {"role": message.role, "content": message.text}


def _draft(message: Mapping[str, Any]) -> Draft | None:
    texts = [message["content"]] if isinstance(message.get("content"), str) and message["content"] else []
    native: dict[str, Any] = {"role": "assistant"}
    refusal, audio = message.get("refusal"), message.get("audio")
    if isinstance(refusal, str) and refusal:
        native["refusal"] = refusal
    if isinstance(audio, Mapping) and audio.get("id"):
        native["audio"] = {"id": audio["id"]}
    for call in message.get("tool_calls") or ():
        body = call.get("function") or call.get("custom") or {}
        texts.append(str(body.get("arguments") or body.get("input") or ""))
    text = "\n".join(filter(None, texts))
    if text or len(native) == 1:
        native["content"] = text
    if native.get("content") == "" and len(native) == 2:  # it says nothing
        return None
    try:
        read = openai_chat.read_one(as_object(native, 0), 0)
    except UnreadableInputError:
        return None
    return Draft(read, (native,))


def _tools(kwargs: Mapping[str, Any]) -> tuple[str, ...] | None:
    tools = names_of(value_of(kwargs, "tools"), "function", "custom")
    functions = names_of(value_of(kwargs, "functions"))
    return None if tools is None or functions is None else tools + functions
