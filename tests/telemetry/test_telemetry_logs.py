"""Log events: when they go out, what they say, and to which span they belong."""

from __future__ import annotations

import pytest
from opentelemetry import context
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_footprint.core.call import Call
from otel_footprint.telemetry.emitter import Emission
from tests.telemetry.telemetry_cases import (
    CALL,
    RICH,
    Pipeline,
    current_trace_ids,
    decisions,
    event_facts,
    judgement,
    value,
)

RESULT = "gen_ai.evaluation.result"


def _log_facts(pipeline: Pipeline) -> list[tuple[str | None, dict[str, object]]]:
    records = [data.log_record for data in pipeline.logs.get_finished_logs()]
    return [(record.event_name, dict(record.attributes or {})) for record in records]


def test_by_default_only_the_evaluation_result_is_a_log_event(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), RICH)

    assert span is not None
    assert _log_facts(pipeline) == [event_facts(span)[-1]]
    assert event_facts(span)[-1][0] == RESULT


def test_both_gives_the_same_events_in_the_same_order(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(events="both"), RICH)

    assert span is not None
    assert len(span.events) == 7
    assert _log_facts(pipeline) == event_facts(span)


def test_log_leaves_the_span_its_summary_and_no_event(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(events="log"), RICH)

    assert span is not None
    assert event_facts(span) == []
    assert (span.attributes or {})["agentfootprint.evidence.verdict"] == "ungrounded"
    assert [name for name, _ in _log_facts(pipeline)] == [
        "agentfootprint.context.evicted",
        "agentfootprint.context.rewritten",
        "agentfootprint.agent.evidence_checked",
        "agentfootprint.evidence.value",
        "agentfootprint.evidence.value",
        "agentfootprint.evidence.value",
        RESULT,
    ]


def test_a_log_event_belongs_to_the_calls_span_whatever_is_current(pipeline: Pipeline) -> None:
    tracer = pipeline.tracers.get_tracer("test")
    span = tracer.start_span("chat")
    with tracer.start_as_current_span("another"):
        pipeline.emitter(events="both").emit(
            Emission(decisions=RICH, span=span, context=context.get_current(), call=CALL)
        )
    span.end()

    exported = next(s for s in pipeline.spans.get_finished_spans() if s.name == "chat")
    for data in pipeline.logs.get_finished_logs():
        assert (data.log_record.trace_id, data.log_record.span_id) == current_trace_ids(exported)
        assert data.log_record.severity_number is SeverityNumber.INFO


def test_log_events_are_in_order_of_time(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(events="log"), RICH)

    times = [data.log_record.timestamp or 0 for data in pipeline.logs.get_finished_logs()]
    assert times == sorted(set(times))


def test_every_evaluation_result_goes_out_however_full_the_span_is(pipeline: Pipeline) -> None:
    choices = decisions(*(judgement(value(), choice=n) for n in range(70)))

    span = pipeline.emit(pipeline.emitter(), choices)

    assert span is not None
    assert len(span.events) == 64
    assert [facts["agentfootprint.evidence.choice"] for name, facts in _log_facts(pipeline)] == list(range(70))
    assert {name for name, _ in _log_facts(pipeline)} == {RESULT}


def test_an_unsampled_call_still_logs() -> None:
    pipeline = Pipeline(sampler=ALWAYS_OFF)

    pipeline.emit(pipeline.emitter(events="log"), RICH)

    assert len(_log_facts(pipeline)) == 7


@pytest.mark.parametrize("response_id", [None, "resp_9"])
def test_the_result_names_the_response_where_it_is_known(pipeline: Pipeline, response_id: str | None) -> None:
    call = Call(messages=(), now=0.0, response_id=response_id)

    pipeline.emit(pipeline.emitter(), decisions(judgement(value())), call)

    [(_, facts)] = _log_facts(pipeline)
    assert facts.get("gen_ai.response.id") == response_id
    assert facts["gen_ai.evaluation.score.value"] == 1.0
    assert facts["gen_ai.evaluation.score.label"] == "grounded"
