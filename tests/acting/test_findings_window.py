"""What is served and offered where a window strategy has dropped results, and ids of tool calls come again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai

import otel_footprint
from otel_footprint import Findings, SlidingWindow
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse

TOOLS: Any = [{"type": "function", "function": {"name": "get", "parameters": {"type": "object", "properties": {}}}}]
NOISE = {"basis": "direct", "previous": [{"toolCallId": "call_1", "standing": "noise"}]}


def test_a_result_that_has_the_id_of_one_that_was_set_aside_and_left_is_served_and_may_be_named(
    act: Callable[..., Any],
) -> None:
    script = [
        ToolCalls([ToolUse("get", {}, "call_1")]),
        Text("Done."),
        ToolCalls([ToolUse("get", {"_findings": NOISE}, "call_1")]),
        Text("Done."),
    ]
    with ScriptedProvider(script, strict=True) as provider:
        act(findings=Findings(serve=True), window=SlidingWindow(2))
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        history: list[Any] = []
        with otel_footprint.conversation("a") as conversation:
            for number in range(2):
                history.append({"role": "user", "content": f"Question {number}?"})
                while True:
                    reply = client.chat.completions.create(model="m", messages=history, tools=TOOLS).choices[0].message
                    history.append(reply.model_dump(exclude_none=True))
                    if not reply.tool_calls:
                        break
                    history.append({"role": "tool", "tool_call_id": "call_1", "content": f"result {number}"})
        sent = json.loads(provider.requests[-1].body)
    assert [message["content"] for message in sent["messages"] if message["role"] == "tool"] == ["result 1"]
    previous = sent["tools"][0]["function"]["parameters"]["properties"]["_findings"]["properties"]["previous"]
    assert previous["items"]["properties"]["toolCallId"]["enum"] == ["call_1#2"]
    assert [row.ref for row in conversation.findings.noise] == ["call_1"]
