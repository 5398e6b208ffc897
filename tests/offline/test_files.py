"""What is in an input file, and what could not be read of it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.offline import files
from otel_footprint.offline.files import Item, Problem, TraceFile
from otel_footprint.offline.format import Conversation

HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


def read(content: bytes | str) -> list[Item]:
    return list(files.read(io.BytesIO(content.encode() if isinstance(content, str) else content)))


def lengths(items: list[Item]) -> list[int]:
    return [len(item.natives) for item in items if isinstance(item, Conversation)]


def problems(items: list[Item]) -> list[tuple[int | None, str]]:
    return [(item.line, item.reason) for item in items if isinstance(item, Problem)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (json.dumps(HELLO), [2]),
        (json.dumps(HELLO, indent=2), [2]),
        (json.dumps({"messages": HELLO}), [2]),
        (json.dumps([{"messages": HELLO}, {"messages": HELLO}], indent=1), [2, 2]),
        (json.dumps([HELLO, HELLO, []]), [2, 2, 0]),
        (f"{json.dumps(HELLO)}\n\n{json.dumps({'messages': HELLO})}\r\n", [2, 2]),
        ("\ufeff" + json.dumps(HELLO), [2]),
        ("\n\n" + json.dumps(HELLO), [2]),
        ("[]", [0]),
        ('{"messages": []}', [0]),
        ('{"messages": null, "id": 3}', [0]),
        ("\n".join(json.dumps(message) for message in HELLO * 3), [6]),
        (json.dumps({"input": "Hello", "output": [], "instructions": "Be brief."}), [2]),
    ],
)
def test_the_forms_of_a_file(content: str, expected: list[int]) -> None:
    items = read(content)
    assert lengths(items) == expected
    assert problems(items) == []


def test_ids_are_taken() -> None:
    (item,) = read(json.dumps({"id": 7, "messages": HELLO}))
    assert isinstance(item, Conversation)
    assert item.id == "7"


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_a_history_held_by_the_server_is_not_whole(key: str) -> None:
    (item,) = read(json.dumps({"input": "Hello", key: "resp_1"}))
    assert isinstance(item, Conversation)
    assert item.blind == {"unseen_history"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [(None, "the file is empty")]),
        (b" \n\n ", [(None, "the file is empty")]),
        (b"\x7fELF\x00\x01", [(None, "not text: a binary file")]),
        (b"\xff\xfeh\x00", [(None, "not text: a binary file")]),
        (b'{"a": "\xff"}', [(1, "not UTF-8 text: byte 0xff at 8")]),
        (b"hello", [(1, "not JSON: expecting value, at character 1")]),
        (b'[{"role": "user"', [(1, "not JSON: it ends too early, at character 17")]),
        (b'[\n {"role": "user",\n', [(2, "not JSON: it ends too early, at column 18")]),
        (b"[" * 100_000, [(1, "JSON nested too deeply")]),
        (b"[" + b"9" * 5_000 + b"]", [(1, "not JSON: a number with too many digits")]),
        (b"5", [(1, "not a conversation: a number instead of a list of messages")]),
        (b'"text"', [(1, "not a conversation: a string instead of a list of messages")]),
        (b"null", [(1, "not a conversation: null instead of a list of messages")]),
        (b'{"a": 1}', [(1, "not a conversation: the object has no messages")]),
        (b'{"messages": 5}', [(1, "not a conversation: messages is a number, not a list")]),
        (b"[1, 2]", [(1, "not a conversation: a list that holds neither messages nor conversations")]),
        (b'[{"role": "user", "content": "x"}, 5]', [(1, "message 1 is a number, not an object")]),
        (
            b'[[{"role": "user"}], {"messages": 1}]',
            [(1, "conversation 1: not a conversation: messages is a number, not a list")],
        ),
    ],
)
def test_what_cannot_be_read_is_named(content: bytes, expected: list[tuple[int | None, str]]) -> None:
    assert problems(read(content)) == expected


def test_the_readable_rest_is_read() -> None:
    good = json.dumps(HELLO)
    items = read(f'{good}\n{good[:20]}\n"x"\n{good}\n')
    assert lengths(items) == [2, 2]
    assert [line for line, _ in problems(items)] == [2, 3]


def test_a_bad_first_line_does_not_hide_the_others() -> None:
    good = json.dumps(HELLO)
    items = read(f"{good[:20]}\n{good}\n{good}\n")
    assert lengths(items) == [2, 2]
    assert [line for line, _ in problems(items)] == [1]


def test_not_a_number_is_read_like_any_value() -> None:
    items = read('[{"role": "tool", "tool_call_id": "a", "content": [NaN, Infinity]}]')
    assert problems(items) == []
    assert lengths(items) == [1]


def test_a_very_long_line() -> None:
    messages = [{"role": "tool", "tool_call_id": "a", "content": "x" * 50_000_000}]
    assert lengths(read(json.dumps(messages))) == [1]


def test_a_line_that_never_ends_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1_000)
    assert problems(read(b"[" + b" " * 5_000)) == [(1, "a line longer than 1,000 bytes")]


def test_exports_are_collected_into_one_trace() -> None:
    span = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "name": "chat",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
    }
    line = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    items = read(f'{line}\n{line}\n{{"resourceMetrics": []}}\n{{"resourceLogs": 5}}\n')
    assert problems(items) == [(4, "resourceLogs of the OTLP request is not a list")]
    (trace,) = [item for item in items if isinstance(item, TraceFile)]
    assert len(trace.spans) == 2


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "messages",
                    "role",
                    "content",
                    "type",
                    "input",
                    "parts",
                    "system",
                    "resourceSpans",
                    "scopeSpans",
                    "spans",
                    "attributes",
                    "key",
                    "value",
                    "id",
                    "traceId",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.lists(JSON, min_size=1, max_size=4), st.booleans())
def test_any_json_is_read_or_named(values: list[Any], as_lines: bool) -> None:
    content = "\n".join(json.dumps(value) for value in values) if as_lines else json.dumps(values, indent=1)
    assert read(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_named(content: bytes) -> None:
    assert read(content)
