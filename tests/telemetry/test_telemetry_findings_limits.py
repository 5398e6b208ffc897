"""Findings: no word of the model leaves by default, and declarations without end stay in the limits."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from opentelemetry import context
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from otel_footprint import boundary
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.telemetry.capture import CaptureLevel
from otel_footprint.telemetry.limits import MAX_CHARS, MAX_EVENTS, MAX_ITEMS
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.findings_cases import (
    FOUND,
    HOSTILE,
    any_changes,
    counted,
    series,
)
from tests.telemetry.telemetry_cases import Pipeline, decisions, event_facts, judgement, value


def _exported(level: CaptureLevel, *changes: FindingsChange) -> bytes:
    pipeline = Pipeline()
    emitter = pipeline.emitter(events="both", capture_values=level)
    calls = [decisions(judgement(), findings=one) for one in changes]
    for call in calls:
        pipeline.emit(emitter, call)
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        for one in changes:
            emitter.told(one.rows, span, context.Context())
        emitter.summarise(span, Summary.of(calls))
    metrics = pipeline.reader.get_metrics_data()
    assert metrics is not None
    return b"".join(
        (
            encode_spans(pipeline.spans.get_finished_spans()).SerializeToString(),
            encode_logs(pipeline.logs.get_finished_logs()).SerializeToString(),
            encode_metrics(metrics).SerializeToString(),
        )
    )


MODEL_TEXTS = {
    "shipped",
    "a date",
    "W-1",
    "delivery",
    "12.5",
    "a refund",
    "no refund",
    "the one I saw",
}


@pytest.mark.parametrize("level", ["none", "flagged"])
def test_no_word_of_the_model_leaves_below_all(level: CaptureLevel) -> None:
    assert FOUND.findings is not None
    exported = _exported(level, FOUND.findings)

    assert {text for text in MODEL_TEXTS if text.encode() in exported} == set()
    assert b"call_4" in exported  # ids of results do
    assert b"get_order" in exported  # and names of tools


def test_under_all_every_word_of_a_finding_may_leave() -> None:
    assert FOUND.findings is not None
    exported = _exported("all", FOUND.findings)

    assert {text for text in MODEL_TEXTS if text.encode() not in exported} == set()


def test_declarations_without_end_stay_in_the_limits_and_conflicts_among_the_first(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(capture_values="all"), HOSTILE)

    assert span is not None
    attributes = dict(span.attributes or {})
    names = [name.rpartition(".")[2] for name, _ in event_facts(span)]
    assert len(names) == MAX_EVENTS
    assert names.count("conflict") == 40
    assert names.count("result") == 2
    assert names.count("standing") == MAX_EVENTS - 40 - 3  # and the answer's summary
    assert attributes["agentfootprint.limits.events_dropped"] > 9_900
    assert attributes["agentfootprint.findings.declared"] == 10_000
    assert attributes["agentfootprint.findings.undecorated"] == 22
    assert len(attributes["agentfootprint.findings.undecorated_tools"]) == MAX_ITEMS
    assert attributes["agentfootprint.findings.undecorated_tools_omitted"] == 2
    assert counted(pipeline, "findings") == {series(standing="fact"): 10_000}
    for _, facts in event_facts(span):
        for word in facts.values():
            items = word if isinstance(word, tuple) else (word,)
            assert len(items) <= MAX_ITEMS
            assert all(len(item) <= MAX_CHARS for item in items if isinstance(item, str))
    encode_spans(pipeline.spans.get_finished_spans()).SerializeToString()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(any_changes)
def test_whatever_is_found_stays_in_the_limits_and_can_be_exported(found: FindingsChange) -> None:
    faults: list[str] = []
    stop = boundary.listen(faults.append)
    pipeline = Pipeline()
    emitter = pipeline.emitter(events="both", capture_values="all")

    span = pipeline.emit(emitter, decisions(judgement(value()), findings=found))
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as agent:
        emitter.told(found.rows, agent, context.Context())
        emitter.summarise(agent, Summary.of([decisions(judgement(), findings=found)]))
    stop()

    assert faults == []
    assert span is not None
    assert len(span.events) <= MAX_EVENTS
    for exported in pipeline.spans.get_finished_spans():
        for attributes in (exported.attributes, *(event.attributes for event in exported.events)):
            for word in (attributes or {}).values():
                items = word if isinstance(word, tuple) else (word,)
                assert len(items) <= MAX_ITEMS
                assert all(len(item) <= MAX_CHARS for item in items if isinstance(item, str))
    encode_spans(pipeline.spans.get_finished_spans()).SerializeToString()
    encode_logs(pipeline.logs.get_finished_logs()).SerializeToString()
