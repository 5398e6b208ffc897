"""The reserved argument on Bedrock's Converse API.

Rules
-----
- Tools with a JSON schema that are not strict get it. Our texts are blocks of their own at the end of ``system``.
- Arguments are an object, so what goes back is equal JSON. A stream's pieces of it are text and are peeled as such; what is
  held back comes as one more delta before the block stops. Responses and events are new dicts of botocore's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from otel_footprint.providers.findings_form import (
    Arriving,
    Decorating,
    EmissionMemory,
    Offered,
    Offering,
    as_list,
    remember_block,
    take_from_answer,
    take_from_arguments,
    unchanged,
)


class BedrockFindings:
    """The form of ``bedrock.converse``."""

    def offer(self, kwargs: Mapping[str, Any], offering: Offering) -> Offered | None:
        """Decorate the tools and add our texts to the system blocks."""
        config = kwargs.get("toolConfig")
        tools = as_list(config.get("tools")) if isinstance(config, Mapping) else []
        if not tools or not isinstance(config, Mapping):
            return None
        decorating = Decorating(offering)
        new = dict(kwargs)
        decorated = [_decorated(tool, decorating) for tool in tools]
        new["toolConfig"] = {**config, "tools": decorated}
        if offering.texts and decorating.count:
            new["system"] = [*as_list(kwargs.get("system")), *({"text": text} for text in offering.texts)]
        if offering.tickets:
            new["messages"] = [_ticketed(message, offering.tickets) for message in as_list(kwargs.get("messages"))]
        return decorating.offered(new)

    def has_schema(self, kwargs: Mapping[str, Any]) -> bool:
        """A text format in the output settings."""
        return _get(kwargs.get("outputConfig"), "textFormat") is not None

    def put_back(self, kwargs: Mapping[str, Any], memory: EmissionMemory) -> dict[str, Any]:
        """Give the model its own words back."""
        messages = as_list(kwargs.get("messages"))
        written = [_with_own_words(message, memory) for message in messages]
        if unchanged(messages, written):
            return dict(kwargs)
        return {**kwargs, "messages": written}

    def take_out(self, response: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
        """Of each block: its input, or its text where that is all there is and a JSON object."""
        output = response.get("output") if isinstance(response, Mapping) else None
        message = output.get("message") if isinstance(output, Mapping) else None
        blocks = [block for block in as_list(_get(message, "content")) if isinstance(block, dict)]
        calls = [block["toolUse"] for block in blocks if isinstance(block.get("toolUse"), dict)]
        texts = [block for block in blocks if isinstance(block.get("text"), str)]
        for call in calls:
            call["input"] = take_from_arguments(
                memory, owned, id_=call.get("toolUseId"), tool=str(call.get("name")), written=call.get("input")
            )
        if len(texts) == 1 and not calls:
            texts[0]["text"] = take_from_answer(memory, texts[0]["text"])

    def peeler(self, memory: EmissionMemory, owned: frozenset[str]) -> BedrockPeeler:
        """One for a stream of events."""
        return BedrockPeeler(memory, owned)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _decorated(tool: Any, decorating: Decorating) -> Any:
    spec = _get(tool, "toolSpec")
    schema = _get(_get(spec, "inputSchema"), "json")
    name = _get(spec, "name")
    if not isinstance(schema, Mapping) or not isinstance(name, str):
        return tool
    made = decorating.schema(name, schema, strict=spec.get("strict") is True)
    if made is None:
        return tool
    return {**tool, "toolSpec": {**spec, "inputSchema": {**spec["inputSchema"], "json": made}}}


def _ticketed(message: Any, tickets: Mapping[str, str]) -> Any:
    content = as_list(_get(message, "content"))
    blocks = [_block_ticketed(block, tickets) for block in content]
    return message if unchanged(content, blocks) else {**message, "content": blocks}


def _block_ticketed(block: Any, tickets: Mapping[str, str]) -> Any:
    result = _get(block, "toolResult")
    ticket = tickets.get(str(_get(result, "toolUseId")))
    return block if ticket is None else {**block, "toolResult": {**result, "content": [{"text": ticket}]}}


def _with_own_words(message: Any, memory: EmissionMemory) -> Any:
    if _get(message, "role") != "assistant":
        return message
    blocks = as_list(message.get("content"))
    written = [_block_with_own_words(block, memory, alone=len(blocks) == 1) for block in blocks]
    return message if unchanged(blocks, written) else {**message, "content": written}


def _block_with_own_words(block: Any, memory: EmissionMemory, *, alone: bool) -> Any:
    call, text = _get(block, "toolUse"), _get(block, "text")
    if isinstance(call, Mapping):
        own = memory.call(call.get("toolUseId"), str(call.get("name")), call.get("input"))
        return block if own is None else {**block, "toolUse": {**call, "input": own}}
    if isinstance(text, str) and alone:
        answer = memory.answer(text)
        return block if answer is None else {**block, "text": answer}
    return block


class BedrockPeeler:
    """Peels the events of one stream."""

    def __init__(self, memory: EmissionMemory, owned: frozenset[str]) -> None:
        self._memory = memory
        self._owned = owned
        self._blocks: dict[int, Arriving] = {}

    def feed(self, event: Any) -> Iterable[Any]:
        """The event, changed in place; before the end of a block what was held back of it."""
        if not isinstance(event, Mapping):
            return (event,)
        if isinstance(begun := event.get("contentBlockStart"), Mapping):
            call = _get(begun.get("start"), "toolUse")
            if isinstance(call, Mapping):
                arriving = self._blocks[begun.get("contentBlockIndex", 0)] = Arriving()
                arriving.id, arriving.name = call.get("toolUseId"), str(call.get("name"))
        elif isinstance(delta := event.get("contentBlockDelta"), Mapping):
            self._delta(delta.get("contentBlockIndex", 0), delta.get("delta"))
        elif isinstance(ended := event.get("contentBlockStop"), Mapping):
            return (*self._stop(ended.get("contentBlockIndex", 0)), event)
        return (event,)

    def close(self) -> Iterable[Any]:
        """Nothing is owed: a stream that broke off gives what it gave."""
        return ()

    def result(self, value: Any) -> Any:
        """The SDK has no helpers that give a whole."""
        return value

    def _delta(self, index: int, delta: Any) -> None:
        if not isinstance(delta, dict):
            return
        call = delta.get("toolUse")
        if isinstance(call, dict) and isinstance(call.get("input"), str):
            arriving = self._blocks.get(index)
            if arriving is not None and arriving.name not in self._owned:
                call["input"] = arriving.feed(call["input"])
        elif isinstance(delta.get("text"), str):
            delta["text"] = self._blocks.setdefault(index, Arriving()).feed(delta["text"])

    def _stop(self, index: int) -> Iterable[Any]:
        arriving = self._blocks.pop(index, None)
        if arriving is None:
            return ()
        rest = arriving.close()
        if arriving.removed:
            remember_block(self._memory, arriving)
        if not rest:
            return ()
        delta: dict[str, Any] = {"toolUse": {"input": rest}} if arriving.name else {"text": rest}
        return ({"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}},)
