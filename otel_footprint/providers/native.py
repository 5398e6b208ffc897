"""A canonical message together with where it stands in the provider's own list, and the reading both share.

Rules
-----
- Reading never raises for what a provider may add tomorrow: an unknown block becomes ``Opaque("unknown")``. It raises
  :class:`UnreadableInputError` only for what cannot be a message at all (a number in the list, a role nobody knows).
- Arguments are decoded once: JSON first; then a Python literal (some frameworks print a dict instead of dumping it),
  bounded in length and nesting and never evaluated; else the string as it is.
- Nothing the caller handed in is changed or kept by reference where we build something of our own.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Json, Message, Opaque, Part, Text

_LITERAL_CHARS: Final = 65_536
_LITERAL_DEPTH: Final = 50


class Native(NamedTuple):
    """One canonical message and its place. A named tuple because one is made for every message at every call.

    ``positions`` are the indices (from 0) of the native messages it was read from, in order: several where the provider
    splits an assistant turn, the same one for several messages where the provider puts results together. ``at`` is the
    one that names it: the item that holds the text of an assistant turn, else the first.
    """

    message: Message
    positions: tuple[int, ...]
    at: int


def one(message: Message, position: int) -> Native:
    """A message that is exactly one native message."""
    return _native(Native, (message, (position,), position))


_native: Final = tuple.__new__
"""Half the time of a named tuple's own constructor."""


def leading_system(natives: Sequence[Native]) -> int:
    """How many messages at the front are the system envelope."""
    return next((count for count, native in enumerate(natives) if native.message.role != "system"), len(natives))


def kind_of(value: object) -> str:
    """The JSON word for a value's type, for error messages that must not quote the value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def as_object(value: object, position: int) -> Mapping[str, Json]:
    """The native message as a mapping, or a clear refusal that names its place."""
    if isinstance(value, Mapping):
        return value
    raise UnreadableInputError(f"message {position} is {kind_of(value)}, not an object")


def text_or_none(value: object) -> str | None:
    """A non-empty string, else None: ids and names come as empty strings and nulls alike."""
    return value if isinstance(value, str) and value else None


def decode_arguments(value: Json) -> Json:
    """Tool call arguments as the structure they mean; None when there are none. Never raises."""
    if not isinstance(value, str):
        return value
    stripped = value.strip()
    if not stripped:
        return None
    try:
        decoded: Json = json.loads(stripped)
    except (ValueError, RecursionError):
        literal = python_literal(stripped)
        return value if literal is None else literal
    return decoded


def python_literal(text: str) -> dict[str, Json] | list[Json] | None:
    """A printed Python dict or list as JSON values, or None when the text is not one. Parsed, never evaluated."""
    if len(text) > _LITERAL_CHARS or text[:1] not in "{[(" or not _shallow(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
        plain = _plain(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return plain if isinstance(plain, (dict, list)) else None


def _shallow(text: str) -> bool:
    depth = 0
    for char in text:
        if char in "{[(":
            depth += 1
            if depth > _LITERAL_DEPTH:
                return False
        elif char in "}])":
            depth -= 1
    return True


def _plain(value: object) -> Json:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_plain(item) for item in value]
        case set() | frozenset():
            return sorted((_plain(item) for item in value), key=str)
        case dict():
            return {key if isinstance(key, str) else str(key): _plain(item) for key, item in value.items()}
        case _:
            raise ValueError("not a JSON value")


def split_content(content: list[Json]) -> tuple[list[Json], list[Part]]:
    """A tool result's content blocks as (readable ones, opaque parts).

    Images and files inside a result cannot be read by us and must not be searched as text (their base64 would be
    evidence for anything).
    """
    readable: list[Json] = []
    opaque: list[Part] = []
    for block in content:
        kind = opaque_kind(block)
        if kind is None:
            readable.append(block)
        else:
            opaque.append(Opaque(kind))
    return readable, opaque


_OPAQUE_BLOCKS: Final[dict[str, str]] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "output_image": "image",
    "computer_screenshot": "image",
    "input_audio": "audio",
    "audio": "audio",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "container_upload": "file",
    "image_file": "image",
}


def opaque_kind(block: Json) -> str | None:
    """What kind of unreadable content a block is, None when it is readable or not a block."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    return _OPAQUE_BLOCKS.get(kind) if isinstance(kind, str) else None


def text_parts(parts: list[Part], text: object) -> None:
    """Append text where there is some."""
    if isinstance(text, str) and text:
        parts.append(Text(text))
