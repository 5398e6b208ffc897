"""OpenAI: which window the provider holds reaches the hook, however the application makes the call."""

from __future__ import annotations

import openai
import pytest

from otel_footprint.providers.carrying import Carried
from otel_footprint.testing.provider import Error, Raw, ScriptedProvider, Text

ASK = {"model": "m", "input": "And now?", "previous_response_id": "resp_1"}
EXPECTED = Carried(previous_response_id="resp_1")


def sync_client(provider, **options):
    return openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0, **options)


def async_client(provider):
    return openai.AsyncOpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)


def create(client):
    return client.responses.create(**ASK).output_text


def parse(client):
    return client.responses.parse(**ASK).output_text


def create_stream(client):
    return "".join(event.delta for event in client.responses.create(**ASK, stream=True) if "text.delta" in event.type)


def stream(client):
    with client.responses.stream(**ASK) as events:
        return events.get_final_response().output_text


def raw(client):
    return client.responses.with_raw_response.create(**ASK).parse().output_text


def streaming_response(client):
    with client.responses.with_streaming_response.create(**ASK) as response:
        return response.parse().output_text


def extra_body(client):
    return client.responses.create(
        model="m", input="And now?", extra_body={"previous_response_id": "resp_1"}
    ).output_text


@pytest.mark.parametrize("call", [create, parse, create_stream, stream, raw, streaming_response, extra_body])
def test_a_previous_response_sync(observed, call):
    with ScriptedProvider(Text("It left.")) as provider, sync_client(provider) as client:
        assert call(client) == "It left."
    assert observed.calls == [EXPECTED]
    assert len(observed.registry) == 0


async def async_create(client):
    return (await client.responses.create(**ASK)).output_text


async def async_parse(client):
    return (await client.responses.parse(**ASK)).output_text


async def async_create_stream(client):
    events = await client.responses.create(**ASK, stream=True)
    return "".join([event.delta async for event in events if "text.delta" in event.type])


async def async_stream(client):
    async with client.responses.stream(**ASK) as events:
        return (await events.get_final_response()).output_text


async def async_raw(client):
    return (await client.responses.with_raw_response.create(**ASK)).parse().output_text


async def async_streaming_response(client):
    async with client.responses.with_streaming_response.create(**ASK) as response:
        return (await response.parse()).output_text


@pytest.mark.parametrize(
    "call", [async_create, async_parse, async_create_stream, async_stream, async_raw, async_streaming_response]
)
async def test_a_previous_response_async(observed, call):
    with ScriptedProvider(Text("It left.")) as provider:
        async with async_client(provider) as client:
            assert await call(client) == "It left."
    assert observed.calls == [EXPECTED]
    assert len(observed.registry) == 0


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_object(observed, conversation):
    with ScriptedProvider(Text("It left.")) as provider, sync_client(provider) as client:
        client.responses.create(model="m", input="Where?", conversation=conversation)
    assert observed.calls == [Carried(server_thread="conv_1")]


def test_a_retrieved_response_says_what_it_continued(observed):
    with ScriptedProvider(Text("It left.")) as provider, sync_client(provider) as client:
        client.responses.retrieve(client.responses.create(**ASK).id)
    assert observed.calls == [EXPECTED, EXPECTED]


def test_a_call_that_fails_carries_its_request(observed):
    with (
        ScriptedProvider(Error(500)) as provider,
        sync_client(provider) as client,
        pytest.raises(openai.InternalServerError, match="scripted error"),
    ):
        create(client)
    assert observed.calls == [EXPECTED]


def test_retries_are_one_call(observed):
    script = [Error(500, retry_after=0), Text("It left.")]
    with ScriptedProvider(script) as provider, sync_client(provider).with_options(max_retries=1) as client:
        assert create(client) == "It left."
    assert observed.calls == [EXPECTED]


def test_a_broken_stream_carries_its_request(observed):
    with (
        ScriptedProvider(Text("It left.", break_after=3)) as provider,
        sync_client(provider) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        create_stream(client)
    assert observed.calls == [EXPECTED]


def test_an_abandoned_stream_carries_its_request(observed):
    with ScriptedProvider(Text("It left.")) as provider, sync_client(provider) as client:
        events = client.responses.create(**ASK, stream=True)
        next(iter(events))
        del events
    assert observed.calls == [EXPECTED]


def test_a_client_made_before_is_seen_too(observed):
    from otel_footprint.providers import carrying

    with ScriptedProvider(Text("It left.", pieces=1), repeat=True) as provider, sync_client(provider) as client:
        carrying.uninstall()
        create(client)
        carrying.install(observed.registry)
        create(client)
    assert observed.calls == [None, EXPECTED]


def test_azure(observed):
    with (
        ScriptedProvider(Text("It left.")) as provider,
        openai.AzureOpenAI(azure_endpoint=provider.url, api_key="x", api_version="2026-01-01", max_retries=0) as client,
    ):
        assert create(client) == "It left."
    assert observed.calls == [EXPECTED]


def test_a_chat_completion_has_nothing_to_carry(observed):
    with ScriptedProvider(Text("It left.")) as provider, sync_client(provider) as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
    assert observed.calls == [None]
    assert len(observed.registry) == 0


def test_a_response_that_is_no_json_reaches_the_application_unchanged(observed):
    with ScriptedProvider(Raw("<html>", content_type="text/html")) as provider, sync_client(provider) as client:
        assert client.responses.create(**ASK) == "<html>"
