"""An agent whose every request is planned and written, and checked against the rules of its API."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.genai import _transformers
from surface_histories import Model, Person, Step, Written, append, new

from otel_footprint.core.call import Call, Output
from otel_footprint.core.decisions import Decisions, WindowChange
from otel_footprint.core.messages import Message, Part, Text
from otel_footprint.core.planner import Planned, Planner, PlanRequest
from otel_footprint.core.window.items import Item, Kept
from otel_footprint.core.window.strategy import WindowStrategy
from otel_footprint.providers.anthropic_messages_surface import AnthropicMessages
from otel_footprint.providers.bedrock_surface import BedrockConverse
from otel_footprint.providers.gemini_surface import GeminiGenerateContent
from otel_footprint.providers.openai_chat_surface import OpenAIChat
from otel_footprint.providers.openai_responses_surface import OpenAIResponses
from otel_footprint.providers.rewriting import OPENING, PARTING
from otel_footprint.providers.surface import Reading, Surface
from otel_footprint.testing.wire_rules import problems

SURFACES: dict[str, Surface] = {
    "openai.chat": OpenAIChat(),
    "openai.responses": OpenAIResponses(),
    "anthropic.messages": AnthropicMessages(),
    "anthropic.messages on bedrock": AnthropicMessages(),
    "gemini.generate_content": GeminiGenerateContent(),
    "bedrock.converse": BedrockConverse(),
}
STRICT = {"anthropic.messages on bedrock", "gemini.generate_content", "bedrock.converse"}
LISTS = {
    "openai.chat": "messages",
    "openai.responses": "input",
    "anthropic.messages": "messages",
    "anthropic.messages on bedrock": "messages",
    "gemini.generate_content": "contents",
    "bedrock.converse": "messages",
}


def body(api: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The request as it would be sent, as far as the history goes."""
    if api == "gemini.generate_content":
        contents = _transformers.t_contents(kwargs["contents"])
        sent = [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]
        return {"model": kwargs["model"], "contents": sent}
    return json.loads(json.dumps(dict(kwargs), default=_dumped))


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True)


def check_written(
    api: str, kwargs: Mapping[str, Any], reading: Reading, items: tuple[Item, ...], *, strict: bool = True
) -> dict[str, Any]:
    """Write, and hold the surface to its promises; gives the new arguments. ``strict``: to what every model takes."""
    surface = SURFACES[api]
    key = LISTS[api]
    before = copy.deepcopy({key: list(reading.source)})
    own = [id(item) for item in reading.source]
    written = surface.write(kwargs, reading, items)
    assert [id(item) for item in reading.source] == own
    assert repr(before) == repr({key: list(reading.source)}), "the caller's objects were changed"
    assert kwargs.keys() == written.keys()
    assert all(written[name] is kwargs[name] for name in kwargs if name != key)
    found = problems(api.partition(" ")[0], body(api, written), strict=strict and api in STRICT)  # type: ignore[arg-type]
    assert found == [], (found, written[key])
    _check_identity(reading, items, written[key])
    _check_content(surface, written, reading, items)
    return written


def _check_identity(reading: Reading, items: tuple[Item, ...], history: list[Any]) -> None:
    """An item that stays is the very object; joined ones are copies that hold its very blocks."""
    there = {id(item) for item in history} | {id(block) for item in history for block in _blocks(item)}
    kept = {position for item in items if isinstance(item, Kept) for position in reading.natives[item.index].positions}
    for position in kept:
        source = reading.source[position]
        blocks = _blocks(source)
        held = id(source) in there or (blocks and all(id(b) in there or isinstance(b, str) for b in blocks))
        text = isinstance(source, dict) and isinstance(source.get("content"), str)
        assert held or text, f"item {position} lost its identity"


def _blocks(item: Any) -> list[Any]:
    if isinstance(item, list):
        return item
    found = item.get("content", item.get("parts")) if isinstance(item, dict) else getattr(item, "parts", None)
    return found if isinstance(found, list) else []


def _check_content(surface: Surface, written: dict[str, Any], reading: Reading, items: tuple[Item, ...]) -> None:
    """The model reads what was planned and nothing else, in this order."""
    again = surface.read(written)
    assert again is not None
    planned = [reading.natives[item.index].message if isinstance(item, Kept) else item.message for item in items]
    ours = (Text(OPENING), Text(PARTING))
    assert [_said(part) for part in _parts(again.messages) if part not in ours] == [
        _said(part) for part in _parts(planned)
    ]
    assert [message.key for message in again.system] == [message.key for message in reading.system]


def _parts(messages: Iterable[Message]) -> Iterator[Part]:
    return (part for message in messages for part in message.parts)


def _said(part: Part) -> Any:
    # Ids that Gemini's reader makes up follow the place in the content, which joining moves.
    return (
        type(part).__name__,
        getattr(part, "text", None),
        getattr(part, "name", None),
        getattr(part, "content", None),
    )


def run(
    api: str,
    steps: Iterable[Step],
    strategy: WindowStrategy,
    *,
    tokens: int = 1000,
    revise_every: int = 0,
    **options: Any,
) -> list[tuple[Written, Planned, dict[str, Any]]]:
    """Play the steps: before each of the model's, the request is planned and checked. What was sent, one entry a call."""
    planner = Planner(new_id=iter(f"run-{number}" for number in range(100_000)).__next__)
    app = new(api)
    surface = SURFACES[api]
    sent: list[tuple[Written, Planned, dict[str, Any]]] = []
    for number, step in enumerate(steps):
        if isinstance(step, Model):
            reading = surface.read(surface.settle(app.kwargs))
            assert reading is not None
            request = PlanRequest(
                messages=reading.messages,
                system=reading.system,
                tools=reading.tools,
                model=reading.model,
                conversation_id="c",
                now=float(number),
            )
            visit = planner.begin(request, strategy=strategy, **options)
            result = None if visit.input is None else _driven(strategy.plan(visit.input))
            planned = planner.commit(visit, result)
            assert planned.broken is None, planned.broken
            written = check_written(api, app.kwargs, reading, planned.items)
            sent.append((app, planned, written))
            answer = _answer(surface, app, step)
            if revise_every and number % revise_every == 0:
                failed = Model("It costs 99.", thinks=step.thinks, form=step.form)
                draft, native = _answer(surface, app, failed), _native(app, failed)
                planner.complete(planned, _call(planned, draft, number, tokens), _decided(planned))
                corrected = planner.revise(planned, draft, native, Message("user", (Text("That is in no result."),)))
                check_written(api, app.kwargs, reading, corrected.items)
                planned = corrected
            planner.complete(planned, _call(planned, answer, number, tokens), _decided(planned))
        append(app, step)
    return sent


def _driven(given: Any) -> Any:
    """What a plan gives: none of these strategies waits for anything."""
    if not inspect.iscoroutine(given):
        return given
    try:
        given.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


def _answer(surface: Surface, app: Written, step: Model) -> Message:
    after = new(app.api)
    append(after, Person("?"))
    append(after, step)
    reading = surface.read(after.kwargs)
    assert reading is not None
    return next(message for message in reading.messages if message.role == "assistant")


def _native(app: Written, step: Model) -> tuple[Any, ...]:
    after = new(app.api)
    before = len(after.history)
    append(after, step)
    return tuple(after.history[before:])


def _call(planned: Planned, output: Message, number: int, tokens: int) -> Call:
    return Call(
        messages=planned.window,
        outputs=(Output(output),),
        now=float(number),
        input_tokens=tokens,
        output_tokens=1,
        planned=planned.facts(),
        conversation_id="c",
        conversation_source="explicit",
    )


def _decided(planned: Planned) -> Decisions:
    window = WindowChange("append", "application", 0, 0, 0, 0)
    return Decisions("c", False, "explicit", 1, None, planned.turn, planned.iteration, window, 0)
