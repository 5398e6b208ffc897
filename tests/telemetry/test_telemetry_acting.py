"""A real SDK that is acted on: what stands on its spans is registered, and an evicted value leads to the span that dropped it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

import otel_footprint
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.runtime.agents import OpenAIAgent
from tests.telemetry.test_telemetry_registry import EVENTS, ON_AGENT, ON_CHAT, ON_LINK, ON_WINDOW, assert_registered

ORDERS = {"get_order": {"order_id": "W-5918442", "total": "$1,250.00", "terms": "Goods may be sent back. " * 20}}
"""Long enough that the notice of its removal is the shorter one."""
DROPPED = [
    ToolCalls([ToolUse("get_order")]),
    Text("I have it here."),
    Text("You are welcome."),
    Text("It was W-5918442."),
]


@contextmanager
def instrumented(sampler: Sampler = ALWAYS_ON, **settings: Any) -> Iterator[Sink]:
    with Sink(sampler=sampler) as sink:
        otel_footprint.instrument(
            tracer_provider=sink.tracer_provider,
            meter_provider=sink.meter_provider,
            logger_provider=sink.logger_provider,
            events="both",
            capture_values="all",
            **settings,
        )
        try:
            yield sink
        finally:
            otel_footprint.uninstrument()


def run(script: list[Any], *questions: str) -> list[str]:
    with ScriptedProvider(script) as provider, otel_footprint.conversation("case-1", agent="support"):
        agent = OpenAIAgent(provider, ORDERS)
        return [agent.ask(question) for question in questions]


def ours(attributes: Any) -> dict[str, Any]:
    return {key: found for key, found in dict(attributes or {}).items() if key.startswith("agentfootprint.")}


def check_registered(sink: Sink) -> None:
    kinds = {"invoke_agent": ON_AGENT, "agentfootprint.window": ON_WINDOW, "chat": ON_CHAT}
    for span in sink.spans:
        assert_registered(ours(span.attributes), kinds[span.name.split()[0]], span.name)
        for event in span.events:
            if event.name in EVENTS:
                assert_registered(dict(event.attributes or {}), EVENTS[event.name], event.name)
        for link in span.links:
            assert_registered(dict(link.attributes or {}), ON_LINK, "a link")


def outcomes(sink: Sink, metric: str) -> dict[str, float]:
    return {point.attributes["outcome"]: point.value for point in sink.metrics(metric) if point.value}


def test_a_value_that_a_strategy_dropped_leads_to_its_span() -> None:
    with instrumented(window=otel_footprint.SlidingWindow(2)) as sink:
        run(DROPPED, "Which order?", "Thanks.", "Which was it again?")

        check_registered(sink)
        names = [span.name for span in sink.spans]
        assert names[-1] == "invoke_agent support"
        agent, answer = sink.spans[-1], sink.chat_spans[-1]
        visits = {
            s.get_span_context().span_id: s for s in sink.spans if s.name == "agentfootprint.window sliding-window"
        }
        assert {visit.parent.span_id for visit in visits.values()} == {agent.get_span_context().span_id}
        attributes = ours(answer.attributes)
        assert attributes["agentfootprint.evidence.status.evicted"] == 1
        (dropped,) = (link for link in answer.links if link.attributes["agentfootprint.link.kind"] == "dropped")
        left = [event.attributes for event in visits[dropped.context.span_id].events if event.name.endswith("evicted")]
        assert "get_order" in [event.get("agentfootprint.eviction.tool") for event in left]
        assert not any(
            event.name == "agentfootprint.context.evicted" for span in sink.chat_spans for event in span.events
        )
        logged = [record for record in sink.logs if record.event_name == "agentfootprint.context.evicted"]
        assert {record.span_id for record in logged} <= set(visits)
        assert ours(agent.attributes)["agentfootprint.totals.evicted"] == len(logged)


def test_the_metrics_of_a_window_do_not_depend_on_sampling() -> None:
    counted = []
    for sampler in (ALWAYS_ON, ALWAYS_OFF):
        with instrumented(sampler, window=otel_footprint.SlidingWindow(2)) as sink:
            run(DROPPED, "Which order?", "Thanks.", "Which was it again?")
            assert bool(sink.spans) is (sampler is ALWAYS_ON)
            counted.append(
                {
                    (point.name, tuple(sorted(point.attributes.items()))): point.value
                    for point in sink.metrics()
                    if point.name.startswith("agentfootprint.") and not point.name.endswith(("duration", "survival"))
                }
            )
    assert counted[0] == counted[1]
    assert any(name == "agentfootprint.window.evictions" for name, _ in counted[0])


@pytest.mark.parametrize(
    ("posture", "last", "outcome", "answers"),
    [
        ("guard", Text("It is W-5918442."), "grounded", {"grounded": 1}),
        ("guard", Text("It is ZZ-99871."), "flagged", {"ungrounded": 1}),
        ("rails", Text("It is ZZ-99871."), "refused", {"ungrounded": 1}),
        ("guard", Error(500), "failed", {"ungrounded": 1}),
    ],
)
def test_a_draft_is_no_answer_and_its_revision_is_counted(
    posture: Any, last: Any, outcome: str, answers: dict[str, int]
) -> None:
    script = [ToolCalls([ToolUse("get_order")]), Text("It is QQ-40417."), last]
    with instrumented(evidence=otel_footprint.Evidence(posture=posture)) as sink:
        if outcome == "refused":
            with pytest.raises(otel_footprint.UnsupportedValuesError):
                run(script, "Which order?")
        else:
            run(script, "Which order?")

        check_registered(sink)
        assert outcomes(sink, "agentfootprint.evidence.revisions") == {outcome: 1}
        counted = {p.attributes["verdict"]: p.value for p in sink.metrics("agentfootprint.answers") if p.value}
        assert counted == answers
        draft, revision = sink.chat_spans[1:]
        assert ours(draft.attributes)["agentfootprint.evidence.action"] == "recheck"
        assert "agentfootprint.evidence.revision" not in ours(draft.attributes)
        assert ours(revision.attributes)["agentfootprint.evidence.revision"] is True
        totals = ours(sink.spans[-1].attributes)
        assert totals["agentfootprint.totals.revisions"] == 1
        assert totals["agentfootprint.totals.answers"] == 1
        assert totals[f"agentfootprint.totals.verdict.{next(iter(answers))}"] == 1


def test_a_revision_that_asks_for_tools_is_counted_as_such() -> None:
    script = [
        ToolCalls([ToolUse("get_order")]),
        Text("It is QQ-40417."),
        ToolCalls([ToolUse("get_order")]),
        Text("It is W-5918442."),
    ]
    with instrumented(evidence=otel_footprint.Evidence(posture="guard")) as sink:
        assert run(script, "Which order?") == ["It is W-5918442."]
        assert outcomes(sink, "agentfootprint.evidence.revisions") == {"tool_calls": 1}
