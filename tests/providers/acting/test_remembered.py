"""Messages read before are found again: never a wrong one, and the table is bounded."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Message, Text
from otel_footprint.providers import openai_chat, openai_responses
from otel_footprint.providers.remembered import Remembered

texts = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
contents = texts | st.none() | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": texts,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": texts, "arguments": texts}),
        }
    ),
    max_size=2,
)
chats = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user"]), "content": contents})
    | st.fixed_dictionaries({"role": st.just("assistant"), "content": contents, "tool_calls": calls})
    | st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": texts, "content": contents}),
    max_size=8,
)
items = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["developer", "user", "assistant"]), "content": texts})
    | st.fixed_dictionaries({"type": st.just("function_call"), "call_id": texts, "name": texts, "arguments": texts})
    | st.fixed_dictionaries(
        {"type": st.just("function_call_output"), "call_id": texts, "output": texts | st.lists(values)}
    )
    | st.fixed_dictionaries({"type": st.just("reasoning"), "summary": st.just([]), "id": texts}),
    max_size=8,
)


def shown(natives: Any) -> Any:
    return [(native.message.role, native.message.parts, native.positions, native.at) for native in natives]


@given(st.lists(chats, min_size=1, max_size=3))
def test_remembering_changes_no_reading_of_a_chat(histories):
    remembered = Remembered()
    for history in histories * 2:
        assert shown(openai_chat.read(history, remembered=remembered)) == shown(openai_chat.read(history))


@given(st.lists(items, min_size=1, max_size=3))
def test_remembering_changes_no_reading_of_items(histories):
    remembered = Remembered()
    for history in histories * 2:
        assert shown(openai_responses.read(history, remembered=remembered)) == shown(openai_responses.read(history))


def test_the_same_list_gives_the_same_messages():
    remembered = Remembered()
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    first = openai_chat.read(history, remembered=remembered)
    again = openai_chat.read([{"role": "user", "content": "0"}, *copy.deepcopy(history)], remembered=remembered)
    assert [native.message for native in first] == [native.message for native in again[1:]]
    assert all(one.message is other.message for one, other in zip(first, again[1:], strict=True))


def test_a_message_that_was_changed_in_place_is_read_again():
    remembered = Remembered()
    history = [{"role": "user", "content": "a"}]
    openai_chat.read(history, remembered=remembered)
    history[0]["content"] = "b"
    assert openai_chat.read(history, remembered=remembered)[0].message.text == "b"


def test_values_that_are_equal_and_not_the_same_are_told_apart():
    remembered = Remembered()
    outputs = [[True], [1], [1.0]]
    found = [
        openai_responses.read(
            [{"type": "function_call_output", "call_id": "c", "output": output}], remembered=remembered
        )
        for output in outputs
    ]
    assert len({natives[0].message.key for natives in found}) == 3


def test_what_cannot_be_read_is_refused_where_it_stands():
    remembered = Remembered()
    for _ in range(2):
        with pytest.raises(UnreadableInputError, match="message 1"):
            openai_chat.read([{"role": "user", "content": "a"}, 7], remembered=remembered)
        with pytest.raises(UnreadableInputError, match="message 1"):
            openai_responses.read([{"type": "reasoning"}, {"role": "assistant", "content": 7}], remembered=remembered)


def test_it_is_bounded():
    remembered = Remembered(max_bytes=20_000)
    made: list[int] = []

    def reading(number: int) -> Message:
        made.append(number)
        return Message("user", (Text(str(number)),))

    for number in range(1_000):
        remembered.find(number, reading)
    assert len(remembered._young) + len(remembered._old) < 50
    remembered.find(999, lambda own: reading(-1))
    assert made == list(range(1_000))
    remembered.find("x" * 20_000, lambda own: reading(-2))
    remembered.find("x" * 20_000, lambda own: reading(-2))
    assert made[-2:] == [-2, -2]


def test_what_was_read_is_not_changed_by_the_application():
    remembered = Remembered()
    rows = [{"type": "text", "text": "one row"}]
    history = [{"role": "tool", "tool_call_id": "c", "content": rows}]
    before = copy.deepcopy(history)
    openai_chat.read(history, remembered=remembered)
    rows[0]["text"] = "[taken out]"
    (found,) = openai_chat.read(before, remembered=remembered)
    assert found.message.result.content == [{"type": "text", "text": "one row"}]


def test_what_is_no_plain_value_is_read_from_its_plain_form():
    remembered = Remembered()
    made = []

    def plain(value):
        return {"text": value.text}

    def reading(own):
        made.append(own)
        return Message("user", (Text(own["text"]),))

    for _ in range(2):
        assert remembered.find(Text("a"), reading, plain=plain).text == "a"
    assert made == [{"text": "a"}]
