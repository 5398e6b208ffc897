"""The wrappers change nothing: types, signatures, copies, errors, lifetimes; uninstalling restores the originals."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import subprocess
import sys
import weakref

import anthropic
import openai
import pytest
import wrapt
from anthropic import _base_client as anthropic_base
from anthropic import _response as anthropic_response
from openai import _base_client as openai_base
from opentelemetry.instrumentation.utils import unwrap

from otel_footprint import boundary
from otel_footprint.providers import carrying, carrying_anthropic, carrying_openai
from otel_footprint.providers.carrying import CarryRegistry
from otel_footprint.testing.provider import Error, ScriptedProvider, Text
from otel_footprint.testing.sink import Sink

METHODS = [
    (openai_base.SyncAPIClient, "request"),
    (openai_base.AsyncAPIClient, "request"),
    (anthropic_base.SyncAPIClient, "request"),
    (anthropic_base.AsyncAPIClient, "request"),
    (anthropic_response.BaseAPIResponse, "_parse"),
]
ASK = {
    "model": "m",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "Where?"}],
    "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
}


@pytest.fixture
def registry():
    registry = CarryRegistry()
    carrying.install(registry)
    yield registry
    carrying.uninstall()


@pytest.fixture
def span():
    with Sink() as sink, sink.tracer_provider.get_tracer("test").start_as_current_span("call") as span:
        yield span.get_span_context()


def openai_client(provider):
    return openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)


def anthropic_client(provider):
    return anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)


def originals():
    return [vars(owner)[name] for owner, name in METHODS]


def test_uninstalling_restores_the_originals():
    before = originals()
    carrying.install(CarryRegistry())
    assert all(now is not then for now, then in zip(originals(), before, strict=True))
    carrying.install(CarryRegistry())
    carrying.uninstall()
    carrying.uninstall()
    assert all(now is then for now, then in zip(originals(), before, strict=True))


def test_signatures_and_kinds_stay():
    before = [(inspect.signature(method), inspect.iscoroutinefunction(method)) for method in originals()]
    carrying.install(CarryRegistry())
    try:
        after = [(inspect.signature(method), inspect.iscoroutinefunction(method)) for method in originals()]
        names = [(method.__name__, method.__qualname__, method.__doc__) for method in originals()]
    finally:
        carrying.uninstall()
    assert after == before
    assert names == [(method.__name__, method.__qualname__, method.__doc__) for method in originals()]


def test_no_sdk_is_imported_and_one_imported_later_is_wrapped():
    code = """
import sys
from otel_footprint.providers import carrying
carrying.install(carrying.CarryRegistry())
print([name for name in ("openai", "anthropic") if name in sys.modules])
import openai, anthropic
wrapped = [vars(module._base_client.SyncAPIClient)["request"] for module in (openai, anthropic)]
print([hasattr(method, "__wrapped__") for method in wrapped])
carrying.uninstall()
wrapped = [vars(module._base_client.SyncAPIClient)["request"] for module in (openai, anthropic)]
print([hasattr(method, "__wrapped__") for method in wrapped])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[True, True]", "[False, False]"]


def test_an_sdk_imported_after_uninstalling_stays_as_it_is():
    code = """
from otel_footprint.providers import carrying
carrying.install(carrying.CarryRegistry())
carrying.uninstall()
import openai
print(hasattr(vars(openai._base_client.SyncAPIClient)["request"], "__wrapped__"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def proxy_on_top(owner, name):
    wrapt.wrap_function_wrapper(owner, name, lambda wrapped, instance, args, kwargs: wrapped(*args, **kwargs))


def closure_on_top(owner, name):
    inner = vars(owner)[name]

    @functools.wraps(inner)
    def outer(*args, **kwargs):
        return inner(*args, **kwargs)

    setattr(owner, name, outer)


def test_under_somebody_else_s_proxy_ours_is_taken_out(registry, span):
    owner, name = METHODS[0]
    ours = vars(owner)[name]
    original = ours.__wrapped__
    proxy_on_top(owner, name)
    theirs = vars(owner)[name]
    carrying.uninstall()
    try:
        assert vars(owner)[name] is theirs
        assert theirs.__wrapped__ is original
        with ScriptedProvider(Text("It left.")) as provider, openai_client(provider) as client:
            assert (
                client.responses.create(model="m", input="?", previous_response_id="resp_0").output_text == "It left."
            )
        assert len(registry) == 0
    finally:
        setattr(owner, name, original)


def test_under_somebody_else_s_closure_ours_only_passes_on(registry, span):
    owner, name = METHODS[0]
    ours = vars(owner)[name]
    original = ours.__wrapped__
    closure_on_top(owner, name)
    theirs = vars(owner)[name]
    carrying.uninstall()
    try:
        assert vars(owner)[name] is theirs
        with ScriptedProvider(Text("It left."), repeat=True) as provider, openai_client(provider) as client:
            client.responses.create(model="m", input="?", previous_response_id="resp_0")
            assert len(registry) == 0
            carrying.install(registry)  # the wrapper in their chain works again; no second one is put on top
            assert vars(owner)[name] is theirs
            client.responses.create(model="m", input="?", previous_response_id="resp_0")
            assert registry.pop(span.trace_id, span.span_id).previous_response_id == "resp_0"
    finally:
        carrying.uninstall()
        setattr(owner, name, original)
        carrying.install(registry)


def test_taking_out_somebody_else_s_wrapper_leaves_ours_bound_to_the_class_and_it_goes_all_the_same():
    owner, name = METHODS[0]
    original = vars(owner)[name]
    for _ in range(3):
        carrying.install(CarryRegistry())
        proxy_on_top(owner, name)
        unwrap(owner, name)
        assert vars(owner)[name] is not original
        carrying.uninstall()
        assert vars(owner)[name] is original


def test_requests_and_responses_are_the_same_objects_as_without_us(registry, span):
    edits = Text("It left.", extra={"context_management": {"applied_edits": []}})

    def calls():
        with ScriptedProvider(edits, repeat=True) as provider, anthropic_client(provider) as client:
            raw = client.beta.messages.with_raw_response
            message = client.beta.messages.create(**ASK)
            stream = client.beta.messages.create(**ASK, stream=True)
            raw_message, raw_stream = raw.create(**ASK), raw.create(**ASK, stream=True)
            parsed = raw_stream.parse()
            seen = [
                type(message),
                type(stream),
                type(raw_message),
                type(raw_stream),
                type(parsed),
                sorted(vars(stream).keys() - {"_iterator"}),
                sorted(vars(raw_message)),
                sorted(vars(raw_stream)),
                [event.model_dump() for event in stream],
                [event.model_dump() for event in parsed],
                message.model_dump(),
                isinstance(stream, anthropic.Stream),
            ]
            return seen, [(request.path, request.json) for request in provider.requests]

    with_us = calls()
    carrying.uninstall()
    assert with_us == calls()


def test_a_stream_s_iterator_keeps_its_verbs(registry, span):
    with ScriptedProvider(Text("It left.")) as provider, anthropic_client(provider) as client:
        stream = client.beta.messages.create(**ASK, stream=True)
        next(stream)
        stream._iterator.close()
        assert stream.response.is_closed
        assert list(stream) == []


async def test_an_async_stream_s_iterator_keeps_its_verbs(registry, span):
    with ScriptedProvider(Text("It left.")) as provider:
        async with anthropic.AsyncAnthropic(base_url=provider.anthropic_url, api_key="x") as client:
            stream = await client.beta.messages.create(**ASK, stream=True)
            await stream.__anext__()
            await stream._iterator.aclose()
            assert stream.response.is_closed


def test_a_dropped_stream_is_freed_at_once(registry, span):
    gc.disable()
    try:
        with ScriptedProvider(Text("It left."), repeat=True) as provider, anthropic_client(provider) as client:
            stream = client.beta.messages.create(**ASK, stream=True)
            next(stream)
            dropped = [weakref.ref(stream), weakref.ref(stream.response)]
            del stream
            raw = client.beta.messages.with_raw_response.create(**ASK)
            dropped += [weakref.ref(raw), weakref.ref(raw.http_response)]
            del raw
            assert [reference() for reference in dropped] == [None] * 4
    finally:
        gc.enable()


def test_copies_of_clients_and_of_answers(registry, span):
    with ScriptedProvider(Text("It left."), repeat=True) as provider, openai_client(provider) as client:
        answer = client.responses.create(model="m", input="?")
        assert pickle.loads(pickle.dumps(answer)) == answer
        assert copy.deepcopy(answer) == answer
        for twin in (copy.copy(client), client.copy(), client.with_options(timeout=9)):
            assert twin.responses.create(model="m", input="?").output_text == "It left."


def test_the_application_s_errors_pass_and_ours_do_not(registry, span, monkeypatch):
    def fault(*_):
        raise ZeroDivisionError

    for reader in (carrying_openai, carrying_anthropic):
        monkeypatch.setattr(reader, "read_request", fault)
        monkeypatch.setattr(reader, "read_response", fault)
    before = sum(boundary.fault_counts().values())
    with ScriptedProvider([Text("It left."), Text("It left."), Error(400)]) as provider:
        with openai_client(provider) as client:
            assert client.responses.create(model="m", input="?").output_text == "It left."
        with anthropic_client(provider) as client:
            assert client.beta.messages.create(**ASK).content[0].text == "It left."
            with pytest.raises(anthropic.BadRequestError, match="scripted error"):
                client.beta.messages.create(**ASK)
    assert sum(boundary.fault_counts().values()) > before


def test_a_fault_while_observing_a_stream_stays_ours(registry, span, monkeypatch):
    monkeypatch.setattr(carrying_anthropic, "applied", lambda _: 1 / 0)
    extra = {"context_management": {"applied_edits": []}}
    with (
        ScriptedProvider(Text("It left.", extra=extra)) as provider,
        anthropic_client(provider) as client,
        client.beta.messages.stream(**ASK) as stream,
    ):
        assert stream.get_final_text() == "It left."


def test_a_request_inside_another_s_span_is_not_that_call(registry, span):
    with ScriptedProvider(Text("It left."), repeat=True) as provider:
        with anthropic_client(provider) as client:
            client.messages.create(model="m", max_tokens=9, messages=ASK["messages"])
        with openai_client(provider) as client:
            client.responses.create(model="m", input="?", previous_response_id="resp_0")
    assert registry.pop(span.trace_id, span.span_id) is None


def test_without_a_span_nothing_is_kept(registry):
    with ScriptedProvider(Text("It left.")) as provider, openai_client(provider) as client:
        client.responses.create(model="m", input="?", previous_response_id="resp_0")
    assert len(registry) == 0
