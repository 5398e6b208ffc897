"""Bedrock's Converse API as a surface: ``messages`` read, and written with another window.

Rules
-----
- The parameters are those of the operation ``Converse`` or ``ConverseStream``; ``system`` is the envelope, outside the list.
- Roles alternate strictly, for every model: what we bring together is joined in a copy. A tool's result and a person's
  words in one message are refused by many models: a sentence of ours parts them.
- Cache points stay where they are: joining never puts one first, where it would be refused.
- A failed answer goes back as the message it came as. A call of a declared answer tool goes back as text, since a call
  without a result would be refused; an empty text block would be, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from otel_footprint.core.messages import Message, canonical_json
from otel_footprint.core.window.items import Item
from otel_footprint.providers import bedrock
from otel_footprint.providers.native_values import word_of
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.rewriting import OPENING, PARTING, joined, opened, rewritten
from otel_footprint.providers.surface import Draft, Reading


class BedrockConverse:
    """``converse`` and ``converse_stream`` of the client for ``bedrock-runtime``."""

    name: Final = "bedrock.converse"

    def __init__(self) -> None:
        self._remembered: Final = Remembered[tuple[Message, ...]]()

    def settle(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`. The SDK takes lists only."""
        return dict(kwargs)

    def read(self, kwargs: Mapping[str, Any]) -> Reading | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. A stored prompt brings messages we cannot see."""
        messages = kwargs.get("messages")
        if not isinstance(messages, (list, tuple)):
            return None
        natives = bedrock.read(messages, kwargs.get("system"), remembered=self._remembered)
        leading = 1 if natives and natives[0].at == bedrock.SYSTEM_POSITION else 0
        return Reading(
            provider="aws.bedrock",
            source=messages,
            natives=natives[leading:],
            system=tuple(native.message for native in natives[:leading]),
            tools=_tools(kwargs.get("toolConfig")),
            model=word_of(kwargs, "modelId"),
        )

    def write(self, kwargs: Mapping[str, Any], reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        copy = dict(kwargs)
        if reading.is_whole(items):
            return copy
        placed = rewritten(reading, items, written=_written, part=_part)
        placed = opened(placed, reading, _role, {"role": "user", "content": [{"text": OPENING}]})
        copy["messages"] = joined(placed, _role, _join)
        return copy

    def draft(self, kwargs: Mapping[str, Any], response: Any, choice: int = 0) -> Draft | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. There is one choice."""
        output = response.get("output") if isinstance(response, Mapping) else None
        message = output.get("message") if isinstance(output, Mapping) else None
        if choice != 0 or not isinstance(message, Mapping):
            return None
        blocks = message.get("content")
        content = [kept for block in blocks if (kept := _sendable(block))] if isinstance(blocks, list) else []
        if not content:
            return None
        native: dict[str, Any] = {"role": "assistant", "content": content}
        return Draft(bedrock.read_one(native, 0)[0], (native,))

    def merge(self, kwargs: Mapping[str, Any], events: Sequence[Any]) -> Any | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        blocks: dict[int, _Block] = {}
        response: dict[str, Any] = {}
        for event in events:
            if not isinstance(event, Mapping):
                return None
            for kind, body in event.items():
                match kind:
                    case "contentBlockStart" | "contentBlockDelta":
                        block = blocks.setdefault(body.get("contentBlockIndex", 0), _Block())
                        block.add(body.get("start") or body.get("delta") or {})
                    case "messageStop":
                        response["stopReason"] = body.get("stopReason")
                    case "metadata":
                        response.update(body)
        if "stopReason" not in response:
            return None
        content = [made for index in sorted(blocks) if (made := blocks[index].whole())]
        return {**response, "output": {"message": {"role": "assistant", "content": content}}}


class _Block:
    """One block of a streamed message being put together."""

    def __init__(self) -> None:
        self._text = ""
        self._call: dict[str, Any] | None = None
        self._input = ""
        self._thought = ""
        self._signature: str | None = None
        self._redacted = b""

    def add(self, delta: Mapping[str, Any]) -> None:
        self._text += delta.get("text") or ""
        call = delta.get("toolUse")
        if isinstance(call, Mapping):
            if "toolUseId" in call:
                self._call = {key: value for key, value in call.items() if key != "input"}
            self._input += call.get("input") or ""
        thought = delta.get("reasoningContent")
        if isinstance(thought, Mapping):
            self._thought += thought.get("text") or ""
            self._signature = thought.get("signature") or self._signature
            self._redacted += thought.get("redactedContent") or b""

    def whole(self) -> dict[str, Any] | None:
        if self._call is not None:
            try:
                arguments = json.loads(self._input) if self._input else {}
            except ValueError:
                arguments = self._input
            return {"toolUse": {**self._call, "input": arguments}}
        if self._redacted:
            return {"reasoningContent": {"redactedContent": self._redacted}}
        if self._thought or self._signature:
            text = {"text": self._thought, **({"signature": self._signature} if self._signature else {})}
            return {"reasoningContent": {"reasoningText": text}}
        return {"text": self._text} if self._text else None


def _role(item: object) -> str:
    return str(item.get("role")) if isinstance(item, Mapping) else ""


def _written(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [{"text": message.text}]}


def _blocks(item: object) -> list[Any]:
    content = item.get("content") if isinstance(item, Mapping) else None
    return list(content) if isinstance(content, (list, tuple)) else []


def _holds_result(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("toolResult") is not None


def _part(item: object, stays: Sequence[bool]) -> object:
    """A copy with the results that stay; what stands beside the results belongs to the last of them."""
    flags = iter(stays)
    content = [block for block in _blocks(item) if (next(flags, False) if _holds_result(block) else stays[-1])]
    return {**item, "content": content} if isinstance(item, Mapping) else item


def _join(before: object, after: object) -> Sequence[object]:
    first, second = _blocks(before), _blocks(after)
    if any(map(_holds_result, first)) and not any(map(_holds_result, second)):
        return before, {"role": "assistant", "content": [{"text": PARTING}]}, after
    return ({**before, "content": first + second} if isinstance(before, Mapping) else before,)


def _sendable(block: object) -> object | None:
    if not isinstance(block, Mapping):
        return None
    call = block.get("toolUse")
    if isinstance(call, Mapping):
        return {"text": canonical_json(call.get("input"))}
    text = block.get("text")
    return None if isinstance(text, str) and not text.strip() else dict(block)


def _tools(config: object) -> tuple[str, ...] | None:
    if config is None:
        return ()
    tools = config.get("tools") if isinstance(config, Mapping) else None
    if not isinstance(tools, (list, tuple)):
        return None
    names: list[str] = []
    for tool in tools:
        if not isinstance(tool, Mapping):
            return None
        definition = tool.get("toolSpec") or tool.get("systemTool")
        name = definition.get("name") if isinstance(definition, Mapping) else None
        if isinstance(name, str):
            names.append(name)
        elif "cachePoint" not in tool:
            return None
    return tuple(names)
