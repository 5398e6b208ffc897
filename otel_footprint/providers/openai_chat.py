"""OpenAI chat messages (and what speaks like them) read as core messages.

Rules
-----
- One native message is one core message, at its own position.
- ``developer`` is ``system``; the old ``function`` role and ``function_call`` are a tool result and a tool call.
- Arguments are decoded (JSON, then a printed Python literal), else kept as the string they are.
- A refusal and the transcript of spoken output are text: the person reads or hears them.
- Text of a tool message is its content as sent: strings stay strings, also when they hold JSON.
- Ids may be missing: pairing calls with results is the caller's, by order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Json, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from otel_footprint.providers.native import (
    Native,
    as_object,
    decode_arguments,
    kind_of,
    one,
    opaque_kind,
    split_content,
    text_or_none,
    text_parts,
)
from otel_footprint.providers.remembered import Remembered

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}


def read(messages: Iterable[object], *, remembered: Remembered[Message] | None = None) -> tuple[Native, ...]:
    """Read a chat history.

    ``remembered`` spares reading again what was read before. Raises :class:`UnreadableInputError` naming the message that
    cannot be one (counted from 0).
    """
    if remembered is None:
        return tuple(one(read_one(as_object(raw, at), at), at) for at, raw in enumerate(messages))
    return tuple(one(remembered.find(raw, partial(_read, at)), at) for at, raw in enumerate(messages))


def _read(position: int, raw: object) -> Message:
    return read_one(as_object(raw, position), position)


def role_of(raw: Mapping[str, Json], position: int) -> Role:
    """The canonical role of a message, or a refusal that names its place."""
    role = raw.get("role") or raw.get("type")  # LangChain's dumps have the type only: human, ai, tool
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        given = repr(role[:40]) if isinstance(role, str) else kind_of(role)
        what = "has no role" if role is None else f"has the role {given}, which no provider uses"
        raise UnreadableInputError(f"message {position} {what}")
    return known


def read_one(raw: Mapping[str, Json], position: int) -> Message:
    """Read one message that stands at ``position``."""
    role = role_of(raw, position)
    name = text_or_none(raw.get("name"))
    if role == "tool":
        return Message("tool", _tool_result(raw, name))
    parts: list[Part] = []
    if role == "assistant":
        reasoning = raw.get("reasoning_content") or raw.get("reasoning")
        if isinstance(reasoning, str):
            parts.append(Reasoning(reasoning))
    parts += content_parts(raw.get("content"), position)
    if role == "assistant":
        text_parts(parts, raw.get("refusal"))
        audio = raw.get("audio")
        if isinstance(audio, dict):
            transcript = audio.get("transcript")
            parts.append(Text(transcript) if isinstance(transcript, str) and transcript else Opaque("audio"))
        parts += _calls(raw, position)
    return Message(role, tuple(parts), name=name)


def _tool_result(raw: Mapping[str, Json], name: str | None) -> tuple[Part, ...]:
    content = raw.get("content")
    opaque: list[Part] = []
    if isinstance(content, list):
        content, opaque = split_content(content)
    error = raw.get("is_error") is True or raw.get("status") == "error"
    return (ToolResult(text_or_none(raw.get("tool_call_id")), name, content, is_error=error), *opaque)


def content_parts(content: Json, position: int) -> list[Part]:
    """The parts of a ``content``: a string, a list of parts, or nothing."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, list):
        raise UnreadableInputError(f"message {position} has {kind_of(content)} as its content")
    parts: list[Part] = []
    for block in content:
        if isinstance(block, str):
            text_parts(parts, block)
            continue
        kind = opaque_kind(block)
        if kind is not None:
            parts.append(Opaque(kind))
        elif isinstance(block, dict):
            parts += _text_block(block)
        else:
            parts.append(Opaque("unknown"))
    return parts


def _text_block(block: dict[str, Json]) -> list[Part]:
    kind = block.get("type", "text")
    text = block.get("refusal") if kind == "refusal" else block.get("text")
    if isinstance(text, dict):  # the Assistants API nests it
        text = text.get("value")
    if kind in ("text", "input_text", "output_text", "refusal") and isinstance(text, str):
        return [Text(text)] if text else []
    if kind in ("thinking", "reasoning"):
        thought = block.get("thinking") or block.get("reasoning") or text
        return [Reasoning(thought if isinstance(thought, str) else "")]
    return [Opaque("unknown")]


def _calls(raw: Mapping[str, Json], position: int) -> list[Part]:
    parts: list[Part] = []
    calls = raw.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise UnreadableInputError(f"message {position} has {kind_of(calls)} as its tool_calls")
    for call in calls or ():
        if not isinstance(call, dict):
            raise UnreadableInputError(f"message {position} has {kind_of(call)} as a tool call")
        parts.append(_call(call))
    legacy = raw.get("function_call")
    if isinstance(legacy, dict):
        parts.append(_call({"function": legacy}))
    return parts


def _call(call: dict[str, Json]) -> ToolCall:
    body = call.get("function") or call.get("custom") or call
    if not isinstance(body, dict):
        body = call
    arguments = body["arguments"] if "arguments" in body else body.get("input", body.get("args"))
    return ToolCall(text_or_none(call.get("id")), text_or_none(body.get("name")) or "", decode_arguments(arguments))
