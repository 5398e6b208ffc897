"""OpenAI Responses items as core messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import (
    Compaction,
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.providers import openai_responses
from otel_footprint.providers.native import Native


def read(*items: object, instructions: object = None) -> tuple[Native, ...]:
    return openai_responses.read(items, instructions)


def text_item(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def test_an_assistant_turn_split_into_items_is_one_message() -> None:
    natives = read(
        {"role": "user", "content": "Where is W-1?"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look it up"}], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c1", "id": "fc1", "name": "f", "arguments": '{"id": "W-1"}'},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": ""},
        {"type": "function_call_output", "call_id": "c1", "output": "on its way"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "yes"}]},
        {"type": "reasoning", "summary": []},
        text_item("It is on its way."),
        instructions="Be brief.",
    )
    assert [(native.message.role, native.positions, native.at) for native in natives] == [
        ("system", (-1,), -1),
        ("user", (0,), 0),
        ("assistant", (1, 2, 3), 1),
        ("tool", (4,), 4),
        ("tool", (5,), 5),
        ("assistant", (6, 7), 7),
    ]
    assert natives[2].message.parts == (
        Reasoning("look it up"),
        ToolCall("c1", "f", {"id": "W-1"}),
        ToolCall("c2", "g", None),
    )
    assert natives[3].message.result == ToolResult("c1", None, "on its way")
    assert natives[5].message.text == "It is on its way."


def test_hosted_tools_keep_what_the_item_carries() -> None:
    (native,) = read(
        {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "x"}},
        {"type": "file_search_call", "id": "f", "queries": ["q"], "results": [{"text": "30 days"}]},
        {"type": "code_interpreter_call", "id": "c", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
        {"type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}", "output": "4"},
        text_item("Done."),
    )
    assert native.message.parts == (
        ServerToolCall("w", "web_search", {"type": "search", "query": "x"}),
        ServerToolResult("w", "web_search", None),
        ServerToolCall("f", "file_search", ["q"]),
        ServerToolResult("f", "file_search", [{"text": "30 days"}]),
        ServerToolCall("c", "code_interpreter", "1+1"),
        ServerToolResult("c", "code_interpreter", [{"type": "logs", "logs": "2"}]),
        ServerToolCall("m", "roll", {}),
        ServerToolResult("m", "roll", "4"),
        Text("Done."),
    )


def test_other_calls_of_the_application() -> None:
    natives = read(
        {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
        {"type": "computer_call", "call_id": "b", "action": {"type": "click"}},
        {
            "type": "computer_call_output",
            "call_id": "b",
            "output": {"type": "computer_screenshot", "image_url": "data:"},
        },
    )
    assert natives[0].message.parts == (ToolCall("a", "sql", "select 1"),)
    assert natives[1].message.result == ToolResult("a", None, "1")
    assert natives[2].message.parts == (ToolCall("b", "computer", {"type": "click"}),)
    assert natives[3].message.parts == (ToolResult("b", None, []), Opaque("image"))


def test_what_stands_for_unseen_content_is_opaque() -> None:
    (native,) = read(
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "item_reference", "id": "msg_1"},
        {"type": "image_generation_call", "id": "i", "result": "AAAA"},
        {"type": "of_next_year"},
        {"type": "mcp_list_tools", "tools": []},
    )
    assert native.message.parts == (Compaction(None), Opaque("reference"), Opaque("image"), Opaque("unknown"))


def test_an_input_picture_is_opaque() -> None:
    (native,) = read({"role": "user", "content": [{"type": "input_text", "text": "See"}, {"type": "input_image"}]})
    assert native.message.parts == (Text("See"), Opaque("image"))


def test_what_is_no_item_is_named() -> None:
    with pytest.raises(UnreadableInputError, match="message 0 is a string, not an object"):
        read("x")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "image_url"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.lists(
        st.builds(
            lambda kind, more: {**more, "type": kind},
            st.sampled_from([*sorted(openai_responses.ITEMS), "unheard_of"]),
            st.dictionaries(
                st.sampled_from(
                    ["call_id", "id", "name", "arguments", "output", "outputs", "results", "summary", "action"]
                ),
                VALUES,
            ),
        ),
        max_size=6,
    )
)
def test_every_item_ends_in_exactly_one_message(items: list[dict[str, Any]]) -> None:
    natives = read(*items)
    assert [position for native in natives for position in native.positions] == list(range(len(items)))


def test_real_requests_are_read_whole(shared_data: Path) -> None:
    seen = 0
    with (shared_data / "cassettes" / "normalised.jsonl").open() as file:
        for line in file:
            recording = json.loads(line)
            if "responses" not in recording["meta"]["provider"]:
                continue
            for request in (call["request"] for call in recording["calls"] if isinstance(call["request"], dict)):
                items = request["input"] if isinstance(request["input"], list) else []
                natives = read(*items, instructions=request.get("instructions"))
                assert not any(isinstance(part, Opaque) for native in natives for part in native.message.parts)
                outputs = sum(item.get("type") == "function_call_output" for item in items)
                assert sum(native.message.result is not None for native in natives) == outputs
                seen += 1
    assert seen > 40
