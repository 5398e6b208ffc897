"""Every way an application may call an SDK, with everything of ours on and without us: it sees the same.

Returned streams are stand-ins of the official instrumentation, which keep ``isinstance`` but not ``type()``: what they
give is compared, with its types.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import boto3
import openai
import pydantic
import pytest
from anthropic import _base_client
from google import genai
from google.genai import types
from replay_clients import PLAIN

import otel_footprint
from otel_footprint.telemetry import names
from otel_footprint.testing.provider import Error, Raw, ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink

ASK = [{"role": "user", "content": "Where is W-1042?"}]
LEFT = Text("W-1042 left today.")
CALL = ToolCalls([ToolUse("get_order", {"id": "W-1042"}, id="call-a")])
TOOL = {
    "type": "function",
    "function": {"name": "get_order", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}},
}


class Order(pydantic.BaseModel):
    id: str


def get_order(id: str) -> str:
    """Look an order up."""
    return f"{id} left today"


@dataclass(frozen=True)
class Way:
    """A way to call. ``judged``: how many answers there are to judge; ``spans``: how many calls of a model."""

    call: Callable[[Any], Any]
    script: Step | list[Step] = LEFT
    judged: int = 1
    spans: int = 1


def seen(value: Any) -> Any:
    """A value as plain data with its types, so that two runs can be compared."""
    if isinstance(value, pydantic.BaseModel):
        return type(value), value.model_dump(mode="json", warnings=False, exclude={"sdk_http_response"})
    if isinstance(value, BaseException):
        return type(value), str(value)
    return [seen(item) for item in value] if isinstance(value, list) else value


def events(manager: Any) -> list[Any]:
    with manager as stream:
        return list(stream)


def two(stream: Any) -> list[Any]:
    with stream:
        iterator = iter(stream)
        return [next(iterator), next(iterator)]


def parsed(manager: Any) -> Any:
    with manager as response:
        return response.parse()


def lines(manager: Any) -> list[str]:
    with manager as response:
        return list(response.iter_lines())


def failing(call: Callable[[], Any], *kinds: type[Exception]) -> Exception:
    with pytest.raises(kinds) as caught:
        call()
    return caught.value


def openai_ways() -> dict[str, Way]:
    chat = {"model": "m", "messages": ASK}
    ask = {"model": "m", "input": "Where is W-1042?"}
    order = Text('{"id": "W-1042"}')
    broken = Text("W-1042 left today.", break_after=3)
    return {
        "chat": Way(lambda c: c.chat.completions.create(**chat)),
        "chat-tools": Way(lambda c: c.chat.completions.create(**chat, tools=[TOOL]), CALL, judged=0),
        "chat-stream": Way(lambda c: list(c.chat.completions.create(**chat, stream=True))),
        "chat-stream-with": Way(lambda c: events(c.chat.completions.create(**chat, stream=True))),
        "chat-stream-helper": Way(lambda c: events(c.chat.completions.stream(**chat))),
        "chat-stream-closed-early": Way(lambda c: two(c.chat.completions.create(**chat, stream=True))),
        "chat-parse": Way(lambda c: c.chat.completions.parse(**chat, response_format=Order), order),
        "chat-raw": Way(lambda c: c.chat.completions.with_raw_response.create(**chat).parse()),
        "chat-raw-body": Way(lambda c: c.chat.completions.with_raw_response.create(**chat).text),
        "chat-raw-stream": Way(
            lambda c: list(c.chat.completions.with_raw_response.create(**chat, stream=True).parse())
        ),
        "chat-not-given": Way(
            lambda c: c.chat.completions.create(**chat, temperature=openai.omit, tools=openai.not_given)
        ),
        "chat-error": Way(lambda c: failing(lambda: c.chat.completions.create(**chat), openai.APIError), Error(400), 0),
        "chat-retried": Way(
            lambda c: c.with_options(max_retries=1).chat.completions.create(**chat), [Error(500, retry_after=0), LEFT]
        ),
        "chat-broken": Way(
            lambda c: failing(lambda: list(c.chat.completions.create(**chat, stream=True)), openai.APIError), broken
        ),
        "chat-no-arguments": Way(lambda c: failing(lambda: c.chat.completions.create(), TypeError), LEFT, 0),
        "responses": Way(lambda c: c.responses.create(**ask)),
        "responses-stream": Way(lambda c: list(c.responses.create(**ask, stream=True))),
        "responses-stream-helper": Way(lambda c: events(c.responses.stream(**ask))),
        "responses-parse": Way(lambda c: c.responses.parse(**ask, text_format=Order), order),
        "responses-raw": Way(lambda c: c.responses.with_raw_response.create(**ask).parse()),
        "responses-error": Way(lambda c: failing(lambda: c.responses.create(**ask), openai.APIError), Error(500), 0),
        "responses-no-json": Way(lambda c: c.responses.create(**ask), Raw("<html>", content_type="text/html"), 0),
        "responses-retrieved": Way(lambda c: c.responses.retrieve(c.responses.create(**ask).id)),
    }


def anthropic_ways() -> dict[str, Way]:
    ask = {"model": "m", "max_tokens": 99, "messages": ASK}
    broken = Text("W-1042 left today.", break_after=4)
    http = getattr(_base_client, "httpx2", None) or _base_client.httpx  # which one depends on the SDK's version
    tool = anthropic.beta_tool(get_order)
    return {
        "create": Way(lambda c: c.messages.create(**ask)),
        "stream": Way(lambda c: list(c.messages.create(**ask, stream=True))),
        "stream-helper": Way(lambda c: events(c.messages.stream(**ask))),
        "stream-closed-early": Way(lambda c: two(c.messages.create(**ask, stream=True)), judged=0),
        "beta": Way(lambda c: c.beta.messages.create(**ask)),
        "beta-stream-helper": Way(lambda c: events(c.beta.messages.stream(**ask))),
        "raw": Way(lambda c: c.messages.with_raw_response.create(**ask).parse()),
        "raw-stream": Way(lambda c: list(c.messages.with_raw_response.create(**ask, stream=True).parse())),
        "streaming-response": Way(lambda c: parsed(c.messages.with_streaming_response.create(**ask))),
        # What passes by line by line is kept by nobody: the official instrumentation has no output to hand on.
        "streaming-response-lines": Way(lambda c: lines(c.messages.with_streaming_response.create(**ask)), judged=0),
        "error": Way(lambda c: failing(lambda: c.messages.create(**ask), anthropic.APIError), Error(529), 0),
        "broken": Way(
            lambda c: failing(lambda: list(c.messages.create(**ask, stream=True)), http.TransportError), broken
        ),
        "tool-runner": Way(
            lambda c: list(c.beta.messages.tool_runner(**ask, tools=[tool])), [CALL, LEFT], judged=1, spans=2
        ),
    }


def gemini_ways() -> dict[str, Way]:
    ask = {"model": "m", "contents": "Where is W-1042?"}
    config = types.GenerateContentConfig(tools=[get_order])
    return {
        "generate": Way(lambda c: c.models.generate_content(**ask)),
        "stream": Way(lambda c: list(c.models.generate_content_stream(**ask))),
        "chat": Way(lambda c: c.chats.create(model="m").send_message("Where is W-1042?")),
        "error": Way(lambda c: failing(lambda: c.models.generate_content(**ask), genai.errors.APIError), Error(400), 0),
        "automatic-tools": Way(lambda c: c.models.generate_content(**ask, config=config), [CALL, LEFT]),
    }


def bedrock_ways() -> dict[str, Way]:
    ask = {
        "modelId": "amazon.nova-lite-v1:0",
        "messages": [{"role": "user", "content": [{"text": "Where is W-1042?"}]}],
    }
    return {
        "converse": Way(lambda c: c.converse(**ask)["output"]),
        "stream": Way(lambda c: list(c.converse_stream(**ask)["stream"])),
        "error": Way(lambda c: failing(lambda: c.converse(**ask), c.exceptions.ClientError), Error(400), 0),
    }


def openai_client(url: str) -> Any:
    http = openai.DefaultHttpxClient(**PLAIN)
    return openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0, http_client=http)


def anthropic_client(url: str) -> Any:
    http = anthropic.DefaultHttpxClient(**PLAIN)
    return anthropic.Anthropic(base_url=url, api_key="x", max_retries=0, http_client=http)


def gemini_client(url: str) -> Any:
    return genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url, client_args=PLAIN))


def bedrock_client(url: str) -> Any:
    keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    return boto3.client("bedrock-runtime", endpoint_url=url, **keys)


WAYS = {
    f"{sdk}-{name}": (client, way)
    for sdk, client, ways in (
        ("openai", openai_client, openai_ways()),
        ("anthropic", anthropic_client, anthropic_ways()),
        ("gemini", gemini_client, gemini_ways()),
        ("bedrock", bedrock_client, bedrock_ways()),
    )
    for name, way in ways.items()
}


def run(client: Callable[[str], Any], way: Way) -> tuple[Any, list[Any]]:
    with ScriptedProvider(way.script) as provider:
        made = client(provider.url)
        result = seen(way.call(made))
        if isinstance(made, openai.OpenAI | anthropic.Anthropic):
            made.close()
        return result, [(request.method, request.path, request.json) for request in provider.requests]


@pytest.fixture
def sink():
    with Sink() as sink:
        yield sink
        otel_footprint.uninstrument()


def turn_on(sink: Sink) -> None:
    otel_footprint.instrument(
        tracer_provider=sink.tracer_provider, meter_provider=sink.meter_provider, logger_provider=sink.logger_provider
    )


@pytest.mark.parametrize("name", WAYS)
def test_it_is_the_same_with_us(name, sink):
    client, way = WAYS[name]
    bare = run(client, way)
    turn_on(sink)
    assert run(client, way) == bare
    assert sink.open_spans == ()
    assert len(sink.chat_spans) == way.spans
    assert sum(point.value for point in sink.metrics(names.METRIC_ANSWERS.name)) == way.judged


def test_a_tool_runner_s_thread_is_one_conversation_with_its_tool_s_result(sink):
    turn_on(sink)
    run(*WAYS["anthropic-tool-runner"])
    first, second = sink.chat_spans
    assert first.attributes[names.CONVERSATION_ID] == second.attributes[names.CONVERSATION_ID]
    assert second.attributes[names.EVIDENCE_VERDICT] == "grounded"


def test_a_window_that_openai_holds_is_one_conversation_with_its_tool_s_result(sink):
    turn_on(sink)
    with ScriptedProvider([CALL, LEFT, Text("As I said, W-1042 left.")]) as provider:
        client = openai_client(provider.url)
        first = client.responses.create(model="m", input="Where is my order?")
        output = {"type": "function_call_output", "call_id": "call-a", "output": "W-1042 left today"}
        second = client.responses.create(model="m", input=[output], previous_response_id=first.id)
        client.responses.create(model="m", input="Really?", previous_response_id=second.id)
        client.close()
    ids = {span.attributes[names.CONVERSATION_ID] for span in sink.chat_spans}
    assert len(ids) == 1
    verdicts = [span.attributes.get(names.EVIDENCE_VERDICT) for span in sink.chat_spans]
    assert verdicts == [None, "grounded", "grounded"]


def test_edits_that_anthropic_made_are_the_provider_s(sink):
    turn_on(sink)
    applied = [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1, "cleared_input_tokens": 9}]
    edited = Text("W-1042 left.", extra={"context_management": {"applied_edits": applied}})
    results = [{"type": "tool_result", "tool_use_id": "call-a", "content": "W-1042 left today"}]
    call = [{"type": "tool_use", "id": "call-a", "name": "get_order", "input": {"id": "W-1042"}}]
    messages = [*ASK, {"role": "assistant", "content": call}, {"role": "user", "content": results}]
    with ScriptedProvider([CALL, edited]) as provider:
        client = anthropic_client(provider.url)
        ask = {"model": "m", "max_tokens": 9, "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
        client.beta.messages.create(**ask, messages=ASK)
        client.beta.messages.create(**ask, messages=messages)
        client.close()
    _, span = sink.chat_spans
    assert span.attributes[names.WINDOW_DECISION] == "clear"
    assert span.attributes[names.WINDOW_DECIDED_BY] == "provider"


async def test_a_cancelled_task_is_cancelled_and_leaves_no_span_open(sink):
    turn_on(sink)
    with ScriptedProvider(Text("never", delay=5)) as provider:
        async with openai.AsyncOpenAI(base_url=provider.openai_url, api_key="x", max_retries=0) as client:
            task = asyncio.create_task(client.chat.completions.create(model="m", messages=ASK))
            while not provider.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert sink.open_spans == ()
    assert len(sink.chat_spans) == 1
