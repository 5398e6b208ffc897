"""The reserved argument on Anthropic's messages.

Rules
-----
- Tools with a schema of their own that are not strict get it; the provider's server tools have none. Our texts are blocks of
  their own at the end of the system instruction; one given as a string becomes a list of blocks for that.
- Arguments are an object, so what goes back is equal JSON. A stream's pieces of it are text and are peeled as such; what is
  held back comes as one more delta before the block ends.
- The helper's own message is what it goes on adding to: events and results that hold it hold a copy without the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from otel_footprint.core.findings.peeling import peel_text
from otel_footprint.providers.findings_form import (
    Arriving,
    Decorating,
    EmissionMemory,
    Offered,
    Offering,
    as_list,
    as_new_dict,
    field_of,
    remember_block,
    take_from_answer,
    take_from_arguments,
    unchanged,
    without,
)
from otel_footprint.providers.native_values import given


class AnthropicFindings:
    """The form of ``anthropic.messages``."""

    def offer(self, kwargs: Mapping[str, Any], offering: Offering) -> Offered | None:
        """Decorate the tools and add our texts to the system instruction."""
        tools = as_list(kwargs.get("tools")) if given(kwargs.get("tools")) else []
        if not tools:
            return None
        decorating = Decorating(offering)
        new = dict(kwargs)
        new["tools"] = [_decorated(tool, decorating) for tool in tools]
        system = kwargs.get("system")
        if isinstance(system, str):
            theirs: list[Any] = [{"type": "text", "text": system}] if system else []
        else:
            theirs = as_list(system) if given(system) else []
        if offering.texts and decorating.count:
            new["system"] = [*theirs, *({"type": "text", "text": text} for text in offering.texts)]
        if offering.tickets:
            new["messages"] = [_ticketed(message, offering.tickets) for message in as_list(kwargs.get("messages"))]
        return decorating.offered(new)

    def has_schema(self, kwargs: Mapping[str, Any]) -> bool:
        """A class, or a schema."""
        return given(kwargs.get("output_format")) or field_of(kwargs.get("output_config"), "format") is not None

    def put_back(self, kwargs: Mapping[str, Any], memory: EmissionMemory) -> dict[str, Any]:
        """Give the model its own words back."""
        messages = as_list(kwargs.get("messages"))
        written = [_with_own_words(message, memory) for message in messages]
        if unchanged(messages, written):
            return dict(kwargs)
        return {**kwargs, "messages": written}

    def take_out(self, response: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
        """Of each block: its input, or its text where that is all there is and a JSON object."""
        blocks = as_list(getattr(response, "content", None))
        texts = [block for block in blocks if getattr(block, "type", None) == "text"]
        calls = [block for block in blocks if getattr(block, "type", None) == "tool_use"]
        for block in calls:
            seen = take_from_arguments(memory, owned, id_=block.id, tool=block.name, written=block.input)
            if seen is not block.input:
                block.input = seen
        if len(texts) == 1 and not calls and isinstance(texts[0].text, str):
            seen_text = take_from_answer(memory, texts[0].text)
            if seen_text is not texts[0].text:
                texts[0].text = seen_text

    def peeler(self, memory: EmissionMemory, owned: frozenset[str]) -> AnthropicPeeler:
        """One for a stream of raw events, or of the helper's."""
        return AnthropicPeeler(memory, owned)


def _decorated(tool: Any, decorating: Decorating) -> Any:
    if not isinstance(tool, Mapping) or tool.get("type") not in (None, "custom"):
        return tool
    name, schema = tool.get("name"), tool.get("input_schema")
    if not isinstance(name, str) or not isinstance(schema, Mapping):
        return tool
    made = decorating.schema(name, schema, strict=tool.get("strict") is True)
    return tool if made is None else {**tool, "input_schema": made}


def _ticketed(message: Any, tickets: Mapping[str, str]) -> Any:
    content = field_of(message, "content")
    if not isinstance(content, (list, tuple)):
        return message
    blocks = [
        {**as_new_dict(block), "content": tickets[id_]}
        if field_of(block, "type") == "tool_result" and (id_ := field_of(block, "tool_use_id")) in tickets
        else block
        for block in content
    ]
    if unchanged(content, blocks):
        return message
    return {**as_new_dict(message), "content": blocks}


def _with_own_words(message: Any, memory: EmissionMemory) -> Any:
    if field_of(message, "role") != "assistant":
        return message
    content = field_of(message, "content")
    if isinstance(content, str):
        answer = memory.answer(content)
        return message if answer is None else {**as_new_dict(message), "content": answer}
    blocks = as_list(content)
    written = [_block_with_own_words(block, memory, alone=len(blocks) == 1) for block in blocks]
    if unchanged(blocks, written):
        return message
    return {**as_new_dict(message), "content": written}


def _block_with_own_words(block: Any, memory: EmissionMemory, *, alone: bool) -> Any:
    kind = field_of(block, "type")
    if kind == "tool_use":
        own = memory.call(field_of(block, "id"), str(field_of(block, "name")), field_of(block, "input"))
        return block if own is None else {**as_new_dict(block), "input": own}
    if kind == "text" and alone:
        answer = memory.answer(str(field_of(block, "text")))
        return block if answer is None else {**as_new_dict(block), "text": answer}
    return block


class AnthropicPeeler:
    """Peels the events of one stream."""

    def __init__(self, memory: EmissionMemory, owned: frozenset[str]) -> None:
        self._memory = memory
        self._owned = owned
        self._blocks: dict[int, Arriving] = {}
        self._last: dict[int, Any] = {}
        self._piece = ""
        self._arriving: Arriving | None = None

    def feed(self, event: Any) -> Iterable[Any]:
        """The event, or a changed copy of it; before the end of a block what was held back of it."""
        match getattr(event, "type", None):
            case "content_block_start":
                self._start(event)
                return (event,)
            case "content_block_delta":
                return (self._delta(event),)
            case "content_block_stop":
                return self._stop(event)
            case "input_json" if self._arriving is not None:
                return (event.model_copy(update={"partial_json": self._piece, "snapshot": without(event.snapshot)}),)
            case "text" if self._arriving is not None:
                return (event.model_copy(update={"text": self._piece, "snapshot": self._arriving.seen}),)
            case "message_stop" if hasattr(event, "message"):
                return (event.model_copy(update={"message": self.result(event.message)}),)
            case _:
                return (event,)

    def close(self) -> Iterable[Any]:
        """Nothing is owed: a stream that broke off gives what it gave."""
        return ()

    def result(self, value: Any) -> Any:
        """A message, whole or so far, without it: a copy, since the helper goes on adding to its own."""
        if not isinstance(getattr(value, "content", None), list) or not hasattr(value, "model_copy"):
            return value
        copy = value.model_copy(deep=True)
        calls = any(getattr(block, "type", None) == "tool_use" for block in copy.content)
        for block in copy.content:
            _peel_block(block, self._owned, text=not calls)
        return copy

    def _start(self, event: Any) -> None:
        block = event.content_block
        kind = getattr(block, "type", None)
        if kind == "text" or (kind == "tool_use" and block.name not in self._owned):
            arriving = self._blocks[event.index] = Arriving()
            arriving.id, arriving.name = getattr(block, "id", None), getattr(block, "name", "")

    def _delta(self, event: Any) -> Any:
        arriving = self._arriving = self._blocks.get(event.index)
        field = {"input_json_delta": "partial_json", "text_delta": "text"}.get(event.delta.type)
        if arriving is None or field is None:
            return event
        self._piece = arriving.feed(getattr(event.delta, field))
        self._last[event.index] = event
        return event.model_copy(update={"delta": event.delta.model_copy(update={field: self._piece})})

    def _stop(self, event: Any) -> Iterable[Any]:
        arriving = self._blocks.pop(event.index, None)
        last = self._last.pop(event.index, None)
        if arriving is None:
            return (event,)
        rest = arriving.close()
        events: list[Any] = []
        if rest and last is not None:
            field = "partial_json" if last.delta.type == "input_json_delta" else "text"
            events.append(last.model_copy(update={"delta": last.delta.model_copy(update={field: rest})}))
        if arriving.removed:
            remember_block(self._memory, arriving)
            if hasattr(event, "content_block"):
                block = event.content_block.model_copy(deep=True)
                _peel_block(block, self._owned, text=True)
                event = event.model_copy(update={"content_block": block})
        return (*events, event)


def _peel_block(block: Any, owned: frozenset[str], *, text: bool) -> None:
    kind = getattr(block, "type", None)
    if kind == "tool_use" and block.name not in owned:
        block.input = without(block.input)
    elif kind == "text" and text and isinstance(block.text, str) and block.text.lstrip().startswith("{"):
        block.text = peel_text(block.text)[0]
