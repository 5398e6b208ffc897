"""Messages that are known without their text: what a saved conversation holds where text was not asked for.

Rules
-----
- A stub is equal to the message it stands for, by its key; role, length, ids and names of its calls and result are there.
- Of a text only a digest is kept, and its length: enough to know it again, not to read it. (A short text can be guessed, and
  the guess tested: a digest is no secret.)
- The arguments of a call are such a digest too, so that a call that an application spells anew is still recognised.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, TypeAlias

from otel_footprint.core.messages import Authored, Message, Part, Role, Text, ToolCall, ToolResult, canonical_json

DIGEST_BYTES: Final = 16
_MARK: Final = re.compile(r"\x00([0-9a-f]{32}):([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class Digest:
    """A text by its digest; ``chars`` is its length."""

    digest: bytes
    chars: int


Content: TypeAlias = str | Digest
"""A text, or what is kept of one that may not be kept."""


class Sealed(str):
    """The arguments of a call as the hexadecimal digest of their canonical form."""

    __slots__ = ()


def digest_of(text: str) -> bytes:
    """16 bytes, equal for equal texts in every process."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def kept(text: str, *, whole: bool) -> Content:
    """The text, or its digest. A mark is a digest either way."""
    if (digest := digest_in(text)) is not None:
        return digest
    return text if whole or not text else Digest(digest_of(text), len(text))


def marked(content: Content) -> str:
    """The text; of a digest a mark that stands in its place and equals no text."""
    return content if isinstance(content, str) else f"\x00{content.digest.hex()}:{content.chars}"


def digest_in(text: str) -> Digest | None:
    """The digest that a mark stands for; None for a text."""
    found = _MARK.fullmatch(text) if text.startswith("\x00") else None
    return None if found is None else Digest(bytes.fromhex(found[1]), int(found[2]))


def sealed_arguments(call: ToolCall) -> Sealed:
    """What is kept of a call's arguments; of those that are kept so already, the same."""
    if isinstance(call.arguments, Sealed):
        return call.arguments
    return Sealed(digest_of(canonical_json(call.arguments)).hex())


class Stub(Message):
    """A message without its text."""

    __slots__ = ()

    def __init__(
        self,
        role: Role,
        key: bytes,
        chars: int,
        *,
        calls: tuple[ToolCall, ...] = (),
        result: tuple[str | None, str | None] | None = None,
        name: str | None = None,
        authored: Authored | None = None,
    ) -> None:
        parts: tuple[Part, ...] = calls
        if result is not None:
            parts = (ToolResult(result[0], result[1], ""), *calls)
        for field, value in (
            ("role", role),
            ("parts", parts),
            ("name", name),
            ("authored", authored),
            ("key", key),
            ("chars", chars),
        ):
            object.__setattr__(self, field, value)


def stub_of(message: Message) -> Stub:
    """The message without its text; a stub is one already."""
    if isinstance(message, Stub):
        return message
    result = message.result
    return Stub(
        message.role,
        message.key,
        message.chars,
        calls=tuple(ToolCall(call.id, call.name, sealed_arguments(call)) for call in message.tool_calls),
        result=None if result is None else (result.id, result.name),
        name=message.name,
        authored=message.authored,
    )


def begins_with(message: Message, before: Message) -> bool:
    """Whether the text of a message begins with that of another one, which is not empty and may be a stub."""
    if isinstance(before, Stub):
        text = message.text[: before.chars]
        return bool(text.strip()) and Message(before.role, (Text(text),)).key == before.key
    return bool(before.text.strip()) and message.text.startswith(before.text.rstrip())
