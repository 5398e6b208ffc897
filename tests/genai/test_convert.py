"""Messages of the conventions become messages of the core, the same ones each time they are seen."""

from __future__ import annotations

import copy
import subprocess
import sys
from dataclasses import asdict
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.util.genai.types import (
    BlobPart,
    CompactionPart,
    FilePart,
    GenericPart,
    InputMessage,
    Modality,
    OutputMessage,
    ReasoningPart,
    ServerToolCallPart,
    ServerToolCallResponsePart,
    TextPart,
    ToolCallRequestPart,
    ToolCallResponsePart,
    UriPart,
)

from otel_footprint.core.messages import (
    Compaction,
    Message,
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.genai.convert import Converter


def user(text: str) -> InputMessage:
    return InputMessage("user", [TextPart(text)])


def rest(*inputs: Any, **options: Any) -> tuple[Message, ...]:
    return Converter().messages(inputs, **options)[1]


class Framework(Enum):
    USER = "user"


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("user", "user"),
        ("human", "user"),
        ("assistant", "assistant"),
        ("model", "assistant"),
        ("MessageRole.USER", "user"),
        ("MessageRole.ASSISTANT", "assistant"),
        (Framework.USER, "user"),
        ("", "user"),
        (None, "user"),
        ("something new", "user"),
    ],
)
def test_roles(role, expected):
    assert rest(InputMessage(role, [TextPart("x")]))[0].role == expected


def test_developer_and_leading_system_messages_are_the_envelope_after_the_instruction():
    system, window = Converter().messages(
        [
            InputMessage("developer", [TextPart("two")]),
            InputMessage("system", [TextPart("three")]),
            user("hi"),
            InputMessage("system", [TextPart("later")]),
        ],
        [TextPart("one"), TextPart("and a half")],
    )
    assert [message.text for message in system] == ["oneand a half", "two", "three"]
    assert [(message.role, message.text) for message in window] == [("user", "hi"), ("system", "later")]


@pytest.mark.parametrize(
    "response",
    [
        "text",
        {"result": {"id": 7}},
        [{"type": "text", "text": "a"}],
        [{"text": "a"}, {"json": {"b": 1}}],
        None,
        12,
        [],
    ],
)
def test_tool_responses_of_every_shape(response):
    for role in ("tool", "user", ""):
        (message,) = rest(InputMessage(role, [ToolCallResponsePart(response=response, id="c1")]))
        assert message.role == "tool"
        assert message.parts == (ToolResult("c1", None, response),)


def test_several_results_in_one_user_message_are_split_and_the_text_stays_with_the_last():
    window = rest(
        InputMessage(
            "user",
            [
                TextPart("before "),
                ToolCallResponsePart(response="r1", id="a"),
                ToolCallResponsePart(response=[{"type": "text", "text": "r2"}], id="b"),
                TextPart("after"),
            ],
        )
    )
    assert [message.role for message in window] == ["tool", "tool"]
    assert window[0].parts == (ToolResult("a", None, "r1"),)
    assert window[1].result == ToolResult("b", None, [{"type": "text", "text": "r2"}])
    assert window[1].text == "before after"


def test_a_message_with_turns_of_both_sides_is_told_apart():
    window = rest(
        InputMessage(
            "user",
            [
                ToolCallRequestPart(arguments={}, name="f", id="1"),
                ToolCallResponsePart(response="r", id="1"),
                TextPart("and now?"),
            ],
        )
    )
    assert [message.role for message in window] == ["assistant", "tool"]
    assert window[1].text == "and now?"


def test_a_tool_message_of_plain_text_is_a_result():
    (message,) = rest(InputMessage("MessageRole.TOOL_RESPONSE", [TextPart("Observation: 42")]))
    assert message.parts == (ToolResult(None, None, "Observation: 42"),)


@pytest.mark.parametrize(
    ("arguments", "expected"), [({"a": 1}, {"a": 1}), ("{not json", "{not json"), (None, None), ("", None), ({}, {})]
)
def test_tool_calls(arguments, expected):
    (message,) = rest(InputMessage("assistant", [ToolCallRequestPart(arguments=arguments, name="f", id="c")]))
    assert message.parts == (ToolCall("c", "f", expected),)


def test_items_of_one_turn_are_joined_where_the_api_splits_them():
    items = [
        user("q"),
        InputMessage("assistant", [ReasoningPart("hm")]),
        InputMessage("assistant", [TextPart("one moment")]),
        InputMessage("assistant", [ToolCallRequestPart(arguments={}, name="f", id="1")]),
        InputMessage("tool", [ToolCallResponsePart(response="r", id="1")]),
        InputMessage("assistant", [TextPart("done")]),
    ]
    converter = Converter()
    _, window = converter.messages(items, joined=True)
    assert [message.role for message in window] == ["user", "assistant", "tool", "assistant"]
    assert window[1].parts == (Reasoning("hm"), Text("one moment"), ToolCall("1", "f", {}))
    assert converter.messages(copy.deepcopy(items), joined=True)[1][1] is window[1]
    assert len(converter.messages(items)[1]) == 6


def test_server_side_tools_and_what_cannot_be_read():
    encrypted = {"type": "web_search_tool_result", "content": [{"title": "t", "encrypted_content": "gAAA"}]}
    (message,) = rest(
        InputMessage(
            "assistant",
            [
                ServerToolCallPart("web_search", {"type": "web_search", "query": "q"}, "s1"),
                ServerToolCallResponsePart(encrypted, "s1"),
                ServerToolCallResponsePart({"type": "code_execution", "output": "42"}, "s2"),
                ToolCallResponsePart(response="ran there", id="s3"),
                BlobPart("image/png", Modality.IMAGE, b"123"),
                BlobPart("application/pdf", "application", b"123"),
                FilePart(None, "document", "f1"),
                UriPart(None, "image", "gs://x"),
                CompactionPart(content="folded"),
                CompactionPart(),
                GenericPart("brand_new"),
            ],
        )
    )
    assert message.parts == (
        ServerToolCall("s1", "web_search", {"type": "web_search", "query": "q"}),
        ServerToolResult("s1", "web_search_tool_result", None),
        ServerToolResult("s2", "code_execution", {"type": "code_execution", "output": "42"}),
        ServerToolResult("s3", None, "ran there"),
        Opaque("image"),
        Opaque("file"),
        Opaque("file"),
        Opaque("uri"),
        Compaction("folded"),
        Compaction(None),
        Opaque("unknown"),
    )


def test_messages_without_parts_are_left_out():
    assert rest(InputMessage("user", []), user("x")) == rest(user("x"))


HISTORY = [
    InputMessage("system", [TextPart("be brief")]),
    user("where is W-1?"),
    InputMessage("assistant", [TextPart("looking"), ToolCallRequestPart(arguments={"id": "W-1"}, name="get", id="c1")]),
    InputMessage("tool", [ToolCallResponsePart(response={"status": ["left", 1]}, id="c1")]),
    InputMessage("tool", [ToolCallResponsePart(response='{"status": "left"}', id="c2")]),
    InputMessage("assistant", [ServerToolCallPart("code", {"a": 1}), ServerToolCallResponsePart({"b": 2})]),
    InputMessage("assistant", [ToolCallRequestPart(arguments={"id": "W-1"}, name="get", id="c3")]),
]


def test_a_message_seen_before_is_the_same_object_and_inputs_stay_as_they_are():
    converter = Converter()
    inputs = copy.deepcopy(HISTORY)
    first = converter.messages(inputs, [TextPart("s")])
    assert inputs == HISTORY
    again = converter.messages(copy.deepcopy(HISTORY), [TextPart("s")])
    for one, other in zip(first[0] + first[1], again[0] + again[1], strict=True):
        assert one is other


def test_mappings_give_the_same_messages():
    as_json = [asdict(message) for message in HISTORY]
    for old, new in zip(Converter().messages(HISTORY)[1], Converter().messages(as_json)[1], strict=True):
        assert old.key == new.key
        assert old.parts == new.parts
    mixed = [InputMessage("user", [{"type": "text", "content": "hi"}])]  # type: ignore[list-item]
    assert Converter().messages(mixed)[1][0].text == "hi"


def test_a_result_that_was_rewritten_or_changed_in_place_is_another_message():
    converter = Converter()
    response = {"items": [1, 2]}
    inputs = [InputMessage("tool", [ToolCallResponsePart(response=response, id="c1")])]
    (before,) = converter.messages(inputs)[1]
    response["items"].append(3)
    (after,) = converter.messages(inputs)[1]
    assert before.result.content == {"items": [1, 2]}
    assert after.result.content == {"items": [1, 2, 3]}
    inputs[0].parts[0].response = "[cleared]"
    assert converter.messages(inputs)[1][0].result.content == "[cleared]"


def test_values_that_are_equal_in_python_but_not_in_json_are_other_messages():
    converter = Converter()
    keys = {
        converter.messages([InputMessage("tool", [ToolCallResponsePart(response={"n": value}, id="c")])])[1][0].key
        for value in (1, True, 1.0, "1", None)
    }
    assert len(keys) == 5


def test_outputs_are_choices_and_the_next_input_is_the_same_message():
    converter = Converter()
    one = OutputMessage("assistant", [TextPart("a")], "stop")
    cut = OutputMessage("assistant", [TextPart("b")], "length")
    outputs = converter.outputs([one, cut])
    assert [(o.choice, o.finish_reason, o.partial) for o in outputs] == [(0, "stop", False), (1, "length", True)]
    assert converter.messages([InputMessage("assistant", [TextPart("a")])])[1][0] == outputs[0].message
    (joined,) = converter.outputs([one, OutputMessage("assistant", [TextPart("b")], "stop")], joined=True)
    assert joined.message.text == "ab"
    assert converter.outputs([one], failed=True)[0].partial
    (empty,) = converter.outputs([OutputMessage("assistant", [], "content_filter")])
    assert (empty.message.parts, empty.partial) == ((), True)
    assert converter.outputs([asdict(one)])[0].message.text == "a"


def test_the_table_is_bounded_in_bytes():
    converter = Converter(max_bytes=100_000)
    for number in range(2_000):
        converter.messages([user(f"{number} " + "x" * 500), HISTORY[3]])
        assert converter.size_bytes <= 50_000
    kept = len(converter._young) + len(converter._old)
    assert kept < 120
    (kept_alive,) = converter.messages([HISTORY[3]])[1]
    assert kept_alive is converter.messages([copy.deepcopy(HISTORY[3])])[1][0]


class Odd:
    def __str__(self) -> str:
        return "odd"


def test_values_that_are_no_json_become_text():
    value = {"b": b"1234", "o": Odd(), "t": (1, 2), 3: Framework.USER}
    (message,) = rest(InputMessage("tool", [ToolCallResponsePart(response=value, id="c")]))
    assert message.result.content == {"b": "<4 bytes>", "o": "odd", "t": [1, 2], "3": "Framework.USER"}
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert rest(InputMessage("tool", [ToolCallResponsePart(response=deep, id="c")]))[0].role == "tool"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
parts = st.one_of(
    st.text(max_size=8).map(TextPart),
    st.text(max_size=8).map(ReasoningPart),
    st.builds(ToolCallRequestPart, arguments=json_values, name=st.sampled_from("fg"), id=st.sampled_from(["1", None])),
    st.builds(ToolCallResponsePart, response=json_values, id=st.sampled_from(["1", "2", None])),
    st.builds(ServerToolCallResponsePart, json_values),
    st.just(CompactionPart()),
)
inputs = st.lists(
    st.builds(
        InputMessage,
        role=st.sampled_from(["user", "assistant", "tool", "system", ""]),
        parts=st.lists(parts, max_size=4),
    ),
    max_size=6,
)


@given(st.lists(inputs, min_size=1, max_size=4), st.booleans())
def test_the_memory_never_changes_a_result(calls, joined):
    """A converter that has seen anything gives what a fresh one gives."""
    used = Converter(max_bytes=4_000)
    for call in calls + calls:
        untouched = copy.deepcopy(call)
        system, window = used.messages(call, joined=joined)
        assert call == untouched
        fresh_system, fresh_window = Converter().messages(call, joined=joined)
        assert [m.key for m in system + window] == [m.key for m in fresh_system + fresh_window]
        for message in window:
            assert (message.role == "tool") == (message.result is not None)
            assert sum(isinstance(part, ToolResult) for part in message.parts) <= 1


def test_importable_without_opentelemetry():
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('opentelemetry', 'wrapt'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from otel_footprint.genai.convert import Converter\n"
        "print(len(Converter().messages([{'role': 'user', 'parts': [{'type': 'text', 'content': 'x'}]}])[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
