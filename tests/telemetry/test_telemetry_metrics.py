"""Metrics: what they count, that no sampling changes them, and that every series exists before it counts."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_footprint.core.call import Call, PlannedFacts
from otel_footprint.core.evidence.verdicts import STATUSES, VERDICTS
from otel_footprint.telemetry.emitter import Emission
from otel_footprint.telemetry.instruments import BORN_AT_ZERO, OTHER, Names
from tests.telemetry.telemetry_cases import CALL, EVICTION, RICH, Pipeline, decisions, judgement, value, window

UNGROUNDED = decisions(judgement(value(status="unsupported"), verdict="ungrounded"))
LABELS = {"model": "gpt-x", "agent": "support", "posture": "assist"}


def _series(**labels: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(labels.items()))


def _counted(points: dict[Any, Any]) -> dict[Any, Any]:
    return {series: number for series, number in points.items() if number}


def test_an_answer_is_counted_by_its_verdict_and_its_values_by_their_status(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), RICH)

    assert _counted(pipeline.points("agentfootprint.answers")) == {
        _series(verdict="ungrounded", worst_status="evicted", **LABELS): 1
    }
    assert _counted(pipeline.points("agentfootprint.evidence.values")) == {
        _series(status="evicted", shape="identifier"): 1,
        _series(status="computed", shape="money"): 1,
        _series(status="said", shape="identifier"): 1,
    }
    assert pipeline.points("agentfootprint.evidence.duration") == {(): (1, 0.002)}
    assert pipeline.points("agentfootprint.window.evictions") == {
        _series(decided_by="application", reason="evict", tool="get_order"): 1
    }
    assert pipeline.points("agentfootprint.window.survival") == {(): (1, 4.2)}
    assert pipeline.points("agentfootprint.window.chars") == {(): (1, 260)}


def test_each_choice_is_an_answer(pipeline: Pipeline) -> None:
    both = decisions(judgement(value()), judgement(value(status="unsupported"), verdict="ungrounded", choice=1))

    pipeline.emit(pipeline.emitter(), both)

    assert sum(pipeline.points("agentfootprint.answers").values()) == 2


def test_a_call_without_answer_counts_no_answer_and_no_duration(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), decisions())

    assert _counted(pipeline.points("agentfootprint.answers")) == {}
    assert pipeline.points("agentfootprint.evidence.duration") == {}


def test_no_sampling_changes_a_metric() -> None:
    sampled, unsampled = Pipeline(), Pipeline(sampler=ALWAYS_OFF)
    for pipeline in (sampled, unsampled):
        emitter = pipeline.emitter()
        pipeline.emit(emitter, RICH)
        pipeline.emit(emitter, UNGROUNDED)

    assert unsampled.spans.get_finished_spans() == ()
    for name in (
        "answers",
        "evidence.values",
        "evidence.duration",
        "window.evictions",
        "window.survival",
        "window.chars",
    ):
        points = sampled.points(f"agentfootprint.{name}")
        assert points
        assert unsampled.points(f"agentfootprint.{name}") == points


def test_a_message_of_unknown_birth_is_in_no_survival(pipeline: Pipeline) -> None:
    newborn = replace(EVICTION, survival_ms=0)

    pipeline.emit(pipeline.emitter(), decisions(window=window("evict", evictions=(newborn, EVICTION))))

    assert pipeline.points("agentfootprint.window.survival") == {(): (1, 4.2)}
    assert sum(pipeline.points("agentfootprint.window.evictions").values()) == 2


def test_every_verdict_stands_at_zero_from_the_start(pipeline: Pipeline) -> None:
    pipeline.emitter()

    points = pipeline.points("agentfootprint.answers")
    assert {dict(series)["verdict"] for series in points} == set(VERDICTS)
    assert set(points.values()) == {0}
    assert {dict(series)["status"] for series in pipeline.points("agentfootprint.evidence.values")} == set(STATUSES)
    assert pipeline.points("agentfootprint.errors") == {(): 0}


@pytest.mark.parametrize("status", ["unsupported", "evicted", "argument_only"])
def test_the_first_ungrounded_answer_is_an_increase(pipeline: Pipeline, status: str) -> None:
    """The call that fetches comes before the call that answers: it gives birth to the answer's series, at 0."""
    emitter = pipeline.emitter()
    pipeline.emit(emitter, decisions())
    series = _series(verdict="ungrounded", worst_status=status, **LABELS)
    assert pipeline.points("agentfootprint.answers")[series] == 0

    pipeline.emit(emitter, decisions(judgement(value(status=status), verdict="ungrounded")))

    assert pipeline.points("agentfootprint.answers")[series] == 1


def test_the_sum_over_all_series_of_a_verdict_has_an_increase_even_at_the_first_call(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()

    def ungrounded() -> int:
        points = pipeline.points("agentfootprint.answers")
        return sum(number for series, number in points.items() if ("verdict", "ungrounded") in series)

    assert ungrounded() == 0
    pipeline.emit(emitter, UNGROUNDED)
    assert ungrounded() == 1


def test_a_call_of_unknown_model_and_agent_has_no_such_label(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), UNGROUNDED, Call(messages=(), now=0.0))

    assert _counted(pipeline.points("agentfootprint.answers")) == {
        _series(verdict="ungrounded", worst_status="unsupported", posture="assist"): 1
    }


def test_names_are_bounded(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    for n in range(130):
        call = Call(messages=(), now=0.0, model=f"model-{n}", agent=f"agent-{n}")
        evicted = (replace(EVICTION, tool=f"tool-{n}"),) * 2
        shaped = judgement(value(shape=f"shape-{n}", status="unsupported"), verdict="ungrounded")
        pipeline.emit(emitter, decisions(shaped, window=window("evict", evictions=evicted)), call)

    def words(metric: str, label: str) -> set[str]:
        return {dict(series)[label] for series in pipeline.points(metric) if label in dict(series)}

    for metric, label in (
        ("answers", "model"),
        ("answers", "agent"),
        ("evidence.values", "shape"),
        ("window.evictions", "tool"),
    ):
        found = words(f"agentfootprint.{metric}", label)
        assert len(found) == 101
        assert OTHER in found
    counted = sum(pipeline.points("agentfootprint.answers").values())
    assert counted == 130
    assert len(pipeline.points("agentfootprint.answers")) < 2000  # what the SDK holds for one instrument


def test_many_pairs_of_model_and_agent_stay_within_what_the_sdk_holds(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    for model in range(14):
        for agent in range(14):
            pipeline.emit(emitter, UNGROUNDED, Call(messages=(), now=0.0, model=f"m{model}", agent=f"a{agent}"))

    points = pipeline.points("agentfootprint.answers")
    assert sum(points.values()) == 14 * 14
    assert not any("otel.metric.overflow" in dict(series) for series in points)


def test_a_shape_stands_at_zero_for_every_status_once_it_is_seen(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), decisions(judgement(value(shape="sku"))))

    points = pipeline.points("agentfootprint.evidence.values")
    found = {dict(series)["status"]: number for series, number in points.items() if ("shape", "sku") in series}
    assert found == {status: int(status == "read") for status in STATUSES}


GLOBAL_PROVIDERS_SET_LATE = """
from opentelemetry import _logs, context, metrics
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from tests.telemetry.telemetry_cases import CALL, decisions, judgement, value
from otel_footprint.telemetry.emitter import Emission, Emitter

emitter = Emitter()
reader, exporter, loggers = InMemoryMetricReader(), InMemoryLogRecordExporter(), LoggerProvider()
loggers.add_log_record_processor(SimpleLogRecordProcessor(exporter))
metrics.set_meter_provider(MeterProvider([reader]))
_logs.set_logger_provider(loggers)
answer = decisions(judgement(value()))
emitter.emit(Emission(decisions=answer, span=None, context=context.Context(), call=CALL))
[resource] = reader.get_metrics_data().resource_metrics
points = [p for s in resource.scope_metrics for m in s.metrics if m.name == "agentfootprint.answers" for p in m.data.data_points]
print(sum(p.value for p in points), sum("model" not in p.attributes for p in points), len(exporter.get_finished_logs()))
"""


def test_providers_that_are_set_late_get_everything_and_the_zeros_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GLOBAL_PROVIDERS_SET_LATE],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stdout.split() == ["1", str(len(BORN_AT_ZERO)), "1"], done.stderr


@given(st.lists(st.text(max_size=3), max_size=300))
def test_a_label_never_takes_more_than_a_hundred_names(given_names: list[str]) -> None:
    names = Names()

    labels = [names.label(name) for name in given_names]

    assert len(set(labels) - {OTHER}) <= 100
    for name, label in zip(given_names, labels, strict=True):
        assert names.label(name) == label or label == OTHER


def test_the_bound_holds_under_threads() -> None:
    names = Names()
    labels: list[str] = []

    def work(worker: int) -> None:
        labels.extend(names.label(f"{worker}-{n}") for n in range(100))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(labels) - {OTHER}) <= 100


def test_a_label_is_short_and_encodable() -> None:
    assert Names().label("x" * 500) == "x" * 128
    assert Names().label("a\ud800") == "a?"


def test_a_fault_of_ours_is_counted_by_place(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    emitter.error("runtime.complete")
    emitter.error("runtime.complete")

    assert _counted(pipeline.points("agentfootprint.errors")) == {_series(place="runtime.complete"): 2}


def test_an_exemplar_leads_to_the_call(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), UNGROUNDED)

    assert span is not None
    spans = {
        exemplar.span_id
        for resource in (pipeline.reader.get_metrics_data() or pytest.fail("no metrics")).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
        for exemplar in point.exemplars
        if metric.name == "agentfootprint.answers"
    }
    span_context = span.get_span_context()
    assert span_context is not None
    assert span_context.span_id in spans


def test_a_fault_in_one_carrier_leaves_the_others_whole(pipeline: Pipeline, swallowed: list[str]) -> None:
    emitter = pipeline.emitter()
    span = pipeline.tracers.get_tracer("test").start_span("chat")
    odd_model: Any = _Unprintable()
    call = Call(messages=(), now=0.0, model=odd_model)

    emitter.emit(Emission(decisions=UNGROUNDED, span=span, context=context.Context(), call=call))
    span.end()

    [exported] = pipeline.spans.get_finished_spans()
    assert (exported.attributes or {})["agentfootprint.evidence.verdict"] == "ungrounded"
    assert len(pipeline.logs.get_finished_logs()) == 1
    assert swallowed == ["telemetry.metrics"]
    swallowed.clear()


class _Unprintable:
    def __str__(self) -> str:
        raise ValueError("no name")


def test_the_series_of_a_posture_that_only_a_conversation_asks_for_exist_before_its_first_answer(
    pipeline: Pipeline,
) -> None:
    emitter = pipeline.emitter()
    call = replace(CALL, planned=PlannedFacts(posture="guard"))
    pipeline.emit(emitter, decisions(), call)  # it asks for a tool
    before = pipeline.points("agentfootprint.answers")

    pipeline.emit(emitter, decisions(judgement(value(), posture="guard")), call)

    [series] = _counted(pipeline.points("agentfootprint.answers"))
    assert before[series] == 0
