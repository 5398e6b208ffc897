"""Anthropic messages as a surface: what is read beside the history, written, sent back and merged."""

from __future__ import annotations

import copy
from typing import Any

import anthropic
from anthropic.types import Message as SdkMessage

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.items import Kept, Put
from otel_footprint.providers.anthropic_messages_surface import AnthropicMessages
from otel_footprint.testing.provider import ScriptedProvider, ToolCalls, ToolUse
from otel_footprint.testing.provider import Text as Says

SURFACE = AnthropicMessages()
NOTICE = Put(Message("user", (Text("[notice]"),), authored="notice"))
CALLS = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
        {"type": "tool_use", "id": "t2", "name": "f", "input": {}},
    ],
}
RESULTS = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "one", "cache_control": {"type": "ephemeral"}},
        {"type": "tool_result", "tool_use_id": "t2", "content": "two"},
        {"type": "text", "text": "Be brief."},
    ],
}
MESSAGES = [{"role": "user", "content": "Hi"}, CALLS, RESULTS]


def asked(**more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": MESSAGES, **more}


def test_what_stands_beside_the_history() -> None:
    tools = [{"name": "f", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}]
    reading = SURFACE.read(asked(system=[{"type": "text", "text": "Be kind."}], tools=tools))
    assert reading is not None
    assert [message.text for message in reading.system] == ["Be kind."]
    assert reading.tools == ("f", "web_search")
    assert (reading.model, reading.provider, reading.envelope) == ("claude-sonnet-4-5", "anthropic", 0)
    assert [native.positions for native in reading.natives] == [(0,), (1,), (2,), (2,)]


def test_leading_system_messages_are_the_envelope_and_stay_in_front() -> None:
    kwargs = asked(messages=[{"role": "system", "content": "Be kind."}, *MESSAGES])
    reading = SURFACE.read(kwargs)
    assert reading is not None
    assert reading.envelope == 1
    written = SURFACE.write(kwargs, reading, [NOTICE, Kept(1), Kept(2), Kept(3)])
    assert written["messages"][0] is kwargs["messages"][0]
    assert written["messages"][1] == {"role": "user", "content": "[notice]"}


def test_a_server_s_thread_holds_the_window_and_files_and_edits_do_not() -> None:
    held = [
        reading.server_held
        for more in (
            {"thread": {"type": "continue", "previous_message_id": "msg_1"}},
            {"thread": {"type": "create"}},
            {"extra_body": {"thread": {"type": "create"}}},
            {"container": "container_1"},
            {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
            {"thread": anthropic.omit},
        )
        if (reading := SURFACE.read(asked(**more))) is not None
    ]
    assert held == [True, True, True, False, False, False]


def test_what_cannot_be_read_is_left_alone() -> None:
    assert SURFACE.read({}) is None
    assert SURFACE.read(asked(messages="Hi")) is None
    assert SURFACE.read(asked(extra_body={"messages": []})) is None
    once = iter(MESSAGES)
    settled = SURFACE.settle(asked(messages=once))
    assert settled["messages"] == MESSAGES


def test_a_message_with_some_of_its_results_is_a_copy_and_the_original_stays() -> None:
    before = copy.deepcopy(MESSAGES)
    kwargs = asked()
    reading = SURFACE.read(kwargs)
    assert reading is not None
    first = SURFACE.write(kwargs, reading, [Kept(0), Kept(1), Kept(2)])["messages"]
    last = SURFACE.write(kwargs, reading, [Kept(0), Kept(1), Kept(3)])["messages"]
    assert first[2]["content"] == RESULTS["content"][:1]
    assert last[2]["content"] == RESULTS["content"][1:]
    assert first[1] is CALLS
    assert before == MESSAGES


def test_a_window_opens_with_the_user() -> None:
    kwargs = asked()
    reading = SURFACE.read(kwargs)
    assert reading is not None
    written = SURFACE.write(kwargs, reading, [Kept(1), Kept(2), Kept(3)])["messages"]
    assert [message["role"] for message in written] == ["user", "assistant", "user"]
    assert written[1:] == MESSAGES[1:]
    assert written[2] is RESULTS


def test_where_roles_must_alternate_our_words_join_the_person_s() -> None:
    for model, roles in (("claude-sonnet-4-5", ["user", "user"]), ("eu.anthropic.claude-3-haiku", ["user"])):
        kwargs = asked(model=model, messages=[{"role": "user", "content": "Hi"}])
        reading = SURFACE.read(kwargs)
        assert reading is not None
        written = SURFACE.write(kwargs, reading, [NOTICE, Kept(0)])["messages"]
        assert [message["role"] for message in written] == roles
        assert kwargs["messages"] == [{"role": "user", "content": "Hi"}]
    assert [block["text"] for block in written[0]["content"]] == ["[notice]", "Hi"]


def respond(*, stream: bool, step: Any) -> Any:
    """The response to a real client, and the events of the same as a stream."""
    with ScriptedProvider(step) as provider:
        client = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)
        given = client.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}], stream=stream
        )
        return list(given) if stream else given  # type: ignore[call-overload]


def test_an_answer_goes_back_as_it_came() -> None:
    response = respond(stream=False, step=Says("It is 12.50."))
    assert isinstance(response, SdkMessage)
    draft = SURFACE.draft({}, response)
    assert draft is not None
    assert draft.message == Message("assistant", (Text("It is 12.50."),))
    assert draft.native == ({"role": "assistant", "content": [{"type": "text", "text": "It is 12.50."}]},)
    assert SURFACE.draft({}, response, choice=1) is None


def test_a_stream_amounts_to_the_same_answer() -> None:
    step = ToolCalls([ToolUse("f", {"a": 1}, id="t1")], text="Looking.")
    merged = SURFACE.merge({}, respond(stream=True, step=step))
    plain = respond(stream=False, step=step)
    assert merged["content"] == [block.to_dict() for block in plain.content]
    assert SURFACE.draft({}, merged) == SURFACE.draft({}, plain)
    assert SURFACE.merge({}, respond(stream=True, step=step)[:-1]) is None


def test_a_call_of_an_answer_tool_goes_back_as_text() -> None:
    response = respond(stream=False, step=ToolCalls([ToolUse("answer", {"total": 12.5}, id="t1")]))
    draft = SURFACE.draft({}, response)
    assert draft is not None
    assert draft.native[0]["content"] == [{"type": "text", "text": '{"total":12.5}'}]  # type: ignore[index]
    assert not draft.message.tool_calls


def test_thinking_and_citations_of_a_stream_are_put_together() -> None:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "text", "text": "Hi", "snapshot": "Hi"},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {"cited": "x"}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    merged = SURFACE.merge({}, events)
    assert merged is not None
    assert merged["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "Hi", "citations": [{"cited": "x"}]},
    ]
    assert merged["stop_reason"] == "end_turn"
