"""One runtime per process: starting, stopping, sampling, finalisers, forks, and the conversation handle."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

import openai
import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import otel_footprint
from otel_footprint import boundary, runtime
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.runtime.agents import OpenAIAgent, attributes, events

ORDER = {"get_order": {"order_id": "W-5918442"}}
SCRIPT = [ToolCalls([ToolUse("get_order")]), Text("Your order is W-5918449.")]


def answers(sink: Sink) -> dict[str, float]:
    """Answers counted so far, by verdict."""
    counts: dict[str, float] = {}
    for point in sink.metrics("agentfootprint.answers"):
        verdict = point.attributes["verdict"]
        counts[verdict] = counts.get(verdict, 0) + point.value
    return {verdict: count for verdict, count in counts.items() if count}


def ask(script: Any = None) -> None:
    with ScriptedProvider(SCRIPT if script is None else script) as provider:
        OpenAIAgent(provider, ORDER).ask("Which order?")


def test_a_second_call_with_the_same_settings_does_nothing(observe: Callable[..., Sink]) -> None:
    sink = observe()
    running = runtime.current()
    otel_footprint.instrument(
        tracer_provider=sink.tracer_provider,
        meter_provider=sink.meter_provider,
        logger_provider=sink.logger_provider,
    )
    assert runtime.current() is running
    ask()
    assert len(sink.chat_spans) == 2


def test_a_second_call_with_other_settings_names_them(observe: Callable[..., Sink]) -> None:
    sink = observe()
    with pytest.raises(otel_footprint.ConfigurationError, match="another tracer_provider"):
        otel_footprint.instrument()
    with pytest.raises(otel_footprint.ConfigurationError, match="another capture_values"):
        otel_footprint.instrument(
            tracer_provider=sink.tracer_provider,
            meter_provider=sink.meter_provider,
            logger_provider=sink.logger_provider,
            capture_values="all",
        )
    ask()
    assert answers(sink) == {"ungrounded": 1}


def test_after_uninstrument_nothing_is_seen_and_it_starts_anew(observe: Callable[..., Sink]) -> None:
    first = observe()
    otel_footprint.uninstrument()
    ask()
    assert not first.spans
    second = observe(capture_values="flagged")
    ask()
    assert answers(second) == {"ungrounded": 1}
    assert not first.spans
    otel_footprint.uninstrument()
    otel_footprint.uninstrument()


def test_metrics_do_not_depend_on_sampling(observe: Callable[..., Sink]) -> None:
    sink = observe(sampler=ALWAYS_OFF)
    ask()
    with otel_footprint.conversation("off") as current:
        ask()
    assert not sink.spans
    assert answers(sink) == {"ungrounded": 2}
    assert [judgement.verdict for judgement in current.answers] == ["ungrounded"]


def test_conversations_that_the_bounds_push_out_are_counted(observe: Callable[..., Sink]) -> None:
    sink = observe(conversation_limit=2)
    (born,) = sink.metrics("agentfootprint.conversations.dropped")
    assert born.value == 0
    for number in range(5):
        with otel_footprint.conversation(f"conversation-{number}"):
            ask()
    (dropped,) = sink.metrics("agentfootprint.conversations.dropped")
    assert dropped.value == 3


def test_a_failed_call_passes_the_applications_error_and_changes_nothing(sink: Sink) -> None:
    with ScriptedProvider([ToolCalls([ToolUse("get_order")]), Error(500), Text("It is W-5918442.")]) as provider:
        agent = OpenAIAgent(provider, ORDER)
        with pytest.raises(openai.InternalServerError):
            agent.ask("Which order?")
        agent.step()
    assert attributes(sink.chat_spans, "window.decision", "thread", "evidence.verdict") == [
        ("start", 1, None),
        ("append", 1, None),
        ("append", 1, "grounded"),
    ]
    assert sink.open_spans == ()


def test_a_stream_abandoned_inside_our_own_work_is_judged_later(sink: Sink) -> None:
    """A finaliser may run in the middle of a decision, on the very thread that holds the lock."""
    running = runtime.current()
    assert running is not None
    store = running._store
    observe, late = store.observe, []

    def observe_and_collect(*args: Any, **kwargs: Any) -> Any:
        while late:
            stream = late.pop()
            del stream  # the last reference: its finaliser calls our hook right here
        return observe(*args, **kwargs)

    store.observe = observe_and_collect  # type: ignore[method-assign]
    with ScriptedProvider(
        [Text("Half of W-1111111, and the rest.", pieces=8), Text("Done with W-2222222.")]
    ) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        request: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello there"}]}
        stream = client.chat.completions.create(stream=True, **request)
        for _ in range(3):
            next(stream)
        late.append(stream)
        del stream
        client.chat.completions.create(**request)
    assert sum(answers(sink).values()) == 2
    assert sink.open_spans == ()


def test_a_call_that_waits_keeps_what_was_carried_for_it(sink: Sink) -> None:
    """What a wrapper saw is given out once, so a call that has to wait takes it along."""
    running = runtime.current()
    assert running is not None
    store = running._store
    observe, hand_in, seen, late = store.observe, store.hand_in, [], []
    during: list[Any] = []

    def watch(call: Any, **options: Any) -> Any:
        seen.append(call.previous_response_id)
        return observe(call, **options)

    def hand_in_and_collect(*args: Any, **options: Any) -> None:
        while late:
            stream = late.pop()
            del stream
        during.extend(seen)  # in the middle of the store's work nothing else gets in
        hand_in(*args, **options)

    store.observe, store.hand_in = watch, hand_in_and_collect  # type: ignore[method-assign]
    with ScriptedProvider([Text("Half of an answer, and the rest.", pieces=8)]) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        stream = client.responses.create(model="gpt-4o", input="Go on", previous_response_id="resp_7", stream=True)
        for _ in range(3):
            next(stream)
        late.append(stream)
        del stream
        running.hand_in("conversation", "words", "document")
    assert (during, seen) == ([], ["resp_7"])


def test_threads_share_one_runtime(sink: Sink) -> None:
    with ScriptedProvider(lambda request: Text("The order is W-5918449.")) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)

        def work(number: int) -> None:
            with otel_footprint.conversation(f"conversation-{number}"):
                for _ in range(5):
                    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(answers(sink).values()) == 40
    ids = attributes(sink.chat_spans, "conversation.id", "conversation.match")
    assert set(ids) == {(f"conversation-{number}", "explicit") for number in range(8)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_leaves_the_child_with_a_lock_of_its_own(sink: Sink) -> None:
    ask()
    running = runtime.current()
    assert running is not None
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with running.lock:
            held.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    threading.Timer(0.2, release.set).start()  # the fork waits for the lock
    pid = os.fork()
    if pid == 0:
        try:
            running.say("conversation", "words")
            os._exit(0 if not boundary.fault_counts() else 3)
        finally:
            os._exit(4)
    _, status = os.waitpid(pid, 0)
    holder.join()
    assert os.waitstatus_to_exitcode(status) == 0
    ask()
    assert answers(sink) == {"ungrounded": 2}


def test_a_conversation_names_spans_and_summarises(sink: Sink) -> None:
    with otel_footprint.conversation("order-4711", agent="support", request="About W-5918449") as current:
        assert otel_footprint.current_conversation() is current
        ask()
    assert otel_footprint.current_conversation() is None
    agent = next(span for span in sink.spans if span.name == "invoke_agent support")
    assert (agent.attributes or {})["gen_ai.conversation.id"] == "order-4711"
    assert attributes([agent], "evidence.verdict", "conversation.id") == [("grounded", "order-4711")]
    assert {span.parent.span_id for span in sink.chat_spans if span.parent} == {agent.get_span_context().span_id}
    assert {(span.attributes or {})["gen_ai.conversation.id"] for span in sink.chat_spans} == {"order-4711"}
    assert [judgement.verdict for judgement in current.answers] == ["grounded"]  # what was asked for is said
    assert (current.window.decision, current.window.decided_by) == ("append", "application")
    assert (current.window.record, current.window.folded) == (None, ())


def test_an_unnamed_conversation_exports_no_id(sink: Sink) -> None:
    with otel_footprint.conversation(agent="support"):
        ask()
    for span in sink.spans:
        assert "gen_ai.conversation.id" not in (span.attributes or {})
    assert len(set(attributes(sink.chat_spans, "conversation.id"))) == 1


def test_evidence_handed_in_is_evidence(sink: Sink) -> None:
    with otel_footprint.conversation("documents") as current:
        current.evidence("The contract W-5918449 was signed.", name="contract.pdf")
        ask()
    assert [judgement.verdict for judgement in current.answers] == ["grounded"]


def test_a_conversation_inside_a_frameworks_agent_span_uses_it(sink: Sink) -> None:
    tracer = sink.tracer_provider.get_tracer("framework")
    with (
        tracer.start_as_current_span("invoke_agent theirs", attributes={"gen_ai.operation.name": "invoke_agent"}),
        otel_footprint.conversation("theirs"),
    ):
        ask()
    agents = [span for span in sink.spans if "invoke_agent" in span.name]
    assert [span.name for span in agents] == ["invoke_agent theirs"]
    assert attributes(agents, "evidence.verdict") == [("ungrounded",)]


async def test_asynchronous_conversations_stay_apart(sink: Sink) -> None:
    async def one(number: int) -> list[str]:
        async with otel_footprint.conversation(f"async-{number}") as current:
            with ScriptedProvider([Text("Hello."), Text("The order is W-5918449.")]) as provider:
                client = openai.AsyncOpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
                for text in ("Hi", "Order W-5918449?"):
                    await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
                    await asyncio.sleep(0)
                await client.close()
            return [judgement.verdict for judgement in current.answers]

    assert await asyncio.gather(*(one(number) for number in range(5))) == [["no_claims", "grounded"]] * 5
    assert set(attributes(sink.chat_spans, "conversation.id")) == {(f"async-{n}",) for n in range(5)}


async def test_a_conversation_left_in_another_task_costs_nothing(sink: Sink, caplog: pytest.LogCaptureFixture) -> None:
    async def answers_of() -> Any:
        with otel_footprint.conversation("generator"):
            yield 1
            yield 2

    generator = answers_of()
    assert await asyncio.create_task(anext(generator)) == 1
    with caplog.at_level(logging.ERROR):
        await asyncio.create_task(generator.aclose())
    assert sink.open_spans == ()
    assert not caplog.records


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"id": 7}, "id=7"),
        ({"id": ""}, "1 to 256"),
        ({"id": "x" * 300}, "300 characters"),
        ({"agent": object}, "agent="),
        ({"evidence": "strict"}, "evidence='strict'"),
        ({"window": "sliding-window:12"}, "SlidingWindow(12)"),
        ({"window": object()}, "no name"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], part: str) -> None:
    with pytest.raises(otel_footprint.ConfigurationError) as caught:
        otel_footprint.conversation(**arguments)
    assert part in str(caught.value)


def test_an_error_of_the_application_leaves_its_type_and_not_its_text(sink: Sink) -> None:
    with pytest.raises(KeyError), otel_footprint.conversation(agent="support"):
        raise KeyError("the customer's secret words")
    (span,) = sink.spans
    assert not span.status.is_ok
    assert span.status.description is None
    assert (span.attributes or {})["error.type"] == "builtins.KeyError"
    assert "secret" not in span.to_json()


def test_a_handle_is_entered_once(sink: Sink) -> None:
    handle = otel_footprint.conversation("once")
    with handle:
        pass
    with pytest.raises(otel_footprint.ConfigurationError, match="entered once"), handle:
        pass


def test_without_instrument_a_conversation_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), otel_footprint.conversation("alone") as current:
        current.evidence("nothing", name="nothing")
    assert "instrument()" in caplog.text
    assert current.answers == ()


def test_an_internal_fault_never_reaches_the_application(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    running = runtime.current()
    assert running is not None

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ours")

    monkeypatch.setattr(running._store, "observe", broken)
    ask()
    assert len(sink.chat_spans) == 2
    faults = {p.attributes.get("place"): p.value for p in sink.metrics("agentfootprint.errors")}
    assert faults["runtime.complete"] == 2
    assert events(sink.chat_spans[0], "context.evicted") == []
