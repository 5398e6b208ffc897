"""Messages of Bedrock's Converse API read as core messages.

Rules
-----
- A user message that holds tool results becomes one tool message per result, all at its position; what else it holds stays
  with the last of them.
- Neighbouring messages of the model are one turn where an earlier one holds a call.
- Reasoning is reasoning, also where it is redacted. Cache points are nothing that the model reads. Guarded text is text.
- Images, documents, video and audio are opaque, also within a result.
- The system blocks stand outside the list, so their position is -1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import (
    Json,
    Message,
    Opaque,
    Part,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.providers.native import Native, as_object, kind_of, one, text_or_none
from otel_footprint.providers.openai_chat import role_of
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.turns import join_split_turns

SYSTEM_POSITION: Final = -1

BLOCKS: Final = frozenset(
    {"toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent", "citationsContent"}
)
"""Keys of blocks that only Converse messages hold: a list with one of them is in this format."""

_MEDIA: Final[Mapping[str, str]] = {"image": "image", "document": "document", "video": "video", "audio": "audio"}
_SERVER_SIDE: Final = "server_tool_use"


def read(
    messages: Iterable[object], system: object = None, *, remembered: Remembered[tuple[Message, ...]] | None = None
) -> tuple[Native, ...]:
    """Read a history, with the system blocks in front.

    ``remembered`` spares reading again what was read before. Raises :class:`UnreadableInputError` naming the message that
    cannot be one (counted from 0).
    """
    natives: list[Native] = []
    instruction = _system(system)
    if instruction is not None:
        natives.append(one(instruction, SYSTEM_POSITION))
    history: list[Native] = []
    for at, raw in enumerate(messages):
        make = partial(_read, at)
        history += [one(message, at) for message in (make(raw) if remembered is None else remembered.find(raw, make))]
    return (*natives, *join_split_turns(history))


def _read(position: int, raw: object) -> tuple[Message, ...]:
    return tuple(read_one(as_object(raw, position), position))


def _system(system: object) -> Message | None:
    if not system:
        return None
    if isinstance(system, str):
        return Message("system", (Text(system),))
    if not isinstance(system, (list, tuple)):
        raise UnreadableInputError(f"the system instruction is {kind_of(system)}")
    parts = tuple(part for block in system for part in _block(block))
    return Message("system", parts) if parts else None


def read_one(raw: Mapping[str, Json], position: int) -> list[Message]:
    """Read one message that stands at ``position``: several where it holds several results."""
    role = role_of(raw, position)
    content = raw.get("content")
    if content is None:
        return [Message(role, ())]
    if isinstance(content, str):
        return [Message(role, (Text(content),) if content else ())]
    if not isinstance(content, (list, tuple)):
        raise UnreadableInputError(f"message {position} has {kind_of(content)} as its content")
    results: list[list[Part]] = []
    rest: list[Part] = []
    for block in content:
        result = block.get("toolResult") if isinstance(block, Mapping) else None
        if isinstance(result, Mapping) and role != "assistant":
            results.append(_result(result))
        else:
            rest += _block(block)
    if not results:
        return [Message(role, tuple(rest))]
    results[-1] += rest
    return [Message("tool", tuple(parts)) for parts in results]


def _result(result: Mapping[str, Json]) -> list[Part]:
    content, opaque = _readable(result.get("content"))
    identity = text_or_none(result.get("toolUseId"))
    return [ToolResult(identity, None, content, is_error=result.get("status") == "error"), *opaque]


def _readable(content: Json) -> tuple[Json, list[Part]]:
    """A result's content with what cannot be read taken out and named."""
    if not isinstance(content, (list, tuple)):
        return content, []
    readable: list[Json] = []
    opaque: list[Part] = []
    for block in content:
        kind = _medium(block)
        if kind is not None:
            opaque.append(Opaque(kind))
        elif isinstance(block, Mapping) and isinstance(block.get("searchResult"), Mapping):
            readable += [{"text": part.text} for part in _block(block) if isinstance(part, Text)]
        else:
            readable.append(block)
    return readable, opaque


def _medium(block: Json) -> str | None:
    if isinstance(block, Mapping):
        for key, kind in _MEDIA.items():
            if block.get(key) is not None:
                return kind
    return None


def _block(block: Json) -> list[Part]:
    if isinstance(block, str):
        return [Text(block)] if block else []
    if not isinstance(block, Mapping):
        return [Opaque("unknown")]
    text = block.get("text")
    if isinstance(text, str):
        return [Text(text)] if text else []
    kind = _medium(block)
    if kind is not None:
        return [Opaque(kind)]
    key = next((key for key in block if block[key] is not None), None)
    inner = block[key] if key is not None else None
    if not isinstance(inner, Mapping):
        return [] if key is None else [Opaque("unknown")]
    match key:
        case "toolUse":
            identity, name = text_or_none(inner.get("toolUseId")), text_or_none(inner.get("name")) or ""
            if inner.get("type") == _SERVER_SIDE:
                return [ServerToolCall(identity, name, inner.get("input"))]
            return [ToolCall(identity, name, inner.get("input"))]
        case "toolResult":
            content, opaque = _readable(inner.get("content"))
            return [ServerToolResult(text_or_none(inner.get("toolUseId")), None, content), *opaque]
        case "reasoningContent":
            thought = inner.get("reasoningText")
            said = thought.get("text") if isinstance(thought, Mapping) else None
            return [Reasoning(said if isinstance(said, str) else "")]
        case "cachePoint":
            return []
        case "guardContent":
            guarded = inner.get("text")
            said = guarded.get("text") if isinstance(guarded, Mapping) else None
            if isinstance(said, str):
                return [Text(said)] if said else []
            return [Opaque("image" if inner.get("image") is not None else "unknown")]
        case "citationsContent" | "searchResult":
            named = [Text(extra) for name in ("title", "source") if (extra := text_or_none(inner.get(name)))]
            cited = inner.get("content")
            blocks = cited if isinstance(cited, (list, tuple)) else ()
            return [*named, *(part for item in blocks for part in _block(item))]
        case _:
            return [Opaque("unknown")]
