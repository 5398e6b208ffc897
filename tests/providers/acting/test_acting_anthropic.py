"""Acting on Anthropic's SDK: a tool loop under a strict provider, in every way to call."""

from __future__ import annotations

import asyncio
import copy
import gc
from collections.abc import Iterator, Sequence
from typing import Any

import anthropic
import pytest
from acting_cases import everything
from acting_sdk_stage import SdkStage, request_and_last_turn, staged

from otel_footprint.core.window.items import Item
from otel_footprint.providers.surface import Reading
from otel_footprint.testing.provider import Error, Text, ToolCalls, ToolUse

LEFT = Text("W-1042 left today.")


def call(number: int) -> ToolCalls:
    return ToolCalls([ToolUse("get_order", {"id": f"W-{number}"}, id=f"t{number}")], text="Looking.")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[SdkStage]:
    with staged(monkeypatch) as stage:
        stage.director.window = request_and_last_turn
        yield stage


def client_at(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)


def loop(create: Any, turns: int) -> list[Any]:
    """An agent that appends what it is given, as the SDK's objects."""
    messages: list[Any] = [{"role": "user", "content": "Where are my orders?"}]
    for _ in range(turns):
        response = create(model="m", max_tokens=99, system="Be kind.", messages=messages)
        messages.append({"role": "assistant", "content": response.content})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "AB-48213"}
            for block in response.content
            if block.type == "tool_use"
        ]
        if results:
            messages.append({"role": "user", "content": results})
    return messages


WAYS: dict[str, Any] = {
    "create": lambda client, **kwargs: client.messages.create(**kwargs),
    "beta": lambda client, **kwargs: client.beta.messages.create(**kwargs),
    "parse": lambda client, **kwargs: client.messages.parse(**kwargs),
    "raw": lambda client, **kwargs: client.messages.with_raw_response.create(**kwargs).parse(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_loop_keeps_its_list_and_sends_its_window(stage, way):
    client = client_at(stage.plays(call(1), call(2), call(3), LEFT))
    messages = loop(lambda **kwargs: WAYS[way](client, **kwargs), 4)
    assert len(messages) == 8
    assert [len(body["messages"]) for body in stage.bodies] == [2, 4, 4, 4]
    assert all(
        body["messages"][1] == {"role": "user", "content": "[notice] earlier messages left"} for body in stage.bodies
    )
    assert stage.bodies[3]["messages"][3]["content"][0]["tool_use_id"] == "t3"
    assert stage.tokens == stage.director.made
    stage.check_readings()


def test_streams(stage):
    client = client_at(stage.plays(call(1), call(2), LEFT))

    def create(**kwargs: Any) -> Any:
        with client.messages.stream(**kwargs) as stream:
            return stream.get_final_message()

    messages = loop(create, 3)
    assert messages[-1]["content"][0].text == "W-1042 left today."
    assert stage.tokens == stage.director.made
    stage.check_readings()


def test_an_asynchronous_client(stage):
    url = stage.plays(call(1), LEFT)

    async def main() -> list[Any]:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:
            messages: list[Any] = [{"role": "user", "content": "Where?"}]
            first = await client.messages.create(model="m", max_tokens=9, messages=messages)
            messages += [
                {"role": "assistant", "content": first.content},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
            ]
            async with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
                return (await stream.get_final_message()).content

    assert asyncio.run(main())[0].text == "W-1042 left today."
    assert stage.tokens == stage.director.made
    stage.check_readings()


def test_thinking_and_cache_marks_are_sent_as_they_are(stage):
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
    ]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x", "cache_control": {"type": "ephemeral"}}
    messages: Any = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": content},
        {"role": "user", "content": [result]},
    ]
    before = copy.deepcopy(messages)
    client_at(stage.plays(LEFT)).messages.create(model="m", max_tokens=9, messages=messages)
    assert stage.bodies[0]["messages"][2:] == messages[3:]
    assert messages == before
    stage.check_readings()


def test_an_error_and_an_abandoned_stream(stage):
    client = client_at(stage.plays(Error(500), LEFT))
    messages: Any = [{"role": "user", "content": "a"}]
    with pytest.raises(anthropic.InternalServerError):
        client.messages.create(model="m", max_tokens=9, messages=messages)
    assert stage.director.seen[-1] == "failed"
    stream = client.messages.create(model="m", max_tokens=9, messages=messages, stream=True)
    next(iter(stream))
    stream.close()
    del stream
    gc.collect()
    assert stage.tokens == stage.director.made


def get_order(id: str) -> str:
    """Look an order up."""
    return f"{id} left"


@pytest.mark.parametrize("threads", [True, False])
def test_a_tool_runner_holds_its_window_in_a_thread_or_in_the_list(stage, threads):
    held: list[bool] = []

    def window(reading: Reading) -> Sequence[Item]:
        held.append(reading.server_held)
        return everything(reading) if reading.server_held else request_and_last_turn(reading)

    stage.director.window = window
    client = client_at(stage.plays(call(1), call(2), LEFT))
    more: dict[str, Any] = {} if threads else {"thread": False}
    runner = client.beta.messages.tool_runner(
        model="m",
        max_tokens=9,
        tools=[anthropic.beta_tool(get_order)],
        messages=[{"role": "user", "content": "Where?"}],
        **more,
    )
    assert list(runner)[-1].content[0].text == "W-1042 left today."
    assert held == [threads] * 3
    assert stage.tokens == stage.director.made
