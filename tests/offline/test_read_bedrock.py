"""Messages of Bedrock's Converse API as core messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint import check
from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import (
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.offline.format import read as read_any
from otel_footprint.providers import bedrock
from otel_footprint.providers.native import Native


def read(*messages: object, system: object = None) -> tuple[Native, ...]:
    return bedrock.read(messages, system)


def use(identity: str, **arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": identity, "name": "get_order", "input": arguments}}


def result(identity: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": identity, "content": list(content), **more}}


def test_a_tool_loop() -> None:
    natives = read(
        {"role": "user", "content": [{"text": "Where?"}, {"cachePoint": {"type": "default"}}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                {"reasoningContent": {"redactedContent": b"x"}},
                {"text": "Looking."},
                use("t1", id="W-1"),
                use("t2"),
            ],
        },
        {
            "role": "user",
            "content": [
                result("t1", {"json": {"order": "AB-1"}}, status="success"),
                result("t2", {"text": "no"}, {"image": {"format": "png"}}, status="error"),
                {"text": "Be brief."},
            ],
        },
        system=[{"text": "Be kind."}, {"cachePoint": {"type": "default"}}],
    )
    assert [(native.message.role, native.at) for native in natives] == [
        ("system", -1),
        ("user", 0),
        ("assistant", 1),
        ("tool", 2),
        ("tool", 2),
    ]
    assert natives[1].message.parts == (Text("Where?"),)
    assert natives[2].message.parts == (
        Reasoning("hm"),
        Reasoning(""),
        Text("Looking."),
        ToolCall("t1", "get_order", {"id": "W-1"}),
        ToolCall("t2", "get_order", {}),
    )
    assert natives[3].message.parts == (ToolResult("t1", None, [{"json": {"order": "AB-1"}}]),)
    assert natives[4].message.parts == (
        ToolResult("t2", None, [{"text": "no"}], is_error=True),
        Opaque("image"),
        Text("Be brief."),
    )


def test_other_blocks() -> None:
    (native,) = read(
        {
            "role": "user",
            "content": [
                {"guardContent": {"text": {"text": "guarded", "qualifiers": ["query"]}}},
                {"document": {"format": "pdf", "name": "d", "source": {"bytes": b"x"}}},
                {"video": {"format": "mp4"}},
                {"citationsContent": {"content": [{"text": "cited"}], "citations": []}},
                {"somethingNew": {}},
            ],
        }
    )
    assert native.message.parts == (
        Text("guarded"),
        Opaque("document"),
        Opaque("video"),
        Text("cited"),
        Opaque("unknown"),
    )


def test_tools_that_the_server_runs() -> None:
    called = {"toolUse": {"toolUseId": "s1", "name": "grounding", "input": {}, "type": "server_tool_use"}}
    (native,) = read({"role": "assistant", "content": [called, result("s1", {"text": "found"}), {"text": "Here."}]})
    assert native.message.parts == (
        ServerToolCall("s1", "grounding", {}),
        ServerToolResult("s1", None, [{"text": "found"}]),
        Text("Here."),
    )


def test_split_calls_of_the_model_are_one_turn() -> None:
    natives = read(
        {"role": "assistant", "content": [use("t1")]},
        {"role": "assistant", "content": [use("t2")]},
        {"role": "user", "content": [result("t1"), result("t2")]},
    )
    assert [native.positions for native in natives] == [(0, 1), (2,), (2,)]


@pytest.mark.parametrize("bad", [3, {"content": []}, {"role": "user", "content": 7}])
def test_what_is_no_message_is_refused_by_its_place(bad: object) -> None:
    with pytest.raises(UnreadableInputError, match="message 0"):
        read(bad)


def test_check_tells_the_format_and_judges() -> None:
    messages = [
        {"role": "user", "content": [{"text": "What did I order?"}]},
        {"role": "assistant", "content": [use("t1")]},
        {"role": "user", "content": [result("t1", {"json": {"order": "AB-48213"}})]},
        {"role": "assistant", "content": [{"text": "It is AB-48213, for 77.31."}]},
    ]
    for given_ in (messages, {"messages": messages, "system": [{"text": "Be kind."}], "modelId": "m"}):
        (answer,) = check(given_)["answers"]
        assert {value["value"]: value["status"] for value in answer["values"]} == {
            "AB-48213": "read",
            "77.31": "unsupported",
        }


def test_recorded_requests_can_be_read(shared_data: Path) -> None:
    found = 0
    with (shared_data / "cassettes" / "normalised.jsonl").open() as lines:
        for line in lines:
            for call in json.loads(line)["calls"]:
                if "/converse" in call["uri"]:
                    body = call["request"]
                    natives = read_any(json.loads(body) if isinstance(body, str) else body).natives
                    found += any(native.message.role == "tool" for native in natives)
    assert found > 10


blocks = st.one_of(
    st.text().map(lambda text: {"text": text}),
    st.sampled_from([use("t1"), result("t1", {"text": "x"}), {"cachePoint": {}}, {"image": {}}, {"new": 1}, {}]),
)


@given(st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": st.lists(blocks)})))
def test_every_message_is_read_at_its_place(messages: list[dict[str, Any]]) -> None:
    natives = bedrock.read(messages)
    assert sorted({position for native in natives for position in native.positions}) == list(range(len(messages)))
