"""What was made of a message is kept, and is what the instrumentation itself would make of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.instrumentation.genai.anthropic.messages_extractors import get_input_messages
from opentelemetry.instrumentation.genai.openai.utils import _prepare_input_messages

from otel_footprint.genai.remembering import Remembered

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "https://x/y"}}],
    },
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": '{"b": 2}'},
    {"role": "assistant", "content": "Done."},
]
ANTHROPIC = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1, True, None]}}]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}],
    },
]


class Counted:
    """A function that reads, and how many messages it was given."""

    def __init__(self, read: Any) -> None:
        self.read, self.messages = read, 0

    def __call__(self, items: Any) -> Any:
        self.messages += len(items)
        return self.read(items)


@pytest.mark.parametrize(("read", "messages"), [(_prepare_input_messages, OPENAI), (get_input_messages, ANTHROPIC)])
def test_a_history_is_read_once(read: Any, messages: list[Any]) -> None:
    original, remembered = Counted(read), Remembered()
    for end in range(1, len(messages) + 1):
        sent = copy.deepcopy(messages[:end])  # an application may make its messages anew
        assert remembered(original, sent) == read(sent)
    assert original.messages == len(messages)


@pytest.mark.parametrize(("read", "messages"), [(_prepare_input_messages, OPENAI), (get_input_messages, ANTHROPIC)])
def test_a_message_that_was_changed_in_place_is_read_anew(read: Any, messages: list[Any]) -> None:
    remembered, history = Remembered(), copy.deepcopy(messages)
    before = remembered(read, history)
    history[-1]["content"] = "[cleared]"
    assert remembered(read, history) == read(history) != before


def test_objects_of_an_sdk_are_read_as_ever() -> None:
    class Odd:
        role, content, name = "user", "hello", None

    remembered, original = Remembered(), Counted(_prepare_input_messages)
    for _ in range(2):
        assert remembered(original, [Odd(), OPENAI[0]]) == _prepare_input_messages([Odd(), OPENAI[0]])
    assert original.messages == 3


def test_true_is_not_one() -> None:
    remembered = Remembered()
    for value in (1, True, 1.0):
        message = {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": value}}],
        }
        (made,) = remembered(get_input_messages, [message])
        assert type(made.parts[0].arguments["a"]) is type(value)


@given(st.lists(st.sampled_from(OPENAI), max_size=12), st.integers(0, 4000))
def test_bounded_and_still_right(messages: list[Any], size: int) -> None:
    remembered = Remembered(max_bytes=size)
    for _ in range(3):
        assert remembered(_prepare_input_messages, messages) == _prepare_input_messages(messages)
    assert remembered._bytes <= max(size, 2_000)
