"""Canonical messages as JSON and back: the form in which the state of a window outlives its process.

Rules
-----
- What comes back has the key it had. A value that JSON has no word for goes as its text.
- A message can go without its text: then its key, its length, and the ids and names of its calls and result are in its row.
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
from otel_footprint.core.stubs import DIGEST_BYTES, Content, Digest, Sealed, Stub, sealed_arguments, stub_of

_T = TypeVar("_T")
_ROLES: Final = get_args(Role)
_AUTHORED: Final = get_args(Authored)
_MOST: Final = 2**53
"""Whole numbers above are exact in no other reader of JSON, and none that we write is near it."""
_SHOWN: Final = 40


class Reader:
    """Reads a document strictly. ``place`` is where in it one is, for the message of a refusal."""

    def __init__(self, what: str) -> None:
        self.what = what

    def refuse(self, place: str, wanted: str, value: object = ...) -> ConfigurationError:
        """The refusal of what stands at ``place``. Of the value only its kind is told: it may quote the conversation."""
        found = "" if value is ... else f" but {_kind(value)}"
        return ConfigurationError(f"{self.what}: {place} is not {wanted}{found}; give what to_dict() gave, unchanged")

    def mapping(self, value: object, place: str) -> Mapping[str, Any]:
        """An object."""
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self.refuse(place, "an object", value)
        return value

    def several(self, value: object, place: str, read: Callable[[object, str], _T]) -> tuple[_T, ...]:
        """A list, each of it read by ``read``."""
        if not isinstance(value, (list, tuple)):
            raise self.refuse(place, "a list", value)
        return tuple([read(item, f"{place}[{index}]") for index, item in enumerate(value)])

    def text(self, value: object, place: str) -> str:
        """A string."""
        if not isinstance(value, str):
            raise self.refuse(place, "a string", value)
        return value

    def text_or_none(self, value: object, place: str) -> str | None:
        """A string or null."""
        return None if value is None else self.text(value, place)

    def whole(self, value: object, place: str, least: int = 0) -> int:
        """A whole number of at least ``least``."""
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
            raise self.refuse(place, f"a whole number of at least {least}", value)
        return value

    def number_or_none(self, value: object, place: str) -> float | None:
        """A finite number or null."""
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < 1e15:
            raise self.refuse(place, "a number", value)
        return float(value)

    def flag(self, value: object, place: str) -> bool:
        """A boolean."""
        if not isinstance(value, bool):
            raise self.refuse(place, "true or false", value)
        return value

    def hexadecimal(self, value: object, place: str, unit: int, *, times: int | None = None) -> bytes:
        """Hexadecimal digits, as bytes in units of ``unit``; of ``times`` units, where that is known."""
        text = self.text(value, place)
        try:
            data = bytes.fromhex(text)
        except ValueError:
            data = b"?"
        if len(data) % unit or 2 * len(data) != len(text) or (times is not None and len(data) != unit * times):
            raise self.refuse(place, "hexadecimal digits of the right length")
        return data

    def one_of(self, value: object, place: str, allowed: tuple[_T, ...]) -> _T:
        """One of these words."""
        if value is None or isinstance(value, str):
            for word in allowed:
                if value == word:
                    return word
        words = ", ".join("null" if word is None else str(word) for word in allowed)
        if isinstance(value, str) and len(value) <= _SHOWN and value.isidentifier():
            raise self.refuse(place, f"one of {words} but {value!r}")
        raise self.refuse(place, f"one of {words}", value)

    def content(self, value: object, place: str) -> Content:
        """A text, or its digest."""
        if not isinstance(value, Mapping):
            return self.text(value, place)
        digest = self.hexadecimal(value.get("digest"), f"{place}.digest", DIGEST_BYTES, times=1)
        return Digest(digest, self.whole(value.get("chars"), f"{place}.chars"))

    def message(self, value: object, place: str) -> Message:
        """A message, with its text or without."""
        row = self.mapping(value, place)
        if "key" in row:
            return self._stub(row, place)
        return Message(
            self.one_of(row.get("role"), f"{place}.role", _ROLES),
            self.several(row.get("parts"), f"{place}.parts", self._part),
            self.text_or_none(row.get("name"), f"{place}.name"),
            self.one_of(row.get("authored"), f"{place}.authored", (None, *_AUTHORED)),
        )

    def _stub(self, row: Mapping[str, Any], place: str) -> Stub:
        result: tuple[str | None, str | None] | None = None
        if row.get("result") is not None:
            named = self.several(row["result"], f"{place}.result", self.text_or_none)
            if len(named) != 2:
                raise self.refuse(f"{place}.result", "an id and a name")
            result = named[0], named[1]
        role: Role = self.one_of(row.get("role"), f"{place}.role", _ROLES)
        return Stub(
            role,
            self.hexadecimal(row.get("key"), f"{place}.key", DIGEST_BYTES, times=1),
            self.whole(row.get("chars"), f"{place}.chars"),
            calls=self.several(row.get("calls", ()), f"{place}.calls", self._sealed_call),
            result=result,
            name=self.text_or_none(row.get("name"), f"{place}.name"),
            authored=self.one_of(row.get("authored"), f"{place}.authored", (None, *_AUTHORED)),
        )

    def _sealed_call(self, value: object, place: str) -> ToolCall:
        named = self.several(value, place, self.text_or_none)
        if len(named) != 3 or named[1] is None:
            raise self.refuse(place, "an id, a name and a digest")
        digest = self.hexadecimal(named[2], f"{place}[2]", DIGEST_BYTES, times=1)
        return ToolCall(named[0], named[1], Sealed(digest.hex()))

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
                raise self.refuse(f"{place}.type", "a kind of part that this version knows", row.get("type"))


def message_to_json(message: Message, *, text: bool = True) -> dict[str, Json]:
    """The message as JSON of its own: nothing of it is shared with the message. Without ``text``, what tells it from others."""
    if not text or isinstance(message, Stub):
        return _stub_to_json(stub_of(message))
    return {
        "role": message.role,
        "parts": [_part_to_json(part) for part in message.parts],
        "name": message.name,
        "authored": message.authored,
    }


def content_to_json(content: Content) -> Json:
    """A text, or what is kept of it."""
    if isinstance(content, str):
        return content
    return {"digest": content.digest.hex(), "chars": content.chars}


def _stub_to_json(stub: Stub) -> dict[str, Json]:
    row: dict[str, Json] = {"role": stub.role, "key": stub.key.hex(), "chars": stub.chars}
    if stub.tool_calls:
        row["calls"] = [[call.id, call.name, str(sealed_arguments(call))] for call in stub.tool_calls]
    if stub.result is not None:
        row["result"] = [stub.result.id, stub.result.name]
    if stub.name is not None:
        row["name"] = stub.name
    if stub.authored is not None:
        row["authored"] = stub.authored
    return row


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


def _kind(value: object) -> str:
    """What a value is."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value!r}" if abs(value) < _MOST else "a number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return type(value).__name__
