"""Acting on botocore's client for Bedrock: a tool loop under a strict provider; the SDK checks every parameter."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from acting_sdk_stage import SdkStage, request_and_last_turn, staged
from botocore.config import Config

from otel_footprint.testing.provider import Error, Text, ToolCalls, ToolUse

LEFT = Text("W-1042 left today.")
MODEL = "amazon.nova-lite-v1:0"


def call(number: int) -> ToolCalls:
    return ToolCalls([ToolUse("get_order", {"id": f"W-{number}"}, id=f"t{number}")], text="Looking.")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[SdkStage]:
    with staged(monkeypatch) as stage:
        stage.director.window = request_and_last_turn
        yield stage


def client_at(url: str) -> Any:
    keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    once = Config(retries={"total_max_attempts": 1})
    return boto3.client("bedrock-runtime", endpoint_url=url, config=once, **keys)


def converse(client: Any, messages: list[Any]) -> list[Any]:
    response = client.converse(modelId=MODEL, messages=messages, system=[{"text": "Be kind."}])
    return list(response["output"]["message"]["content"])


def converse_stream(client: Any, messages: list[Any]) -> list[Any]:
    response = client.converse_stream(modelId=MODEL, messages=messages, system=[{"text": "Be kind."}])
    events = list(response["stream"])
    text = "".join(
        event["contentBlockDelta"]["delta"].get("text", "") for event in events if "contentBlockDelta" in event
    )
    uses = [
        {"toolUse": {**event["contentBlockStart"]["start"]["toolUse"], "input": {}}}
        for event in events
        if "contentBlockStart" in event
    ]
    return [{"text": text}, *uses]


@pytest.mark.parametrize("ask", [converse, converse_stream])
def test_a_tool_loop_keeps_its_list_and_sends_its_window(stage, ask):
    client = client_at(stage.plays(call(1), call(2), call(3), LEFT))
    messages: list[Any] = [{"role": "user", "content": [{"text": "Where?"}]}]
    for _ in range(4):
        before = copy.deepcopy(messages)
        content = ask(client, messages)
        assert messages == before
        messages.append({"role": "assistant", "content": content})
        results = [
            {"toolResult": {"toolUseId": block["toolUse"]["toolUseId"], "content": [{"json": {"order": "AB-48213"}}]}}
            for block in content
            if "toolUse" in block
        ]
        if results:
            messages.append({"role": "user", "content": results})
    assert messages[-1]["content"][0]["text"] == "W-1042 left today."
    assert [len(body["messages"]) for body in stage.bodies] == [1, 3, 3, 3]
    notice = [{"text": "Where?"}, {"text": "[notice] earlier messages left"}]
    assert all(body["messages"][0]["content"] == notice for body in stage.bodies)
    assert stage.tokens == stage.director.made
    stage.check_readings()


def test_an_error_and_an_abandoned_stream(stage):
    client = client_at(stage.plays(Error(500), LEFT))
    messages = [{"role": "user", "content": [{"text": "a"}]}]
    with pytest.raises(client.exceptions.ClientError):
        client.converse(modelId=MODEL, messages=messages)
    assert stage.director.seen[-1] == "failed"
    response = client.converse_stream(modelId=MODEL, messages=messages)
    next(iter(response["stream"]))
    response["stream"].close()
    assert stage.tokens == stage.director.made
