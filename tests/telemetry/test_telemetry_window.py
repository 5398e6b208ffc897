"""The span of a window strategy's visit: whole exported spans, logs and metrics against literals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from opentelemetry import context, trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

from otel_footprint.core.window.record import REFUSAL_REASONS, Refusal
from otel_footprint.telemetry.emitter import Emission, Emitter
from otel_footprint.telemetry.instruments import VISIT_OUTCOMES
from otel_footprint.telemetry.window_facts import VisitFacts
from tests.telemetry.telemetry_cases import (
    CALL,
    EVICTION,
    Pipeline,
    current_trace_ids,
    decisions,
    event_facts,
    judgement,
    value,
    window,
)
from tests.telemetry.window_cases import FOLDED, HELD, LEFT, OVERFULL_VISIT, REFUSED, REMOVED, record, visit

HASH_KEY = b"a key for tests only"
LIMITS = "agentfootprint.limits."


def _series(**labels: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(labels.items()))


def _counted(points: dict[Any, Any]) -> dict[Any, Any]:
    return {series: number for series, number in points.items() if number}


def _attributes(pipeline: Pipeline, facts: VisitFacts) -> dict[str, Any]:
    span = pipeline.visit(pipeline.emitter(), facts)
    assert span is not None
    return dict(span.attributes or {})


def test_a_visit_that_dropped_messages_is_exported_whole(pipeline: Pipeline) -> None:
    span = pipeline.visit(pipeline.emitter(hash_key=HASH_KEY), REMOVED)

    assert span is not None
    assert (span.name, span.kind) == ("agentfootprint.window sliding-window", SpanKind.INTERNAL)
    assert span.start_time == 1_000
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes or {}) == {
        "agentfootprint.window.strategy": "sliding-window",
        "agentfootprint.window.outcome": "removed",
        "agentfootprint.conversation.id": "order-4711",
        "agentfootprint.thread": 1,
        "agentfootprint.turn": 2,
        "agentfootprint.iteration": 3,
        "agentfootprint.window.messages_before": 9,
        "agentfootprint.window.messages_after": 7,
        "agentfootprint.window.chars_before": 400,
        "agentfootprint.window.chars_after": 290,
        "agentfootprint.window.evicted": 2,
        "agentfootprint.window.dropped_tools": ("get_order",),
        "agentfootprint.window.refusals": 3,
        "agentfootprint.window.refused.current-request": 1,
        "agentfootprint.window.refused.last-tool-result": 1,
        "agentfootprint.window.refused.inside-keep-window": 1,
        "agentfootprint.window.refusal": "current-request",
        "agentfootprint.window.unreached": 1,
        "agentfootprint.window.observations.pinned": 1,
        "agentfootprint.window.observations.yielded": 1,
        "agentfootprint.window.observations.limit": 2,
        "agentfootprint.window.keep_recent_turns": 1,
        "agentfootprint.window.turns_before": 5,
        "agentfootprint.window.turns_after": 3,
    }
    assert event_facts(span) == [
        (
            "agentfootprint.context.evicted",
            {
                "agentfootprint.eviction.slot": "messages",
                "agentfootprint.eviction.content_hash": "9a84b745dd8ed4ccb148f14eb8e12a7d",
                "agentfootprint.eviction.reason": "evict",
                "agentfootprint.eviction.decided_by": "sliding-window",
                "agentfootprint.eviction.survival_ms": 0,
                "agentfootprint.eviction.iterations_survived": 2,
                "agentfootprint.eviction.role": "user",
                "agentfootprint.eviction.index": 0,
                "agentfootprint.eviction.chars": 11,
            },
        ),
        (
            "agentfootprint.context.evicted",
            {
                "agentfootprint.eviction.slot": "messages",
                "agentfootprint.eviction.content_hash": "88f5224d713a52d5e84d91f6bba1da5a",
                "agentfootprint.eviction.reason": "evict",
                "agentfootprint.eviction.decided_by": "sliding-window",
                "agentfootprint.eviction.survival_ms": 4200,
                "agentfootprint.eviction.iterations_survived": 2,
                "agentfootprint.eviction.role": "tool",
                "agentfootprint.eviction.tool": "get_order",
                "agentfootprint.eviction.tool_call_id": "call_1",
                "agentfootprint.eviction.result_ref": "call_1#2",
                "agentfootprint.eviction.index": 2,
                "agentfootprint.eviction.chars": 120,
                "agentfootprint.eviction.born_trace_id": "000000000000000000000000000000a1",
                "agentfootprint.eviction.born_span_id": "00000000000000b1",
            },
        ),
        (
            "agentfootprint.context.refused",
            {
                "agentfootprint.refusal.reason": "current-request",
                "agentfootprint.refusal.turn_index": 2,
                "agentfootprint.refusal.message_index": 3,
            },
        ),
        (
            "agentfootprint.context.refused",
            {
                "agentfootprint.refusal.reason": "last-tool-result",
                "agentfootprint.refusal.turn_index": 3,
                "agentfootprint.refusal.message_index": 4,
                "agentfootprint.refusal.tool": "search",
                "agentfootprint.refusal.tool_call_ids": ("call_9",),
                "agentfootprint.refusal.chars": 77,
            },
        ),
        (
            "agentfootprint.context.refused",
            {
                "agentfootprint.refusal.reason": "inside-keep-window",
                "agentfootprint.refusal.turn_index": 4,
                "agentfootprint.refusal.message_index": 6,
            },
        ),
    ]


def test_a_visit_that_folded_says_what_the_summary_cost(pipeline: Pipeline) -> None:
    span = pipeline.visit(pipeline.emitter(), FOLDED)

    assert span is not None
    assert dict(span.attributes or {}) == {
        "agentfootprint.window.strategy": "summarize-oldest",
        "agentfootprint.window.outcome": "folded",
        "agentfootprint.turn": 2,
        "agentfootprint.iteration": 3,
        "agentfootprint.window.messages_before": 9,
        "agentfootprint.window.messages_after": 7,
        "agentfootprint.window.chars_before": 400,
        "agentfootprint.window.chars_after": 290,
        "agentfootprint.window.evicted": 2,
        "agentfootprint.window.refusals": 0,
        "agentfootprint.window.unreached": 0,
        "agentfootprint.window.observations.pinned": 0,
        "agentfootprint.window.observations.yielded": 0,
        "agentfootprint.window.observations.limit": 0,
        "agentfootprint.window.keep_recent_turns": 6,
        "agentfootprint.window.turns_before": 9,
        "agentfootprint.window.turns_after": 8,
        "agentfootprint.window.threshold_tokens": 1000,
        "agentfootprint.window.measured_tokens": 1500,
        "agentfootprint.window.summary_chars": 40,
        "agentfootprint.window.summarizer_model": "small-model",
        "agentfootprint.window.summarizer_input_tokens": 210,
        "agentfootprint.window.summarizer_output_tokens": 12,
        "agentfootprint.window.retain": "discard",
    }
    name, budget = event_facts(span)[0]
    assert name == "agentfootprint.context.budget_pressure"
    assert budget == {
        "agentfootprint.budget.slot": "messages",
        "agentfootprint.budget.overflow_by": 500,
        "agentfootprint.budget.plan_action": "summarize",
        "agentfootprint.budget.unit": "tokens",
        "agentfootprint.budget.cap": 1000,
        "agentfootprint.budget.projected": 1500,
    }
    reasons = [facts["agentfootprint.eviction.reason"] for _, facts in event_facts(span)[1:]]
    assert reasons == ["summarize", "summarize"]


def test_a_visit_that_removed_nothing_names_the_reason_that_held_the_span_back(pipeline: Pipeline) -> None:
    attributes = _attributes(pipeline, REFUSED)

    assert attributes["agentfootprint.window.outcome"] == "refused"
    assert attributes["agentfootprint.window.refusal"] == "replacement-not-smaller"
    assert attributes["agentfootprint.window.summarizer_skipped"] is True
    assert attributes["agentfootprint.window.evicted"] == 0
    assert "agentfootprint.window.retain" not in attributes


def test_pins_that_release_say_so_for_each_kind(pipeline: Pipeline) -> None:
    attributes = _attributes(pipeline, REFUSED)

    assert attributes["agentfootprint.window.observations.stand_down"] is True
    assert attributes["agentfootprint.window.observations.limit"] == 2
    assert attributes["agentfootprint.window.ledger_facts.stand_down"] is True
    assert attributes["agentfootprint.window.ledger_facts.pinned"] == 1
    assert "agentfootprint.window.ledger_facts.pinned" not in _attributes(pipeline, REMOVED)


@pytest.mark.parametrize(("inactive", "status"), [("server-held", "UNSET"), ("unmeasured", "UNSET"),
                                                  ("strategy-failed", "ERROR"), ("invalid-window", "ERROR")])  # fmt: skip
def test_a_strategy_that_did_not_act_says_why_and_only_a_fault_is_an_error(
    pipeline: Pipeline, inactive: Any, status: str
) -> None:
    span = pipeline.visit(pipeline.emitter(), replace(HELD, record=replace(HELD.record, inactive=inactive)))

    assert span is not None
    assert dict(span.attributes or {}) == {
        "agentfootprint.window.strategy": "sliding-window",
        "agentfootprint.window.outcome": inactive,
        "agentfootprint.window.inactive": inactive,
        "agentfootprint.turn": 2,
        "agentfootprint.iteration": 3,
        "agentfootprint.window.messages_before": 1,
        "agentfootprint.window.messages_after": 1,
        "agentfootprint.window.chars_before": 400,
        "agentfootprint.window.chars_after": 400,
        "agentfootprint.window.evicted": 0,
        "agentfootprint.window.refusals": 0,
        "agentfootprint.window.unreached": 0,
        "agentfootprint.window.observations.pinned": 0,
        "agentfootprint.window.observations.yielded": 0,
        "agentfootprint.window.observations.limit": 0,
    }
    assert event_facts(span) == []
    assert span.status.status_code.name == status
    assert span.status.description == (inactive if status == "ERROR" else None)


def test_a_visit_that_neither_removed_nor_refused_anything_is_told_apart(pipeline: Pipeline) -> None:
    attributes = _attributes(pipeline, visit(record()))

    assert attributes["agentfootprint.window.outcome"] == "kept"
    assert "agentfootprint.window.refusal" not in attributes


@pytest.mark.parametrize(
    ("reasons", "telling"),
    [
        (("inside-keep-window",), "inside-keep-window"),
        (("inside-keep-window", "last-tool-result"), "last-tool-result"),
        (("last-tool-result", "current-request"), "current-request"),
        (("current-request", "summarizer-failed"), "summarizer-failed"),
    ],
)
def test_the_reason_that_tells_most_stands_as_a_scalar(pipeline: Pipeline, reasons: Any, telling: str) -> None:
    refusals = tuple(Refusal(reason, n, n) for n, reason in enumerate(reasons))

    assert _attributes(pipeline, visit(record(refusals=refusals)))["agentfootprint.window.refusal"] == telling


def test_the_span_stands_under_the_current_one_and_beside_the_call(pipeline: Pipeline) -> None:
    tracer = pipeline.tracers.get_tracer("test")
    emitter = pipeline.emitter()
    with tracer.start_as_current_span("invoke_agent") as agent:
        with emitter.window_visit("sliding-window", context.get_current(), 1_000) as visiting:
            ref = visiting.finish(REMOVED)
        assert trace.get_current_span() is agent  # nothing is left current
        with tracer.start_as_current_span("chat gpt-x"):
            pass

    spans = {span.name.split()[0]: span for span in pipeline.spans.get_finished_spans()}
    strategy, agent_span = spans["agentfootprint.window"], spans["invoke_agent"]
    assert strategy.parent == spans["chat"].parent == agent_span.get_span_context()
    assert ref is not None
    assert (ref.trace_id, ref.span_id) == current_trace_ids(strategy)


def test_a_billed_call_of_the_strategy_is_its_child(pipeline: Pipeline) -> None:
    tracer = pipeline.tracers.get_tracer("test")
    emitter = pipeline.emitter()
    with emitter.window_visit("summarize-oldest", context.get_current(), 1_000) as visiting:
        tracer.start_span("chat small-model", context=visiting.context()).end()
        tracer.start_span("chat small-model", context=visiting.context()).end()
        visiting.finish(FOLDED)

    first, second, strategy = pipeline.spans.get_finished_spans()
    assert first.parent == second.parent == strategy.get_span_context()
    assert strategy.name == "agentfootprint.window summarize-oldest"


def test_a_strategy_that_did_not_engage_leaves_no_span(pipeline: Pipeline) -> None:
    with pipeline.emitter().window_visit("sliding-window", context.get_current(), 1_000):
        pass

    assert pipeline.spans.get_finished_spans() == ()
    assert _counted(pipeline.points("agentfootprint.window.visits")) == {}


def test_a_span_that_a_billed_call_opened_is_ended_whatever_happens(pipeline: Pipeline) -> None:
    def fail() -> None:
        with pipeline.emitter().window_visit("mine", context.get_current(), 1_000) as visiting:
            visiting.context()
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    [span] = pipeline.spans.get_finished_spans()
    assert dict(span.attributes or {}) == {"agentfootprint.window.strategy": "mine"}


def test_a_visit_is_written_down_once(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    with emitter.window_visit("sliding-window", context.get_current(), 1_000) as visiting:
        assert visiting.finish(REMOVED) is not None
        assert visiting.finish(REMOVED) is None
        visiting.abandon()

    assert len(pipeline.spans.get_finished_spans()) == 1
    assert sum(pipeline.points("agentfootprint.window.visits").values()) == 1


def test_where_nothing_records_spans_the_visit_has_no_place_and_metrics_count(pipeline: Pipeline) -> None:
    emitter = Emitter(tracer_provider=trace.NoOpTracerProvider(), meter_provider=pipeline.meters)
    with emitter.window_visit("sliding-window", context.Context(), 1_000) as visiting:
        assert visiting.finish(REMOVED) is None

    assert sum(pipeline.points("agentfootprint.window.visits").values()) == 1


def test_unsampled_the_place_metrics_and_logs_are_the_same() -> None:
    pipeline = Pipeline(sampler=ALWAYS_OFF)
    emitter = pipeline.emitter(events="both")
    with emitter.window_visit("sliding-window", context.get_current(), 1_000) as visiting:
        ref = visiting.finish(REMOVED)

    assert pipeline.spans.get_finished_spans() == ()
    assert ref is not None
    assert not ref.trace_flags & 1
    assert sum(pipeline.points("agentfootprint.window.evictions").values()) == 2
    records = [data.log_record for data in pipeline.logs.get_finished_logs()]
    assert [log.event_name for log in records] == ["agentfootprint.context.evicted"] * 2 + [
        "agentfootprint.context.refused"
    ] * 3
    assert {(log.trace_id, log.span_id) for log in records} == {(ref.trace_id, ref.span_id)}


@pytest.mark.parametrize(("events", "on_span", "in_log"), [("span", 5, 0), ("log", 0, 5), ("both", 5, 5)])
def test_events_go_where_the_setting_says(pipeline: Pipeline, events: Any, on_span: int, in_log: int) -> None:
    span = pipeline.visit(pipeline.emitter(events=events), REMOVED)

    assert span is not None
    assert len(span.events) == on_span
    records = [data.log_record for data in pipeline.logs.get_finished_logs()]
    assert len(records) == in_log
    assert {(log.trace_id, log.span_id) for log in records} <= {current_trace_ids(span)}


def test_the_limits_hold_and_say_what_they_left_out(pipeline: Pipeline) -> None:
    span = pipeline.visit(pipeline.emitter(), OVERFULL_VISIT)

    assert span is not None
    attributes = dict(span.attributes or {})
    assert len(span.events) == 64
    assert attributes[f"{LIMITS}events_dropped"] == 100 + 4 * len(REFUSAL_REASONS) - 64
    assert attributes["agentfootprint.window.dropped_tools_omitted"] == 30
    assert attributes[f"{LIMITS}items_omitted"] == 30
    assert attributes[f"{LIMITS}texts_cut"] >= 2
    assert len(span.name) <= 300
    # Counts are those of the record, whatever the events leave out.
    assert attributes["agentfootprint.window.evicted"] == 100
    assert attributes["agentfootprint.window.refusals"] == 4 * len(REFUSAL_REASONS)
    assert sum(pipeline.points("agentfootprint.window.evictions").values()) == 100


def test_what_stays_by_the_keep_window_goes_after_any_other_reason(pipeline: Pipeline) -> None:
    refusals = (*(Refusal("inside-keep-window", n, n) for n in range(80)), Refusal("last-tool-result", 80, 80))
    span = pipeline.visit(pipeline.emitter(), visit(record(refusals=refusals)))

    assert span is not None
    reasons = [facts["agentfootprint.refusal.reason"] for _, facts in event_facts(span)]
    assert (len(reasons), reasons[-1]) == (64, "last-tool-result")


def test_what_left_is_counted_once_by_the_strategy_and_not_again_by_the_call(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    pipeline.visit(emitter, REMOVED)
    sent = window("evict", decided_by="sliding-window", evictions=(EVICTION, EVICTION), reported=True)
    span = pipeline.emit(emitter, decisions(window=sent))

    assert span is not None
    assert event_facts(span) == []
    assert (span.attributes or {})["agentfootprint.window.evicted"] == 2
    assert (span.attributes or {})["agentfootprint.window.decided_by"] == "sliding-window"
    assert _counted(pipeline.points("agentfootprint.window.evictions")) == {
        _series(decided_by="sliding-window", reason="evict"): 1,
        _series(decided_by="sliding-window", reason="evict", tool="get_order"): 1,
    }
    assert pipeline.points("agentfootprint.window.survival") == {(): (1, LEFT[1].survival_ms / 1000)}


def test_visits_and_refusals_are_counted_by_their_words(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    for facts in (REMOVED, REMOVED, HELD, FOLDED, REFUSED):
        pipeline.visit(emitter, facts)

    assert _counted(pipeline.points("agentfootprint.window.visits")) == {
        _series(strategy="sliding-window", outcome="removed"): 2,
        _series(strategy="sliding-window", outcome="server-held"): 1,
        _series(strategy="summarize-oldest", outcome="folded"): 1,
        _series(strategy="summarize-oldest", outcome="refused"): 1,
    }
    refused = _counted(pipeline.points("agentfootprint.window.refusals"))
    assert refused[_series(strategy="sliding-window", reason="current-request")] == 2
    assert refused[_series(strategy="summarize-oldest", reason="replacement-not-smaller")] == 1


def test_the_series_of_a_strategy_exist_at_0_before_its_first_visit_is_done(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    before = pipeline.points("agentfootprint.window.visits")
    assert before == {_series(outcome=outcome): 0 for outcome in VISIT_OUTCOMES}
    assert set(pipeline.points("agentfootprint.window.refusals").values()) == {0}

    with emitter.window_visit("sliding-window", context.get_current(), 1_000):
        points = pipeline.points("agentfootprint.window.visits")
    assert {series for series in points if ("strategy", "sliding-window") in series} == {
        _series(strategy="sliding-window", outcome=outcome) for outcome in VISIT_OUTCOMES
    }
    assert set(points.values()) == {0}


def test_revisions_are_counted_by_posture_and_outcome_and_exist_at_0(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    before = pipeline.points("agentfootprint.evidence.revisions")
    assert set(before.values()) == {0}
    assert len(before) == 2 * 5

    emitter.revised("guard", "grounded", context.get_current())
    emitter.revised("rails", "refused", context.get_current())
    assert _counted(pipeline.points("agentfootprint.evidence.revisions")) == {
        _series(posture="guard", outcome="grounded"): 1,
        _series(posture="rails", outcome="refused"): 1,
    }


def test_a_draft_is_no_answer_unless_it_goes_out_after_all(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter(posture="guard")
    draft = judgement(value(status="unsupported"), verdict="ungrounded", action="recheck", posture="guard")
    pipeline.emit(emitter, decisions(draft))
    assert _counted(pipeline.points("agentfootprint.answers")) == {}
    assert _counted(pipeline.points("agentfootprint.evidence.values")) == {}

    stands = decisions(replace(draft, action="flagged"))
    emitter.answer_stands(Emission(decisions=stands, span=None, context=context.get_current(), call=CALL))
    assert sum(pipeline.points("agentfootprint.answers").values()) == 1
    assert sum(pipeline.points("agentfootprint.evidence.values").values()) == 1
