"""One message of the semantic conventions as messages of the core, whatever shape its instrumentation gave it.

Rules
-----
- Read by shape only (``role``, ``parts``, ``type``): importable without OpenTelemetry. What is a mapping gets the fields
  that the objects have.
- Structures are copied: nothing of an input that can change is kept.
- A message with several tool results becomes several messages; the rest of its parts stays with the last of them. A
  message of role ``tool`` without a result carries one as plain text.
- What a provider lets only the model read is a result without content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

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
from otel_footprint.core.per_call import per_call

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-response": "tool",
    "tool_response": "tool",
    "tool-call": "assistant",
    "tool_call": "assistant",
}

_OPAQUE_KINDS: Final = frozenset({"image", "audio", "video", "document"})
_MODELS_PARTS: Final = frozenset({"tool_call", "reasoning", "server_tool_call", "server_tool_call_response"})


@per_call(frozen=True, slots=True)
class PlainPart:
    """A part with the fields of the conventions' objects that are read."""

    type: str
    content: Any = None
    id: Any = None
    name: Any = None
    arguments: Any = None
    response: Any = None
    server_tool_call: Any = None
    server_tool_call_response: Any = None
    modality: Any = None


@per_call(frozen=True, slots=True)
class PlainMessage:
    """A message with the fields of the conventions' objects that are read."""

    role: Any
    parts: tuple[Any, ...]
    name: Any = None
    finish_reason: Any = None


def convert(message: Any) -> tuple[Message, ...]:
    """One message of the conventions as one or more of the core; none where it has no parts."""
    role = role_of(message)
    if role != "assistant" and len(message.parts) > 1 and any(part.type == "tool_call" for part in message.parts):
        return _convert_turns(message, role)
    name = message.name if isinstance(message.name, str) else None
    parts: list[Part] = []
    results: list[ToolResult] = []
    for part in message.parts:
        converted = _convert_part(part, role)
        if isinstance(converted, ToolResult):
            results.append(converted)
        elif converted is not None:
            parts.append(converted)
    if not results:
        if not parts:
            return ()
        if role == "tool":  # a result carried as plain text
            text = "".join(part.text for part in parts if isinstance(part, Text))
            unread = tuple(part for part in parts if not isinstance(part, Text))
            return (Message("tool", (ToolResult(None, name, text), *unread), name),)
        return (Message(role, tuple(parts), name),)
    alone = [Message("tool", (result,), name) for result in results[:-1]]
    return (*alone, Message("tool", (results[-1], *parts), name))


def _convert_turns(message: Any, role: Role) -> tuple[Message, ...]:
    """A message that holds turns of both sides, told apart by their parts."""
    turns: list[tuple[str, list[Any]]] = []
    for part in message.parts:
        side = "assistant" if part.type in _MODELS_PARTS else "user" if role == "tool" else role
        if not turns or turns[-1][0] != side:
            turns.append((side, []))
        turns[-1][1].append(part)
    return tuple(made for side, parts in turns for made in convert(PlainMessage(side, tuple(parts), message.name)))


def _convert_part(part: Any, role: Role) -> Part | None:
    kind = part.type
    if kind == "text":
        return Text(part.content) if isinstance(part.content, str) else None
    if kind == "reasoning":
        return Reasoning(part.content if isinstance(part.content, str) else "")
    if kind == "tool_call":
        return ToolCall(_text_or_none(part.id), str(part.name or ""), _arguments(part.arguments))
    if kind == "tool_call_response":
        content = plain_copy(part.response, 0)
        if role == "assistant":  # the outcome of a tool that the provider ran
            return ServerToolResult(_text_or_none(part.id), None, content)
        return ToolResult(_text_or_none(part.id), None, content)
    if kind == "server_tool_call":
        return ServerToolCall(_text_or_none(part.id), str(part.name or ""), plain_copy(part.server_tool_call, 0))
    if kind == "server_tool_call_response":
        payload = plain_copy(part.server_tool_call_response, 0)
        name = payload.get("type") if isinstance(payload, dict) else None
        readable = None if _has_encrypted(payload, 0) else payload
        return ServerToolResult(_text_or_none(part.id), name if isinstance(name, str) else None, readable)
    if kind == "compaction":
        content = getattr(part, "content", None)
        return Compaction(content if isinstance(content, str) else None)
    return Opaque(opaque_kind(part))


def role_of(message: Any) -> Role:
    raw = message.role
    role = _ROLES.get(raw) if raw.__class__ is str else None
    if role is None:  # an enumeration's, or spelled otherwise
        role = _ROLES.get(str(getattr(raw, "value", raw) or "").rpartition(".")[2].lower())
    if role is not None and role not in ("user", "system"):
        return role
    kinds = {part.type for part in message.parts}
    if "tool_call_response" in kinds:
        return "tool"
    if role is None and "tool_call" in kinds:
        return "assistant"
    return role or "user"


def opaque_kind(part: Any) -> str:
    if part.type in ("file", "uri"):
        return cast("str", part.type)
    if part.type == "blob":
        modality = str(getattr(part.modality, "value", part.modality) or "").lower()
        return modality if modality in _OPAQUE_KINDS else "file"
    return "unknown"


def _arguments(arguments: Any) -> Json:
    """None where the call has none, which some spell as an empty text."""
    copied = plain_copy(arguments, 0)
    return None if copied in ("", None) else copied


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _has_encrypted(value: Json, depth: int) -> bool:
    """Whether a server-side result carries text that only the model can read."""
    if depth > 4:
        return False
    if isinstance(value, dict):
        return any(
            (key.startswith("encrypted") and bool(item)) or _has_encrypted(item, depth + 1)
            for key, item in value.items()
        )
    if isinstance(value, list):
        return any(_has_encrypted(item, depth + 1) for item in value)
    return False


_MAX_DEPTH: Final = 64


def plain_copy(value: Any, depth: int) -> Any:
    """A JSON value of our own: what is not JSON becomes its text, bytes say only how many they are."""
    kind = value.__class__
    if kind is str or value is None or kind is int or kind is float or kind is bool:
        return value
    if depth > _MAX_DEPTH:
        return str(kind.__name__)
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain_copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_copy(item, depth + 1) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes>"
    if isinstance(value, (str, int, float)):  # enumerations and other subclasses
        plain = getattr(value, "value", value)
        return plain if plain.__class__ in (str, int, float, bool) else str(value)
    return str(value)


def as_message(item: Any) -> Any:
    """A message with the fields that objects of the conventions have, whatever it came as."""
    if isinstance(item, Mapping):
        raw = item.get("parts")
        if raw is None and isinstance(item.get("content"), str):
            raw = ({"type": "text", "content": item["content"]},)
        parts = raw if isinstance(raw, Iterable) and not isinstance(raw, (str, bytes, Mapping)) else ()
        return PlainMessage(item.get("role"), tuple(map(as_part, parts)), item.get("name"), item.get("finish_reason"))
    parts = item.parts
    if any(isinstance(part, Mapping) for part in parts):
        return PlainMessage(
            item.role,
            tuple(map(as_part, parts)),
            getattr(item, "name", None),
            getattr(item, "finish_reason", None),
        )
    return item


def as_part(part: Any) -> Any:
    if isinstance(part, str):
        return PlainPart("text", content=part)
    if not isinstance(part, Mapping):
        return part
    get = part.get
    return PlainPart(
        str(get("type") or "unknown"),
        content=get("content", get("text")),
        id=get("id"),
        name=get("name"),
        arguments=get("arguments"),
        response=get("response", get("result")),
        server_tool_call=get("server_tool_call"),
        server_tool_call_response=get("server_tool_call_response"),
        modality=get("modality"),
    )
