"""Values beside the name of another row in telemetry: counts on the span, on the value's event and in a metric; never a name."""

from __future__ import annotations

import json

import otel_footprint
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.runtime.agents import OpenAIAgent
from tests.telemetry.telemetry_cases import MISPLACED, Pipeline, decisions, event_facts

PLACES = "agentfootprint.evidence.misplaced"
SCORES = [{"player": "Ada Lovelace", "points": 1815}, {"player": "Alan Turing", "points": 1912}]


def test_the_span_and_the_value_count_the_places(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), MISPLACED)
    assert span is not None
    assert dict(span.attributes or {})[PLACES] == 2
    values = [facts for name, facts in event_facts(span) if name == "agentfootprint.evidence.value"]
    assert [facts.get("agentfootprint.value.misplaced") for facts in values] == [None, 2]


def test_an_answer_without_any_says_nothing(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), decisions())
    assert span is not None
    assert PLACES not in dict(span.attributes or {})


def test_an_answer_of_a_real_sdk() -> None:
    script = [ToolCalls([ToolUse("get_scores")]), Text("Ada Lovelace scored 1912 points.")]
    with Sink() as sink, ScriptedProvider(script) as provider:
        otel_footprint.instrument(
            tracer_provider=sink.tracer_provider,
            meter_provider=sink.meter_provider,
            logger_provider=sink.logger_provider,
            capture_values="all",
        )
        try:
            OpenAIAgent(provider, {"get_scores": SCORES}).ask("How did the game go?")
        finally:
            otel_footprint.uninstrument()
        calling, answering = sink.chat_spans
        points = {
            (point.attributes or {}).get("shape"): point.value for point in sink.metrics() if point.name == PLACES
        }
    assert PLACES not in (calling.attributes or {})
    assert dict(answering.attributes or {})[PLACES] == 1
    assert dict(answering.attributes or {})["agentfootprint.evidence.verdict"] == "grounded"
    assert points == {None: 0, "number": 1}
    ours = {key: found for key, found in dict(answering.attributes or {}).items() if key.startswith("agentfootprint.")}
    events = [dict(event.attributes or {}) for event in answering.events]
    assert "Turing" not in json.dumps([ours, events], default=str)  # names of rows are text of a result
