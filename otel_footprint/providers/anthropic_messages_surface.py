"""Anthropic messages as a surface: ``messages`` read, and written with another window.

Rules
-----
- ``system`` and leading messages of role ``system`` are the envelope.
- Results of one user message are several messages in one item; what stays is the very object, thinking blocks and cache
  marks with it.
- The API joins neighbours of one role itself. Bedrock and Vertex do not for every model: for a model named as they name
  it, what we bring together is joined in a copy, results first.
- In a server-side thread (``thread``) the window is the provider's. ``container`` holds files, not messages, and
  ``context_management`` edits what we send: in both the list is the window.
- A failed answer goes back as the blocks it came as. A call of a declared answer tool goes back as text, since a call
  without a result would be refused; an empty text block would be, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from otel_footprint.core.messages import Message, canonical_json
from otel_footprint.core.window.items import Item
from otel_footprint.providers import anthropic_messages
from otel_footprint.providers.native import as_object, leading_system
from otel_footprint.providers.native_values import names_of, plain, settled, value_of, word_of
from otel_footprint.providers.openai_chat_surface import written
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.rewriting import OPENING, joined, opened, rewritten
from otel_footprint.providers.surface import Draft, Reading
from otel_footprint.providers.turns import join_split_turns

_ADDED: Final = frozenset({"parsed_output"})
"""What the SDK adds to the blocks of a parsed answer; the API does not know it."""

_DELTAS: Final[Mapping[str, tuple[str, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "compaction_delta": ("content", "content"),
}
"""Deltas that append text: their field, and the field of the block."""


class AnthropicMessages:
    """``messages`` and ``beta.messages``: create, parse and stream take the same history."""

    name: Final = "anthropic.messages"

    def __init__(self) -> None:
        self._remembered: Final = Remembered[tuple[Message, ...]]()

    def settle(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        return settled(kwargs, "messages", "system", "tools")

    def read(self, kwargs: Mapping[str, Any]) -> Reading | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        messages = kwargs.get("messages")
        body = kwargs.get("extra_body")
        more: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        if not isinstance(messages, Sequence) or isinstance(messages, (str, bytes)) or "messages" in more:
            return None
        natives = anthropic_messages.read(
            messages, _plain_list(value_of(kwargs, "system")), plain=_plain_message, remembered=self._remembered
        )
        leading = leading_system(natives)
        return Reading(
            provider="anthropic",
            source=messages,
            natives=tuple(join_split_turns(natives[leading:])),
            system=tuple(native.message for native in natives[:leading]),
            envelope=sum(native.at >= 0 for native in natives[:leading]),
            tools=names_of(value_of(kwargs, "tools")),
            model=word_of(kwargs, "model"),
            server_held=isinstance(value_of(kwargs, "thread") or more.get("thread"), Mapping),
        )

    def write(self, kwargs: Mapping[str, Any], reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        copy = dict(kwargs)
        if reading.is_whole(items):
            return copy
        placed = rewritten(reading, items, written=written, part=_part)
        placed = opened(placed, reading, _role, {"role": "user", "content": OPENING})
        window = joined(placed, _role, _join) if _alternates(reading.model) else [one.item for one in placed]
        copy["messages"] = [*reading.source[: reading.envelope], *window]
        return copy

    def draft(self, kwargs: Mapping[str, Any], response: Any, choice: int = 0) -> Draft | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. There is one choice."""
        content = response.get("content") if isinstance(response, Mapping) else getattr(response, "content", None)
        if choice != 0 or not isinstance(content, Sequence) or isinstance(content, str):
            return None
        blocks = [kept for block in content if (kept := _sendable(block))]
        if not blocks:
            return None
        native = {"role": "assistant", "content": blocks}
        return Draft(anthropic_messages.read_one(as_object(native, 0), 0)[0], (native,))

    def merge(self, kwargs: Mapping[str, Any], events: Sequence[Any]) -> Any | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. Events that the SDK makes of others are passed over."""
        message: dict[str, Any] | None = None
        blocks: dict[int, _Block] = {}
        whole = False
        for event in events:
            body = plain(event)
            if not isinstance(body, Mapping):
                continue
            match body.get("type"):
                case "message_start":
                    message = dict(body["message"])
                case "content_block_start":
                    blocks[body["index"]] = _Block(body["content_block"])
                case "content_block_delta" if body["index"] in blocks:
                    blocks[body["index"]].add(body["delta"])
                case "message_delta" if message is not None:
                    message.update(body["delta"])
                case "message_stop":
                    whole = True
        if message is None or not whole:
            return None
        return {**message, "content": [blocks[index].whole() for index in sorted(blocks)]}


class _Block:
    """One block of a streamed message being put together."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        self._block = dict(start)
        self._input: list[str] = []

    def add(self, delta: Mapping[str, Any]) -> None:
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._input.append(delta.get("partial_json") or "")
        elif kind == "citations_delta":
            self._block["citations"] = [*(self._block.get("citations") or ()), delta.get("citation")]
        elif isinstance(kind, str) and kind in _DELTAS:
            source, target = _DELTAS[kind]
            self._block[target] = (self._block.get(target) or "") + (delta.get(source) or "")

    def whole(self) -> dict[str, Any]:
        if self._input:
            text = "".join(self._input)
            try:
                self._block["input"] = json.loads(text) if text else {}
            except ValueError:  # cut off by the limit of tokens
                self._block["input"] = text
        return self._block


def _plain_message(message: object) -> object:
    """A message as mappings all through; the SDK takes its own objects for messages and blocks."""
    found = plain(message)
    if isinstance(found, Mapping):
        content = found.get("content")
        if isinstance(content, (list, tuple)) and not (
            isinstance(content, list) and all(isinstance(block, (dict, str)) for block in content)
        ):
            return {**found, "content": _plain_list(content)}
    return found


def _plain_list(value: Any) -> Any:
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _role(item: object) -> str:
    return str(item.get("role") if isinstance(item, Mapping) else getattr(item, "role", ""))


def _alternates(model: str | None) -> bool:
    return model is not None and ("anthropic." in model or "@" in model)


def _content(item: object) -> Any:
    return item.get("content") if isinstance(item, Mapping) else getattr(item, "content", None)


def _blocks(item: object) -> list[Any]:
    content = _content(item)
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content) if isinstance(content, (list, tuple)) else []


def _holds_result(block: object) -> bool:
    found = plain(block)
    return isinstance(found, Mapping) and found.get("type") == "tool_result"


def _part(item: object, stays: Sequence[bool]) -> object:
    """A copy with the results that stay; what stands beside the results belongs to the last of them."""
    flags = iter(stays)
    content = [block for block in _blocks(item) if (next(flags, False) if _holds_result(block) else stays[-1])]
    return {"role": _role(item), "content": content}


def _join(before: object, after: object) -> Sequence[object]:
    blocks = _blocks(before) + _blocks(after)
    blocks.sort(key=lambda block: not _holds_result(block))
    return ({"role": _role(before), "content": blocks},)


def _sendable(block: object) -> Mapping[str, Any] | None:
    found = plain(block)
    if not isinstance(found, Mapping):
        return None
    kind = found.get("type")
    if kind == "tool_use":
        return {"type": "text", "text": canonical_json(found.get("input"))}
    if kind == "text" and not str(found.get("text") or "").strip():
        return None
    return {key: value for key, value in found.items() if key not in _ADDED and value is not None}
