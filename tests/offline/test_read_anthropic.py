"""Anthropic messages as core messages."""

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
from otel_footprint.providers import anthropic_messages
from otel_footprint.providers.native import Native


def read(*messages: object, system: object = None) -> tuple[Native, ...]:
    return anthropic_messages.read(messages, system)


def user(*blocks: object) -> dict[str, object]:
    return {"role": "user", "content": list(blocks)}


def test_the_system_instruction_stands_in_front() -> None:
    natives = read({"role": "user", "content": "Hi"}, system=[{"type": "text", "text": "Be brief."}])
    assert [(native.message.role, native.at) for native in natives] == [("system", -1), ("user", 0)]
    assert natives[0].message.text == "Be brief."


def test_an_assistant_turn_with_thinking_and_calls() -> None:
    (native,) = read(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "redacted_thinking", "data": "xx"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
            ],
        }
    )
    assert native.message.parts == (Reasoning("hm"), Reasoning(""), Text("Looking."), ToolCall("t1", "f", {"a": 1}))


def test_results_of_one_user_message_become_messages_of_their_own() -> None:
    natives = read(
        user(
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [{"type": "text", "text": "two"}],
                "is_error": True,
            },
            {"type": "text", "text": "and now?"},
        )
    )
    assert [native.at for native in natives] == [0, 0]
    assert [native.message.role for native in natives] == ["tool", "tool"]
    assert natives[0].message.parts == (ToolResult("t1", None, "one"),)
    assert natives[1].message.result == ToolResult("t2", None, [{"type": "text", "text": "two"}], is_error=True)
    assert natives[1].message.text == "and now?"
    assert not any(native.message.said_by_person for native in natives)


def test_pictures_and_documents() -> None:
    (native,) = read(
        user(
            {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}},
            {"type": "document", "title": "Terms", "source": {"type": "text", "data": "30 days"}},
            {"type": "document", "source": {"type": "url", "url": "https://x"}},
            {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "part"}]}},
        )
    )
    assert native.message.parts == (
        Opaque("image"),
        Opaque("document"),
        Text("Terms"),
        Text("30 days"),
        Opaque("document"),
        Text("part"),
    )


def test_a_picture_in_a_result_is_taken_out_of_its_text() -> None:
    (native,) = read(
        user({"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": {"data": "1234567"}}]})
    )
    assert native.message.parts == (ToolResult("t", None, []), Opaque("image"))


def test_server_tools_keep_what_can_be_read_and_mark_the_rest() -> None:
    (native,) = read(
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s1",
                    "content": [{"type": "web_search_result", "title": "T", "url": "u", "encrypted_content": "zzz"}],
                },
                {"type": "text", "text": "It says T.", "citations": [{"type": "web_search_result_location"}]},
            ],
        }
    )
    call, result, opaque, text = native.message.parts
    assert call == ServerToolCall("s1", "web_search", {"query": "x"})
    assert result == ServerToolResult("s1", "web_search", [{"type": "web_search_result", "title": "T", "url": "u"}])
    assert opaque == Opaque("encrypted")
    assert text == Text("It says T.")


def test_code_execution_is_readable_and_compaction_is_the_providers() -> None:
    (native,) = read(
        {
            "role": "assistant",
            "content": [
                {"type": "compaction", "content": "earlier: a refund"},
                {
                    "type": "code_execution_tool_result",
                    "tool_use_id": "s",
                    "content": {"stdout": "42", "return_code": 0},
                },
                {"type": "something_new", "data": 1},
            ],
        }
    )
    assert native.message.parts == (
        Compaction("earlier: a refund"),
        ServerToolResult("s", "code_execution", {"stdout": "42", "return_code": 0}),
        Opaque("unknown"),
    )


def test_openai_messages_mixed_in_are_understood() -> None:
    natives = read(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "42"},
    )
    assert natives[0].message.tool_calls == (ToolCall("c", "f", {}),)
    assert natives[1].message.result == ToolResult("c", None, "42")


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(UnreadableInputError, match="message 1 has a number as its content"):
        read({"role": "user", "content": "x"}, {"role": "user", "content": 3})
    with pytest.raises(UnreadableInputError, match="the system instruction is a number"):
        read(system=3)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "content", "source", "id"]), inner, max_size=4)
    ),
    max_leaves=8,
)
KINDS = st.sampled_from(
    [
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "document",
        "search_result",
        "web_search_tool_result",
        "image",
        "new",
    ]
)


@given(
    st.lists(
        st.builds(
            lambda kind, more: {**more, "type": kind},
            KINDS,
            st.dictionaries(
                st.sampled_from(["text", "input", "content", "source", "tool_use_id", "id", "title"]), VALUES
            ),
        ),
        max_size=5,
    ),
    st.sampled_from(["user", "assistant"]),
)
def test_wrong_types_never_raise(blocks: list[dict[str, Any]], role: str) -> None:
    natives = read({"role": role, "content": blocks})
    assert all(native.at == 0 and len(native.message.key) == 16 for native in natives)
    results = sum(block["type"] == "tool_result" for block in blocks)
    assert sum(native.message.result is not None for native in natives) == results


def test_real_requests_are_read_whole(shared_data: Path) -> None:
    seen = 0
    with (shared_data / "cassettes" / "normalised.jsonl").open() as file:
        for line in file:
            recording = json.loads(line)
            if recording["meta"]["provider"] != "anthropic":
                continue
            for request in (call["request"] for call in recording["calls"] if isinstance(call["request"], dict)):
                natives = read(*request["messages"], system=request.get("system"))
                assert not any(isinstance(part, Opaque) for native in natives for part in native.message.parts)
                sent = json.dumps(request["messages"]).count('"tool_result"')
                assert sum(native.message.result is not None for native in natives) == sent
                seen += 1
    assert seen > 30
