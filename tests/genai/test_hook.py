"""What the hook takes for a call, and what it knows about it, with OpenTelemetry's own GenAI utilities as the caller."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest
from genai_watch import USER, Watch, anthropic_client, openai_client
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON
from opentelemetry.trace import INVALID_SPAN, SpanKind
from opentelemetry.util.genai.completion_hook import CompletionHook
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.types import InputMessage, OutputMessage, TextPart

from otel_footprint import boundary
from otel_footprint.core.messages import Compaction
from otel_footprint.genai.finishing import INFERENCE_KEY, INVOCATION
from otel_footprint.genai.hook import FootprintHook, HookCall
from otel_footprint.testing.provider import ScriptedProvider, Text

INPUT = [InputMessage("user", [TextPart("hi")])]
OUTPUT = [OutputMessage("assistant", [TextPart("hello")], "stop")]


@pytest.fixture(params=[ALWAYS_ON, ALWAYS_OFF], ids=["sampled", "unsampled"])
def sampled_or_not(request, make_watch) -> Watch:
    return make_watch(sampler=request.param).on()


def handler_of(watch: Watch) -> TelemetryHandler:
    """As an instrumentation of a framework makes it."""
    return TelemetryHandler(
        tracer_provider=watch.sink.tracer_provider,
        meter_provider=watch.sink.meter_provider,
        instrumentation_scope_name="framework",
    )


def answer(invocation: Any, response_id: str | None = "r1") -> None:
    invocation.input_messages = INPUT
    invocation.output_messages = OUTPUT
    invocation.response_id = response_id


def test_it_is_what_the_utilities_take_for_a_hook():
    hook = FootprintHook(lambda seen: None)
    assert isinstance(hook, CompletionHook)
    assert hook


def test_agents_and_workflows_are_no_calls(sampled_or_not):
    handler = handler_of(sampled_or_not)
    with handler.workflow("w") as workflow, handler.invoke_local_agent(agent_name="a") as agent, handler.tool("t"):
        workflow.input_messages = agent.input_messages = INPUT
        workflow.output_messages = agent.output_messages = OUTPUT
    assert sampled_or_not.calls == []


@pytest.mark.parametrize("operation", ["chat", "generate_content", "interactions.create", "text_completion"])
def test_model_calls_are(sampled_or_not, operation):
    with handler_of(sampled_or_not).inference("p", request_model="m", operation_name=operation) as call:
        answer(call)
    seen = sampled_or_not.only.call
    assert (seen.operation, seen.provider, seen.model, seen.response_id) == (operation, "p", "m", "r1")
    assert (seen.messages[0].text, seen.outputs[0].message.text) == ("hi", "hello")


def test_a_call_knows_its_agent_and_its_ambient_conversation(sampled_or_not):
    handler = handler_of(sampled_or_not)
    with (
        ScriptedProvider(Text("x"), repeat=True) as provider,
        handler.invoke_local_agent(agent_name="planner", conversation_id="c-7"),
    ):
        openai_client(provider).chat.completions.create(model="m", messages=USER)
        list(anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER, stream=True))
    for seen in sampled_or_not.calls:
        assert (seen.call.agent, seen.call.conversation_id, seen.call.conversation_source) == (
            "planner",
            "c-7",
            "ambient",
        )
    assert len(sampled_or_not.calls) == 2


def test_a_frameworks_call_around_the_sdks_is_one_call(sampled_or_not):
    handler = handler_of(sampled_or_not)
    with ScriptedProvider(Text("hello")) as provider, handler.inference("p", request_model="m") as outer:
        openai_client(provider).chat.completions.create(model="m", messages=USER)
        answer(outer)
    assert sampled_or_not.only.call.provider == "p"


def test_so_it_is_where_the_framework_does_not_tell_the_context(sampled_or_not):
    handler = handler_of(sampled_or_not)
    with handler.workflow("w"):
        outer = handler.inference("p", request_model="m", _attach_to_context=False)
        with handler.inference("q", request_model="m") as inner:
            answer(inner, "same")
        answer(outer, "same")
        outer.stop()
        with handler.inference("q", request_model="m") as again:  # a provider that repeats its ids
            answer(again, "same")
    assert [seen.call.provider for seen in sampled_or_not.calls] == ["q", "q"]


SPANS_OF_FRAMEWORKS = [
    {"gen_ai.operation.name": "chat", "gen_ai.request.model": "theirs", "gen_ai.conversation.id": "c-1"},
    {"openinference.span.kind": "LLM"},
]


@pytest.mark.parametrize("attributes", SPANS_OF_FRAMEWORKS)
def test_a_call_inside_a_frameworks_own_span_of_it_has_no_second_span(watch, attributes):
    tracer = watch.sink.tracer_provider.get_tracer("framework")
    with ScriptedProvider(Text("hello"), repeat=True) as provider:
        with tracer.start_as_current_span("chat m", attributes=attributes) as outer:
            openai_client(provider).chat.completions.create(model="m", messages=USER)
            list(anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER, stream=True))
            for seen in watch.calls:
                assert seen.span is outer
                assert seen.call.conversation_id == attributes.get("gen_ai.conversation.id")
                assert seen.call.ref.span_id == outer.get_span_context().span_id
                seen.span.set_attribute("found", True)
        with tracer.start_as_current_span("agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
            openai_client(provider).chat.completions.create(model="m", messages=USER)
    assert [seen.call.model for seen in watch.calls] == ["m", "c", "m"]
    names = [span.name for span in watch.sink.spans]
    assert names == ["chat m", "chat m", "agent"]
    assert [span.instrumentation_scope.name.rpartition(".")[2] for span in watch.sink.spans] == [
        "framework",
        "openai",
        "framework",
    ]
    assert watch.sink.spans[0].attributes["found"]


def test_an_instrumentation_that_the_application_turned_on_itself_keeps_its_spans(make_watch):
    watch = make_watch().on(["anthropic"])
    OpenAIInstrumentor().instrument(tracer_provider=watch.sink.tracer_provider)
    try:
        tracer = watch.sink.tracer_provider.get_tracer("framework")
        with (
            ScriptedProvider(Text("hello")) as provider,
            tracer.start_as_current_span("x", attributes=SPANS_OF_FRAMEWORKS[0]),
        ):
            openai_client(provider).chat.completions.create(model="m", messages=USER)
    finally:
        OpenAIInstrumentor().uninstrument()
    assert len(watch.calls) == 1
    assert [span.name for span in watch.sink.spans] == ["chat m", "x"]


def test_a_failed_call_has_no_whole_output(sampled_or_not):
    call = handler_of(sampled_or_not).inference("p", request_model="m")
    answer(call)
    call.fail(ValueError("x"))
    assert [output.partial for output in sampled_or_not.only.call.outputs] == [True]


@pytest.mark.parametrize(("streamed", "partial"), [(True, True), (False, False)])
def test_a_missing_reason_means_cut_only_of_a_stream(sampled_or_not, streamed, partial):
    with handler_of(sampled_or_not).inference("p") as call:
        answer(call)
        call.output_messages = [OutputMessage("assistant", [TextPart("hel")], "error")]
        call.request_stream = streamed
    assert sampled_or_not.only.call.outputs[0].partial is partial


@pytest.mark.parametrize("reported", [(12, 3), (0, 0), (None, None)])
def test_the_tokens_are_those_the_provider_reported(sampled_or_not, reported):
    with handler_of(sampled_or_not).inference("p") as call:
        answer(call)
        call.input_tokens, call.output_tokens = reported
    seen = sampled_or_not.only.call
    assert (seen.input_tokens, seen.output_tokens) == reported


def test_a_compaction_that_the_provider_only_flags_is_the_first_message(sampled_or_not):
    with handler_of(sampled_or_not).inference("p") as call:
        answer(call)
        call.conversation_compacted = True
    assert sampled_or_not.only.call.messages[0].parts == (Compaction(None),)


def test_the_attributes_of_the_span_do_where_the_utilities_do_not_call(make_watch):
    watch = make_watch()
    tracer = watch.sink.tracer_provider.get_tracer("an older instrumentation")
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "p",
        "gen_ai.request.model": "m",
        "gen_ai.response.id": "r",
        "gen_ai.conversation.id": "c",
        "gen_ai.request.previous_response.id": "r0",
        "gen_ai.agent.name": "a",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
    }
    with tracer.start_as_current_span("chat m", kind=SpanKind.CLIENT, attributes=attributes) as span:
        watch.hook.on_completion(inputs=INPUT, outputs=OUTPUT, system_instruction=[], span=span)
    seen = watch.only.call
    assert (
        seen.provider,
        seen.model,
        seen.response_id,
        seen.conversation_id,
        seen.previous_response_id,
        seen.agent,
    ) == (
        "p",
        "m",
        "r",
        "c",
        "r0",
        "a",
    )
    assert seen.started_at == span.start_time / 1e9
    assert (seen.input_tokens, seen.output_tokens) == (12, 3)


def test_without_anything_but_the_mark_in_the_context_it_is_a_chat(make_watch):
    from opentelemetry.context import attach, detach, set_value

    watch = make_watch()
    watch.hook.on_completion(inputs=INPUT, outputs=OUTPUT, span=INVALID_SPAN)
    assert watch.calls == []
    token = attach(set_value(INFERENCE_KEY, object()))
    try:
        watch.hook.on_completion(inputs=INPUT, outputs=OUTPUT, span=INVALID_SPAN)
        watch.hook.on_completion(inputs=INPUT, outputs=OUTPUT)
    finally:
        detach(token)
    assert [(seen.call.operation, seen.call.ref) for seen in watch.calls] == [("chat", None)] * 2


def test_the_utilities_still_have_what_is_relied_on(watch):
    """Private names of the utilities: where a version drops one, something above falls back and this says which."""
    invocation = handler_of(watch).inference("p")
    for name in ("_operation_name", "_monotonic_start_s", "_call_completion_hook", "attributes", "data", "context"):
        assert hasattr(invocation, name), name
    for name in ("_tracer", "_instruments", "_logger", "_completion_hook"):
        assert hasattr(handler_of(watch), name), name
    invocation.stop()
    assert INVOCATION.get() is None


def test_a_fault_of_the_sink_stays_with_us(make_watch):
    def fail(seen: HookCall) -> None:
        raise RuntimeError("ours")

    watch = make_watch()
    watch.hook = FootprintHook(fail)
    watch.on()
    with ScriptedProvider(Text("hello")) as provider:
        reply = openai_client(provider).chat.completions.create(model="m", messages=USER)
    assert reply.choices[0].message.content == "hello"
    assert boundary._counts.pop("hook") == 1


def test_a_finaliser_may_call_in_the_middle_of_a_call(watch):
    """An abandoned stream is collected while the hook of another call runs, on the same thread."""
    with ScriptedProvider(Text("alpha beta", pieces=2), repeat=True) as provider:
        abandoned = [anthropic_client(provider).messages.create(model="c", max_tokens=9, messages=USER, stream=True)]
        while "alpha" not in str(next(abandoned[0])):
            pass
        receive = watch.hook._reader._sink

        def collect_first(seen: HookCall) -> None:
            abandoned.clear()
            gc.collect()
            receive(seen)

        watch.hook._reader._sink = collect_first
        openai_client(provider).chat.completions.create(model="m", messages=USER)
    assert sorted(watch.answers) == ["alpha", "alpha beta"]


def test_many_threads(watch):
    handler = handler_of(watch)
    history = [InputMessage("user", [TextPart(f"message {number}")]) for number in range(200)]

    def work(name: str) -> None:
        for number in range(50):
            with handler.inference("p") as call:
                call.input_messages = history[: number + 1]
                call.output_messages = [OutputMessage("assistant", [TextPart(f"{name} {number}")], "stop")]

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(watch.answers)) == 400
    for seen in watch.calls:
        assert [message.text for message in seen.call.messages] == [
            f"message {number}" for number in range(len(seen.call.messages))
        ]
