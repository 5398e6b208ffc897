"""``otel_footprint.check()``: its document, and what it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otel_footprint
from otel_footprint import ConfigurationError, Evidence, UnreadableInputError, check


def tool_call(identity: str | None = "c1", name: str = "get_order", arguments: str = "{}") -> dict[str, Any]:
    call: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    if identity is not None:
        call["id"] = identity
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(content: object, identity: str | None = "c1") -> dict[str, Any]:
    message = {"role": "tool", "content": content}
    return message if identity is None else {**message, "tool_call_id": identity}


ASKED = {"role": "user", "content": "What did I order?"}


def verdicts(document: Any) -> list[str]:
    return [answer["verdict"] for answer in document["answers"]]


def test_the_whole_document_of_one_answer() -> None:
    document = check(
        [
            ASKED,
            tool_call(),
            result('{"order": "AB-48213"}'),
            {"role": "assistant", "content": "It is AB-48213, not XY-99999."},
        ]
    )
    assert document == {
        "id": None,
        "answers": [
            {
                "message_index": 3,
                "choice": 0,
                "verdict": "ungrounded",
                "reasons": [],
                "values": [
                    {
                        "value": "AB-48213",
                        "spans": [[6, 14]],
                        "shape": "identifier",
                        "status": "read",
                        "flagged": False,
                        "carriers": [{"message_index": 2, "tool_call_id": "c1"}],
                        "derivation": None,
                        "evicted_by": None,
                        "misplaced": [],
                    },
                    {
                        "value": "XY-99999",
                        "spans": [[20, 28]],
                        "shape": "identifier",
                        "status": "unsupported",
                        "flagged": True,
                        "carriers": [],
                        "derivation": None,
                        "evicted_by": None,
                        "misplaced": [],
                    },
                ],
                "arguments": [],
            }
        ],
    }


def test_spans_count_code_points() -> None:
    text = "😀 it is AB-48213, é AB-48213"
    (answer,) = check([ASKED, tool_call(), result("AB-48213"), {"role": "assistant", "content": text}])["answers"]
    (value,) = answer["values"]
    assert [text[start:end] for start, end in value["spans"]] == ["AB-48213", "AB-48213"]


def test_what_a_person_said_and_plain_chats() -> None:
    said = [{"role": "user", "content": "Is AB-48213 mine?"}, {"role": "assistant", "content": "AB-48213 is yours."}]
    assert verdicts(check(said)) == ["grounded"]
    plain = [{"role": "user", "content": "A number?"}, {"role": "assistant", "content": "Take AB-48213."}]
    assert verdicts(check(plain)) == ["not_applicable"]
    assert verdicts(check(plain, evidence=Evidence(check="always"))) == ["ungrounded"]


def test_text_beside_calls_is_a_draft_and_empty_text_is_no_answer() -> None:
    draft = {**tool_call(), "content": "Looking up XY-99999."}
    assert check([ASKED, draft, result("x"), {"role": "assistant", "content": "  "}])["answers"] == []


def test_an_answer_sees_only_what_is_in_front_of_it() -> None:
    answer = {"role": "assistant", "content": "It is AB-48213."}
    document = check(
        [ASKED, tool_call(), result("nothing"), answer, ASKED, tool_call("c2"), result("AB-48213", "c2"), answer]
    )
    assert verdicts(document) == ["ungrounded", "grounded"]


def test_missing_ids_are_paired_by_order() -> None:
    messages = [
        ASKED,
        tool_call(None, "find", "{'zip': '19122'}"),
        result("user AB-48213", None),
        {"role": "assistant", "content": "You are AB-48213."},
    ]
    (answer,) = check(messages)["answers"]
    assert answer["verdict"] == "grounded"
    assert answer["values"][0]["carriers"] == [{"message_index": 2, "tool_call_id": None}]


def test_what_cannot_be_seen_accuses_nobody() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    (answer,) = check([picture, tool_call(), result("x"), {"role": "assistant", "content": "It is XY-99999."}])[
        "answers"
    ]
    assert (answer["verdict"], answer["reasons"]) == ("inconclusive", ["opaque_content"])
    assert [value["flagged"] for value in answer["values"]] == [False]
    (answer,) = check(
        {
            "previous_response_id": "r",
            "input": "x",
            "output": [
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "a", "output": "x"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "It is XY-99999."}],
                },
            ],
        }
    )["answers"]
    assert (answer["verdict"], answer["reasons"], answer["message_index"]) == ("inconclusive", ["unseen_history"], 3)


def test_anthropic_messages_and_their_system_instruction() -> None:
    messages = [
        {"role": "user", "content": "What did I order?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "AB-48213"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "AB-48213, as SKU-77001 says."}]},
    ]
    document = check(messages, system="Always name SKU-77001.")
    assert verdicts(document) == ["grounded"]
    values = document["answers"][0]["values"]
    assert [value["status"] for value in values] == ["read", "said"]
    assert values[0]["carriers"] == [{"message_index": 2, "tool_call_id": "t"}]
    assert verdicts(check({"system": "Always name SKU-77001.", "messages": messages})) == ["grounded"]
    assert verdicts(check(messages)) == ["ungrounded"]


def test_responses_items() -> None:
    items = [
        {"role": "user", "content": "What did I order?"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": '{"order": "AB-48213"}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is AB-48213."}]},
    ]
    (answer,) = check(items)["answers"]
    assert (answer["message_index"], answer["verdict"]) == (4, "grounded")
    assert answer["values"][0]["carriers"] == [{"message_index": 3, "tool_call_id": "c"}]


def test_a_declared_answer_tool() -> None:
    final = {**tool_call("c2", "final_answer", '{"answer": "It is XY-99999."}')}
    messages = [ASKED, tool_call(), result("AB-48213"), final]
    assert check(messages)["answers"] == []
    (answer,) = check(messages, evidence=Evidence(answer_tools=("final_answer",)))["answers"]
    assert (answer["message_index"], answer["verdict"]) == (3, "ungrounded")


def test_objects_of_the_sdks() -> None:
    openai = pytest.importorskip("openai.types.chat")
    anthropic = pytest.importorskip("anthropic.types")
    called = openai.ChatCompletionMessage.model_validate({"content": None, **tool_call()})
    answer = openai.ChatCompletionMessage(role="assistant", content="It is AB-48213.")
    assert verdicts(check([ASKED, called, result("AB-48213"), answer])) == ["grounded"]
    blocks = [anthropic.ToolUseBlock(type="tool_use", id="t", name="f", input={})]
    messages = [
        ASKED,
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "AB-48213"}]},
        {"role": "assistant", "content": (anthropic.TextBlock(type="text", text="It is AB-48213."),)},
    ]
    assert verdicts(check(tuple(messages))) == ["grounded"]


def test_nothing_that_was_given_is_changed() -> None:
    messages = [
        ASKED,
        tool_call(),
        result([{"type": "text", "text": "AB-48213"}]),
        {"role": "assistant", "content": "AB-48213"},
    ]
    before = json.dumps(messages)
    check(messages)
    assert json.dumps(messages) == before


def test_misuse_is_named() -> None:
    with pytest.raises(UnreadableInputError, match="a string instead of a list of messages"):
        check("Hello")
    with pytest.raises(UnreadableInputError, match="message 0 is a number"):
        check([1])
    with pytest.raises(ConfigurationError, match=r"check\(evidence=3\)"):
        check([], evidence=3)  # type: ignore[arg-type]
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(UnreadableInputError, match="nested deeper"):
        check([{"role": "tool", "content": deep}])


def test_an_empty_conversation_has_no_answers() -> None:
    assert check([]) == {"id": None, "answers": []}
    assert otel_footprint.check({"id": "x", "messages": []}) == {"id": "x", "answers": []}


TEXTS = st.text(max_size=20) | st.sampled_from(
    ["AB-48213", "It costs $12.50.", "on May 20, 2024", "1,234 and 24/7", '{"a": 1}']
)
MESSAGES = st.one_of(
    st.builds(
        lambda role, text: {"role": role, "content": text}, st.sampled_from(["system", "user", "assistant"]), TEXTS
    ),
    st.builds(lambda identity: tool_call(identity), st.sampled_from([None, "a", "b"])),
    st.builds(result, TEXTS, st.sampled_from([None, "a", "b"])),
)


@given(st.lists(MESSAGES, max_size=8))
def test_every_answer_is_judged_once_and_every_span_is_its_value(messages: list[dict[str, Any]]) -> None:
    document = check(messages)
    expected = [
        index
        for index, message in enumerate(messages)
        if message["role"] == "assistant" and not message.get("tool_calls") and (message["content"] or "").strip()
    ]
    assert [answer["message_index"] for answer in document["answers"]] == expected
    json.dumps(document, allow_nan=False)
    for answer in document["answers"]:
        text = messages[answer["message_index"] or 0]["content"]
        for value in answer["values"]:
            assert value["spans"]
            assert all(0 <= start < end <= len(text) for start, end in value["spans"])
            start, end = value["spans"][0]
            assert text[start:end] == value["value"]
            for carrier in value["carriers"]:
                index = carrier["message_index"]
                assert index is not None
                assert messages[index]["role"] == "tool"


def test_real_runs_are_judged_answer_by_answer(shared_data: Path) -> None:
    answers = 0
    with (shared_data / "tau_airline" / "conversations.jsonl").open() as file:
        for line in file:
            messages = json.loads(line)["messages"]
            document = check(messages)
            for answer in document["answers"]:
                assert messages[answer["message_index"] or 0]["role"] == "assistant"
            answers += len(document["answers"])
    assert answers == 586
