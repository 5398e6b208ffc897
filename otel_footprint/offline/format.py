"""Which provider's format a message list is in, and the list read as one conversation.

Rules
-----
- The list's own marks decide, in this order: Responses items, parts (Gemini's where none says its type, else those of the
  conventions), Bedrock blocks, Anthropic blocks, else OpenAI chat.
- An object holds its list under ``messages`` (with Anthropic's or Bedrock's ``system`` beside it), under ``contents`` (Gemini,
  with ``systemInstruction``), or under ``input`` and ``output`` with ``instructions`` (Responses). ``null`` or an empty list
  is a conversation without messages.
- ``previous_response_id`` or a server-side ``conversation`` beside the list: history we did not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.evidence.verdicts import Reason
from otel_footprint.offline import semconv
from otel_footprint.providers import anthropic_messages, bedrock, gemini, openai_chat, openai_responses
from otel_footprint.providers.native import Native, kind_of


@dataclass(frozen=True, slots=True)
class Conversation:
    """A recorded conversation. ``blind`` says why its history is known not to be whole."""

    natives: tuple[Native, ...]
    id: str | None = None
    blind: frozenset[Reason] = frozenset()


_LISTS: Final = ("messages", "contents", "input", "output", "items")
_IDS: Final = ("id", "conversation_id", "session_id", "thread_id")


def is_conversation(value: object) -> bool:
    """Whether an object says that it holds a message list."""
    return isinstance(value, Mapping) and any(key in value for key in _LISTS)


def is_message(value: object) -> bool:
    """Whether an object is one message or item rather than a conversation."""
    if not isinstance(value, Mapping) or "messages" in value or "contents" in value:
        return False
    kind = value.get("type")
    return (
        "role" in value
        or "parts" in value
        or (isinstance(kind, str) and (kind in openai_responses.ITEMS or kind in _LANGCHAIN))
    )


_LANGCHAIN: Final = frozenset({"human", "ai", "system", "tool"})


def read(value: object) -> Conversation:
    """Read a list of messages, or an object that holds one.

    Raises :class:`UnreadableInputError` when it is neither, naming the message where one is to blame.
    """
    if isinstance(value, (list, tuple)):
        return Conversation(_read_list(value))
    if not isinstance(value, Mapping):
        raise UnreadableInputError(f"not a conversation: {kind_of(value)} instead of a list of messages")
    if "messages" in value:
        natives = _read_list(_list(value["messages"], "messages"), value.get("system"))
    elif "contents" in value:
        natives = gemini.read(value["contents"], _gemini_system(value))
    elif "input" in value or "output" in value or "items" in value:
        items: list[object] = []
        for key in ("input", "items", "output"):
            given = value.get(key)
            items += [{"role": "user", "content": given}] if isinstance(given, str) else _list(given, key)
        natives = openai_responses.read(items, value.get("instructions"))
    else:
        raise UnreadableInputError("not a conversation: the object has no messages")
    return Conversation(natives, _identity(value), _blind(value))


def _gemini_system(value: Mapping[str, object]) -> object:
    """The system instruction of a request's JSON, or of the SDK's arguments."""
    found = gemini.field(value, "system_instruction")
    return gemini.field(value.get("config"), "system_instruction") if found is None else found


def _list(value: object, key: str) -> Sequence[object]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return value
    raise UnreadableInputError(f"not a conversation: {key} is {kind_of(value)}, not a list")


def _identity(value: Mapping[str, object]) -> str | None:
    for key in _IDS:
        given = value.get(key)
        if isinstance(given, str) and given:
            return given
        if isinstance(given, int) and not isinstance(given, bool):
            return str(given)
    return None


def _blind(value: Mapping[str, object]) -> frozenset[Reason]:
    hidden = value.get("previous_response_id") or value.get("conversation")
    return frozenset({"unseen_history"}) if hidden else frozenset()


def _read_list(messages: Sequence[object], system: object = None) -> tuple[Native, ...]:
    match _format(messages, system):
        case "responses":
            return openai_responses.read(messages)
        case "semconv":
            return semconv.read(messages)
        case "gemini":
            return gemini.read(list(messages), system)
        case "bedrock":
            return bedrock.read(messages, system)
        case "anthropic":
            return anthropic_messages.read(messages, system)
        case _:
            return openai_chat.read(messages)


def _format(messages: Sequence[object], system: object) -> str:
    anthropic, parted = system is not None, False
    for raw in messages:
        if not isinstance(raw, Mapping):
            continue
        kind = raw.get("type")
        item = kind in openai_responses.ITEMS if isinstance(kind, str) else False
        if (item or (kind == "message" and "role" in raw)) and "tool_calls" not in raw:
            return "responses"
        parts = raw.get("parts")
        if isinstance(parts, list):
            parted = True
            if parts or raw.get("role") == "model":
                return "gemini" if _is_gemini(parts, raw.get("role")) else "semconv"
            continue
        content = raw.get("content")
        if isinstance(content, list):
            for block in content:
                name = block.get("type") if isinstance(block, Mapping) else None
                if name in ("input_text", "output_text"):
                    return "responses"
                if name is None and isinstance(block, Mapping) and not bedrock.BLOCKS.isdisjoint(block):
                    return "bedrock"
                if isinstance(name, str) and (name in anthropic_messages.BLOCKS or name.endswith("_tool_result")):
                    anthropic = True
    if parted:
        return "semconv"
    return "anthropic" if anthropic else "chat"


def _is_gemini(parts: list[object], role: object) -> bool:
    objects = [part for part in parts if isinstance(part, Mapping)]
    if any("type" in part for part in objects):
        return False
    return role == "model" or any("text" in part or not gemini.PARTS.isdisjoint(part) for part in objects)
