"""Acting on Google's SDK: a tool loop under a strict provider, in every way to call."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest
from acting_sdk_stage import SdkStage, request_and_last_turn, staged
from google import genai
from google.genai import errors, types

from otel_footprint.testing.provider import Error, Text, ToolCalls, ToolUse

LEFT = Text("W-1042 left today.")
CONFIG = types.GenerateContentConfig(system_instruction="Be kind.")


def call(number: int) -> ToolCalls:
    return ToolCalls([ToolUse("get_order", {"id": f"W-{number}"})], text="Looking.")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[SdkStage]:
    with staged(monkeypatch) as stage:
        stage.director.window = request_and_last_turn
        yield stage


def client_at(url: str) -> genai.Client:
    return genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))


def answer_of(chunks: list[types.GenerateContentResponse]) -> types.Content:
    parts = [part for chunk in chunks for part in (chunk.candidates or [])[0].content.parts or ()]  # type: ignore[union-attr]
    return types.Content(role="model", parts=parts)


def responses_to(content: types.Content) -> list[types.Part]:
    return [
        types.Part.from_function_response(name=str(part.function_call.name), response={"output": "AB-48213"})
        for part in content.parts or ()
        if part.function_call
    ]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("loose", [False, True])
def test_a_tool_loop_keeps_its_list_and_sends_its_window(stage, streamed, loose):
    client = client_at(stage.plays(call(1), call(2), call(3), LEFT))
    contents: list[Any] = ["Where?" if loose else types.UserContent(parts=[types.Part(text="Where?")])]
    for _ in range(4):
        if streamed:
            chunks = list(client.models.generate_content_stream(model="m", contents=contents, config=CONFIG))
        else:
            chunks = [client.models.generate_content(model="m", contents=contents, config=CONFIG)]
        contents.append(answer_of(chunks))
        responses = responses_to(contents[-1])
        if responses:
            contents.append(types.UserContent(parts=responses))
    assert len(contents) == 8
    assert [len(body["contents"]) for body in stage.bodies] == [1, 3, 3, 3]
    first = [[part["text"] for part in body["contents"][0]["parts"]] for body in stage.bodies]
    assert first == [["Where?", "[notice] earlier messages left"]] * 4
    assert stage.tokens == stage.director.made
    stage.check_readings()


def test_an_asynchronous_client(stage):
    url = stage.plays(call(1), LEFT)

    async def main() -> str | None:
        client = client_at(url)
        contents: list[Any] = [types.UserContent(parts=[types.Part(text="Where?")])]
        response = await client.aio.models.generate_content(model="m", contents=contents)
        contents.append(answer_of([response]))
        contents.append(types.UserContent(parts=responses_to(contents[-1])))
        stream = await client.aio.models.generate_content_stream(model="m", contents=contents)
        return "".join([chunk.text or "" async for chunk in stream])

    assert asyncio.run(main()) == "W-1042 left today."
    assert stage.tokens == stage.director.made
    stage.check_readings()


def test_a_chat_keeps_its_history(stage):
    client = client_at(stage.plays(LEFT, LEFT, LEFT))
    chat = client.chats.create(model="m")
    for text in ("a", "b", "c"):
        chat.send_message(text)
    assert [content.parts[0].text for content in chat.get_history() if content.role == "user"] == ["a", "b", "c"]
    assert [len(body["contents"]) for body in stage.bodies] == [1, 1, 1]
    assert stage.tokens == stage.director.made


def get_order(id: str) -> str:
    """Look an order up."""
    return f"{id} left"


def test_functions_called_automatically_run_inside_one_acted_call(stage):
    client = client_at(stage.plays(call(1), call(2), LEFT))
    contents: Any = [
        types.UserContent(parts=[types.Part(text="a")]),
        types.ModelContent(parts=[types.Part(text="b")]),
        types.UserContent(parts=[types.Part(text="c")]),
    ]
    response = client.models.generate_content(model="m", contents=contents, config={"tools": [get_order]})
    assert response.text == "W-1042 left today."
    assert stage.director.seen.count("begin") == 1
    assert [len(body["contents"]) for body in stage.bodies] == [1, 3, 5]
    assert len(contents) == 3


def test_thought_signatures_are_sent_as_they_are(stage):
    called = types.Part(function_call=types.FunctionCall(name="f", args={}), thought_signature=b"sig")
    contents: list[Any] = [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "b"}]},
        {"role": "user", "parts": [{"text": "c"}]},
        types.ModelContent(parts=[called]),
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"output": "x"}}}]},
    ]
    client = client_at(stage.plays(LEFT))
    client.models.generate_content(model="gemini-3-pro", contents=contents)
    assert stage.bodies[0]["contents"][1]["parts"][0]["thoughtSignature"] == "c2ln"
    stage.check_readings()


def test_an_error_and_an_abandoned_stream(stage):
    client = client_at(stage.plays(Error(400), LEFT))
    with pytest.raises(errors.ClientError):
        client.models.generate_content(model="m", contents="a")
    assert stage.director.seen[-1] == "failed"
    stream = client.models.generate_content_stream(model="m", contents="a")
    next(iter(stream))
    stream.close()
    del stream
    gc.collect()
    assert stage.tokens == stage.director.made
