"""Messages in the form of OpenTelemetry's GenAI conventions, decoded from JSON, as core messages.

Rules
-----
- The form: ``[{"role", "parts": [{"type", …}], "finish_reason"?}]``; instructions are a bare list of parts.
- Earlier spellings are read too: ``result`` for ``response``, ``input`` for ``arguments``. A message without ``parts`` is
  in its provider's own form (OpenAI chat, Anthropic), which some instrumentations put in the same place.
- A message that holds tool results becomes one tool message per result; text beside them stays with the last.
- What is captured as a blob, a file or an address is opaque.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

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
from otel_footprint.providers import anthropic_messages
from otel_footprint.providers.native import (
    Native,
    as_object,
    decode_arguments,
    kind_of,
    one,
    split_content,
    text_or_none,
)
from otel_footprint.providers.openai_chat import content_parts, role_of


@dataclass(frozen=True, slots=True)
class Finished:
    """An output message with why the model stopped."""

    message: Message
    finish_reason: str | None


def read(messages: Iterable[object]) -> tuple[Native, ...]:
    """Input messages with their positions in the list. Raises UnreadableInputError naming the one that cannot be read."""
    return tuple(one(message, at) for at, raw in enumerate(messages) for message in _messages(as_object(raw, at), at))


def read_outputs(messages: Iterable[object]) -> tuple[Finished, ...]:
    """Output messages, one per choice."""
    outputs: list[Finished] = []
    for at, raw in enumerate(messages):
        item = as_object(raw, at)
        inner = item.get("message")
        body = {**(inner if isinstance(inner, dict) else item), "role": "assistant"}
        parts = tuple(part for message in _messages(body, at) for part in message.parts)
        outputs.append(Finished(Message("assistant", parts), text_or_none(item.get("finish_reason"))))
    return tuple(outputs)


def read_instructions(parts: object) -> tuple[Message, ...]:
    """The system instructions: a list of parts, or of strings."""
    if parts is None or parts == []:
        return ()
    if isinstance(parts, str):
        return (Message("system", (Text(parts),)),)
    if not isinstance(parts, list):
        raise UnreadableInputError(f"the system instructions are {kind_of(parts)}")
    return (Message("system", tuple(part for block in parts for part in _part(block))),)


def _messages(raw: Mapping[str, Json], position: int) -> list[Message]:
    if "parts" not in raw:
        return anthropic_messages.read_one(_named_role(raw), position)
    name = text_or_none(raw.get("name"))
    results: list[list[Part]] = []
    rest: list[Part] = []
    for block in _blocks(raw, position):
        for part in _part(block):
            if isinstance(part, ToolResult):
                results.append([part])
            elif results and isinstance(block, dict) and block.get("type") in _RESULT_TYPES:
                results[-1].append(part)
            else:
                rest.append(part)
    if results:
        results[-1] += rest
        return [Message("tool", tuple(parts)) for parts in results]
    role = role_of(_named_role(raw), position)
    if role == "tool":  # dspy and others write the result as text
        return [Message("tool", (ToolResult(None, name, Message("tool", tuple(rest)).text),))]
    return [Message(role, tuple(rest), name=name)]


def _named_role(raw: Mapping[str, Json]) -> Mapping[str, Json]:
    role = raw.get("role")
    if isinstance(role, str) and "." in role:  # an enum printed with its class: MessageRole.USER
        return {**raw, "role": role.rpartition(".")[2].lower()}
    return raw


def _blocks(raw: Mapping[str, Json], position: int) -> list[Json]:
    parts = raw.get("parts")
    if isinstance(parts, list):
        return parts
    raise UnreadableInputError(f"message {position} has {kind_of(parts)} as its parts")


_RESULT_TYPES: Final = frozenset({"tool_call_response", "tool_result", "tool_response"})


def _part(block: Json) -> list[Part]:
    if not isinstance(block, dict):
        return [Text(block)] if isinstance(block, str) and block else []
    identity = text_or_none(block.get("id")) or text_or_none(block.get("tool_call_id"))
    name = text_or_none(block.get("name"))
    content = block.get("content")
    kind = block.get("type", "text")
    match kind:
        case "text" | "input_text" | "output_text" | "refusal":
            text = content if isinstance(content, str) else block.get("text")
            return [Text(text)] if isinstance(text, str) and text else []
        case "tool_call":
            arguments = block["arguments"] if "arguments" in block else block.get("input")
            return [ToolCall(identity, name or "", decode_arguments(arguments))]
        case "tool_call_response" | "tool_result" | "tool_response":
            response = next((block[key] for key in ("response", "result", "content") if key in block), None)
            opaque: list[Part] = []
            if isinstance(response, list):
                response, opaque = split_content(response)
            return [ToolResult(identity, name, response, is_error=block.get("is_error") is True), *opaque]
        case "server_tool_call":
            body = block.get("server_tool_call", block.get("arguments"))
            return [ServerToolCall(identity, name or "", decode_arguments(body))]
        case "server_tool_call_response":
            response = block.get("server_tool_call_response", block.get("response"))
            return [ServerToolResult(identity, name, response)]
        case "reasoning" | "thinking":
            return [Reasoning(content if isinstance(content, str) else "")]
        case "compaction":
            return [Compaction(content if isinstance(content, str) and content else None)]
        case "blob" | "file" | "uri":
            modality = text_or_none(block.get("modality"))
            return [Opaque(modality or str(kind))]
        case _:
            return content_parts([block], 0)
