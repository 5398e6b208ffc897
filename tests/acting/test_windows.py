"""A window strategy on every API: what is sent, what the application keeps, and what the record says of it."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import Any

import pytest

import otel_footprint
from otel_footprint import (
    Evidence,
    SlidingWindow,
    SummarizeOldest,
    TokenBudget,
    WindowResult,
    WindowStrategy,
    WindowUnmeasurableError,
    boundary,
)
from otel_footprint.core.window.strategy import Rebase, WindowStrategyInput
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import APIS, Agent, sent, text_of

READ = ToolCalls([ToolUse("get_order")])
LONG = {"order_id": "W-5918442", "lines": ["a line that says nothing of interest"] * 20}
"""Longer than a notice, so that dropping it is worth one."""

every_api = pytest.mark.parametrize("api", APIS)


def talk(turns: int) -> list[Any]:
    return [step for _ in range(turns) for step in (READ, Text("It is W-5918442."))]


def spans(sink: Sink, start: str) -> list[Any]:
    return [span for span in sink.spans if span.name.startswith(start)]


def attributes(span: Any, *names: str) -> tuple[Any, ...]:
    return tuple((span.attributes or {}).get(f"agentfootprint.{name}") for name in names)


def total(sink: Sink, metric: str, **labels: str) -> float:
    return sum(
        point.value
        for point in sink.metrics(metric)
        if all(point.attributes.get(name) == value for name, value in labels.items())
    )


@every_api
def test_what_left_stays_out_and_the_list_is_the_applications(api: str, act: Callable[..., Sink]) -> None:
    sink = act(window=SlidingWindow(2), keep_last_tool_results=0)
    with ScriptedProvider(talk(6)) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider, LONG)
        for number in range(6):
            agent.ask(f"Question {number}: which order?")
        windows = sent(provider)
        record, change = conversation.window.record, conversation.window
    assert len(agent.history) > 20
    assert max(map(len, windows)) <= 6
    for number in range(6):
        last = max(index for index, window in enumerate(windows) if f"Question {number}" in text_of(window))
        first = min(index for index, window in enumerate(windows) if f"Question {number}" in text_of(window))
        # once gone it never comes back, and the current request is always there
        assert all(f"Question {number}" in text_of(windows[index]) for index in range(first, last + 1))
        assert {2 * number, 2 * number + 1} <= set(range(first, last + 1))
    assert record is not None
    assert (record.strategy, record.keep_recent_turns) == ("sliding-window", 2)
    assert change.decided_by == "sliding-window"
    removing = [s for s in spans(sink, "agentfootprint.window") if attributes(s, "window.outcome") == ("removed",)]
    assert removing
    evicted = sum((span.attributes or {})["agentfootprint.window.evicted"] for span in removing)
    assert total(sink, "agentfootprint.window.evictions", decided_by="sliding-window") == evicted
    assert total(sink, "agentfootprint.window.evictions") == evicted  # nothing is counted twice
    # the chat spans carry the counts too, and agree
    assert sum((span.attributes or {})["agentfootprint.window.evicted"] for span in sink.chat_spans) == evicted


@every_api
def test_a_value_whose_result_was_dropped_is_evicted_and_leads_to_the_drop(api: str, act: Callable[..., Sink]) -> None:
    sink = act(window=SlidingWindow(1), keep_last_tool_results=False)
    script = [READ, Text("One moment."), Text("Anything else?"), Text("It was W-5918442.")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider, LONG)
        for question in ("Which order?", "Thank you so far.", "So which order was it?"):
            agent.ask(question)
        assert "W-5918442" not in text_of(sent(provider)[-1])
        (value,) = conversation.answers[-1].values
    assert (value.status, value.flagged) == ("evicted", True)
    assert value.evicted_by is not None
    assert value.evicted_by.decided_by == "sliding-window"
    dropping = next(
        span
        for span in spans(sink, "agentfootprint.window")
        if "get_order" in str(attributes(span, "window.dropped_tools"))
    )
    last = max(sink.chat_spans, key=lambda span: span.start_time or 0)
    assert dropping.get_span_context().span_id in {link.context.span_id for link in last.links}


@every_api
def test_the_window_is_planned_inside_the_agents_span(api: str, act: Callable[..., Sink]) -> None:
    sink = act(window=SlidingWindow(1))
    with ScriptedProvider(talk(2)) as provider, otel_footprint.conversation("c", agent="support"):
        agent = Agent(api, provider)
        agent.ask("Which order?")
        agent.ask("Again?")
    (owner,) = spans(sink, "invoke_agent")
    visits = spans(sink, "agentfootprint.window sliding-window")
    assert visits
    assert {span.parent.span_id for span in visits} == {owner.get_span_context().span_id}


@every_api
def test_guard_works_on_the_window_that_was_sent(api: str, act: Callable[..., Sink]) -> None:
    """The value is in the application's list, and no longer in the window: asked again, with tools, the model reads it."""
    act(window=SlidingWindow(1), keep_last_tool_results=0, evidence=Evidence(posture="guard"))
    script = [READ, Text("One moment."), Text("Anything else?"), Text("It was W-5918442."), READ, Text("W-5918442.")]
    with ScriptedProvider(script) as provider:
        agent = Agent(api, provider, LONG)
        agent.ask("Which order?")
        agent.ask("Thank you so far.")
        assert agent.ask("So which order was it?") == "W-5918442."
        assert len(provider.requests) == 6


@every_api
def test_a_strategy_that_raises_leaves_the_window(
    api: str, faulty: Callable[..., Sink], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        name = "broken"

        def plan(self, input: WindowStrategyInput) -> WindowResult | None:
            raise KeyError("secret words")

    assert isinstance(Broken(), WindowStrategy)
    sink = faulty(window=Broken())
    with ScriptedProvider(talk(2)) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider)
        agent.ask("Which order?")
        agent.ask("Again?")
        assert [len(window) for window in sent(provider)] == sorted(len(window) for window in sent(provider))
        assert conversation.window.record is not None
        assert conversation.window.record.inactive == "strategy-failed"
    assert total(sink, "agentfootprint.errors", place="acting.strategy") == 4
    assert "secret" not in caplog.text
    assert {attributes(span, "window.outcome") for span in spans(sink, "agentfootprint.window")} == {
        ("strategy-failed",)
    }


def test_a_window_that_breaks_a_rule_is_not_sent(act: Callable[..., Sink], caplog: pytest.LogCaptureFixture) -> None:
    class Greedy:
        """Drops everything, the question too."""

        name = "greedy"

        async def plan(self, input: WindowStrategyInput) -> WindowResult | None:
            mine = SlidingWindow(1).plan(input)
            if mine is None:
                return None
            return dataclasses.replace(mine, window=(), rebase=Rebase(0, 0))

    sink = act(window=Greedy())
    with ScriptedProvider(talk(2)) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent("openai-chat", provider)
        with caplog.at_level(logging.WARNING):
            agent.ask("Which order?")
            agent.ask("Again?")
        assert len(sent(provider)[-1]) == 7
        assert conversation.window.record is not None
        assert conversation.window.record.inactive == "invalid-window"
    assert len([record for record in caplog.records if "greedy" in record.getMessage()]) >= 1
    assert total(sink, "agentfootprint.window.evictions") == 0


@every_api
def test_a_budget_works_by_the_reported_tokens(api: str, act: Callable[..., Sink]) -> None:
    sink = act(window=TokenBudget(100, keep_recent_turns=1), keep_last_tool_results=0)
    script = [
        READ,
        Text("It is W-5918442.", input_tokens=500),
        Text("You are welcome.", input_tokens=20),
        Text("Good bye.", input_tokens=20),
    ]
    with ScriptedProvider(script) as provider:
        agent = Agent(api, provider, LONG)
        for question in ("Which order?", "Thank you.", "That is all."):
            agent.ask(question)
        sizes = [len(window) for window in sent(provider)]
    assert sizes[2] < 5
    assert sizes[3] == sizes[2] + 2
    (visit,) = [s for s in spans(sink, "agentfootprint.window token-budget") if attributes(s, "window.evicted") != (0,)]
    assert attributes(visit, "window.measured_tokens", "window.threshold_tokens") == (500, 100)
    assert [event.name for event in visit.events].count("agentfootprint.context.budget_pressure") == 1


def test_a_provider_that_reports_nothing_is_said_at_the_first_such_visit(act: Callable[..., Sink]) -> None:
    act(window=TokenBudget(100))
    script = [Text("Hello.", input_tokens=0, output_tokens=0), Text("Hello again.")]
    with ScriptedProvider(script) as provider:
        agent = Agent("openai-chat", provider)
        agent.ask("Hi")
        with pytest.raises(WindowUnmeasurableError, match="token-budget"):
            agent.ask("Hi again")
        assert len(provider.requests) == 1


@pytest.mark.parametrize("api", ["openai-chat", "openai-chat-async"])
@pytest.mark.parametrize("kind", ["function", "coroutine"])
def test_the_oldest_turns_become_a_summary(api: str, kind: str, act: Callable[..., Sink]) -> None:
    asked: list[str] = []

    def summarise(prompt: str) -> tuple[str, int, int]:
        asked.append(prompt)
        return "The order is W-5918442.", 70, 7

    async def summarise_async(prompt: str) -> tuple[str, int, int]:
        return summarise(prompt)

    function = summarise if kind == "function" else summarise_async
    sink = act(window=SummarizeOldest(100, function, "small-model", keep_recent_turns=1), keep_last_tool_results=0)
    script = [READ, Text("It is W-5918442.", input_tokens=500), Text("It is W-5918442.", input_tokens=20)]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider, LONG)
        agent.ask("Which order?")
        agent.ask("Which was it?")
        window = sent(provider)[-1]
        assert "The order is W-5918442." in text_of(window[0])
        (folded,) = conversation.window.folded
        assert folded.message_count == len(folded.messages) == 4
        assert conversation.window.decision == "summarize"
    assert len(asked) == 1
    (visit,) = spans(sink, "agentfootprint.window summarize-oldest")
    assert attributes(visit, "window.outcome", "window.summarizer_model", "window.summarizer_input_tokens") == (
        "folded",
        "small-model",
        70,
    )


@every_api
def test_a_providers_client_writes_the_summary_in_one_call_of_its_own(api: str, act: Callable[..., Sink]) -> None:
    """It is a child of the window's span, with a span of the official instrumentation; and nothing of ours acts on it."""
    with ScriptedProvider([Text("The order is W-5918442.")]) as other:
        client = Agent(api, other).api.client  # type: ignore[attr-defined]
        strategy = SummarizeOldest(100, client, "small-model", keep_recent_turns=1)
        sink = act(window=strategy, keep_last_tool_results=0)
        script = [READ, Text("It is W-5918442.", input_tokens=500), Text("It is W-5918442.", input_tokens=20)]
        with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
            agent = Agent(api, provider, LONG)
            agent.ask("Which order?")
            agent.ask("Which was it?")
            assert "The order is W-5918442." in text_of(sent(provider)[-1])
            assert len(conversation.decisions) == 3
        assert len(other.requests) == 1
    (visit,) = spans(sink, "agentfootprint.window summarize-oldest")
    (summary,) = [
        span for span in sink.chat_spans if (span.attributes or {}).get("gen_ai.request.model") == "small-model"
    ]
    assert summary.parent is not None
    assert summary.parent.span_id == visit.get_span_context().span_id
    assert attributes(summary, "conversation.id", "window.decision", "evidence.verdict") == (None, None, None)
    assert attributes(visit, "window.summarizer_input_tokens")[0] > 0


@pytest.mark.parametrize("api", ["openai-chat", "anthropic", "bedrock", "gemini"])
def test_a_summariser_that_fails_is_asked_once_and_the_run_goes_on(api: str, act: Callable[..., Sink]) -> None:
    from otel_footprint.testing.provider import Error

    with ScriptedProvider([Error(400, "no")] * 9) as other:
        client = Agent(api, other).api.client  # type: ignore[attr-defined]
        sink = act(window=SummarizeOldest(100, client, "small-model", keep_recent_turns=1), keep_last_tool_results=0)
        script = [READ, Text("It is W-5918442.", input_tokens=500), Text("It is W-5918442.", input_tokens=20)]
        with ScriptedProvider(script) as provider:
            agent = Agent(api, provider, LONG)
            agent.ask("Which order?")
            assert agent.ask("Which was it?") == "It is W-5918442."
            assert len(sent(provider)[-1]) == 5
        assert len(other.requests) == 1
    (visit,) = spans(sink, "agentfootprint.window summarize-oldest")
    assert attributes(visit, "window.refusal") == ("summarizer-failed",)


def test_a_strategy_with_an_asynchronous_plan_works_under_a_plain_client(act: Callable[..., Sink]) -> None:
    import asyncio

    class Thinking:
        name = "thinking"

        async def plan(self, input: WindowStrategyInput) -> WindowResult | None:
            await asyncio.sleep(0)
            return SlidingWindow(1).plan(input)

    act(window=Thinking(), keep_last_tool_results=0)
    with ScriptedProvider(talk(3)) as provider:
        agent = Agent("openai-chat", provider, LONG)
        for question in ("Which?", "Which one?", "Which one was it?"):
            agent.ask(question)
        assert len(sent(provider)[-1]) < 7


def test_a_conversation_may_have_a_strategy_of_its_own(act: Callable[..., Sink]) -> None:
    act()
    with ScriptedProvider(talk(6)) as provider:
        alone = Agent("openai-chat", provider, LONG)
        for _ in range(3):
            alone.ask("Which order?")
        assert len(sent(provider)[-1]) == 11
        with otel_footprint.conversation("short", window=SlidingWindow(1)):
            agent = Agent("openai-chat", provider, LONG)
            for _ in range(3):
                agent.ask("Which order?")
            assert len(sent(provider)[-1]) < 6


def test_where_the_provider_holds_the_window_nothing_is_removed(act: Callable[..., Sink]) -> None:
    import openai

    sink = act(window=SlidingWindow(1))
    with ScriptedProvider([Text("Hello."), Text("Hello again.")]) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        with otel_footprint.conversation("held") as conversation:
            first = client.responses.create(model="m", input="Hi")
            client.responses.create(model="m", input="Hi again", previous_response_id=first.id)
            assert conversation.window.record is not None
            assert conversation.window.record.inactive == "server-held"
        assert provider.requests[-1].json["input"] == "Hi again"
    assert attributes(spans(sink, "agentfootprint.window")[-1], "window.outcome") == ("server-held",)


def test_a_request_that_cannot_be_read_goes_through_untouched(faulty: Callable[..., Sink]) -> None:
    import openai

    sink = faulty(window=SlidingWindow(1), evidence=Evidence(posture="rails"))
    with ScriptedProvider([Text("Hello.")] * 2) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        strange: Any = [{"role": "narrator", "content": "Once upon a time"}]
        for _ in range(2):
            client.chat.completions.create(model="m", messages=strange)
        assert provider.requests[-1].json["messages"] == strange
    assert total(sink, "agentfootprint.errors", place="acting.read.openai.chat") == 2


def test_without_the_official_instrumentation_the_call_goes_through(
    faulty: Callable[..., Sink], caplog: pytest.LogCaptureFixture
) -> None:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

    faulty(evidence=Evidence(posture="rails"))
    with ScriptedProvider([READ, Text("It is W-5918449.")]) as provider:
        agent = Agent("openai-chat", provider)
        OpenAIInstrumentor().uninstrument()
        before = boundary.fault_counts().get("acting.unseen", 0)
        with caplog.at_level(logging.WARNING):
            assert agent.ask("Which order?") == "It is W-5918449."
        assert boundary.fault_counts()["acting.unseen"] == before + 2
    assert caplog.text.count("did not tell of this call") == (1 if before == 0 else 0)


def test_a_conversation_can_do_without_the_strategy_of_the_process(act: Callable[..., Sink]) -> None:
    act(window=SlidingWindow(1))
    script = [READ, Text("One."), Text("Two."), Text("Three.")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c", window=False) as conversation:
        agent = Agent("openai-chat", provider)
        for question in ("First?", "Second?", "Third?"):
            agent.ask(question)
        assert len(sent(provider)[-1]) == len(agent.history) - 1
        assert conversation.window.record is None
