"""Calls that the bare instrumentations lose are judged: inside an open stream, across threads and tasks, inside tools."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading

import anthropic
import openai
import pytest
from genai_watch import USER, anthropic_client, bedrock_client, gemini_client, openai_client
from opentelemetry import trace

from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse

ASK = {"model": "c", "max_tokens": 9, "messages": USER}
QUESTION = [{"role": "user", "content": [{"text": "Where is W-1?"}]}]


def named(request) -> Text:
    """The answer names the API that gave it."""
    return Text(f"from {request.path.partition('?')[0].rpartition('/')[2]} gamma delta")


@pytest.fixture
def provider():
    with ScriptedProvider(named) as provider:
        yield provider


@pytest.fixture(autouse=True)
def no_context_complaints(caplog):
    """OpenTelemetry logs it when a context is left in another thread or task than it was entered."""
    with caplog.at_level(logging.ERROR, "opentelemetry.context"):
        yield
    assert not [record for record in caplog.records if record.name == "opentelemetry.context"]


def current_span() -> trace.Span:
    return trace.get_current_span()


OPEN_STREAMS = {
    "anthropic create": lambda provider: anthropic_client(provider).messages.create(**ASK, stream=True),
    "anthropic beta create": lambda provider: anthropic_client(provider).beta.messages.create(**ASK, stream=True),
    "openai create": lambda provider: openai_client(provider).chat.completions.create(
        model="m", messages=USER, stream=True
    ),
    "bedrock converse_stream": lambda provider: bedrock_client(provider).converse_stream(
        modelId="b", messages=QUESTION
    )["stream"],
}


@pytest.mark.parametrize("kind", OPEN_STREAMS)
def test_a_call_inside_an_open_stream(watch, provider, kind):
    before = current_span()
    stream = iter(OPEN_STREAMS[kind](provider))
    assert current_span() is before
    next(stream)
    openai_client(provider).chat.completions.create(model="m", messages=USER)
    assert watch.answers == ["from completions gamma delta"]
    assert current_span() is before
    list(stream)
    del stream
    assert len(watch.answers) == 2
    assert len(watch.sink.chat_spans) == 2
    assert {span.parent for span in watch.sink.chat_spans} == {None}


def test_a_call_inside_an_open_anthropic_stream_manager(watch, provider):
    with anthropic_client(provider).messages.stream(**ASK) as stream:
        for text in stream.text_stream:
            if text:
                openai_client(provider).chat.completions.create(model="m", messages=USER)
                break
        rest = "".join(stream.text_stream)
    assert rest.endswith("delta")
    assert watch.answers == ["from completions gamma delta", "from messages gamma delta"]
    assert {span.parent for span in watch.sink.chat_spans} == {None}


async def test_a_call_inside_an_open_async_stream(watch, provider):
    client = anthropic_client(provider, anthropic.AsyncAnthropic)
    other = openai_client(provider, openai.AsyncOpenAI)
    async with client.messages.stream(**ASK) as stream:
        async for _ in stream:
            await other.chat.completions.create(model="m", messages=USER)
            break
        await stream.until_done()
    assert watch.answers == ["from completions gamma delta", "from messages gamma delta"]


def test_a_call_inside_an_open_streaming_response(watch, provider):
    with anthropic_client(provider).messages.with_streaming_response.create(**ASK) as response:
        openai_client(provider).chat.completions.create(model="m", messages=USER)
        response.parse()
    assert watch.answers == ["from completions gamma delta", "from messages gamma delta"]


def test_a_stream_is_consumed_in_another_thread(watch, provider):
    for make in OPEN_STREAMS.values():
        stream = make(provider)
        thread = threading.Thread(target=lambda stream=stream: list(stream))
        thread.start()
        thread.join()
        del stream
        openai_client(provider).chat.completions.create(model="m", messages=USER)
        assert len(watch.answers) == 2
        watch.calls.clear()
        assert not current_span().is_recording()


async def test_a_stream_is_consumed_in_another_task(watch, provider):
    client = anthropic_client(provider, anthropic.AsyncAnthropic)

    async def start():
        return await client.messages.create(**ASK, stream=True)

    async def consume(stream):
        return [event async for event in stream]

    stream = await asyncio.create_task(start())
    await asyncio.create_task(consume(stream))
    await client.messages.create(**ASK)
    assert watch.answers == ["from messages gamma delta"] * 2
    assert len(watch.sink.chat_spans) == 2


def test_a_stream_is_abandoned_in_another_thread(watch, provider):
    holder = [anthropic_client(provider).messages.create(**ASK, stream=True)]
    while "from" not in str(next(holder[0])):
        pass

    def let_go():
        holder.clear()
        gc.collect()

    thread = threading.Thread(target=let_go)
    thread.start()
    thread.join()
    openai_client(provider).chat.completions.create(model="m", messages=USER)
    assert [output.partial for seen in watch.calls for output in seen.call.outputs] == [True, False]
    assert not watch.sink.open_spans


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_an_async_stream_is_abandoned_or_cancelled(watch, kind):
    def slow(request):
        return Text("alpha beta gamma", pieces=3, pace=0.2) if b'"stream"' in request.body else Text("plain")

    async def start(provider):
        if kind == "anthropic":
            return await anthropic_client(provider, anthropic.AsyncAnthropic).messages.create(**ASK, stream=True)
        client = openai_client(provider, openai.AsyncOpenAI)
        return await client.chat.completions.create(model="m", messages=USER, stream=True)

    async def read(stream, seen):
        async for event in stream:
            seen.append(str(event))

    with ScriptedProvider(slow) as provider:
        stream = await start(provider)
        async for event in stream:
            if "alpha" in str(event):
                break
        del stream, event
        gc.collect()
        stream, seen = await start(provider), []
        task = asyncio.create_task(read(stream, seen))
        while not any("alpha" in event for event in seen):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task, stream
        await openai_client(provider, openai.AsyncOpenAI).chat.completions.create(model="m", messages=USER)
        gc.collect()
    outputs = [output for seen in watch.calls for output in seen.call.outputs]
    assert sorted((output.message.text.split()[0], output.partial) for output in outputs) == [
        ("alpha", True),
        ("alpha", True),
        ("plain", False),
    ]
    assert not watch.sink.open_spans


def test_the_context_of_a_stream_is_the_one_of_its_request(watch, provider):
    tracer = watch.sink.tracer_provider.get_tracer("app")
    with tracer.start_as_current_span("agent") as agent:
        stream = anthropic_client(provider).messages.create(**ASK, stream=True)
    with tracer.start_as_current_span("elsewhere"):
        stream.response.close()
    seen = watch.only
    assert trace.get_current_span(seen.context).get_span_context().span_id == seen.call.ref.span_id
    (chat,) = watch.sink.chat_spans
    assert chat.parent.span_id == agent.get_span_context().span_id


def test_what_its_tools_returned_is_known_also_where_google_keeps_it_to_itself(watch):
    def script(request):
        if len(request.json["contents"]) == 1:
            return ToolCalls([ToolUse("look_up", {"city": "Rome"})])
        return Text("It is 24 degrees in Rome.")

    def look_up(city: str) -> dict:
        """Look the weather up."""
        return {"degrees": 24}

    look_up.__annotations__ = {"city": str, "return": dict}
    config = {"tools": [look_up], "automatic_function_calling": {"ignore_call_history": True}}
    with ScriptedProvider(script) as provider:
        google = gemini_client(provider)
        google.models.generate_content(model="g", contents="Weather?", config=config)
        list(google.models.generate_content_stream(model="g", contents="Weather?", config=config))
    for seen in watch.calls:
        assert [message.role for message in seen.call.messages] == ["user", "assistant", "tool"]
        assert seen.call.messages[1].tool_calls[0].arguments == {"city": "Rome"}
        assert seen.call.messages[2].result.content == {"degrees": 24}
    assert len(watch.calls) == 2


def test_a_model_call_in_a_tool_that_google_runs_is_one_of_its_own(watch):
    def script(request):
        if "completions" in request.path:
            return Text("inner")
        if len(request.json["contents"]) == 1:
            return ToolCalls([ToolUse("look_up", {"city": "Rome"})])
        return Text("It is 24 degrees in Rome.")

    with ScriptedProvider(script) as provider:

        def look_up(city: str) -> dict:
            """Look the weather up."""
            openai_client(provider).chat.completions.create(model="m", messages=USER)
            return {"degrees": 24, "city": city}

        look_up.__annotations__ = {"city": str, "return": dict}  # older SDKs do not take them as strings
        google = gemini_client(provider)
        answer = google.models.generate_content(model="g", contents="Weather?", config={"tools": [look_up]})
    assert answer.text == "It is 24 degrees in Rome."
    assert watch.answers == ["inner", "It is 24 degrees in Rome."]
    assert len(watch.sink.chat_spans) == 2
    outer = watch.calls[1].call
    assert [message.role for message in outer.messages] == ["user", "assistant", "tool"]
    assert outer.messages[2].result.content == {"result": {"degrees": 24, "city": "Rome"}}
