"""Bedrock's Converse API as a surface."""

from __future__ import annotations

import copy
from typing import Any

import boto3

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.providers.bedrock_surface import BedrockConverse
from otel_footprint.providers.rewriting import PARTING
from otel_footprint.testing.provider import ScriptedProvider, ToolCalls, ToolUse
from otel_footprint.testing.provider import Text as Says

SURFACE = BedrockConverse()
NOTICE = Put(Message("user", (Text("[notice]"),), authored="notice"))
POINT = {"cachePoint": {"type": "default"}}


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": text} for text in texts]}


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


CALLS = model(
    {"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}, {"toolUse": {"toolUseId": "2", "name": "f", "input": {}}}
)
RESULTS = {
    "role": "user",
    "content": [
        {"toolResult": {"toolUseId": "1", "content": [{"text": "one"}]}},
        {"toolResult": {"toolUseId": "2", "content": [{"text": "two"}]}},
        POINT,
    ],
}


def written(messages: list[Any], items: list[Item]) -> list[Any]:
    kwargs = {"modelId": "m", "messages": messages}
    before = copy.deepcopy(messages)
    reading = SURFACE.read(kwargs)
    assert reading is not None
    found = SURFACE.write(kwargs, reading, items)["messages"]
    assert messages == before
    assert isinstance(found, list)
    return found


def test_what_stands_beside_the_history() -> None:
    tools = [{"toolSpec": {"name": "f", "inputSchema": {}}}, POINT]
    kwargs = {
        "modelId": "m",
        "messages": [user("Hi")],
        "system": [{"text": "Be kind."}],
        "toolConfig": {"tools": tools},
    }
    reading = SURFACE.read(kwargs)
    assert reading is not None
    assert [message.text for message in reading.system] == ["Be kind."]
    assert (reading.tools, reading.model, reading.provider, reading.envelope) == (("f",), "m", "aws.bedrock", 0)
    assert SURFACE.read({"modelId": "arn:aws:bedrock:us-east-1:1:prompt/x"}) is None


def test_a_notice_beside_a_person_s_message_is_one_message_in_a_copy() -> None:
    messages = [user("a"), model({"text": "b"}), {"role": "user", "content": [{"text": "c"}, POINT]}]
    found = written(messages, [NOTICE, Kept(2)])
    assert found == [{"role": "user", "content": [{"text": "[notice]"}, {"text": "c"}, POINT]}]
    found = written(messages, [Kept(0), NOTICE, Kept(1), Kept(2)])
    assert found[0] == user("a", "[notice]")
    assert found[1] is messages[1]
    assert found[2] is messages[2]


def test_a_result_and_a_person_s_words_are_parted() -> None:
    messages = [user("a"), CALLS, RESULTS, model({"text": "b"}), user("c")]
    found = written(messages, [Kept(0), Kept(1), Kept(2), Kept(3), Kept(5)])
    assert found[:3] == messages[:3]
    assert found[3] == model({"text": PARTING})
    assert found[4] is messages[4]


def test_a_message_with_some_of_its_results_is_a_copy() -> None:
    found = written([user("a"), CALLS, RESULTS], [Kept(0), Kept(1), Kept(3)])
    assert found[2]["content"] == RESULTS["content"][1:]


def respond(step: Any, *, stream: bool) -> Any:
    with ScriptedProvider(step) as provider:
        keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
        client: Any = boto3.client("bedrock-runtime", endpoint_url=provider.bedrock_url, **keys)
        if stream:
            return list(client.converse_stream(modelId="m", messages=[user("Hi")])["stream"])
        return client.converse(modelId="m", messages=[user("Hi")])


def test_an_answer_goes_back_as_it_came_and_a_stream_amounts_to_it() -> None:
    plain = respond(Says("It is 12.50."), stream=False)
    draft = SURFACE.draft({}, plain)
    assert draft is not None
    assert draft.native == (model({"text": "It is 12.50."}),)
    events = respond(Says("It is 12.50."), stream=True)
    merged = SURFACE.merge({}, events)
    assert SURFACE.draft({}, merged) == draft
    assert merged is not None
    assert merged["stopReason"] == "end_turn"
    assert SURFACE.merge({}, [event for event in events if "messageStop" not in event]) is None


def test_a_stream_with_calls_and_reasoning_is_put_together() -> None:
    step = ToolCalls([ToolUse("f", {"a": 1}, id="t1")], text="Looking.")
    merged = SURFACE.merge({}, respond(step, stream=True))
    assert merged is not None
    assert merged["output"] == respond(step, stream=False)["output"]
    thought = [
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "h"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "m"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "s"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hi"}}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    merged = SURFACE.merge({}, thought)
    assert merged is not None
    assert merged["output"]["message"]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
        {"text": "Hi"},
    ]


def test_a_call_of_an_answer_tool_goes_back_as_text_and_an_empty_answer_not_at_all() -> None:
    draft = SURFACE.draft({}, respond(ToolCalls([ToolUse("answer", {"total": 12.5}, id="t1")]), stream=False))
    assert draft is not None
    assert draft.native == (model({"text": '{"total":12.5}'}),)
    assert SURFACE.draft({}, {"output": {"message": model({"text": " "})}}) is None
