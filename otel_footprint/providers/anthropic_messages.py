"""Anthropic messages read as core messages.

Rules
-----
- A user message that holds tool results becomes one tool message per result, all at its position; what else it holds
  (text, images) stays with the last of them, so it is never taken for something a person said on its own.
- ``thinking`` and ``redacted_thinking`` are reasoning. ``compaction`` is the provider's summary.
- Server tools keep their call and their result. What the provider encrypted is marked opaque beside what can be read
  (titles, addresses): evidence we can see counts, and a value we could not look up accuses nobody.
- Documents sent as text are text; as base64, by address or by file id they are opaque.
- The system instruction stands outside the list, so its position is -1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import (
    Compaction,
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
from otel_footprint.providers import openai_chat
from otel_footprint.providers.native import Native, as_object, decode_arguments, kind_of, one, opaque_kind, text_or_none
from otel_footprint.providers.openai_chat import role_of
from otel_footprint.providers.remembered import Remembered

SYSTEM_POSITION: Final = -1

BLOCKS: Final = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "compaction"}
)
"""Block types that only Anthropic's messages hold: a list with one of them is in this format."""


def read(
    messages: Iterable[object],
    system: object = None,
    *,
    plain: Callable[[Any], object] | None = None,
    remembered: Remembered[tuple[Message, ...]] | None = None,
) -> tuple[Native, ...]:
    """Read a history, with the system instruction (a string or text blocks) in front.

    ``plain`` gives a message as mappings where it may be another object; ``remembered`` spares reading again what was read
    before. Raises :class:`UnreadableInputError` naming the message that cannot be one (counted from 0).
    """
    natives: list[Native] = []
    instruction = _system(system)
    if instruction is not None:
        natives.append(one(instruction, SYSTEM_POSITION))
    for at, raw in enumerate(messages):
        make = partial(_read, at, plain)
        read = make(raw) if remembered is None else remembered.find(raw, make, plain=plain)
        natives += [one(message, at) for message in read]
    return tuple(natives)


def _read(position: int, plain: Callable[[Any], object] | None, raw: object) -> tuple[Message, ...]:
    return tuple(read_one(as_object(raw if plain is None else plain(raw), position), position))


def _system(system: object) -> Message | None:
    if system is None or system == "" or system == []:
        return None
    if isinstance(system, str):
        return Message("system", (Text(system),))
    if isinstance(system, list):
        return Message("system", tuple(part for block in system for part in _block(block)))
    raise UnreadableInputError(f"the system instruction is {kind_of(system)}")


def read_one(raw: Mapping[str, Json], position: int) -> list[Message]:
    """Read one message that stands at ``position``: several where it holds several results."""
    role = role_of(raw, position)
    if role == "tool" or raw.get("tool_calls"):  # some frameworks mix the two forms in one list
        return [openai_chat.read_one(raw, position)]
    content = raw.get("content")
    if content is None:
        return [Message(role, ())]
    if isinstance(content, str):
        return [Message(role, (Text(content),) if content else ())]
    if not isinstance(content, list):
        raise UnreadableInputError(f"message {position} has {kind_of(content)} as its content")
    results: list[list[Part]] = []
    rest: list[Part] = []
    for block in content:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            results.append(_tool_result(block))
        else:
            rest += _block(block)
    if not results:
        return [Message(role, tuple(rest))]
    results[-1] += rest
    return [Message("tool", tuple(parts)) for parts in results]


def _tool_result(block: dict[str, Json]) -> list[Part]:
    content, opaque = _readable(block.get("content"))
    result = ToolResult(text_or_none(block.get("tool_use_id")), None, content, is_error=block.get("is_error") is True)
    return [result, *opaque]


def _readable(content: Json) -> tuple[Json, list[Part]]:
    """A result's content with what cannot be read taken out and named."""
    if not isinstance(content, list):
        return content, []
    texts: list[Json] = []
    opaque: list[Part] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("document", "search_result", "tool_reference"):
            for part in _block(block):
                if isinstance(part, Text):
                    texts.append({"type": "text", "text": part.text})
                else:
                    opaque.append(part)
            continue
        unreadable = opaque_kind(block)
        if unreadable is None:
            texts.append(block)
        else:
            opaque.append(Opaque(unreadable))
    return texts, opaque


def _block(block: Json) -> list[Part]:
    if isinstance(block, str):
        return [Text(block)] if block else []
    if not isinstance(block, dict):
        return [Opaque("unknown")]
    kind = block.get("type", "text")
    if not isinstance(kind, str):
        return [Opaque("unknown")]
    unreadable = opaque_kind(block)
    if unreadable is not None:
        return [Opaque(unreadable)]
    match kind:
        case "text":
            text = block.get("text")
            return [Text(text)] if isinstance(text, str) and text else []
        case "thinking":
            thinking = block.get("thinking")
            return [Reasoning(thinking if isinstance(thinking, str) else "")]
        case "redacted_thinking":
            return [Reasoning("")]
        case "compaction":
            summary = block.get("content")
            return [Compaction(summary if isinstance(summary, str) and summary else None)]
        case "tool_use":
            name = text_or_none(block.get("name")) or ""
            return [ToolCall(text_or_none(block.get("id")), name, decode_arguments(block.get("input")))]
        case "server_tool_use" | "mcp_tool_use":
            name = text_or_none(block.get("name")) or ""
            return [ServerToolCall(text_or_none(block.get("id")), name, decode_arguments(block.get("input")))]
        case "document":
            return _document(block)
        case "search_result":
            return _search_result(block)
        case "tool_reference":
            found = text_or_none(block.get("tool_name"))
            return [Text(found)] if found else []
        case _ if kind.endswith("_tool_result"):
            return _server_result(block, kind)
        case _:
            return [Opaque("unknown")]


def _document(block: dict[str, Json]) -> list[Part]:
    parts: list[Part] = [Text(extra) for key in ("title", "context") if (extra := text_or_none(block.get(key)))]
    source = block.get("source")
    if not isinstance(source, dict):
        return [*parts, Opaque("document")]
    data = source.get("data")
    if source.get("type") == "text" and isinstance(data, str):
        return [*parts, Text(data)]
    content = source.get("content")
    if source.get("type") == "content":
        blocks = content if isinstance(content, list) else [content]
        return [*parts, *(part for item in blocks for part in _block(item))]
    return [*parts, Opaque("document")]


def _search_result(block: dict[str, Json]) -> list[Part]:
    parts: list[Part] = [Text(extra) for key in ("title", "source") if (extra := text_or_none(block.get(key)))]
    content = block.get("content")
    return [*parts, *(part for item in (content if isinstance(content, list) else ()) for part in _block(item))]


_ENCRYPTED: Final = frozenset({"encrypted_content", "encrypted_index", "encrypted_stdout"})


def _server_result(block: dict[str, Json], kind: str) -> list[Part]:
    """Result of a server tool: everything readable, and a mark where something was not."""
    name = kind.removesuffix("_tool_result")
    found: list[Part] = []
    content = _open(block.get("content"), found, depth=0)
    return [ServerToolResult(text_or_none(block.get("tool_use_id")), name, content), *found[:1]]


def _open(value: Json, found: list[Part], depth: int) -> Json:
    if depth > 20:
        found.append(Opaque("unknown"))
        return None
    if isinstance(value, list):
        return [_open(item, found, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in ("image", "file") or (value.get("type") == "base64" and "data" in value):
        found.append(Opaque("document"))
        return None
    kept: dict[str, Json] = {}
    for key, item in value.items():
        if key in _ENCRYPTED:
            if item:
                found.append(Opaque("encrypted"))
        else:
            kept[key] = _open(item, found, depth + 1)
    return kept
