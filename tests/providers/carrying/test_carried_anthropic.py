"""Anthropic: threads, results marked as errors and applied edits reach the hook, however the call is made."""

from __future__ import annotations

import anthropic
import pytest
from anthropic import _base_client, beta_async_tool, beta_tool

from otel_footprint.core.call import ProviderEdit
from otel_footprint.providers import carrying_anthropic
from otel_footprint.providers.carrying import Carried
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse

APPLIED = [
    {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 4, "cleared_input_tokens": 900},
    {"type": "clear_thinking_20251015", "cleared_thinking_turns": 1, "cleared_input_tokens": 90},
]
EDITED = Text("It left.", extra={"context_management": {"applied_edits": APPLIED}})
ASK = {
    "model": "m",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "Where?"}],
    "betas": ["context-management-2025-06-27"],
    "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
}
EXPECTED = Carried(edits=(ProviderEdit("clear", "clear_tool_uses_20250919", 4),))


def sync_client(provider):
    return anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)


def async_client(provider):
    return anthropic.AsyncAnthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def create(client):
    return text_of(client.beta.messages.create(**ASK))


def parse(client):
    return text_of(client.beta.messages.parse(**ASK))


def text_of_events(events):
    return "".join(event.delta.text for event in events if event.type == "content_block_delta")


def create_stream(client):
    return text_of_events(client.beta.messages.create(**ASK, stream=True))


def stream(client):
    with client.beta.messages.stream(**ASK) as events:
        return text_of(events.get_final_message())


def text_stream(client):
    with client.beta.messages.stream(**ASK) as events:
        return "".join(events.text_stream)


def raw(client):
    return text_of(client.beta.messages.with_raw_response.create(**ASK).parse())


def raw_stream(client):
    return text_of_events(client.beta.messages.with_raw_response.create(**ASK, stream=True).parse())


def streaming_response(client):
    with client.beta.messages.with_streaming_response.create(**ASK) as response:
        return text_of(response.parse())


def streaming_response_read(client):
    with client.beta.messages.with_streaming_response.create(**ASK) as response:
        return response.json()["content"][0]["text"]


def streaming_response_stream(client):
    with client.beta.messages.with_streaming_response.create(**ASK, stream=True) as response:
        return text_of_events(response.parse())


SYNC = [
    create,
    parse,
    create_stream,
    stream,
    text_stream,
    raw,
    raw_stream,
    streaming_response,
    streaming_response_read,
    streaming_response_stream,
]


@pytest.mark.parametrize("call", SYNC)
def test_applied_edits_sync(observed, call):
    with ScriptedProvider(EDITED) as provider, sync_client(provider) as client:
        assert call(client) == "It left."
    assert observed.calls == [EXPECTED]
    assert len(observed.registry) == 0


async def async_create(client):
    return text_of(await client.beta.messages.create(**ASK))


async def text_of_async_events(events):
    return text_of_events([event async for event in events])


async def async_create_stream(client):
    return await text_of_async_events(await client.beta.messages.create(**ASK, stream=True))


async def async_stream(client):
    async with client.beta.messages.stream(**ASK) as events:
        return text_of(await events.get_final_message())


async def async_raw(client):
    return text_of(await (await client.beta.messages.with_raw_response.create(**ASK)).parse())


async def async_raw_stream(client):
    response = await client.beta.messages.with_raw_response.create(**ASK, stream=True)
    return await text_of_async_events(await response.parse())


async def async_streaming_response(client):
    async with client.beta.messages.with_streaming_response.create(**ASK) as response:
        return text_of(await response.parse())


@pytest.mark.parametrize(
    "call",
    [async_create, async_create_stream, async_stream, async_raw, async_raw_stream, async_streaming_response],
)
async def test_applied_edits_async(observed, call):
    with ScriptedProvider(EDITED) as provider:
        async with async_client(provider) as client:
            assert await call(client) == "It left."
    assert observed.calls == [EXPECTED]
    assert len(observed.registry) == 0


def test_edits_that_nobody_asked_for_are_seen_in_a_plain_message(observed):
    plain = {key: ASK[key] for key in ("model", "max_tokens", "messages")}
    with ScriptedProvider(EDITED) as provider, sync_client(provider) as client:
        client.messages.create(**plain)
    assert observed.calls == [EXPECTED]


def test_an_edit_of_an_unknown_kind_is_not_guessed_at():
    unknown = {"type": "polish_20301231", "cleared_tool_uses": 3}
    compacted = {"type": "compact_20260112"}
    assert carrying_anthropic.applied({"applied_edits": [unknown, compacted]}) == (
        ProviderEdit("summarize", "compact_20260112"),
    )
    assert carrying_anthropic.applied({"applied_edits": None}) == ()
    assert carrying_anthropic.applied({}) == ()


def results(*blocks):
    return [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": []}, *blocks]


def result(id_, **more):
    return {"type": "tool_result", "tool_use_id": id_, "content": "?", **more}


@pytest.mark.parametrize("beta", [False, True])
def test_results_marked_as_errors(observed, beta):
    failed = [result("a", is_error=True), result("b"), result("c", is_error=False), {"type": "text", "text": "!"}]
    messages = results({"role": "user", "content": failed}, {"role": "user", "content": [result("d", is_error=True)]})
    with ScriptedProvider(Text("It failed.")) as provider, sync_client(provider) as client:
        api = client.beta.messages if beta else client.messages
        api.create(model="m", max_tokens=9, messages=messages)
    assert observed.calls == [Carried(error_result_ids=frozenset({"a", "d"}))]


def test_results_marked_as_errors_in_a_stream(observed):
    messages = results({"role": "user", "content": [result("a", is_error=True)]})
    with (
        ScriptedProvider(Text("It failed.")) as provider,
        sync_client(provider) as client,
        client.messages.stream(model="m", max_tokens=9, messages=messages) as events,
    ):
        assert text_of(events.get_final_message()) == "It failed."
    assert observed.calls == [Carried(error_result_ids=frozenset({"a"}))]


@beta_tool
def get_order(id: str) -> str:
    """Look an order up.

    Args:
        id: The order.
    """
    if id == "W-2":
        raise LookupError("no such order")
    return "left today"


@beta_async_tool
async def get_order_async(id: str) -> str:
    """Look an order up.

    Args:
        id: The order.
    """
    return "left today"


def test_a_tool_runner_continues_a_thread_and_marks_errors(observed):
    script = [
        ToolCalls([ToolUse("get_order", {"id": "W-1"}, id="a")]),
        ToolCalls([ToolUse("get_order", {"id": "W-2"}, id="b")]),
        Text("It left."),
    ]
    with ScriptedProvider(script) as provider, sync_client(provider) as client:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=9, tools=[get_order], messages=[{"role": "user", "content": "Where?"}]
        )
        assert text_of(runner.until_done()) == "It left."
        sent = [request.json for request in provider.requests]
    assert [len(body["messages"]) for body in sent] == [1, 1, 1]
    assert observed.calls == [
        None,
        Carried(previous_response_id="msg_1"),
        Carried(previous_response_id="msg_2", error_result_ids=frozenset({"b"})),
    ]


async def test_an_async_streaming_tool_runner_continues_a_thread(observed):
    script = [ToolCalls([ToolUse("get_order_async", {"id": "W-1"})]), Text("It left.")]
    with ScriptedProvider(script) as provider:
        async with async_client(provider) as client:
            runner = client.beta.messages.tool_runner(
                model="m",
                max_tokens=9,
                tools=[get_order_async],
                messages=[{"role": "user", "content": "Where?"}],
                stream=True,
            )
            texts = [text_of(await events.get_final_message()) async for events in runner]
    assert texts == ["", "It left."]
    assert observed.calls == [None, Carried(previous_response_id="msg_1")]


def test_a_stream_that_breaks_and_one_that_is_abandoned(observed):
    script = [Text("It left.", break_after=3), EDITED]
    with ScriptedProvider(script) as provider, sync_client(provider) as client:
        http = getattr(_base_client, "httpx2", None) or _base_client.httpx  # which one depends on the SDK's version
        with pytest.raises(http.RemoteProtocolError):
            create_stream(client)
        events = client.beta.messages.create(**ASK, stream=True)
        next(iter(events))
        del events
    assert observed.calls == [None, None]
    assert len(observed.registry) == 0


def test_a_call_that_fails(observed):
    messages = results({"role": "user", "content": [result("a", is_error=True)]})
    with (
        ScriptedProvider(Error(529)) as provider,
        sync_client(provider) as client,
        pytest.raises(anthropic.APIStatusError, match="scripted error"),
    ):
        client.messages.create(model="m", max_tokens=9, messages=messages)
    assert observed.calls == [Carried(error_result_ids=frozenset({"a"}))]


def test_counting_tokens_is_no_call(observed):
    with (
        ScriptedProvider(Error(404)) as provider,
        sync_client(provider) as client,
        pytest.raises(anthropic.NotFoundError),
    ):
        client.messages.count_tokens(model="m", messages=ASK["messages"])
    assert len(observed.registry) == 0
