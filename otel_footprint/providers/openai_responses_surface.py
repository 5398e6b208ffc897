"""OpenAI Responses as a surface: ``input`` read, and written with another window.

Rules
-----
- An assistant turn is several items (reasoning, calls, hosted tools, text); they stay or leave together, as the very
  objects the application gave, in their order.
- ``instructions`` and the leading system and developer items are the envelope; ``instructions`` is never touched.
- A plain string is a list of one item, and stays a string where nothing is put beside it.
- With ``previous_response_id`` or ``conversation`` the window is the provider's.
- A failed answer goes back as the items it came as; under ``store=False`` the provider cannot look an item up by its id, so
  reasoning goes back only where it is carried encrypted, and text without the id of its item. A call of a declared answer
  tool goes back as text, since a call without its output would be refused.
- Items of hosted tools go back with a failed answer and are not in its canonical message: the completion hook is not told of
  them in a request, and the draft is known by what the hook is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from otel_footprint.core.messages import Message, ServerToolCall, ServerToolResult
from otel_footprint.core.window.items import Item
from otel_footprint.providers import openai_responses
from otel_footprint.providers.native import leading_system
from otel_footprint.providers.native_values import extra_body, names_of, plain, plains, settled, value_of, word_of
from otel_footprint.providers.openai_chat_surface import with_history
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.surface import Draft, Reading

_HELD: Final = ("previous_response_id", "conversation")
_FINAL: Final = frozenset({"response.completed", "response.incomplete"})
_OURS: Final = frozenset({"parsed", "parsed_arguments"})
"""What the SDK adds to the items of a parsed response; the API does not know it."""


class OpenAIResponses:
    """``responses``: create, parse and stream take the same history."""

    name: Final = "openai.responses"

    def __init__(self) -> None:
        self._remembered: Final = Remembered[Message]()

    def settle(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        return settled(kwargs, "input", "tools")

    def read(self, kwargs: Mapping[str, Any]) -> Reading | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        given, more = value_of(kwargs, "input"), extra_body(kwargs)
        source: Sequence[object]
        if "input" in more:
            return None
        if given is None:
            source = ()
        elif isinstance(given, str):
            source = ({"role": "user", "content": given},)
        elif isinstance(given, Sequence) and not isinstance(given, bytes):
            source = given
        else:
            return None
        natives = openai_responses.read(plains(source), value_of(kwargs, "instructions"), remembered=self._remembered)
        leading = leading_system(natives)
        return Reading(
            provider="openai",
            source=source,
            natives=natives[leading:],
            system=tuple(native.message for native in natives[:leading]),
            envelope=sum(native.at >= 0 for native in natives[:leading]),
            tools=names_of(value_of(kwargs, "tools")),
            model=word_of(kwargs, "model"),
            server_held=any((value_of(kwargs, name) or more.get(name)) is not None for name in _HELD),
        )

    def write(self, kwargs: Mapping[str, Any], reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        return with_history(kwargs, "input", reading, items)

    def draft(self, kwargs: Mapping[str, Any], response: Any, choice: int = 0) -> Draft | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. There is one choice."""
        body = plain(response)
        output = body.get("output") if isinstance(body, Mapping) else None
        if choice != 0 or not isinstance(output, Sequence) or not output:
            return None
        natives = openai_responses.read(plains(output))
        if len(natives) != 1 or natives[0].message.role != "assistant":
            return None
        said = natives[0].message
        if said.tool_calls:
            return _as_text(said, [item for item in output if isinstance(item, Mapping)])
        stored = value_of(kwargs, "store") is not False
        items = tuple(
            _cleaned(item) if stored else _carried(item) for item in output if stored or _can_be_carried(item)
        )
        if not items:
            return None
        parts = tuple(part for part in said.parts if not isinstance(part, (ServerToolCall, ServerToolResult)))
        return Draft(Message("assistant", parts), items)

    def merge(self, kwargs: Mapping[str, Any], events: Sequence[Any]) -> Any | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. The last event carries the whole response."""
        for event in reversed(events):
            if getattr(event, "type", None) in _FINAL:
                return getattr(event, "response", None)
        return None


def _as_text(said: Message, items: Sequence[Mapping[str, Any]]) -> Draft | None:
    arguments = [item.get("arguments", item.get("input")) for item in items if item.get("type", "").endswith("_call")]
    text = "\n".join(filter(None, [said.text, *(value for value in arguments if isinstance(value, str))]))
    if not text:
        return None
    native = {"role": "assistant", "content": text}
    return Draft(openai_responses.read([native])[0].message, (native,))


def _can_be_carried(item: Mapping[str, Any]) -> bool:
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content"))


def _carried(item: Mapping[str, Any]) -> Mapping[str, Any]:
    if item.get("type") != "message":
        return _cleaned(item)
    texts = [block.get("text") or block.get("refusal") or "" for block in item.get("content") or ()]
    return {"role": "assistant", "content": "".join(texts)}


def _cleaned(item: Mapping[str, Any]) -> Mapping[str, Any]:
    kept: dict[str, Any] = {key: value for key, value in item.items() if key not in _OURS and value is not None}
    content = kept.get("content")
    if isinstance(content, list):
        kept["content"] = [_cleaned(block) if isinstance(block, Mapping) else block for block in content]
    return kept
