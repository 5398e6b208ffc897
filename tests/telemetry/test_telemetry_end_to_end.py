"""A real SDK against a scripted provider: what stands on its spans is registered, and its links lead to its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import otel_footprint
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.runtime.agents import OpenAIAgent, keep_last
from tests.telemetry.test_telemetry_registry import EVENTS, METRICS, ON_AGENT, ON_CHAT, ON_LINK, assert_registered

ORDERS = {"get_order": {"order_id": "W-5918442", "total": "$1,250.00"}}
SCRIPT = [
    ToolCalls([ToolUse("get_order")]),
    Text("It is W-5918442, of $1,250.00."),
    Text("You are welcome."),
    Text("It was W-5918442, and ZZ-99871 beside it."),
]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        otel_footprint.instrument(
            tracer_provider=sink.tracer_provider,
            meter_provider=sink.meter_provider,
            logger_provider=sink.logger_provider,
            events="both",
            capture_values="all",
        )
        yield sink
        otel_footprint.uninstrument()


@pytest.fixture
def spans(sink: Sink) -> dict[str, Any]:
    """The agent's span and those of its four calls; at the last two the tool's result has left the window."""
    with ScriptedProvider(SCRIPT) as provider, otel_footprint.conversation("case-1", agent="support"):
        agent = OpenAIAgent(provider, ORDERS, window=lambda history: keep_last(3 if len(history) > 5 else 9)(history))
        for question in ("Which order?", "Thanks.", "Which was it again?"):
            agent.ask(question)
    [agent_span] = [span for span in sink.spans if span.name.startswith("invoke_agent")]
    return {"agent": agent_span, **dict(zip("abcd", sink.chat_spans, strict=True))}


def _ours(attributes: Any) -> dict[str, Any]:
    return {key: found for key, found in dict(attributes or {}).items() if key.startswith("agentfootprint.")}


def test_all_that_is_ours_on_a_real_trace_is_registered(sink: Sink, spans: dict[str, Any]) -> None:
    for name, span in spans.items():
        assert _ours(span.attributes)
        assert_registered(_ours(span.attributes), ON_AGENT if name == "agent" else ON_CHAT, name)
        for event in span.events:
            assert_registered(dict(event.attributes or {}), EVENTS[event.name], event.name)
        for link in span.links:
            assert_registered(dict(link.attributes or {}), ON_LINK, "a link")
    ours = [record for record in sink.logs if record.event_name in EVENTS]
    assert ours
    for record in ours:
        assert_registered(dict(record.attributes or {}), EVENTS[record.event_name], record.event_name)
    found = {point.name for point in sink.metrics() if point.name.startswith("agentfootprint.")}
    assert found == set(METRICS)


def test_the_answer_that_states_an_evicted_value_leads_to_the_calls_that_served_and_dropped_it(
    spans: dict[str, Any],
) -> None:
    answer = spans["d"]

    assert answer.attributes["agentfootprint.evidence.verdict"] == "ungrounded"
    assert answer.attributes["agentfootprint.evidence.status.evicted"] == 1
    assert answer.attributes["agentfootprint.evidence.status.unsupported"] == 1
    by_id = {span.get_span_context().span_id: name for name, span in spans.items()}
    leads = {link.attributes["agentfootprint.link.kind"]: by_id[link.context.span_id] for link in answer.links}
    dropped = next(
        name for name in "abcd" if any(event.name == "agentfootprint.context.evicted" for event in spans[name].events)
    )
    assert leads == {"served": chr(ord(dropped) - 1), "dropped": dropped}


def test_the_agent_span_sums_its_calls_up(spans: dict[str, Any]) -> None:
    attributes = spans["agent"].attributes

    assert attributes["agentfootprint.totals.calls"] == 4
    assert attributes["agentfootprint.totals.answers"] == 3
    assert attributes["agentfootprint.totals.verdict.ungrounded"] == 1
    assert attributes["agentfootprint.evidence.verdict"] == "ungrounded"
    assert attributes["agentfootprint.conversation.id"] == attributes["gen_ai.conversation.id"] == "case-1"


def test_series_stand_at_zero_before_a_real_agent_answers(sink: Sink) -> None:
    with ScriptedProvider([*SCRIPT[:1], Text("It is W-5918449.")]) as provider:
        agent = OpenAIAgent(provider, ORDERS)
        agent.history.append({"role": "user", "content": "Which order?"})
        agent.step()
        before = {tuple(sorted(p.attributes.items())): p.value for p in sink.metrics("agentfootprint.answers")}
        agent.history.append(
            {"role": "tool", "tool_call_id": agent.history[-1]["tool_calls"][0]["id"], "content": "{}"}
        )
        agent.step()
    after = {tuple(sorted(p.attributes.items())): p.value for p in sink.metrics("agentfootprint.answers")}

    [(series, number)] = [(series, number) for series, number in after.items() if number]
    assert (number, before[series]) == (1, 0)
    assert dict(series)["verdict"] == "ungrounded"
