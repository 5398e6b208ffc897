"""OpenAI chat messages as core messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from otel_footprint.providers import openai_chat
from otel_footprint.providers.native import decode_arguments, python_literal


def read(*messages: object) -> list[Message]:
    natives = openai_chat.read(messages)
    assert [native.positions for native in natives] == [(at,) for at in range(len(messages))]
    return [native.message for native in natives]


def call(arguments: str, **more: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": arguments}, **more}],
    }


def test_roles_and_plain_text() -> None:
    system, user, answer = read(
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hello", "name": "ann"},
        {"role": "assistant", "content": "Hi."},
    )
    assert (system.role, user.role, answer.role) == ("system", "user", "assistant")
    assert user.name == "ann"
    assert answer.text == "Hi."


def test_calls_and_results() -> None:
    asked, result = read(
        call('{"id": 7}', id="c1", type="function"),
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": '{"price": 12}'},
    )
    assert asked.tool_calls == (ToolCall("c1", "f", {"id": 7}),)
    assert result.result == ToolResult("c1", "f", '{"price": 12}')


def test_the_old_function_spelling() -> None:
    asked, result = read(
        {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
    )
    assert asked.tool_calls == (ToolCall(None, "f", {}),)
    assert result.result == ToolResult(None, "f", "42")


def test_images_and_files_are_opaque_and_text_stays() -> None:
    (message,) = read(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See "},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA1234"}},
                {"type": "input_audio", "input_audio": {"data": "UklGR"}},
                {"type": "file", "file": {"file_id": "f1"}},
                "this",
            ],
        }
    )
    assert message.text == "See this"
    assert [part.kind for part in message.parts if isinstance(part, Opaque)] == ["image", "audio", "file"]


def test_an_image_in_a_result_is_not_searched_as_text() -> None:
    (message,) = read(
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:,12345678"}}],
        }
    )
    assert message.result == ToolResult("c1", None, [{"type": "text", "text": "a"}])
    assert message.parts[1] == Opaque("image")


def test_refusals_and_transcripts_are_text_and_reasoning_is_not() -> None:
    refused, spoken = read(
        {"role": "assistant", "content": None, "refusal": "I cannot."},
        {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Hello."}, "reasoning_content": "hm"},
    )
    assert refused.text == "I cannot."
    assert spoken.text == "Hello."
    assert spoken.parts[0] == Reasoning("hm")


def test_custom_tools_and_langchain_dumps() -> None:
    custom, chain = read(
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}],
        },
        {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "d", "type": "tool_call"}]},
    )
    assert custom.tool_calls == (ToolCall("c", "sql", "select 1"),)
    assert chain.tool_calls == (ToolCall("d", "f", {"a": 1}),)


@pytest.mark.parametrize(
    ("given_text", "meant"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': 'x', 'b': (1, 2), 'c': None, 'd': True}", {"a": "x", "b": [1, 2], "c": None, "d": True}),
        ("{'s': {3, 1}}", {"s": [1, 3]}),
        ("", None),
        ("   ", None),
        ("free text", "free text"),
        ("{'a': __import__('os')}", "{'a': __import__('os')}"),
        ("{'a': b'raw'}", "{'a': b'raw'}"),
        ("{'unclosed': ", "{'unclosed': "),
        ("1 + 1", "1 + 1"),
    ],
)
def test_arguments_are_decoded_as_far_as_they_mean_something(given_text: str, meant: object) -> None:
    assert decode_arguments(given_text) == meant


@pytest.mark.parametrize(
    "text", ["[" * 5_000, "{'a': " * 3_000, "[" + "-" * 50_000 + "1]", "[" + "'a' " * 30_000, "{'a': '" + "x" * 100_000]
)
def test_a_hostile_literal_is_only_a_string(text: str) -> None:
    assert python_literal(text) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_what_python_prints_is_read_back(value: Any) -> None:
    printed = {"value": value}
    assert decode_arguments(repr(printed)) == printed


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (5, "message 0 is a number, not an object"),
        (None, "message 0 is null, not an object"),
        ({"content": "x"}, "message 0 has no role"),
        ({"role": "wizard", "content": "x"}, "message 0 has the role 'wizard', which no provider uses"),
        ({"role": "user", "content": 5}, "message 0 has a number as its content"),
        ({"role": "assistant", "tool_calls": "x"}, "message 0 has a string as its tool_calls"),
        ({"role": "assistant", "tool_calls": [1]}, "message 0 has a number as a tool call"),
    ],
)
def test_what_is_no_message_is_named(message: object, says: str) -> None:
    with pytest.raises(UnreadableInputError) as caught:
        openai_chat.read([message])
    assert str(caught.value) == says


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "tool_calls", "function", "name", "arguments", "id", "audio"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "function_call", "refusal", "audio", "name"]), JSON
    ),
    st.sampled_from(["user", "assistant", "tool", "system"]),
)
def test_wrong_types_never_raise_anything_else(message: dict[str, Any], role: str) -> None:
    try:
        (native,) = openai_chat.read([{**message, "role": role}])
    except UnreadableInputError:
        return
    assert native.message.role == role
    assert len(native.message.key) == 16


def test_a_real_run_is_read_whole(shared_data: Path) -> None:
    with (shared_data / "tau_airline" / "conversations.jsonl").open() as file:
        for line in file:
            messages = json.loads(line)["messages"]
            read_messages = read(*messages)
            for raw, message in zip(messages, read_messages, strict=True):
                assert message.role == raw["role"]
                if message.role != "tool":
                    assert message.text == (raw["content"] or "")
                assert len(message.tool_calls) == len(raw.get("tool_calls") or ())
                assert not any(isinstance(part, Opaque) for part in message.parts)
                assert all(isinstance(called.arguments, dict) for called in message.tool_calls)


def test_python_literal_arguments_of_a_real_run_are_objects(shared_data: Path) -> None:
    with (shared_data / "tau_assertions" / "conversations.jsonl").open() as file:
        calls = [
            called
            for line in file
            for native in openai_chat.read(json.loads(line)["messages"])
            for called in native.message.tool_calls
        ]
    assert len(calls) > 400
    assert all(isinstance(called.arguments, dict) for called in calls)


def test_text_of_parts_is_joined() -> None:
    (message,) = read({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    assert message.parts == (Text("a"), Text("b"))
    assert message.text == "ab"
