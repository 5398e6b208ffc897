"""Each call of the real SDKs reaches the sink once, with what was sent and what came back, while its span is open."""

from __future__ import annotations

import asyncio
import gc
import json

import anthropic
import openai
import pytest
from genai_watch import USER, anthropic_client, bedrock_client, gemini_client, openai_client
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_footprint.core.messages import ToolCall
from otel_footprint.genai.instrumentation import turn_off
from otel_footprint.testing.provider import Error, Raw, ScriptedProvider, Text, ToolCalls, ToolUse

HELLO = Text("Order W-1 left today.")
CALL = ToolCalls([ToolUse("get_order", {"id": "W-1"}, id="call-a")])
TOOLS = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}]


def test_openai_chat_with_its_tools_and_its_history(watch):
    with ScriptedProvider([CALL, HELLO]) as provider, openai_client(provider) as client:
        first = client.chat.completions.create(model="m", messages=USER, tools=TOOLS)
        history = [
            *USER,
            first.choices[0].message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": "call-a", "content": '{"status": "left"}'},
        ]
        client.chat.completions.create(model="m", messages=history, tools=TOOLS)
    one, two = (seen.call for seen in watch.calls)
    assert (one.operation, one.provider, one.model, one.tools) == ("chat", "openai", "m", ("get_order",))
    assert one.outputs[0].message.tool_calls == (ToolCall("call-a", "get_order", {"id": "W-1"}),)
    assert one.outputs[0].finish_reason == "tool_call"
    assert two.messages[0] is one.messages[0]
    assert two.messages[1] == one.outputs[0].message
    assert two.messages[2].result.content == '{"status": "left"}'
    assert (two.outputs[0].message.text, two.outputs[0].partial) == (HELLO.text, False)
    assert one.response_id != two.response_id
    assert one.now >= one.started_at > 1e9
    spans = watch.sink.chat_spans
    assert [span.context.span_id for span in spans] == [one.ref.span_id, two.ref.span_id]


def test_the_span_is_open_when_the_sink_is_called(watch):
    with ScriptedProvider(HELLO) as provider, openai_client(provider) as client:
        watch.hook._reader._sink = lambda seen: seen.span.set_attribute("set.by.the.sink", 1)
        client.chat.completions.create(model="m", messages=USER)
    (span,) = watch.sink.chat_spans
    assert span.attributes["set.by.the.sink"] == 1


def test_openai_responses_is_one_answer_of_joined_items(watch):
    with ScriptedProvider([ToolCalls([ToolUse("f", {}), ToolUse("g", {})], text="One moment."), HELLO]) as provider:
        client = openai_client(provider)
        first = client.responses.create(model="m", input="hi", instructions="be brief")
        items = [{"role": "user", "content": "hi"}, *(item.model_dump() for item in first.output)]
        results = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "r"}
            for item in first.output
            if item.type == "function_call"
        ]
        client.responses.create(model="m", input=[*items, *results])
    one, two = (seen.call for seen in watch.calls)
    assert len(one.outputs) == 1
    assert [message.text for message in one.system] == ["be brief"]
    assert [message.role for message in two.messages] == ["user", "assistant", "tool", "tool"]
    assert two.messages[1] == one.outputs[0].message


def test_a_fetched_response_is_judged_once_and_only_when_its_answer_was_not_seen(watch):
    with ScriptedProvider([HELLO, HELLO]) as provider, openai_client(provider) as client:
        seen = client.responses.create(model="m", input="hi")
        client.responses.retrieve(seen.id)
        assert len(watch.calls) == 1
        turn_off()
        unseen = client.responses.create(model="m", input="hi")
        watch.on()
        client.responses.retrieve(unseen.id)
        client.responses.retrieve(unseen.id)
    fetched = watch.calls[1].call
    assert len(watch.calls) == 2
    assert (fetched.operation, fetched.messages, fetched.response_id) == ("fetch_response", (), unseen.id)
    assert fetched.outputs[0].message.text == HELLO.text


def test_several_choices(watch):
    with ScriptedProvider(HELLO) as provider, openai_client(provider) as client:
        client.chat.completions.create(model="m", messages=USER, n=1)
    assert [output.choice for output in watch.only.call.outputs] == [0]


def test_anthropic(watch):
    with ScriptedProvider([CALL, HELLO]) as provider, anthropic_client(provider) as client:
        first = client.messages.create(model="c", max_tokens=9, system="be brief", messages=USER)
        history = [
            *USER,
            {"role": "assistant", "content": first.content},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call-a", "content": [{"type": "text", "text": "left"}]},
                    {"type": "text", "text": "be quick"},
                ],
            },
        ]
        client.messages.create(model="c", max_tokens=9, system="be brief", messages=history)
    one, two = (seen.call for seen in watch.calls)
    assert (one.provider, [message.text for message in one.system]) == ("anthropic", ["be brief"])
    assert [message.role for message in two.messages] == ["user", "assistant", "tool"]
    assert two.messages[1] == one.outputs[0].message
    assert two.messages[2].text == "be quick"


def test_gemini(watch):
    with ScriptedProvider([HELLO, HELLO]) as provider:
        client = gemini_client(provider)
        client.models.generate_content(model="g", contents="hi", config={"system_instruction": "be brief"})
        list(client.models.generate_content_stream(model="g", contents="hi"))
    one, two = (seen.call for seen in watch.calls)
    assert (one.operation, one.provider, one.system[0].text) == ("generate_content", "gemini", "be brief")
    assert one.outputs[0].message == two.outputs[0].message


INTERACTION = {
    "id": "int_1",
    "object": "interaction",
    "status": "completed",
    "model": "g",
    "steps": [
        {"type": "model_output", "content": [{"type": "text", "text": "It left "}, {"type": "text", "text": "today."}]}
    ],
}


def test_gemini_interactions_with_and_without_a_history_of_ones_own(watch):
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "Where is W-1?"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "Looking."}]},
        {"type": "function_call", "name": "get_order", "id": "1", "arguments": {"id": "W-1"}},
        {"type": "function_result", "call_id": "1", "name": "get_order", "result": "left"},
    ]
    with ScriptedProvider(Raw(json.dumps(INTERACTION)), repeat=True) as provider:
        google = gemini_client(provider)
        google.interactions.create(model="g", input="And W-2?", previous_interaction_id="int_0")
        google.interactions.create(model="g", input=steps)
    one, two = (seen.call for seen in watch.calls)
    assert (one.operation, one.previous_response_id, one.response_id) == ("interactions.create", "int_0", "int_1")
    assert (one.messages[0].text, [output.message.text for output in one.outputs]) == ("And W-2?", ["It left today."])
    assert [(message.role, message.text) for message in two.messages] == [
        ("user", "Where is W-1?"),
        ("assistant", "Looking."),
        ("tool", ""),
    ]
    assert two.messages[1].tool_calls == (ToolCall("1", "get_order", {"id": "W-1"}),)


def test_bedrock_invoke_model(watch):
    reply = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "It left."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    with ScriptedProvider(Raw(json.dumps(reply))) as provider:
        body = json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": USER})
        bedrock_client(provider).invoke_model(modelId="anthropic.claude-3", body=body)
    seen = watch.only.call
    assert (seen.messages[0].text, seen.outputs[0].message.text) == ("Where is W-1?", "It left.")


def test_bedrock(watch):
    question = [{"role": "user", "content": [{"text": "Where is W-1?"}]}]
    with ScriptedProvider([HELLO, HELLO]) as provider:
        client = bedrock_client(provider)
        client.converse(modelId="b", messages=question, system=[{"text": "be brief"}])
        list(client.converse_stream(modelId="b", messages=question)["stream"])
    one, two = (seen.call for seen in watch.calls)
    assert (one.provider, one.messages[0].text, one.outputs[0].message.text) == (
        "aws.bedrock",
        "Where is W-1?",
        HELLO.text,
    )
    assert one.outputs[0].message == two.outputs[0].message
    assert not watch.sink.open_spans


def test_streams(watch):
    with ScriptedProvider(HELLO, repeat=True) as provider:
        client, other = openai_client(provider), anthropic_client(provider)
        list(client.chat.completions.create(model="m", messages=USER, stream=True))
        with client.chat.completions.stream(model="m", messages=USER) as stream:
            list(stream)
        with client.responses.stream(model="m", input="hi") as stream:
            stream.until_done()
        list(other.messages.create(model="c", max_tokens=9, messages=USER, stream=True))
        with other.messages.stream(model="c", max_tokens=9, messages=USER) as stream:
            list(stream.text_stream)
    assert watch.answers == [HELLO.text] * 5
    assert not any(output.partial for seen in watch.calls for output in seen.call.outputs)


async def test_async(watch):
    with ScriptedProvider(HELLO, repeat=True) as provider:
        client = openai_client(provider, openai.AsyncOpenAI)
        other = anthropic_client(provider, anthropic.AsyncAnthropic)
        await client.chat.completions.create(model="m", messages=USER)
        await client.responses.create(model="m", input="hi")
        async for _ in await client.chat.completions.create(model="m", messages=USER, stream=True):
            pass
        await other.messages.create(model="c", max_tokens=9, messages=USER)
        async with other.messages.stream(model="c", max_tokens=9, messages=USER) as stream:
            async for _ in stream:
                pass
        google = gemini_client(provider)
        await google.aio.models.generate_content(model="g", contents="hi")
    assert watch.answers == [HELLO.text] * 6


async def test_parallel_calls_are_each_judged_once(watch):
    with ScriptedProvider(lambda request: Text(f"echo {len(request.body)}")) as provider:
        client = openai_client(provider, openai.AsyncOpenAI)
        ask = client.chat.completions.create
        await asyncio.gather(*(ask(model="m", messages=[{"role": "user", "content": "x" * n}]) for n in range(1, 21)))
    assert len(watch.answers) == len(set(watch.answers)) == 20


def test_an_abandoned_stream_is_judged_as_partial(watch):
    with ScriptedProvider(Text("alpha beta gamma delta", pieces=4), repeat=True) as provider:
        for make in (
            lambda: openai_client(provider).chat.completions.create(model="m", messages=USER, stream=True),
            lambda: anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER, stream=True),
        ):
            stream = make()
            for event in stream:
                if "alpha" in str(event):
                    break
            del stream, event
            gc.collect()
            output = watch.only.call.outputs[0]
            assert output.partial
            assert output.message.text.startswith("alpha")
            watch.calls.clear()
    assert not watch.sink.open_spans


def test_errors_have_inputs_and_no_outputs(watch):
    with ScriptedProvider(Error(500), repeat=True) as provider:
        with pytest.raises(openai.InternalServerError):
            openai_client(provider).chat.completions.create(model="m", messages=USER)
        with pytest.raises(anthropic.InternalServerError):
            anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER)
    assert [(seen.call.messages[0].text, seen.call.outputs) for seen in watch.calls] == [("Where is W-1?", ())] * 2


def test_raw_and_streaming_responses(watch):
    with ScriptedProvider(HELLO, repeat=True) as provider:
        client, other = openai_client(provider), anthropic_client(provider)
        client.chat.completions.with_raw_response.create(model="m", messages=USER).parse()
        with client.chat.completions.with_streaming_response.create(model="m", messages=USER) as response:
            response.parse()
        other.messages.with_raw_response.create(model="c", max_tokens=9, messages=USER).parse()
        with other.messages.with_streaming_response.create(model="c", max_tokens=9, messages=USER) as response:
            response.parse()
    assert watch.answers == [HELLO.text] * 4


def test_the_sdks_are_as_before_after_turn_off(watch):
    turn_off()
    with ScriptedProvider(HELLO, repeat=True) as provider:
        openai_client(provider).chat.completions.create(model="m", messages=USER)
        anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER)
        google = gemini_client(provider)  # held: a client that is let go closes itself
        google.models.generate_content(model="g", contents="hi")
        bedrock_client(provider).converse(modelId="b", messages=[{"role": "user", "content": [{"text": "hi"}]}])
    assert watch.calls == []
    assert watch.sink.spans == ()
    for method in (
        openai.resources.chat.completions.Completions.create,
        openai.resources.responses.Responses.create,
        anthropic.resources.messages.Messages.create,
        anthropic.resources.messages.Messages.stream,
    ):
        assert not hasattr(method, "_self_wrapper")


def test_without_sampling_everything_is_known_but_the_span(make_watch):
    watch = make_watch(sampler=ALWAYS_OFF).on()
    with ScriptedProvider(HELLO, repeat=True) as provider:
        openai_client(provider).chat.completions.create(model="m", messages=USER)
        list(openai_client(provider).chat.completions.create(model="m", messages=USER, stream=True))
        openai_client(provider).responses.create(model="m", input="hi", previous_response_id="resp_0")
        anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER)
        google = gemini_client(provider)  # held: a client that is let go closes itself
        google.models.generate_content(model="g", contents="hi")
        bedrock_client(provider).converse(modelId="b", messages=[{"role": "user", "content": [{"text": "hi"}]}])
    assert watch.sink.spans == ()
    seen = [(s.call.operation, s.call.provider, s.call.model, s.call.response_id is not None) for s in watch.calls]
    assert seen == [
        ("chat", "openai", "m", True),
        ("chat", "openai", "m", True),
        ("chat", "openai", "m", True),
        ("chat", "anthropic", "c", True),
        ("generate_content", "gemini", "g", True),
        ("chat", "aws.bedrock", "b", False),
    ]
    assert watch.calls[2].call.messages[0].text == "hi"
    reported = [bool(s.call.input_tokens) and bool(s.call.output_tokens) for s in watch.calls]
    assert reported == [True, False, True, True, True, True], (
        "a stream of OpenAI's reports none where nobody asked for it"
    )
    assert all(s.call.ref is not None and not s.span.is_recording() and s.call.started_at for s in watch.calls)


def test_retries_are_one_call(watch):
    with ScriptedProvider([Error(500), HELLO]) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=2)
        client.chat.completions.create(model="m", messages=USER)
    assert watch.answers == [HELLO.text]
