"""The scripted provider plays the same script to every real SDK, plain and streamed."""

from __future__ import annotations

import json
import subprocess
import sys

import anthropic
import boto3
import openai
import pytest
from google import genai
from google.genai import types

from otel_footprint.testing.provider import Error, Raw, ScriptedProvider, Text, ToolCalls, ToolUse

CALL = ToolCalls([ToolUse("get_order", {"id": "W-1"}, id="call-a")], text="One moment.")
HELLO = Text("Order W-1 left today.", input_tokens=11, output_tokens=7)
USER = [{"role": "user", "content": "Where is W-1?"}]


def openai_client(provider: ScriptedProvider) -> openai.OpenAI:
    return openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)


def anthropic_client(provider: ScriptedProvider) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)


def gemini_client(provider: ScriptedProvider) -> genai.Client:
    return genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))


def bedrock_client(provider: ScriptedProvider):
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=provider.bedrock_url,
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )


def test_openai_chat():
    with ScriptedProvider([CALL, HELLO]) as provider, openai_client(provider) as client:
        first = client.chat.completions.create(model="m", messages=USER)
        second = client.chat.completions.create(model="m", messages=USER)
        call = first.choices[0].message.tool_calls[0]
        assert (call.id, call.function.name, json.loads(call.function.arguments)) == (
            "call-a",
            "get_order",
            {"id": "W-1"},
        )
        assert first.choices[0].finish_reason == "tool_calls"
        assert second.choices[0].message.content == HELLO.text
        assert second.usage.prompt_tokens == 11
        assert [request.json["messages"] for request in provider.requests] == [USER, USER]
        assert provider.requests[0].headers["authorization"] == "Bearer x"


def test_openai_chat_stream():
    with ScriptedProvider([CALL, HELLO]) as provider, openai_client(provider) as client:
        with client.chat.completions.stream(model="m", messages=USER) as stream:
            first = stream.get_final_completion()
        assert first.choices[0].message.tool_calls[0].function.arguments == '{"id": "W-1"}'
        options = {"include_usage": True}
        chunks = list(client.chat.completions.create(model="m", messages=USER, stream=True, stream_options=options))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == HELLO.text
        assert chunks[-1].usage.completion_tokens == 7


def test_openai_responses():
    with ScriptedProvider([CALL, HELLO]) as provider, openai_client(provider) as client:
        first = client.responses.create(model="m", input="Where?")
        second = client.responses.create(model="m", input="Where?", previous_response_id=first.id)
        assert first.output[1].call_id == "call-a"
        assert second.output_text == HELLO.text
        assert second.previous_response_id == first.id
        assert client.responses.retrieve(second.id).output_text == HELLO.text


def test_openai_responses_stream():
    with ScriptedProvider([CALL, HELLO]) as provider, openai_client(provider) as client:
        with client.responses.stream(model="m", input="Where?") as stream:
            assert stream.get_final_response().output[1].arguments == '{"id": "W-1"}'
        events = list(client.responses.create(model="m", input="Where?", stream=True))
        assert events[-1].type == "response.completed"
        assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == HELLO.text


def test_anthropic_messages():
    with ScriptedProvider([CALL, HELLO]) as provider, anthropic_client(provider) as client:
        first = client.messages.create(model="m", max_tokens=9, messages=USER)
        second = client.messages.create(model="m", max_tokens=9, messages=USER)
        assert (first.content[1].id, first.content[1].input, first.stop_reason) == ("call-a", {"id": "W-1"}, "tool_use")
        assert second.content[0].text == HELLO.text
        assert second.usage.input_tokens == 11


def test_anthropic_stream():
    with ScriptedProvider([CALL, HELLO]) as provider, anthropic_client(provider) as client:
        with client.messages.stream(model="m", max_tokens=9, messages=USER) as stream:
            assert stream.get_final_message().content[1].input == {"id": "W-1"}
        with client.messages.stream(model="m", max_tokens=9, messages=USER) as stream:
            assert "".join(stream.text_stream) == HELLO.text
            assert stream.get_final_message().usage.output_tokens == 7


def test_gemini():
    with ScriptedProvider([CALL, HELLO, HELLO]) as provider, gemini_client(provider) as client:
        first = client.models.generate_content(model="m", contents="Where?")
        assert first.function_calls[0].args == {"id": "W-1"}
        assert client.models.generate_content(model="m", contents="Where?").text == HELLO.text
        pieces = list(client.models.generate_content_stream(model="m", contents="Where?"))
        assert "".join(piece.text for piece in pieces) == HELLO.text
        assert pieces[-1].usage_metadata.prompt_token_count == 11


def test_bedrock():
    messages = [{"role": "user", "content": [{"text": "Where?"}]}]
    with ScriptedProvider([CALL, HELLO, CALL]) as provider:
        client = bedrock_client(provider)
        first = client.converse(modelId="amazon.nova-lite-v1:0", messages=messages)
        assert first["output"]["message"]["content"][1]["toolUse"]["input"] == {"id": "W-1"}
        second = client.converse(modelId="amazon.nova-lite-v1:0", messages=messages)
        assert second["output"]["message"]["content"][0]["text"] == HELLO.text
        events = list(client.converse_stream(modelId="amazon.nova-lite-v1:0", messages=messages)["stream"])
        assert events[-1]["metadata"]["usage"]["totalTokens"] > 0
        assert any("toolUse" in event.get("contentBlockStart", {}).get("start", {}) for event in events)
        assert provider.requests[0].json == {"messages": messages}
        client.close()


def test_errors_have_the_provider_s_shape():
    with ScriptedProvider(lambda request: Error(429, "slow down", retry_after=0)) as provider:
        with openai_client(provider) as client, pytest.raises(openai.RateLimitError, match="slow down"):
            client.chat.completions.create(model="m", messages=USER)
        with anthropic_client(provider) as client, pytest.raises(anthropic.RateLimitError, match="slow down"):
            client.messages.create(model="m", max_tokens=9, messages=USER)
        with gemini_client(provider) as client, pytest.raises(genai.errors.ClientError, match="slow down"):
            client.models.generate_content(model="m", contents="Where?")


def test_a_broken_stream_gives_its_beginning_then_fails():
    with ScriptedProvider(Text("one two three", break_after=2)) as provider, openai_client(provider) as client:
        seen = []
        stream = client.chat.completions.create(model="m", messages=USER, stream=True)
        with pytest.raises(openai.APIConnectionError):
            seen.extend(stream)
        assert len(seen) == 2


def test_a_broken_plain_answer_fails():
    broken = Text("one", break_after=0)
    with (
        ScriptedProvider(broken) as provider,
        openai_client(provider) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        client.chat.completions.create(model="m", messages=USER)


def test_a_step_too_many_is_an_error_and_repeat_starts_anew():
    with ScriptedProvider([HELLO]) as provider, openai_client(provider) as client:
        client.chat.completions.create(model="m", messages=USER)
        with pytest.raises(openai.InternalServerError, match="no more steps"):
            client.chat.completions.create(model="m", messages=USER)
    with ScriptedProvider(HELLO, repeat=True, record=False) as provider, openai_client(provider) as client:
        ids = [client.chat.completions.create(model="m", messages=USER).id for _ in range(3)]
        assert ids == ["chatcmpl-1", "chatcmpl-2", "chatcmpl-3"]
        assert provider.requests == ()


def test_a_function_and_recorded_responses():
    def answer(request):
        if request.json["messages"] == USER:
            return Raw('{"id":"r","object":"chat.completion","created":1,"model":"m","choices":[]}')
        return Text("other", delay=0.001, pace=0.001)

    with ScriptedProvider(answer) as provider, openai_client(provider) as client:
        assert client.chat.completions.create(model="m", messages=USER).id == "r"
        other = [{"role": "user", "content": "?"}]
        stream = client.chat.completions.create(model="m", messages=other, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "other"


def test_an_unknown_path_is_not_found_and_recorded():
    with ScriptedProvider([HELLO, HELLO]) as provider, openai_client(provider) as client:
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(model="m", input="x")
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve("resp_9")
        assert provider.requests[0].path == "/v1/embeddings"


def test_it_needs_neither_opentelemetry_nor_an_sdk():
    heavy = "opentelemetry openai anthropic google boto3 botocore httpx wrapt rich"
    code = (
        "import sys, otel_footprint.testing.provider as p\n"
        "p.ScriptedProvider([]).close()\n"
        f"print([name for name in {heavy!r}.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
