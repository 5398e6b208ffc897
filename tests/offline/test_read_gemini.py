"""Gemini contents as core messages, in every form that ``generate_content`` takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import _transformers, types
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint import check
from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import (
    Message,
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.offline.format import read as read_any
from otel_footprint.providers import gemini

CALL = {"functionCall": {"name": "get_order", "args": {"id": "W-1"}}, "thoughtSignature": "c2ln"}
RESPONSE = {"functionResponse": {"name": "get_order", "response": {"order": "AB-48213"}}}


def roles_and_texts(contents: Any) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(n.message.role, n.message.text, n.positions) for n in gemini.read(contents)]


def test_one_content_in_every_form() -> None:
    for contents in (
        "Hi",
        ["Hi"],
        [["Hi"]],
        types.Part(text="Hi"),
        [types.Part(text="Hi")],
        types.Content(role="user", parts=[types.Part(text="Hi")]),
        {"parts": [{"text": "Hi"}]},
        {"text": "Hi"},
    ):
        assert roles_and_texts(contents) == [("user", "Hi", (0,))]


def test_loose_parts_are_joined_as_the_sdk_joins_them() -> None:
    model = {"role": "model", "parts": [{"text": "b"}]}
    call = types.Part(function_call=types.FunctionCall(name="f", args={}))
    for contents in (["a", "c"], ["a", call, call, "c"], ["a", model, "c"], ["a", types.Content(**model), "c"]):
        sent = _transformers.t_contents(contents)
        read = gemini.read(contents)
        assert [n.message.text for n in read] == ["".join(p.text or "" for p in c.parts or ()) for c in sent]
    assert [n.positions for n in gemini.read(["a", call, call, "c"])] == [(0,), (1, 2), (3,)]
    assert [n.positions for n in gemini.read(["a", model, "c"])] == [(1,), (0, 2)]


def test_calls_and_responses() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "Where is W-1?"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Looking."}, CALL]},
        {"role": "user", "parts": [RESPONSE, {"text": "Be brief."}]},
    ]
    read = [native.message for native in gemini.read(contents, "You are kind.")]
    assert [message.role for message in read] == ["system", "user", "assistant", "tool"]
    assert read[2].parts == (Reasoning("hm"), Text("Looking."), ToolCall(None, "get_order", {"id": "W-1"}))
    assert read[3].parts == (ToolResult(None, "get_order", {"order": "AB-48213"}), Text("Be brief."))


def test_parallel_responses_are_messages_of_one_place_and_split_calls_one_turn() -> None:
    contents = [{"role": "model", "parts": [CALL]}] * 2 + [{"role": "user", "parts": [RESPONSE, RESPONSE]}]
    read = gemini.read(contents)
    assert [(native.message.role, native.positions) for native in read] == [
        ("assistant", (0, 1)),
        ("tool", (2,)),
        ("tool", (2,)),
    ]


def test_made_up_ids_are_those_of_the_instrumentation_and_pair() -> None:
    contents = [
        {"role": "model", "parts": [{"text": "Looking."}, CALL, CALL]},
        {"role": "user", "parts": [RESPONSE, RESPONSE]},
    ]
    read = [native.message for native in gemini.read(contents, made_up_ids=True)]
    assert [call.id for call in read[0].tool_calls] == ["get_order_1", "get_order_2"]
    assert sorted(message.result.id for message in read[1:] if message.result) == ["get_order_1", "get_order_2"]


def test_an_error_is_an_error() -> None:
    failed = {"functionResponse": {"name": "f", "response": {"error": "no such order"}}}
    (native,) = gemini.read([{"role": "user", "parts": [failed]}])
    assert native.message.result is not None
    assert native.message.result.is_error


def test_media_and_the_server_s_tools() -> None:
    (native,) = gemini.read(
        [
            types.Content(
                role="model",
                parts=[
                    types.Part.from_bytes(data=b"x", mime_type="image/png"),
                    types.Part.from_bytes(data=b"x", mime_type="application/pdf"),
                    types.Part.from_uri(file_uri="gs://a/b", mime_type="video/mp4"),
                    types.Part.from_executable_code(code="1+1", language=types.Language.PYTHON),
                    types.Part.from_code_execution_result(outcome=types.Outcome.OUTCOME_OK, output="2"),
                ],
            )
        ]
    )
    assert native.message.parts == (
        Opaque("image"),
        Opaque("file"),
        Opaque("uri"),
        ServerToolCall(None, "code_execution", {"type": "code_execution", "code": "1+1", "language": "PYTHON"}),
        ServerToolResult(None, "code_execution", {"type": "code_execution", "outcome": "OUTCOME_OK", "output": "2"}),
    )


@pytest.mark.parametrize("bad", [3, [{"role": "wizard", "parts": []}], [{"role": "user", "parts": "x"}]])
def test_what_is_no_content_is_refused_by_its_place(bad: object) -> None:
    with pytest.raises(UnreadableInputError, match="message 0"):
        gemini.read(bad)


def test_formats_are_told_apart() -> None:
    gemini_list = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [CALL]}]
    conventions = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
    bare = [{"role": "user", "parts": []}, *conventions]
    assert read_any(gemini_list).natives == gemini.read(gemini_list)
    assert read_any({"contents": gemini_list}).natives == gemini.read(gemini_list)
    assert [native.message.text for native in read_any(conventions).natives] == ["Hi"]
    assert [native.message.text for native in read_any(bare).natives][-1] == "Hi"


def test_check_judges_gemini_contents_as_objects_and_as_json() -> None:
    contents = [
        types.Content(role="user", parts=[types.Part(text="What did I order?")]),
        types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name="get_order", args={}))]),
        types.Content(
            role="user",
            parts=[types.Part.from_function_response(name="get_order", response={"order": "AB-48213"})],
        ),
        types.Content(role="model", parts=[types.Part(text="It is AB-48213, for 77.31.")]),
    ]
    as_json = [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]
    for given_ in (contents, as_json, {"contents": as_json, "systemInstruction": {"parts": [{"text": "Be kind."}]}}):
        (answer,) = check(given_)["answers"]
        assert answer["message_index"] == 3
        assert {value["value"]: value["status"] for value in answer["values"]} == {
            "AB-48213": "read",
            "77.31": "unsupported",
        }


def test_recorded_requests_can_be_read(shared_data: Path) -> None:
    found = 0
    with (shared_data / "cassettes" / "normalised.jsonl").open() as lines:
        for line in lines:
            for call in json.loads(line)["calls"]:
                if "enerateContent" in call["uri"]:
                    body = call["request"]
                    body = json.loads(body) if isinstance(body, str) else body
                    natives = read_any(body).natives
                    found += any(native.message.role == "tool" for native in natives)
    assert found > 15


parts = st.one_of(
    st.text().map(lambda text: {"text": text}),
    st.just(CALL),
    st.just(RESPONSE),
    st.dictionaries(st.sampled_from(["text", "inlineData", "x", "toolCall"]), st.none() | st.text(max_size=3)),
)


@given(st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "model"]), "parts": st.lists(parts)})))
def test_every_content_is_read_at_its_place(contents: list[dict[str, Any]]) -> None:
    read = gemini.read(contents, made_up_ids=True)
    assert sorted({position for native in read for position in native.positions}) == list(range(len(contents)))
    assert all(isinstance(native.message, Message) for native in read)
