"""The reserved argument on Gemini's ``generate_content``.

Rules
-----
- Declared functions get it, in the form their parameters are written in (Google's schema, or JSON schema). Python functions
  are left alone: the SDK makes their schema, and calls them with what the model gives. Our texts are parts of their own at
  the end of the system instruction.
- Arguments are an object, so what goes back is equal JSON. A stream gives each call whole; a text may come in pieces.
- The history that automatic function calling hands out loses it too. Contents of the model keep their signatures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from otel_footprint.core.findings.peeling import RESERVED
from otel_footprint.providers.findings_form import (
    Arriving,
    Decorating,
    EmissionMemory,
    Offered,
    Offering,
    as_list,
    field_of,
    take_from_answer,
    take_from_arguments,
    unchanged,
)

_LISTS = (list, tuple)


class GeminiFindings:
    """The form of ``gemini.generate_content``."""

    def offer(self, kwargs: Mapping[str, Any], offering: Offering) -> Offered | None:
        """Decorate the tools and add our texts to the system instruction."""
        config = kwargs.get("config")
        tools = as_list(field_of(config, "tools")) if config is not None else []
        if not tools:
            return None
        decorating = Decorating(offering)
        changes: dict[str, Any] = {"tools": [_decorated_tool(tool, decorating) for tool in tools]}
        if offering.texts and decorating.count:
            changes["system_instruction"] = _with_texts(field_of(config, "system_instruction"), offering.texts)
        new = dict(kwargs)
        new["config"] = _changed(config, changes)
        contents = kwargs.get("contents")
        if offering.tickets and isinstance(contents, list):
            new["contents"] = [_ticketed(content, offering.tickets) for content in contents]
        return decorating.offered(new)

    def has_schema(self, kwargs: Mapping[str, Any]) -> bool:
        """A schema of either kind."""
        config = kwargs.get("config")
        return any(field_of(config, name) is not None for name in ("response_schema", "response_json_schema"))

    def put_back(self, kwargs: Mapping[str, Any], memory: EmissionMemory) -> dict[str, Any]:
        """Give the model its own words back."""
        contents = kwargs.get("contents")
        if not isinstance(contents, list):
            return dict(kwargs)
        written = [_with_own_words(content, memory) for content in contents]
        if unchanged(contents, written):
            return dict(kwargs)
        return {**kwargs, "contents": written}

    def take_out(self, response: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
        """Of each candidate: its calls, and its text where that is all there is and a JSON object."""
        for candidate in as_list(getattr(response, "candidates", None)):
            _take_from_content(getattr(candidate, "content", None), memory, owned)
        for content in as_list(getattr(response, "automatic_function_calling_history", None)):
            if field_of(content, "role") == "model":
                _take_from_content(content, memory, owned)

    def peeler(self, memory: EmissionMemory, owned: frozenset[str]) -> GeminiPeeler:
        """One for a stream of responses."""
        return GeminiPeeler(memory, owned)


def _changed(value: Any, changes: dict[str, Any]) -> Any:
    """A copy with other fields: of a dict, or of an object of the SDK."""
    return {**value, **changes} if isinstance(value, Mapping) else value.model_copy(update=changes)


def _with_texts(system: Any, texts: tuple[str, ...]) -> Any:
    if system is None or system == "":
        return list(texts)
    if isinstance(system, _LISTS):
        return [*system, *texts]
    parts = field_of(system, "parts") if not isinstance(system, str) else None
    if parts is None:
        return [system, *texts]  # a text or a part
    return {"role": field_of(system, "role") or "user", "parts": [*parts, *({"text": text} for text in texts)]}


def _decorated_tool(tool: Any, decorating: Decorating) -> Any:
    declared = as_list(field_of(tool, "function_declarations"))
    if not declared:
        if callable(tool) and isinstance(getattr(tool, "__name__", None), str):
            decorating.leave(tool.__name__, "no-schema")
        return tool
    made = [_decorated(function, decorating) for function in declared]
    return _changed(tool, {"function_declarations": made})


def _decorated(function: Any, decorating: Decorating) -> Any:
    name = str(field_of(function, "name"))
    as_json = field_of(function, "parameters_json_schema")
    own = field_of(function, "parameters") if as_json is None else None
    schema = _properties_of(own) if as_json is None else as_json
    made = decorating.schema(name, schema, strict=False)
    if made is None:
        return function
    if own is None:
        return _changed(function, {"parameters_json_schema": made})
    argument = google_schema(decorating.reserved)
    if isinstance(own, Mapping):
        return _changed(
            function, {"parameters": {**own, "properties": {**(schema or {})["properties"], RESERVED: argument}}}
        )
    properties = {**(own.properties or {}), RESERVED: type(own).model_validate(argument)}
    return _changed(function, {"parameters": own.model_copy(update={"properties": properties})})


def _properties_of(schema: Any) -> dict[str, Any] | None:
    """What ``decorate`` looks at of Google's schema."""
    if schema is None:
        return None
    kind = field_of(schema, "type")
    word = getattr(kind, "value", kind)
    return {"type": word if isinstance(word, str) else "object", "properties": field_of(schema, "properties") or {}}


def google_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema of ours in Google's form: types in capitals, several types as alternatives, null as ``nullable``."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, list):
            kinds = [kind for kind in value if kind != "null"]
            made["any_of"] = [{"type": kind.upper()} for kind in kinds]
            if len(kinds) < len(value):
                made["nullable"] = True
        elif key == "type":
            made["type"] = value.upper()
        elif key == "properties":
            made["properties"] = {name: google_schema(inner) for name, inner in value.items()}
        elif key == "items":
            made["items"] = google_schema(value)
        else:
            made[key] = value
    return made


def _ticketed(content: Any, tickets: Mapping[str, str]) -> Any:
    return _with_parts(content, lambda part: _part_ticketed(part, tickets))


def _part_ticketed(part: Any, tickets: Mapping[str, str]) -> Any:
    answered = field_of(part, "function_response")
    ticket = tickets.get(str(field_of(answered, "id"))) if answered is not None else None
    if ticket is None:
        return part
    return _changed(part, {"function_response": _changed(answered, {"response": json.loads(ticket)})})


def _with_own_words(content: Any, memory: EmissionMemory) -> Any:
    if isinstance(content, (str, *_LISTS)) or field_of(content, "role") != "model":
        return content
    alone = len(as_list(field_of(content, "parts"))) == 1
    return _with_parts(content, lambda part: _part_with_own_words(part, memory, alone=alone))


def _part_with_own_words(part: Any, memory: EmissionMemory, *, alone: bool) -> Any:
    call, text = field_of(part, "function_call"), field_of(part, "text")
    if call is not None:
        own = memory.call(field_of(call, "id"), str(field_of(call, "name")), field_of(call, "args"))
        return part if own is None else _changed(part, {"function_call": _changed(call, {"args": own})})
    if isinstance(text, str) and alone and not field_of(part, "thought"):
        answer = memory.answer(text)
        return part if answer is None else _changed(part, {"text": answer})
    return part


def _with_parts(content: Any, change: Any) -> Any:
    parts = as_list(field_of(content, "parts"))
    made = [change(part) for part in parts]
    return content if unchanged(parts, made) else _changed(content, {"parts": made})


def _take_from_content(content: Any, memory: EmissionMemory, owned: frozenset[str]) -> None:
    parts = as_list(getattr(content, "parts", None))
    calls = [part.function_call for part in parts if getattr(part, "function_call", None) is not None]
    _take_from_calls(calls, memory, owned)
    texts = [part for part in parts if isinstance(part.text, str) and not getattr(part, "thought", None)]
    if len(texts) == 1 and not calls:
        seen = take_from_answer(memory, texts[0].text)
        if seen is not texts[0].text:
            texts[0].text = seen


def _take_from_calls(calls: list[Any], memory: EmissionMemory, owned: frozenset[str]) -> None:
    for call in calls:
        seen = take_from_arguments(memory, owned, id_=call.id, tool=str(call.name), written=call.args)
        if seen is not call.args:
            call.args = seen


class GeminiPeeler:
    """Peels the responses of one stream."""

    def __init__(self, memory: EmissionMemory, owned: frozenset[str]) -> None:
        self._memory = memory
        self._owned = owned
        self._texts: dict[int, Arriving] = {}
        self._calls: set[int] = set()

    def feed(self, event: Any) -> Iterable[Any]:
        """A changed copy: whoever observes the stream looks at the SDK's own responses when it has ended."""
        if not as_list(getattr(event, "candidates", None)):
            return (event,)
        event = event.model_copy(deep=True)
        for place, candidate in enumerate(event.candidates):
            number = place if getattr(candidate, "index", None) is None else candidate.index
            parts = as_list(getattr(getattr(candidate, "content", None), "parts", None))
            calls = [part.function_call for part in parts if getattr(part, "function_call", None) is not None]
            _take_from_calls(calls, self._memory, self._owned)
            last = None
            for part in parts:
                if isinstance(part.text, str) and not getattr(part, "thought", None):
                    part.text = self._texts.setdefault(number, Arriving()).feed(part.text)
                    last = part
            if getattr(candidate, "finish_reason", None) is not None:
                self._end(number, candidate, last)
        return (event,)

    def close(self) -> Iterable[Any]:
        """Nothing is owed: a stream that broke off gives what it gave."""
        return ()

    def result(self, value: Any) -> Any:
        """The SDK has no helpers that give a whole."""
        return value

    def _end(self, number: int, candidate: Any, last: Any) -> None:
        arriving = self._texts.pop(number, None)
        if arriving is None:
            return
        rest = arriving.close()
        if rest and last is not None:
            last.text += rest
        if arriving.removed:
            self._memory.keep_answer(arriving.seen, arriving.written)
