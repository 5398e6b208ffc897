"""The reserved argument on OpenAI's chat completions.

Rules
-----
- Function tools (and the older ``functions``) that are not strict get it. Our texts are a message of their own behind the
  leading system or developer messages, in the role of the first of them.
- Arguments are text and stay byte by byte what they were. ``parsed_arguments`` and ``parsed`` of the SDK's helpers lose it too.
- Of streams see ``findings_openai_chat_stream``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_footprint.core.findings.peeling import RESERVED
from otel_footprint.providers.findings_form import (
    Decorating,
    EmissionMemory,
    Offered,
    Offering,
    as_list,
    as_new_dict,
    field_of,
    take_from_answer,
    take_from_arguments,
    unchanged,
)
from otel_footprint.providers.findings_openai_chat_stream import ChatPeeler
from otel_footprint.providers.native_values import given

_SYSTEM: Final = ("system", "developer")


class OpenAIChatFindings:
    """The form of ``openai.chat``."""

    def offer(self, kwargs: Mapping[str, Any], offering: Offering) -> Offered | None:
        """Decorate the tools and add our texts."""
        new = dict(kwargs)
        decorating = Decorating(offering)
        found = False
        for name, nested in (("tools", True), ("functions", False)):
            if not given(kwargs.get(name)):
                continue
            tools = as_list(kwargs[name])
            found = found or bool(tools)
            new[name] = [_decorated(tool, nested, decorating) for tool in tools]
        if not found:
            return None
        messages = as_list(kwargs.get("messages"))
        place = next((at for at, one in enumerate(messages) if field_of(one, "role") not in _SYSTEM), len(messages))
        role = field_of(messages[0], "role") if place else "system"
        ours = [{"role": role, "content": text} for text in offering.texts if decorating.count]
        rest = [_ticketed(message, offering.tickets) for message in messages[place:]]
        new["messages"] = [*messages[:place], *ours, *rest]
        return decorating.offered(new)

    def has_schema(self, kwargs: Mapping[str, Any]) -> bool:
        """A class, or ``json_schema``."""
        form = kwargs.get("response_format")
        return given(form) and (not isinstance(form, Mapping) or form.get("type") == "json_schema")

    def put_back(self, kwargs: Mapping[str, Any], memory: EmissionMemory) -> dict[str, Any]:
        """Give the model its own words back."""
        messages = as_list(kwargs.get("messages"))
        written = [_with_own_words(message, memory) for message in messages]
        if unchanged(messages, written):
            return dict(kwargs)
        return {**kwargs, "messages": written}

    def take_out(self, response: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
        """Of each choice: its calls, and its text where it is a JSON object."""
        for choice in as_list(getattr(response, "choices", None)):
            message = getattr(choice, "message", None)
            calls = as_list(getattr(message, "tool_calls", None))
            for call in calls:
                _take_from(getattr(call, "function", None), getattr(call, "id", None), memory, owned)
            _take_from(getattr(message, "function_call", None), None, memory, owned)
            content = getattr(message, "content", None)
            if message is not None and isinstance(content, str) and not calls:
                seen = take_from_answer(memory, content)
                if seen is not content:
                    message.content = seen

    def peeler(self, memory: EmissionMemory, owned: frozenset[str]) -> ChatPeeler:
        """One for a stream of chunks, or of the helper's events."""
        return ChatPeeler(memory, owned)


def _decorated(tool: Any, nested: bool, decorating: Decorating) -> Any:
    function = tool.get("function") if nested and isinstance(tool, Mapping) else tool
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return tool
    schema = decorating.schema(function["name"], function.get("parameters"), strict=function.get("strict") is True)
    if schema is None:
        return tool
    changed = {**function, "parameters": schema}
    return {**tool, "function": changed} if nested else changed


def _ticketed(message: Any, tickets: Mapping[str, str]) -> Any:
    id_ = field_of(message, "tool_call_id")
    if not tickets or field_of(message, "role") != "tool" or id_ not in tickets or not isinstance(message, Mapping):
        return message
    return {**message, "content": tickets[id_]}


def _with_own_words(message: Any, memory: EmissionMemory) -> Any:
    if field_of(message, "role") != "assistant":
        return message
    calls = as_list(field_of(message, "tool_calls"))
    if not calls:
        content = field_of(message, "content")
        own = memory.answer(content) if isinstance(content, str) else None
        return message if own is None else {**as_new_dict(message), "content": own}
    written = [_call_with_own_words(call, memory) for call in calls]
    if unchanged(calls, written):
        return message
    return {**as_new_dict(message), "tool_calls": written}


def _call_with_own_words(call: Any, memory: EmissionMemory) -> Any:
    function = field_of(call, "function")
    name, seen = field_of(function, "name"), field_of(function, "arguments")
    if not isinstance(name, str) or not isinstance(seen, str):
        return call
    own = memory.call(field_of(call, "id"), name, seen)
    if own is None:
        return call
    return {**as_new_dict(call), "function": {**as_new_dict(function), "arguments": own}}


def _take_from(function: Any, id_: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
    written = getattr(function, "arguments", None)
    name = getattr(function, "name", None)
    if not isinstance(written, str) or not isinstance(name, str):
        return
    seen = take_from_arguments(memory, owned, id_=id_, tool=name, written=written)
    if seen is not written:
        function.arguments = seen
    parsed = getattr(function, "parsed_arguments", None)
    if isinstance(parsed, dict) and name not in owned:
        parsed.pop(RESERVED, None)
