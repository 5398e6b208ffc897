"""OpenAI Responses items read as core messages.

Rules
-----
- The model's items that follow one another (reasoning, calls, hosted tools, text) are one assistant message. It is named
  by its first item that holds text, else by its first item.
- Every output item of a tool the application runs is a tool message of its own.
- Hosted tools (web search, file search, code interpreter, remote MCP) keep a call and a result; the result is None where
  the item does not carry it, so a value that may stand there accuses nobody.
- A compaction item is opaque. An item reference stands for history that is not in the list: opaque too.
- An item of a type we do not know is opaque on the model's side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from otel_footprint.core.messages import (
    Compaction,
    Json,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.providers.native import Native, as_object, decode_arguments, one, split_content, text_or_none
from otel_footprint.providers.openai_chat import content_parts, role_of
from otel_footprint.providers.remembered import Remembered

_CALLS: Final = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
    }
)
_OUTPUTS: Final = frozenset({f"{call}_output" for call in _CALLS})
_HOSTED: Final = frozenset({"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call"})
_ECHOES: Final = frozenset(
    {
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "additional_tools",
        "tool_search_call",
        "tool_search_output",
    }
)
"""Items about tools and consent: neither an answer nor evidence."""

ITEMS: Final = (
    _CALLS | _OUTPUTS | _HOSTED | _ECHOES | {"reasoning", "compaction", "item_reference", "image_generation_call"}
)
"""Item types that only the Responses API has: a list with one of them is in this format."""


def read(
    items: Iterable[object], instructions: object = None, *, remembered: Remembered[Message] | None = None
) -> tuple[Native, ...]:
    """Read input and output items, in order, with the instructions (position -1) in front.

    ``remembered`` spares reading again what was read before. Raises :class:`UnreadableInputError` naming the item that
    cannot be one (counted from 0).
    """
    natives: list[Native] = []
    if isinstance(instructions, str) and instructions:
        natives.append(one(Message("system", (Text(instructions),)), -1))
    find: _Find = _read_anew if remembered is None else remembered.find
    turn = _Turn(find)
    for at, raw in enumerate(items):
        item = as_object(raw, at)
        kind = item.get("type") or "message"
        if kind in _OUTPUTS:
            natives += turn.close()
            natives.append(one(find(item, _result), at))
        elif kind == "message":
            role = role_of(item, at)
            if role == "assistant":
                turn.add(at, item, kind)
            else:
                natives += turn.close()
                natives.append(one(find(item, partial(_said, role, at)), at))
        else:
            turn.add(at, item, kind if isinstance(kind, str) else "unknown")
    natives += turn.close()
    return tuple(natives)


_Item: TypeAlias = tuple[Mapping[str, Json], str, int]
"""An item, its type, its position."""

_Find: TypeAlias = Callable[[Any, Callable[[Any], Message]], Message]


def _read_anew(native: Any, make: Callable[[Any], Message]) -> Message:
    return make(native)


class _Turn:
    """The assistant turn being joined."""

    def __init__(self, find: _Find) -> None:
        self._find = find
        self._items: list[_Item] = []
        self._text_at: int | None = None

    def add(self, position: int, item: Mapping[str, Json], kind: str) -> None:
        self._items.append((item, kind, position))
        if kind == "message":  # read here too: what cannot be read is refused where it stands
            parts = content_parts(item.get("content"), position)
            if self._text_at is None and any(isinstance(part, Text) for part in parts):
                self._text_at = position

    def close(self) -> list[Native]:
        if not self._items:
            return []
        items, text_at = self._items, self._text_at
        self._items, self._text_at = [], None
        message = self._find([item for item, _, _ in items], partial(_joined, items))
        positions = tuple(position for _, _, position in items)
        return [Native(message, positions, positions[0] if text_at is None else text_at)]


def _joined(places: Iterable[_Item], items: Iterable[Mapping[str, Json]]) -> Message:
    parts: list[Part] = []
    for (_, kind, position), item in zip(places, items, strict=True):
        parts += content_parts(item.get("content"), position) if kind == "message" else _model_item(item, kind)
    return Message("assistant", tuple(parts))


def _said(role: Role, position: int, item: Mapping[str, Json]) -> Message:
    return Message(role, tuple(content_parts(item.get("content"), position)))


def _result(item: Mapping[str, Json]) -> Message:
    return Message("tool", _output(item))


def _output(item: Mapping[str, Json]) -> tuple[Part, ...]:
    content = item.get("output")
    opaque: list[Part] = []
    if isinstance(content, dict):  # a screenshot
        content, opaque = split_content([content])
    elif isinstance(content, list):
        content, opaque = split_content(content)
    return (ToolResult(text_or_none(item.get("call_id")), text_or_none(item.get("name")), content), *opaque)


def _model_item(item: Mapping[str, Json], kind: str) -> list[Part]:
    identity = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
    if kind == "reasoning":
        return [Reasoning(_reasoning(item))]
    if kind in _CALLS:
        name = text_or_none(item.get("name")) or kind.removesuffix("_call")
        arguments = item.get("arguments", item.get("input", item.get("action", item.get("operation"))))
        return [ToolCall(identity, name, decode_arguments(arguments))]
    if kind in _HOSTED:
        return _hosted(item, kind, identity)
    if kind == "compaction":
        return [Compaction(None)]
    if kind in _ECHOES:
        return []
    return [Opaque({"image_generation_call": "image", "item_reference": "reference"}.get(kind, "unknown"))]


def _reasoning(item: Mapping[str, Json]) -> str:
    texts: list[str] = []
    for key in ("summary", "content"):
        blocks = item.get(key)
        for block in blocks if isinstance(blocks, list) else ():
            text = block.get("text") if isinstance(block, dict) else None
            if isinstance(text, str):
                texts.append(text)
    return "\n".join(texts)


def _hosted(item: Mapping[str, Json], kind: str, identity: str | None) -> list[Part]:
    name = text_or_none(item.get("name")) or kind.removesuffix("_call")
    arguments: Json
    content: Json = None
    match kind:
        case "web_search_call":
            arguments = item.get("action")
        case "file_search_call":
            arguments = item.get("queries")
            content = item.get("results")
        case "code_interpreter_call":
            arguments = item.get("code")
            content = item.get("outputs")
        case _:  # mcp_call
            arguments = decode_arguments(item.get("arguments"))
            content = item.get("output")
            if content is None:
                content = item.get("error")
    opaque: list[Part] = []
    if isinstance(content, list):
        readable, opaque = split_content(content)
        content = readable or None
    return [ServerToolCall(identity, name, arguments), ServerToolResult(identity, name, content), *opaque]
