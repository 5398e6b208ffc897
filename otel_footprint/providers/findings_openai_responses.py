"""The reserved argument on OpenAI's responses.

Rules
-----
- Function tools are strict unless they say otherwise; those that say so get it. Our texts go into ``instructions``, behind the
  application's: they are not carried over to a later response, so a window that the provider holds does not collect them.
- Arguments are text and stay byte by byte what they were; ``parsed_arguments`` of the SDK's helper loses it too.
- A response repeats the instructions and the tools of the request; there ours are taken out too.
- In a stream the deltas are changed in place; what is held back comes as one more delta before the event that says that the
  arguments are whole. Events and snapshots that hold the whole hold it without. An event's own object is copied before it is
  changed where the SDK goes on using it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from otel_footprint.core.findings.offer import INSTRUCTION_BEGINS
from otel_footprint.core.findings.peeling import RESERVED
from otel_footprint.providers.findings_form import (
    Arriving,
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
from otel_footprint.providers.native_values import given


class OpenAIResponsesFindings:
    """The form of ``openai.responses``."""

    def offer(self, kwargs: Mapping[str, Any], offering: Offering) -> Offered | None:
        """Decorate the tools and add our texts to the instructions."""
        tools = as_list(kwargs.get("tools")) if given(kwargs.get("tools")) else []
        if not tools:
            return None
        decorating = Decorating(offering)
        new = dict(kwargs)
        new["tools"] = [_decorated(tool, decorating) for tool in tools]
        instructions = kwargs.get("instructions")
        if decorating.count and (isinstance(instructions, str) or not given(instructions)):
            theirs = [instructions] if isinstance(instructions, str) and instructions else []
            new["instructions"] = "\n\n".join([*theirs, *offering.texts])
        items = kwargs.get("input")
        if offering.tickets and isinstance(items, list):
            new["input"] = [_ticketed(item, offering.tickets) for item in items]
        return decorating.offered(new)

    def has_schema(self, kwargs: Mapping[str, Any]) -> bool:
        """A class, or ``json_schema``."""
        form = field_of(kwargs.get("text"), "format")
        return given(kwargs.get("text_format")) or field_of(form, "type") == "json_schema"

    def put_back(self, kwargs: Mapping[str, Any], memory: EmissionMemory) -> dict[str, Any]:
        """Give the model its own words back."""
        items = kwargs.get("input")
        if not isinstance(items, (list, tuple)):
            return dict(kwargs)
        written = [_with_own_words(item, memory) for item in items]
        if unchanged(items, written):
            return dict(kwargs)
        return {**kwargs, "input": written}

    def take_out(self, response: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
        """Of each item of the output: its arguments, or its text where that is a JSON object."""
        for item in as_list(getattr(response, "output", None)):
            take_from_item(item, memory, owned)
        for tool in as_list(getattr(response, "tools", None)):  # the API repeats the request
            parameters = getattr(tool, "parameters", None)
            properties = parameters.get("properties") if isinstance(parameters, dict) else None
            if isinstance(properties, dict) and getattr(tool, "name", None) not in owned:
                properties.pop(RESERVED, None)
        instructions = getattr(response, "instructions", None)
        if isinstance(instructions, str) and INSTRUCTION_BEGINS in instructions:
            response.instructions = instructions.partition(INSTRUCTION_BEGINS)[0].removesuffix("\n\n") or None

    def peeler(self, memory: EmissionMemory, owned: frozenset[str]) -> ResponsesPeeler:
        """One for a stream of events."""
        return ResponsesPeeler(self, memory, owned)


def _decorated(tool: Any, decorating: Decorating) -> Any:
    if field_of(tool, "type") != "function" or not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
        return tool
    schema = decorating.schema(tool["name"], tool.get("parameters"), strict=tool.get("strict") is not False)
    return tool if schema is None else {**tool, "parameters": schema}


def _ticketed(item: Any, tickets: Mapping[str, str]) -> Any:
    ticket = tickets.get(field_of(item, "call_id")) if field_of(item, "type") == "function_call_output" else None
    return item if ticket is None else {**as_new_dict(item), "output": ticket}


def _with_own_words(item: Any, memory: EmissionMemory) -> Any:
    kind = field_of(item, "type")
    if kind == "function_call":
        name, seen = field_of(item, "name"), field_of(item, "arguments")
        if isinstance(name, str) and isinstance(seen, str):
            own = memory.call(field_of(item, "call_id"), name, seen)
            return item if own is None else {**as_new_dict(item), "arguments": own}
        return item
    if field_of(item, "role") != "assistant":
        return item
    content = field_of(item, "content")
    if isinstance(content, str):
        answer = memory.answer(content)
        return item if answer is None else {**as_new_dict(item), "content": answer}
    parts = as_list(content)
    text = field_of(parts[0], "text") if len(parts) == 1 else None
    answer = memory.answer(text) if isinstance(text, str) else None
    if answer is None:
        return item
    return {**as_new_dict(item), "content": [{**as_new_dict(parts[0]), "text": answer}]}


def take_from_item(item: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
    """Take it out of one output item, in place."""
    kind = getattr(item, "type", None)
    if kind == "function_call":
        written, name = getattr(item, "arguments", None), getattr(item, "name", None)
        if isinstance(written, str) and isinstance(name, str):
            seen = take_from_arguments(memory, owned, id_=getattr(item, "call_id", None), tool=name, written=written)
            if seen is not written:
                item.arguments = seen
            parsed = getattr(item, "parsed_arguments", None)
            if isinstance(parsed, dict) and name not in owned:
                parsed.pop(RESERVED, None)
    elif kind == "message":
        parts = as_list(getattr(item, "content", None))
        for part in parts:
            text = getattr(part, "text", None)
            if isinstance(text, str) and len(parts) == 1:
                part.text = take_from_answer(memory, text)


class ResponsesPeeler:
    """Peels the events of one stream, raw or of the SDK's helper."""

    def __init__(self, form: OpenAIResponsesFindings, memory: EmissionMemory, owned: frozenset[str]) -> None:
        self._form = form
        self._memory = memory
        self._owned = owned
        self._names: dict[int, str] = {}
        self._calls: dict[int, tuple[Arriving, Any]] = {}
        self._texts: dict[tuple[int, int], tuple[Arriving, Any]] = {}

    def feed(self, event: Any) -> Iterable[Any]:
        """The event, or a changed copy of it; before one that says that something is whole, what was held back of it."""
        match getattr(event, "type", None):
            case "response.output_item.added":
                item = getattr(event, "item", None)
                name = getattr(item, "name", None)
                if isinstance(name, str):
                    self._names[event.output_index] = name
                return (event,)
            case "response.function_call_arguments.delta":
                if self._names.get(event.output_index) in self._owned:
                    return (event,)
                arriving, _ = self._calls.get(event.output_index, (Arriving(), None))
                return (self._delta(self._calls, event.output_index, arriving, event),)
            case "response.output_text.delta":
                place = (event.output_index, event.content_index)
                arriving, _ = self._texts.get(place, (Arriving(), None))
                return (self._delta(self._texts, place, arriving, event),)
            case "response.function_call_arguments.done":
                return self._whole(self._calls, event.output_index, event, "arguments")
            case "response.output_text.done":
                return self._whole(self._texts, (event.output_index, event.content_index), event, "text")
            case "response.content_part.done":
                part = event.part
                text = getattr(part, "text", None)
                if isinstance(text, str) and (seen := take_from_answer(self._memory, text)) is not text:
                    return (event.model_copy(update={"part": part.model_copy(update={"text": seen})}),)
                return (event,)
            case "response.output_item.done":
                item = event.item.model_copy(deep=True)
                take_from_item(item, self._memory, self._owned)
                return (event.model_copy(update={"item": item}),)
            case _ if hasattr(
                event, "response"
            ):  # the whole so far, with the instructions and the tools of the request
                return (event.model_copy(update={"response": self.result(event.response)}),)
            case _:
                return (event,)

    def close(self) -> Iterable[Any]:
        """Nothing is owed: a stream that broke off gives what it gave."""
        return ()

    def result(self, value: Any) -> Any:
        """A response that a helper gives, without it: a copy, since the SDK goes on using its own."""
        if not hasattr(value, "output") or not hasattr(value, "model_copy"):
            return value
        copy = value.model_copy(deep=True)
        self._form.take_out(copy, self._memory, self._owned)
        return copy

    def _delta(self, arriving_of: dict[Any, tuple[Arriving, Any]], place: Any, arriving: Arriving, event: Any) -> Any:
        arriving_of[place] = (arriving, event)
        changes = {"delta": arriving.feed(event.delta)}
        if isinstance(getattr(event, "snapshot", None), str):
            changes["snapshot"] = arriving.seen
        return event.model_copy(update=changes)

    def _whole(self, arriving_of: dict[Any, tuple[Arriving, Any]], place: Any, event: Any, field: str) -> Iterable[Any]:
        if place not in arriving_of:
            return (event,)
        arriving, last = arriving_of.pop(place)
        rest = arriving.close()
        events: list[Any] = []
        if rest:
            changes = {"delta": rest}
            if isinstance(getattr(last, "snapshot", None), str):
                changes["snapshot"] = arriving.seen
            events.append(last.model_copy(update=changes))
        if getattr(event, field) != arriving.seen:
            event = event.model_copy(update={field: arriving.seen})
        return (*events, event)
