"""Bounds: strings, lists, events, links; and that whatever is decided can be exported."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from otel_footprint import boundary
from otel_footprint.core.call import Call, CallRef
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.verdicts import EvictedBy
from otel_footprint.telemetry.emitter import Emission
from otel_footprint.telemetry.limits import MAX_CHARS, MAX_EVENTS, MAX_ITEMS, MAX_LINKS, MAX_LIST_BYTES, Bounds
from otel_footprint.telemetry.links import links_of
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.telemetry_cases import (
    CALL,
    EVICTION,
    OVERFULL,
    REWRITE,
    Pipeline,
    any_calls,
    any_decisions,
    decisions,
    event_facts,
    judgement,
    texts,
    value,
    window,
)


def test_a_long_string_is_cut_and_counted() -> None:
    bounds = Bounds()

    assert bounds.text("a" * 256) == "a" * 256
    assert bounds.texts_cut == 0
    cut = bounds.text("a" * 257)
    assert (len(cut), cut[-2:]) == (256, "a…")
    assert bounds.texts_cut == 1


@pytest.mark.parametrize("opening", ["{", "  [", '"'])
def test_json_is_never_cut_but_named(opening: str) -> None:
    text = opening + "k" * 300

    assert Bounds().text(text) == f"(JSON of {len(text)} characters)"


def test_a_lone_surrogate_is_replaced() -> None:
    assert Bounds().text("a\ud800b") == "a?b"


def test_a_list_leaves_out_whole_items_and_says_how_many() -> None:
    bounds = Bounds()

    kept, omitted = bounds.items(f"tool_{n}" for n in range(25))

    assert kept == [f"tool_{n}" for n in range(20)]
    assert (omitted, bounds.items_omitted) == (5, 5)


def test_a_list_stays_under_its_bytes() -> None:
    kept, omitted = Bounds().items(["é" * 200] * 6)

    assert (len(kept), omitted) == (3, 3)
    assert len(Bounds().items(["a" * 256] * 6)[0]) == 6  # 1,536 bytes and no more


def test_a_list_keeps_its_leading_items_and_skips_none() -> None:
    assert Bounds().items(["first", "é" * 256, "é" * 256, "é" * 256, "last"]) == (["first", "é" * 256, "é" * 256], 2)


@given(st.lists(texts, max_size=30))
def test_any_list_fits(items: list[str]) -> None:
    kept, omitted = Bounds().items(items)

    assert len(kept) <= MAX_ITEMS
    assert sum(len(item.encode()) for item in kept) <= MAX_LIST_BYTES
    assert len(kept) + omitted == len(items)


@given(texts)
def test_any_text_fits_and_is_no_cut_json(text: str) -> None:
    short = Bounds().text(text)

    assert len(short) <= MAX_CHARS
    assert len(short.encode()) < 2048
    if len(text) > MAX_CHARS and short[:1] in ("{", "["):
        json.loads(short)


def test_too_many_events_keep_the_important_ones_in_order(pipeline: Pipeline) -> None:
    values = tuple(value(f"v{n}", "unsupported" if n % 3 == 0 else "read") for n in range(60))
    call = decisions(
        judgement(*values, verdict="ungrounded"),
        window=window("evict", evictions=(EVICTION,) * 30, rewrites=(REWRITE,) * 30),
    )

    span = pipeline.emit(pipeline.emitter(), call)

    assert span is not None
    names = [name.rpartition(".")[2] for name, _ in event_facts(span)]
    # 2 for the answer, 20 flagged values and 30 evictions; 12 rewrites have room, and no value that is not flagged.
    assert names == ["evicted"] * 30 + ["rewritten"] * 12 + ["evidence_checked"] + ["value"] * 20 + ["result"]
    assert (span.attributes or {})["agentfootprint.limits.events_dropped"] == 18 + 40
    indexes = [facts["agentfootprint.value.index"] for name, facts in event_facts(span) if name.endswith(".value")]
    assert indexes == [n for n in range(60) if n % 3 == 0]


def test_flagged_values_go_before_evictions(pipeline: Pipeline) -> None:
    values = tuple(value(f"v{n}", "unsupported") for n in range(60))
    call = decisions(judgement(*values, verdict="ungrounded"), window=window("evict", evictions=(EVICTION,) * 30))

    span = pipeline.emit(pipeline.emitter(), call)

    assert span is not None
    names = [name.rpartition(".")[2] for name, _ in event_facts(span)]
    assert names == ["evicted"] * 2 + ["evidence_checked"] + ["value"] * 60 + ["result"]


def test_what_the_limits_left_out_is_counted_on_the_span(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), OVERFULL)

    assert span is not None
    attributes = dict(span.attributes or {})
    assert len(span.events) == MAX_EVENTS
    assert attributes["agentfootprint.limits.events_dropped"] == 80 + 2 - MAX_EVENTS
    assert len(span.links) == MAX_LINKS
    assert attributes["agentfootprint.limits.links_dropped"] == 2 * 80 - MAX_LINKS
    assert attributes["agentfootprint.window.dropped_tools_omitted"] == 30
    assert attributes["agentfootprint.limits.items_omitted"] > 30
    carried = next(facts for name, facts in event_facts(span) if name == "agentfootprint.evidence.value")
    assert (
        len(carried["agentfootprint.value.tool_call_ids"]) + carried["agentfootprint.value.tool_call_ids_omitted"] == 30
    )


def test_links_of_several_values_to_one_call_are_one(pipeline: Pipeline) -> None:
    served = value("a1", "evicted", evicted_by=OVERFULL.judgements[0].values[0].evicted_by)

    span = pipeline.emit(pipeline.emitter(), decisions(judgement(served, served, served, verdict="ungrounded")))

    assert span is not None
    assert [dict(link.attributes or {})["agentfootprint.link.values"] for link in span.links] == [3, 3]


def test_a_link_of_several_values_names_the_tool_of_the_first(pipeline: Pipeline) -> None:
    first, second = (
        value(tool, "evicted", evicted_by=EvictedBy("evict", "application", None, tool, served=CallRef(1, 2)))
        for tool in ("get_order", "search")
    )

    span = pipeline.emit(pipeline.emitter(), decisions(judgement(first, second, verdict="ungrounded")))

    assert span is not None
    [link] = span.links
    assert (link.attributes or {})["agentfootprint.link.tool"] == "get_order"


@pytest.mark.parametrize("ref", [CallRef(0, 2), CallRef(1, 0), CallRef(1 << 128, 2), CallRef(1, 1 << 64)])
def test_a_reference_that_is_no_span_is_no_link_and_takes_no_room(pipeline: Pipeline, ref: CallRef) -> None:
    nowhere = value("a1", "evicted", evicted_by=EvictedBy("evict", "application", None, None, dropped=ref, served=ref))

    assert links_of(decisions(judgement(nowhere, verdict="ungrounded")), Bounds()) == ((), 0)
    span = pipeline.emit(pipeline.emitter(), decisions(judgement(nowhere, verdict="ungrounded")))

    assert span is not None
    assert len(span.links) == 0


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(any_decisions, any_calls)
def test_any_decisions_stay_in_the_limits_and_can_be_exported(call_decisions: Decisions, call: Call) -> None:
    faults: list[str] = []
    stop = boundary.listen(faults.append)
    pipeline = Pipeline()
    emitter = pipeline.emitter(events="both", capture_values="all")

    span = pipeline.emit(emitter, call_decisions, call)
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as agent:
        emitter.summarise(agent, Summary.of([call_decisions]))
    stop()

    assert faults == []
    assert span is not None
    assert len(span.events) <= MAX_EVENTS
    assert len(span.links) <= MAX_LINKS
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        for found in (attributes or {}).values():
            items = found if isinstance(found, tuple) else (found,)
            assert len(items) <= MAX_ITEMS
            assert all(len(item) <= MAX_CHARS for item in items if isinstance(item, str))
            assert sum(len(item.encode()) for item in items if isinstance(item, str)) < 2048
    encode_spans(pipeline.spans.get_finished_spans()).SerializeToString()
    encode_logs(pipeline.logs.get_finished_logs()).SerializeToString()
    metrics = pipeline.reader.get_metrics_data()
    assert metrics is not None
    encode_metrics(metrics).SerializeToString()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(any_decisions, any_calls, st.sampled_from([None, trace.INVALID_SPAN]))
def test_without_a_span_nothing_raises(call_decisions: Decisions, call: Call, span: trace.Span | None) -> None:
    pipeline = Pipeline()
    emission = Emission(decisions=call_decisions, span=span, context=context.Context(), call=call)

    pipeline.emitter(events="both").emit(emission)

    assert pipeline.spans.get_finished_spans() == ()


def test_a_call_reference_stands_in_for_a_span_that_is_gone(pipeline: Pipeline) -> None:
    call = Call(messages=(), now=0.0, ref=CallRef(0xAB, 0xCD, 1))
    emission = Emission(decisions=decisions(judgement(value())), span=None, context=context.Context(), call=call)

    pipeline.emitter().emit(emission)

    [result] = pipeline.logs.get_finished_logs()
    assert (result.log_record.trace_id, result.log_record.span_id) == (0xAB, 0xCD)
    assert CALL.ref is None
