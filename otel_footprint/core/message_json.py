"""Canonical messages as JSON and back: the form in which the state of a window outlives its process.

Rules
-----
- What comes back has the key it had. A value that JSON has no word for goes as its text.
- Reading is strict: what is malformed is refused by the name of its place, never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, get_args

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.core.messages import (
    Authored,
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
    canonical_json,
    content_text,
)

_T = TypeVar("_T")
_ROLES: Final = get_args(Role)
_AUTHORED: Final = get_args(Authored)


class Reader:
    """Reads a document strictly. ``place`` is where in it one is, for the message of a refusal."""

    def __init__(self, what: str) -> None:
        self.what = what

    def refuse(self, place: str, wanted: str) -> ConfigurationError:
        """The refusal of what stands at ``place``."""
        return ConfigurationError(f"{self.what}: {place} is not {wanted}; give what to_dict() gave, unchanged")

    def mapping(self, value: object, place: str) -> Mapping[str, Any]:
        """An object."""
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self.refuse(place, "an object")
        return value

    def several(self, value: object, place: str, read: Callable[[object, str], _T]) -> tuple[_T, ...]:
        """A list, each of it read by ``read``."""
        if not isinstance(value, (list, tuple)):
            raise self.refuse(place, "a list")
        return tuple([read(item, f"{place}[{index}]") for index, item in enumerate(value)])

    def text(self, value: object, place: str) -> str:
        """A string."""
        if not isinstance(value, str):
            raise self.refuse(place, "a string")
        return value

    def text_or_none(self, value: object, place: str) -> str | None:
        """A string or null."""
        return None if value is None else self.text(value, place)

    def whole(self, value: object, place: str, least: int = 0) -> int:
        """A whole number of at least ``least``."""
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.refuse(place, f"a whole number of at least {least}")
        return value

    def number_or_none(self, value: object, place: str) -> float | None:
        """A finite number or null."""
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < 1e15:
            raise self.refuse(place, "a number")
        return float(value)

    def flag(self, value: object, place: str) -> bool:
        """A boolean."""
        if not isinstance(value, bool):
            raise self.refuse(place, "true or false")
        return value

    def hexadecimal(self, value: object, place: str, unit: int) -> bytes:
        """Hexadecimal digits, as bytes in units of ``unit``."""
        text = self.text(value, place)
        try:
            data = bytes.fromhex(text)
        except ValueError:
            data = b"?"
        if len(data) % unit or 2 * len(data) != len(text):
            raise self.refuse(place, "hexadecimal digits of the right length")
        return data

    def one_of(self, value: object, place: str, allowed: tuple[_T, ...]) -> _T:
        """One of these words."""
        for word in allowed:
            if value == word:
                return word
        raise self.refuse(place, "one of " + ", ".join(map(str, allowed)))

    def message(self, value: object, place: str) -> Message:
        """A message."""
        row = self.mapping(value, place)
        return Message(
            self.one_of(row.get("role"), f"{place}.role", _ROLES),
            self.several(row.get("parts"), f"{place}.parts", self._part),
            self.text_or_none(row.get("name"), f"{place}.name"),
            self.one_of(row.get("authored"), f"{place}.authored", (None, *_AUTHORED)),
        )

    def _part(self, value: object, place: str) -> Part:
        row = self.mapping(value, place)
        id_ = self.text_or_none(row.get("id"), f"{place}.id")
        match row.get("type"):
            case "text":
                return Text(self.text(row.get("text"), f"{place}.text"))
            case "tool_call":
                return ToolCall(id_, self.text(row.get("name"), f"{place}.name"), row.get("arguments"))
            case "tool_result":
                name = self.text_or_none(row.get("name"), f"{place}.name")
                return ToolResult(id_, name, row.get("content"), self.flag(row.get("is_error"), f"{place}.is_error"))
            case "server_tool_call":
                return ServerToolCall(id_, self.text(row.get("name"), f"{place}.name"), row.get("arguments"))
            case "server_tool_result":
                return ServerToolResult(id_, self.text_or_none(row.get("name"), f"{place}.name"), row.get("content"))
            case "reasoning":
                return Reasoning(self.text(row.get("text"), f"{place}.text"))
            case "compaction":
                return Compaction(self.text_or_none(row.get("text"), f"{place}.text"))
            case "opaque":
                return Opaque(self.text(row.get("kind"), f"{place}.kind"))
            case _:
                raise self.refuse(f"{place}.type", "a kind of part that this version knows")


def message_to_json(message: Message) -> dict[str, Json]:
    """The message as JSON of its own: nothing of it is shared with the message."""
    return {
        "role": message.role,
        "parts": [_part_to_json(part) for part in message.parts],
        "name": message.name,
        "authored": message.authored,
    }


def _part_to_json(part: Part) -> dict[str, Json]:
    row: dict[str, Json]
    match part:
        case Text(text):
            row = {"type": "text", "text": text}
        case ToolCall(id=id_, name=name, arguments=arguments):
            row = {"type": "tool_call", "id": id_, "name": name, "arguments": _plain(arguments, canonical_json)}
        case ToolResult(id=id_, name=name, content=content, is_error=is_error):
            row = {"type": "tool_result", "id": id_, "name": name, "content": _plain(content, content_text)}
            row["is_error"] = is_error
        case ServerToolCall(id=id_, name=name, arguments=arguments):
            row = {"type": "server_tool_call", "id": id_, "name": name, "arguments": _plain(arguments, canonical_json)}
        case ServerToolResult(id=id_, name=name, content=content):
            row = {"type": "server_tool_result", "id": id_, "name": name, "content": _plain(content, content_text)}
        case Reasoning(text):
            row = {"type": "reasoning", "text": text}
        case Compaction(summary):
            row = {"type": "compaction", "text": summary}
        case Opaque(kind):
            row = {"type": "opaque", "kind": kind}
        case _:
            assert_never(part)
    return row


def _plain(value: Json, spelled: Callable[[Json], str]) -> Json:
    """A copy of the value, or its text where JSON would not give back the same."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    try:
        copy: Json = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return spelled(value)
    return copy if spelled(copy) == spelled(value) else spelled(value)
