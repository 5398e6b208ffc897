"""What a server or an application sends that an official instrumentation does not expect: the call goes as it goes bare."""

from __future__ import annotations

import json
import logging

import pytest
from genai_watch import USER, openai_client
from opentelemetry import context

import otel_footprint
from otel_footprint import boundary
from otel_footprint.testing.provider import Raw, ScriptedProvider, Text
from otel_footprint.testing.sink import Sink

CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
WHOLE = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}


def chunks(*deltas: dict, **more) -> Raw:
    events = [{**CHUNK, "choices": [{"index": 0, "delta": delta, **more}]} for delta in deltas]
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return Raw("".join((*lines, "data: [DONE]\n\n")), content_type="text/event-stream")


def message(**fields) -> Raw:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **fields}}
    return Raw(json.dumps({**WHOLE, "choices": [choice]}))


def calling(arguments) -> dict:
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": arguments}]}


RESPONSES = {
    "arguments that are an object": message(tool_calls=[{"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}]),
    "arguments nested beyond measure": message(
        tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "[" * 100_000}}]
    ),
    "arguments with a number beyond measure": message(
        tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "9" * 6_000}}]
    ),
    "a choice that is null": Raw(json.dumps({**WHOLE, "choices": [None]})),
    "usage in words": Raw(json.dumps({**WHOLE, "choices": [], "usage": "none"})),
    "usage with a number in words": Raw(json.dumps({**WHOLE, "choices": [], "usage": {"completion_tokens": "7"}})),
}
STREAMS = {
    "a tool call without an index": chunks({"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}),
    "a tool call that is null": chunks({"tool_calls": [None]}),
    "a tool call beyond measure": chunks({"tool_calls": [{"index": 3_000_000, "id": "1", "function": {"name": "f"}}]}),
    "arguments that are an object": chunks({"tool_calls": [{"index": 0, "id": "1", "function": {"arguments": {}}}]}),
    "content that is a list": chunks({"content": [{"type": "text", "text": "x"}]}),
    "a choice beyond measure": chunks({"content": "x"}, index=3_000_000),
    "a choice without an index": chunks({"content": "x"}, index=None),
}
REQUESTS = {
    "arguments that are an object": calling({"name": "f", "arguments": {"a": 1}}),
    "arguments that are a list": calling({"name": "f", "arguments": ["a"]}),
    "arguments nested beyond measure": calling({"name": "f", "arguments": "[" * 100_000}),
    "tool calls that are a number": {"role": "assistant", "tool_calls": 5},
}


@pytest.fixture
def sink():
    with Sink() as sink:
        otel_footprint.instrument(
            tracer_provider=sink.tracer_provider,
            meter_provider=sink.meter_provider,
            logger_provider=sink.logger_provider,
        )
        before = dict(context.get_current())
        yield sink
        otel_footprint.uninstrument()
        assert dict(context.get_current()) == before
        assert not sink.open_spans
    boundary.after_fork_in_child()


@pytest.fixture(autouse=True)
def quiet(caplog):
    with caplog.at_level(logging.CRITICAL, "otel_footprint"):
        yield


@pytest.mark.parametrize("kind", RESPONSES)
def test_a_response(sink, kind):
    with ScriptedProvider(RESPONSES[kind]) as provider:
        response = openai_client(provider).chat.completions.create(model="m", messages=USER)
    assert response.id == "x"
    assert len(sink.chat_spans) == 1


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream(sink, kind):
    with ScriptedProvider(STREAMS[kind]) as provider:
        stream = openai_client(provider).chat.completions.create(model="m", messages=USER, stream=True)
        assert len(list(stream)) == 1
    assert len(sink.chat_spans) == 1


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_request(sink, kind):
    messages = [*USER, REQUESTS[kind], {"role": "tool", "tool_call_id": "c", "content": "AB-1234"}]
    with ScriptedProvider(Text("It is AB-1234.")) as provider:
        openai_client(provider).chat.completions.create(model="m", messages=messages)
        assert provider.requests[0].json["messages"] == messages
    assert sink.chat_spans[0].attributes["agentfootprint.evidence.verdict"] == "grounded"


def test_a_tool_call_of_a_stream_without_an_index_is_a_tool_call(watch):
    deltas = [{"id": "1", "function": {"name": "f", "arguments": ""}}, {"function": {"arguments": '{"a":1}'}}]
    script = chunks(*({"tool_calls": [delta]} for delta in deltas))
    with ScriptedProvider(script) as provider:
        list(openai_client(provider).chat.completions.create(model="m", messages=USER, stream=True))
    calls = watch.calls[0].call.outputs[0].message.tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [("1", "f", {"a": 1})]


@pytest.mark.parametrize(
    "output", [None, [None], [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "[" * 100_000}]]
)
def test_a_response_of_the_responses_api(sink, output):
    body = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": output}
    with ScriptedProvider(Raw(json.dumps(body))) as provider:
        assert openai_client(provider).responses.create(model="m", input="q").id == "r"


def test_everything_is_put_back(sink):
    from opentelemetry.instrumentation.genai.openai import chat_buffers, chat_wrappers, utils

    with ScriptedProvider(chunks({"content": "x"})) as provider:
        list(openai_client(provider).chat.completions.create(model="m", messages=USER, stream=True))
    otel_footprint.uninstrument()
    for function in (
        utils._prepare_input_messages,
        chat_buffers.ChoiceBuffer.append_tool_call,
        chat_wrappers.ChatStreamWrapper._process_chunk,
    ):
        assert not hasattr(function, "__wrapped__")
