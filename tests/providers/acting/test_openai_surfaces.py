"""OpenAI's two APIs as surfaces: what is read, and what is written with another window."""

from __future__ import annotations

import copy
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import openai
import pydantic
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
from openai.types.responses import Response, ResponseCompletedEvent, ResponseFunctionToolCall

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.messages import Message, Reasoning, Text, ToolCall
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.providers.openai_chat_surface import OpenAIChat
from otel_footprint.providers.openai_responses_surface import OpenAIResponses
from otel_footprint.providers.surface import Surface

CHAT, RESPONSES = OpenAIChat(), OpenAIResponses()
NOTICE = Put(Message("user", (Text("earlier messages left"),), authored="notice"))
CALL = {"id": "call-a", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "W-1042"}'}}
FUNCTION = {
    "type": "function_call",
    "call_id": "call-a",
    "name": "get_order",
    "arguments": '{"id": "W-1042"}',
    "id": "fc_1",
}
OUTPUT = {"type": "function_call_output", "call_id": "call-a", "output": "W-1042 left today"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}]}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "It costs 12.50.", "annotations": []}],
}


def completion(**message: Any) -> ChatCompletion:
    return ChatCompletion.model_validate(
        {
            "id": "c",
            "created": 0,
            "model": "m",
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}],
        }
    )


def response(*output: Any, **more: Any) -> Response:
    return Response.model_construct(**{"id": "r", "status": "completed", "output": list(output), **more})


def rewritten(surface: Surface, kwargs: dict[str, Any], *items: Item) -> dict[str, Any]:
    """The written request; the given one is checked to be what it was."""
    before = copy.deepcopy({key: value for key, value in kwargs.items() if not hasattr(value, "__next__")})
    settled = surface.settle(kwargs)
    reading = surface.read(settled)
    assert reading is not None
    written = surface.write(settled, reading, items)
    assert {key: value for key, value in kwargs.items() if not hasattr(value, "__next__")} == before
    return written


class TestChat:
    def test_the_leading_system_messages_are_the_envelope(self):
        messages = [
            {"role": "system", "content": "one"},
            {"role": "developer", "content": "two"},
            {"role": "user", "content": "hello"},
            {"role": "system", "content": "later"},
        ]
        reading = CHAT.read({"messages": messages, "model": "m"})
        assert reading is not None
        assert [message.text for message in reading.system] == ["one", "two"]
        assert [(message.role, message.text) for message in reading.messages] == [
            ("user", "hello"),
            ("system", "later"),
        ]
        assert (reading.envelope, reading.model, reading.provider) == (2, "m", "openai")
        written = rewritten(CHAT, {"messages": messages}, NOTICE, Kept(1))["messages"]
        assert written == [*messages[:2], {"role": "user", "content": "earlier messages left"}, messages[3]]
        assert all(written[at] is messages[place] for at, place in ((0, 0), (1, 1), (3, 3)))

    def test_the_whole_list_is_passed_on_as_it_is(self):
        messages = ({"role": "user", "content": "a"}, {"role": "user", "content": "b"})
        assert rewritten(CHAT, {"messages": messages}, Kept(0), Kept(1))["messages"] is messages

    def test_objects_of_the_sdk_are_read_and_kept(self):
        said = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [CALL]})
        messages = [
            {"role": "user", "content": "Where is it?"},
            said,
            OrderedDict(role="tool", tool_call_id="call-a", content="left"),
            MappingProxyType({"role": "user", "content": "Thanks"}),
        ]
        reading = CHAT.read({"messages": messages})
        assert reading is not None
        assert reading.messages[1].tool_calls == (ToolCall("call-a", "get_order", {"id": "W-1042"}),)
        written = CHAT.write({"messages": messages}, reading, [Kept(1), Kept(2), Kept(3)])["messages"]
        assert [id(item) for item in written] == [id(item) for item in messages[1:]]

    def test_what_can_be_read_once_becomes_a_list(self):
        settled = CHAT.settle({"messages": iter([{"role": "user", "content": "a"}]), "tools": ({} for _ in ()), "n": 1})
        assert settled == {"messages": [{"role": "user", "content": "a"}], "tools": [], "n": 1}

    def test_what_is_no_list_is_left_to_the_sdk(self):
        for kwargs in ({}, {"messages": None}, {"messages": "hello"}, {"messages": 7}, {"messages": openai.omit}):
            assert CHAT.settle(kwargs) == kwargs
            assert CHAT.read(kwargs) is None
        with pytest.raises(UnreadableInputError):
            CHAT.read({"messages": [7]})

    def test_tools(self):
        def tools(**kwargs: Any) -> Any:
            reading = CHAT.read({"messages": [], **kwargs})
            assert reading is not None
            return reading.tools

        named = [
            {"type": "function", "function": {"name": "get_order", "parameters": {}}},
            {"type": "custom", "custom": {"name": "shell"}},
        ]
        assert tools(tools=named) == ("get_order", "shell")
        assert tools(functions=[{"name": "old"}]) == ("old",)
        assert tools() == tools(tools=None) == tools(tools=openai.omit) == tools(tools=openai.NOT_GIVEN) == ()
        assert tools(tools=[7]) is None

    def test_the_answer_goes_back_as_an_assistant_message(self):
        draft = CHAT.draft({}, completion(content="It costs 12.50."))
        assert draft is not None
        assert draft.native == ({"role": "assistant", "content": "It costs 12.50."},)
        assert (draft.message.role, draft.message.text) == ("assistant", "It costs 12.50.")

    def test_a_refusal_and_spoken_output_go_back(self):
        refused = CHAT.draft({}, completion(content=None, refusal="No."))
        assert refused is not None
        assert refused.native == ({"role": "assistant", "refusal": "No."},)
        spoken = CHAT.draft(
            {}, completion(content=None, audio={"id": "a1", "data": "AA", "expires_at": 1, "transcript": "12.50"})
        )
        assert spoken is not None
        assert spoken.native == ({"role": "assistant", "audio": {"id": "a1"}},)

    def test_an_answer_given_as_a_tool_call_goes_back_as_text(self):
        call = {**CALL, "function": {"name": "answer", "arguments": '{"cost": 12.5}'}}
        draft = CHAT.draft({}, completion(content="Here.", tool_calls=[call]))
        assert draft is not None
        assert draft.native == ({"role": "assistant", "content": 'Here.\n{"cost": 12.5}'},)

    def test_there_may_be_no_answer(self):
        assert CHAT.draft({}, completion(content=None)) is None
        assert CHAT.draft({}, completion(content="x"), choice=1) is None
        assert CHAT.draft({}, None) is None
        assert CHAT.draft({}, "text/html") is None

    def test_the_chunks_of_a_stream_amount_to_a_response(self):
        def chunk(index: int, finish: str | None = None, **delta: Any) -> ChatCompletionChunk:
            choice = {"index": index, "delta": delta, "finish_reason": finish}
            return ChatCompletionChunk.model_validate(
                {"id": "c", "created": 0, "model": "m", "object": "chat.completion.chunk", "choices": [choice]}
            )

        def part(index: int, **more: Any) -> dict[str, Any]:
            return {"index": index, **more}

        chunks = [
            chunk(0, role="assistant", content="It costs "),
            chunk(1, refusal="No."),
            chunk(0, content="12.50."),
            chunk(0, tool_calls=[part(0, id="a", function={"name": "f", "arguments": '{"x"'})]),
            chunk(0, tool_calls=[part(1, id="b", function={"name": "g", "arguments": "{}"})]),
            chunk(0, tool_calls=[part(0, function={"arguments": ": 1}"})]),
            chunk(0, "stop"),
        ]
        assert CHAT.merge({}, chunks) is None  # the second choice is not at its end
        merged = CHAT.merge({}, [*chunks, chunk(1, "stop")])
        assert merged is not None
        first, second = (choice["message"] for choice in merged["choices"])
        assert first["content"] == "It costs 12.50."
        assert [(call["id"], call["function"]) for call in first["tool_calls"]] == [
            ("a", {"name": "f", "arguments": '{"x": 1}'}),
            ("b", {"name": "g", "arguments": "{}"}),
        ]
        assert second == {"role": "assistant", "refusal": "No."}
        draft = CHAT.draft({}, merged, choice=1)
        assert draft is not None
        assert draft.message.text == "No."
        assert CHAT.merge({}, []) is None


class TestResponses:
    def test_a_string_is_one_message_and_stays_a_string(self):
        kwargs = {"input": "Where is it?", "instructions": "Be brief.", "model": "m"}
        reading = RESPONSES.read(kwargs)
        assert reading is not None
        assert [(message.role, message.text) for message in reading.messages] == [("user", "Where is it?")]
        assert [message.text for message in reading.system] == ["Be brief."]
        assert reading.envelope == 0
        assert rewritten(RESPONSES, kwargs, Kept(0)) == kwargs
        written = rewritten(RESPONSES, kwargs, Kept(0), NOTICE)
        assert written == {
            **kwargs,
            "input": [
                {"role": "user", "content": "Where is it?"},
                {"role": "user", "content": "earlier messages left"},
            ],
        }

    def test_the_items_of_a_turn_stay_together(self):
        items = [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Where is it?"},
            THOUGHT,
            FUNCTION,
            OUTPUT,
            {**THOUGHT, "id": "rs_2"},
            SAID,
            {"role": "user", "content": "Thanks"},
        ]
        reading = RESPONSES.read({"input": items})
        assert reading is not None
        assert reading.envelope == 1
        assert [message.role for message in reading.messages] == ["user", "assistant", "tool", "assistant", "user"]
        assert isinstance(reading.messages[1].parts[0], Reasoning)
        written = rewritten(RESPONSES, {"input": items}, Kept(1), Kept(2), Kept(4))["input"]
        assert [id(item) for item in written] == [id(items[place]) for place in (0, 2, 3, 4, 7)]
        written = rewritten(RESPONSES, {"input": items}, NOTICE, Kept(3), Kept(4))["input"]
        assert written[2:] == items[5:]

    def test_output_items_that_the_application_appended_are_kept(self):
        call = ResponseFunctionToolCall.model_validate(FUNCTION)
        items = [{"role": "user", "content": "Where is it?"}, call, OUTPUT]
        reading = RESPONSES.read({"input": items})
        assert reading is not None
        assert reading.messages[1].tool_calls[0].arguments == {"id": "W-1042"}
        assert RESPONSES.write({"input": items}, reading, [Kept(1), Kept(2)])["input"] == [call, OUTPUT]

    def test_a_window_that_the_provider_holds(self):
        for held in ({"previous_response_id": "r1"}, {"conversation": "c1"}, {"conversation": {"id": "c1"}}):
            reading = RESPONSES.read({"input": "x", **held})
            assert reading is not None
            assert reading.server_held
        for free in ({}, {"store": True}, {"previous_response_id": None}, {"conversation": openai.omit}):
            reading = RESPONSES.read({"input": "x", **free})
            assert reading is not None
            assert not reading.server_held

    def test_nothing_put_in_and_nothing_that_can_be_read(self):
        reading = RESPONSES.read({"model": "m"})
        assert reading is not None
        assert reading.messages == ()
        assert RESPONSES.read({"input": 7}) is None
        with pytest.raises(UnreadableInputError):
            RESPONSES.read({"input": [7]})

    def test_tools(self):
        tools = [{"type": "function", "name": "get_order"}, {"type": "web_search"}, {"type": "custom", "name": "shell"}]
        reading = RESPONSES.read({"input": "x", "tools": tools})
        assert reading is not None
        assert reading.tools == ("get_order", "web_search", "shell")

    def test_the_answer_goes_back_as_its_items(self):
        draft = RESPONSES.draft({}, response(THOUGHT, SAID))
        assert draft is not None
        assert draft.native == (THOUGHT, SAID)
        assert draft.message.text == "It costs 12.50."

    def test_what_the_provider_does_not_store_goes_back_without_ids_it_cannot_look_up(self):
        draft = RESPONSES.draft({"store": False}, response(THOUGHT, SAID))
        assert draft is not None
        assert draft.native == ({"role": "assistant", "content": "It costs 12.50."},)
        sealed = {**THOUGHT, "encrypted_content": "sealed"}
        draft = RESPONSES.draft({"store": False}, response(sealed, SAID))
        assert draft is not None
        assert draft.native == (sealed, {"role": "assistant", "content": "It costs 12.50."})

    def test_what_the_sdk_added_to_a_parsed_answer_does_not_go_back(self):
        content = [{**SAID["content"][0], "parsed": {"cost": 12.5}}]  # type: ignore[index]
        draft = RESPONSES.draft({}, response({**SAID, "content": content}))
        assert draft is not None
        assert draft.native == (SAID,)

    def test_an_answer_given_as_a_tool_call_goes_back_as_text(self):
        draft = RESPONSES.draft({}, response(THOUGHT, {**FUNCTION, "arguments": '{"cost": 12.5}'}))
        assert draft is not None
        assert draft.native == ({"role": "assistant", "content": '{"cost": 12.5}'},)

    def test_there_may_be_no_answer(self):
        assert RESPONSES.draft({}, response()) is None
        assert RESPONSES.draft({}, response(SAID), choice=1) is None
        assert RESPONSES.draft({}, None) is None

    def test_the_last_event_of_a_stream_holds_the_response(self):
        whole = response(SAID)
        event = ResponseCompletedEvent.model_construct(type="response.completed", response=whole, sequence_number=9)
        assert RESPONSES.merge({}, [event]) is whole
        assert RESPONSES.merge({}, []) is None


class Own(pydantic.BaseModel):
    """An item of a kind that the application made itself."""

    role: str = "user"
    content: str = "hello"


@pytest.mark.parametrize(("surface", "key"), [(CHAT, "messages"), (RESPONSES, "input")])
def test_models_of_the_application_s_own(surface, key):
    reading = surface.read({key: [Own(), Own()]})
    assert [message.text for message in reading.messages] == ["hello", "hello"]


def test_a_list_in_the_extra_body_is_not_ours_to_write():
    said = [{"role": "user", "content": "Hello"}]
    assert CHAT.read({"model": "m", "messages": said, "extra_body": {"messages": said}}) is None
    assert RESPONSES.read({"model": "m", "input": said, "extra_body": {"input": said}}) is None
    assert CHAT.read({"model": "m", "messages": said, "extra_body": {"top_k": 5}}) is not None


def test_a_window_that_the_extra_body_names_is_the_provider_s():
    said = [{"role": "user", "content": "Hello"}]
    for name in ("previous_response_id", "conversation"):
        reading = RESPONSES.read({"model": "m", "input": said, "extra_body": {name: "resp_1"}})
        assert reading is not None
        assert reading.server_held
