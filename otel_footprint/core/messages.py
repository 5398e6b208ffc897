"""The canonical message: one form for every provider's history.

Rules of the form
-----------------
- A message has one role. ``developer`` is ``system``.
- A tool result is a message of its own (role ``tool``, exactly one :class:`ToolResult`, first): a provider's user
  message that holds several results becomes several messages. Text beside the results stays with the last of them; such
  a message is a tool result, not something a person said.
- An assistant turn is one message: items that a provider splits (reasoning, calls, text) are joined.
- ``key`` identifies a message by what the model reads: role, text (parts joined and trimmed), tool name, id, canonical
  arguments, result. Reasoning, signatures, citations and cache marks are left out, so two messages that differ only
  there are the same message.
- ``chars`` counts the characters of text and of results, exactly; a structured result counts as its canonical JSON.
  Arguments and reasoning are not counted.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Literal, TypeAlias, Union

from otel_footprint.core.exhaustive import assert_never

Json: TypeAlias = Union[None, bool, int, float, str, "list[Json]", "dict[str, Json]"]
"""A JSON value as ``json.loads`` gives it. Never mutated by us: it may be the application's own object."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

Authored: TypeAlias = Literal["notice", "correction", "summary", "injected", "draft"]
"""Who else than a person or the application wrote a user message: our drop notice or correction, a model's summary, or a
message that its application marked as injected. None of them is something a person said. ``draft`` is an answer that was
sent back with a correction."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call the model emitted.

    ``arguments`` is the decoded object; the raw string where it is not JSON (or free text for a custom tool); None when
    empty. ``id`` is the provider's and may repeat within a conversation, or be None.
    """

    id: str | None
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned, as the model reads it: text, or the structure the provider was sent."""

    id: str | None
    name: str | None
    content: Json
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ServerToolCall:
    """A tool call that the provider executes on its side (web search, code interpreter)."""

    id: str | None
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ServerToolResult:
    """Result of a server-side tool. ``content`` is None where the provider does not let us read it (encrypted)."""

    id: str | None
    name: str | None
    content: Json


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking text, never evidence and never an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """A block by which the provider says that it compacted the history; ``text`` is None when it is opaque."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Opaque:
    """Content we cannot read: ``kind`` names it (``image``, ``audio``, ``document``, ``file``, ``uri``, ``unknown``)."""

    kind: str


Part: TypeAlias = Text | ToolCall | ToolResult | ServerToolCall | ServerToolResult | Reasoning | Compaction | Opaque


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_UNSPELLED: Final = re.compile(r"^<unspelled \w+ of \d+>$", re.MULTILINE)


def canonical_json(value: Json) -> str:
    """The one spelling of a JSON value: sorted keys, no spaces, not escaped. ``str(value)`` where JSON has no word.

    Of a value that is nested too deeply for either, its kind and its size.
    """
    try:
        return _CANONICAL.encode(value)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return str(value)
    except (ValueError, RecursionError):
        return f"<unspelled {type(value).__name__} of {len(value) if isinstance(value, (list, dict)) else 1}>"


def is_unspelled(content: Json, text: str) -> bool:
    """Whether ``text``, the text of ``content``, shows of some of it only its kind and its size."""
    return not isinstance(content, str) and _UNSPELLED.search(text) is not None


def content_text(content: Json) -> str:
    """A tool result's content as text: strings as they are, a list of text blocks joined by newlines, the rest as JSON.

    Block lists are the providers' ``[{"type": "text", "text": …}]``, ``[{"text": …}]`` and ``[{"json": …}]``.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list) and content:
        blocks = [_block_text(item) for item in content]
        texts = [block for block in blocks if block is not None]
        if len(texts) == len(blocks):
            return "\n".join(texts)
    return canonical_json(content)


def _block_text(block: Json) -> str | None:
    if not isinstance(block, dict) or block.get("type", "text") not in ("text", "json", "input_text", "output_text"):
        return None
    text = block.get("text")
    if isinstance(text, str):
        return text
    return canonical_json(block["json"]) if "json" in block else None


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One message of the window. Compared and hashed by ``key``.

    ``key`` is 16 bytes, equal for equal messages in every process (it is not secret: never export it, see
    ``content_hash``); ``chars`` is a count of characters.
    """

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    authored: Authored | None = None
    key: bytes = field(init=False)
    chars: int = field(init=False)

    def __post_init__(self) -> None:
        pieces: list[str] = [self.role]
        texts: list[str] = []
        chars = 0
        for part in self.parts:
            match part:
                case Text(text):
                    texts.append(text)
                    chars += len(text)
                case ToolCall(id=id_, name=name, arguments=arguments):
                    pieces += ("call", id_ or "", name, canonical_json(arguments))
                case ToolResult(id=id_, name=name, content=content):
                    body = content_text(content)
                    chars += len(body)
                    pieces += ("result", id_ or "", body)
                case ServerToolCall(id=id_, name=name, arguments=arguments):
                    pieces += ("server_call", id_ or "", name, canonical_json(arguments))
                case ServerToolResult(id=id_, content=content):
                    body = content_text(content)
                    chars += len(body)
                    pieces += ("server_result", id_ or "", body)
                case Compaction(text=summary):
                    chars += len(summary or "")
                    pieces += ("compaction", summary or "")
                case Opaque(kind=kind):
                    pieces += ("opaque", kind)
                case Reasoning():
                    pass
                case _:
                    assert_never(part)
        pieces.append("".join(texts).strip())
        # Lengths go in front so that no text can imitate a boundary.
        blob = "\x00".join([",".join([str(len(piece)) for piece in pieces]), *pieces])
        object.__setattr__(self, "key", blake2b(blob.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        object.__setattr__(self, "chars", chars)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Message) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def text(self) -> str:
        """The text parts joined, as the model reads them; without results, arguments and reasoning."""
        parts = self.parts
        if len(parts) == 1:  # as most have
            part = parts[0]
            return part.text if isinstance(part, Text) else ""
        return "".join([part.text for part in parts if isinstance(part, Text)])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls the application is to execute, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    @property
    def result(self) -> ToolResult | None:
        """The tool result, for a message of role ``tool``."""
        first = self.parts[0] if self.parts else None
        return first if isinstance(first, ToolResult) else None

    @property
    def said_by_person(self) -> bool:
        """Whether a person (or the application in their place) said it: a user message nobody else authored."""
        return self.role == "user" and self.authored is None
