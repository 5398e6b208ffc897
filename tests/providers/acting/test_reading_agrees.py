"""What a surface reads of a request is what the completion hook is told of it: the same messages by their keys.

Left out are items that the official instrumentation does not pass on (hosted tools, item references, legacy functions).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from otel_footprint.core.call import Call
from otel_footprint.core.window.items import Kept, Put
from otel_footprint.genai.hook import FootprintHook, HookCall
from otel_footprint.genai.instrumentation import turn_off, turn_on
from otel_footprint.providers.openai_chat_surface import OpenAIChat
from otel_footprint.providers.openai_responses_surface import OpenAIResponses
from otel_footprint.testing.provider import Raw, ScriptedProvider, Text, ToolCalls, ToolUse


def calling(arguments: str) -> list[dict[str, Any]]:
    call = {"id": "call-a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call-a", "content": "W-1042 left"},
    ]


FUNCTION = {"type": "function_call", "call_id": "call-a", "name": "f", "arguments": '{"x": 1}'}
OUTPUT = {"type": "function_call_output", "call_id": "call-a", "output": "W-1042 left"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "done", "annotations": []}],
}
CHATS: dict[str, list[Any]] = {
    "envelope": [
        {"role": "system", "content": "a"},
        {"role": "developer", "content": "b"},
        {"role": "user", "content": "c"},
    ],
    "later-system": [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}],
    "arguments": calling('{"x": 1, "y": [1.0, null]}'),
    "no-arguments": calling(""),
    "list-of-arguments": calling("[1, 2]"),
    "broken-arguments": calling("{x"),
    "blocks": [
        *calling("{}")[:2],
        {
            "role": "tool",
            "tool_call_id": "call-a",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        },
    ],
    "parts": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "b"},
            ],
        }
    ],
    "refusal": [{"role": "user", "content": "a"}, {"role": "assistant", "content": None, "refusal": "No."}],
    "empty": [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": " a\n"},
    ],
}
INPUTS: dict[str, Any] = {
    "string": "Where is it?",
    "envelope": [
        {"role": "developer", "content": "a"},
        {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
    ],
    "turn": [{"role": "user", "content": "a"}, THOUGHT, FUNCTION, OUTPUT, {**THOUGHT, "id": "rs_2"}, SAID],
    "parallel": [
        {"role": "user", "content": "a"},
        FUNCTION,
        {**FUNCTION, "call_id": "call-b"},
        OUTPUT,
        {**OUTPUT, "call_id": "call-b", "output": [{"type": "input_text", "text": "b"}]},
    ],
    "easy": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}],
}


@pytest.fixture
def told() -> Iterator[list[HookCall]]:
    calls: list[HookCall] = []
    turn_on(["openai"], hook=FootprintHook(calls.append))
    yield calls
    turn_off()


def client_of(provider: ScriptedProvider) -> openai.OpenAI:
    return openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)


def check(reading: Any, call: Call) -> None:
    assert list(reading.messages) == list(call.messages)
    assert list(reading.system) == list(call.system)
    assert reading.model == call.model
    assert reading.provider == call.provider
    assert (reading.tools or None) == call.tools


@pytest.mark.parametrize("name", CHATS)
def test_chat(told, name):
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    kwargs = {"model": "m", "messages": CHATS[name], "tools": tools if name == "arguments" else openai.omit}
    with ScriptedProvider(Text("ok")) as provider:
        client_of(provider).chat.completions.create(**kwargs)
    check(OpenAIChat().read(kwargs), told[0].call)


@pytest.mark.parametrize("name", INPUTS)
def test_responses(told, name):
    instructions = "Be brief." if name == "string" else openai.omit
    kwargs = {"model": "m", "input": INPUTS[name], "instructions": instructions}
    with ScriptedProvider(Text("ok")) as provider:
        client_of(provider).responses.create(**kwargs)
    check(OpenAIResponses().read(kwargs), told[0].call)


CALLS = ToolCalls([ToolUse("f", {"x": 1}, id="call-a"), ToolUse("g", {}, id="call-b")], text="One moment.")


@pytest.mark.parametrize("step", [Text("W-1042 left."), CALLS], ids=["text", "calls"])
def test_an_answer_that_the_application_appends_is_the_output_the_hook_was_told(told, step):
    with ScriptedProvider([step, step]) as provider:
        client = client_of(provider)
        message = (
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "a"}]).choices[0].message
        )
        output = client.responses.create(model="m", input="a").output
    chat = OpenAIChat().read({"messages": [message]})
    assert chat is not None
    assert chat.messages[0] == told[0].call.outputs[0].message
    responses = OpenAIResponses().read({"input": output})
    assert responses is not None
    assert responses.messages[0] == told[1].call.outputs[0].message


SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
REMOTE = {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "f", "arguments": "{}", "output": "12.50"}
REFUSED = {**SAID, "content": [{"type": "refusal", "refusal": "No."}]}


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize(
    "output",
    [
        [SAID],
        [THOUGHT, SAID],
        [SEARCHED, SAID],
        [THOUGHT, SEARCHED, REMOTE, SAID],
        [REFUSED],
        [FUNCTION],
        [THOUGHT, FUNCTION],
    ],
    ids=lambda output: "-".join(item["type"] for item in output),
)
def test_an_answer_that_goes_back_is_told_as_the_draft(told, output, store):
    surface = OpenAIResponses()
    body = {"id": "r", "object": "response", "created_at": 0, "model": "m", "output": output, "status": "completed"}
    kwargs = {"model": "m", "input": "a", "store": store}
    with ScriptedProvider([Raw(json.dumps(body)), Text("ok")]) as provider:
        client = client_of(provider)
        draft = surface.draft(kwargs, client.responses.create(**kwargs))
        reading = surface.read(kwargs)
        assert draft is not None
        assert reading is not None
        client.responses.create(**surface.write(kwargs, reading, [Kept(0), Put(draft.message, draft.native)]))
    assert list(told[1].call.messages) == [*reading.messages, draft.message]


MESSAGES = {
    "text": {"content": "It costs 12.50."},
    "refusal": {"content": None, "refusal": "No."},
    "call": {"content": "Here.", "tool_calls": calling('{"cost": 12.5}')[1]["tool_calls"]},
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_chat_answer_that_goes_back_is_told_as_the_draft(told, name):
    surface = OpenAIChat()
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **MESSAGES[name]}}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    kwargs = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    with ScriptedProvider([Raw(json.dumps(body)), Text("ok")]) as provider:
        client = client_of(provider)
        draft = surface.draft(kwargs, client.chat.completions.create(**kwargs))
        reading = surface.read(kwargs)
        assert draft is not None
        assert reading is not None
        client.chat.completions.create(**surface.write(kwargs, reading, [Kept(0), Put(draft.message, draft.native)]))
    assert list(told[1].call.messages) == [*reading.messages, draft.message]
