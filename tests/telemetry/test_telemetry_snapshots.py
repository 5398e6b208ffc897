"""Whole exported spans, log records and metric points against literals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_footprint.core.call import Call, ProviderEdit
from otel_footprint.core.evidence.verdicts import Judgement
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.telemetry_cases import (
    CALL,
    EVICTION,
    OVERFULL,
    RICH,
    Pipeline,
    decisions,
    event_facts,
    judgement,
    link_facts,
    value,
    window,
)

HASH_KEY = b"a key for tests only"


def test_a_plain_call_carries_the_window_and_no_event(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), decisions(match="messages", inferred=True))

    assert span is not None
    assert dict(span.attributes or {}) == {
        "agentfootprint.conversation.id": "order-4711",
        "agentfootprint.conversation.match": "messages",
        "agentfootprint.thread": 1,
        "agentfootprint.turn": 2,
        "agentfootprint.iteration": 3,
        "agentfootprint.window.decision": "append",
        "agentfootprint.window.decided_by": "application",
        "agentfootprint.window.messages_before": 5,
        "agentfootprint.window.messages_after": 7,
        "agentfootprint.window.chars_before": 100,
        "agentfootprint.window.chars_after": 260,
        "agentfootprint.window.evicted": 0,
        "agentfootprint.window.rewritten": 0,
        "agentfootprint.window.inserted": 0,
        "agentfootprint.evidence.tool_results_this_turn": 1,
    }
    assert event_facts(span) == []
    assert link_facts(span) == []


def test_a_rich_call_is_exported_whole(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(hash_key=HASH_KEY), RICH)

    assert span is not None
    assert dict(span.attributes or {}) == {
        "agentfootprint.conversation.id": "order-4711",
        "agentfootprint.conversation.match": "explicit",
        "agentfootprint.thread": 2,
        "agentfootprint.thread.forked_from": 1,
        "agentfootprint.turn": 2,
        "agentfootprint.iteration": 3,
        "agentfootprint.window.decision": "evict",
        "agentfootprint.window.decided_by": "application",
        "agentfootprint.window.messages_before": 5,
        "agentfootprint.window.messages_after": 7,
        "agentfootprint.window.chars_before": 100,
        "agentfootprint.window.chars_after": 260,
        "agentfootprint.window.evicted": 1,
        "agentfootprint.window.rewritten": 1,
        "agentfootprint.window.inserted": 1,
        "agentfootprint.window.dropped_tools": ("get_order",),
        "agentfootprint.evidence.tool_results_this_turn": 1,
        "agentfootprint.evidence.verdict": "ungrounded",
        "agentfootprint.evidence.worst_status": "evicted",
        "agentfootprint.evidence.action": "flagged",
        "agentfootprint.evidence.posture": "assist",
        "agentfootprint.evidence.candidates": 3,
        "agentfootprint.evidence.looked_up": 2,
        "agentfootprint.evidence.status.evicted": 1,
        "agentfootprint.evidence.status.computed": 1,
        "agentfootprint.evidence.status.said": 1,
        "agentfootprint.evidence.earlier_turns_only": 1,
        "agentfootprint.evidence.choice": 0,
        "agentfootprint.evidence.choices": 1,
    }
    assert event_facts(span) == [
        (
            "agentfootprint.context.evicted",
            {
                "agentfootprint.eviction.slot": "messages",
                "agentfootprint.eviction.content_hash": "88f5224d713a52d5e84d91f6bba1da5a",
                "agentfootprint.eviction.reason": "evict",
                "agentfootprint.eviction.decided_by": "application",
                "agentfootprint.eviction.survival_ms": 4200,
                "agentfootprint.eviction.iterations_survived": 3,
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
            "agentfootprint.context.rewritten",
            {
                "agentfootprint.rewrite.slot": "messages",
                "agentfootprint.rewrite.content_hash": "e229753e6d63367e654564b29f8fa827",
                "agentfootprint.rewrite.role": "tool",
                "agentfootprint.rewrite.tool": "search",
                "agentfootprint.rewrite.tool_call_id": "call_2",
                "agentfootprint.rewrite.index": 4,
                "agentfootprint.rewrite.chars_before": 90,
                "agentfootprint.rewrite.chars_after": 9,
            },
        ),
        (
            "agentfootprint.agent.evidence_checked",
            {
                "agentfootprint.conversation.id": "order-4711",
                "agentfootprint.thread": 2,
                "agentfootprint.turn": 2,
                "agentfootprint.iteration": 3,
                "agentfootprint.evidence.choice": 0,
                "agentfootprint.evidence.verdict": "ungrounded",
                "agentfootprint.evidence.worst_status": "evicted",
                "agentfootprint.evidence.action": "flagged",
                "agentfootprint.evidence.posture": "assist",
                "agentfootprint.evidence.candidates": 3,
                "agentfootprint.evidence.looked_up": 2,
                "agentfootprint.evidence.earlier_turns_only": 1,
                "agentfootprint.evidence.tool_results_this_turn": 1,
                "agentfootprint.evidence.status.evicted": 1,
                "agentfootprint.evidence.status.computed": 1,
                "agentfootprint.evidence.status.said": 1,
            },
        ),
        (
            "agentfootprint.evidence.value",
            {
                "agentfootprint.evidence.choice": 0,
                "agentfootprint.value.index": 0,
                "agentfootprint.value.shape": "identifier",
                "agentfootprint.value.status": "evicted",
                "agentfootprint.value.flagged": True,
                "agentfootprint.value.occurrences": 1,
                "agentfootprint.value.turn": 1,
                "agentfootprint.value.evicted_decision": "evict",
                "agentfootprint.value.evicted_decided_by": "application",
                "agentfootprint.value.evicted_tool": "get_order",
                "agentfootprint.value.evicted_tool_call_id": "call_1",
            },
        ),
        (
            "agentfootprint.evidence.value",
            {
                "agentfootprint.evidence.choice": 0,
                "agentfootprint.value.index": 1,
                "agentfootprint.value.shape": "money",
                "agentfootprint.value.status": "computed",
                "agentfootprint.value.flagged": False,
                "agentfootprint.value.occurrences": 2,
                "agentfootprint.value.derivation": "sum",
                "agentfootprint.value.tool": "search",
                "agentfootprint.value.tool_call_ids": ("call_2", "call_3#2"),
                "agentfootprint.value.carriers_cut": True,
                "agentfootprint.value.turn": 2,
            },
        ),
        (
            "agentfootprint.evidence.value",
            {
                "agentfootprint.evidence.choice": 0,
                "agentfootprint.value.index": 2,
                "agentfootprint.value.shape": "identifier",
                "agentfootprint.value.status": "said",
                "agentfootprint.value.flagged": False,
                "agentfootprint.value.occurrences": 1,
            },
        ),
        (
            "gen_ai.evaluation.result",
            {
                "gen_ai.evaluation.name": "agentfootprint.evidence",
                "gen_ai.evaluation.score.value": 1 - 1 / 3,
                "gen_ai.evaluation.score.label": "ungrounded",
                "gen_ai.evaluation.explanation": "1 of 3 values flagged (1 said, 1 computed, 1 evicted)",
                "gen_ai.response.id": "resp_1",
                "agentfootprint.evidence.choice": 0,
            },
        ),
    ]
    link = {
        "agentfootprint.link.tool": "get_order",
        "agentfootprint.link.tool_call_id": "call_1",
        "agentfootprint.link.values": 1,
    }
    assert link_facts(span) == [
        (0xA1, 0xB1, {"agentfootprint.link.kind": "served", **link}),
        (0xA2, 0xB2, {"agentfootprint.link.kind": "dropped", **link}),
    ]


def test_a_result_named_by_its_tool_call_has_no_name_of_its_own(pipeline: Pipeline) -> None:
    evictions = (replace(EVICTION, result_ref="call_1"), replace(EVICTION, result_ref=None), EVICTION)

    span = pipeline.emit(pipeline.emitter(), decisions(window=window("evict", evictions=evictions)))

    assert span is not None
    refs = [facts.get("agentfootprint.eviction.result_ref") for _, facts in event_facts(span)]
    assert refs == [None, None, "call_1#2"]


def test_span_events_are_in_order_of_time(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), RICH)

    assert span is not None
    times = [event.timestamp for event in span.events]
    assert times == sorted(set(times))


def test_a_call_without_output_reports_no_eviction_and_says_so(pipeline: Pipeline) -> None:
    failed = decisions(window=window("evict", settled=False, evictions=RICH.window.evictions))

    span = pipeline.emit(pipeline.emitter(), failed)

    assert span is not None
    assert event_facts(span) == []
    assert (span.attributes or {})["agentfootprint.window.settled"] is False
    assert (span.attributes or {})["agentfootprint.window.evicted"] == 1
    assert pipeline.points("agentfootprint.window.evictions") == {}


def test_the_worst_of_several_choices_is_the_summary(pipeline: Pipeline) -> None:
    span = pipeline.emit(
        pipeline.emitter(),
        decisions(
            judgement(value(), choice=0),
            judgement(value(status="unsupported"), value("CD-5678"), verdict="ungrounded", choice=1),
            judgement(value(status="derivable"), verdict="inconclusive", reasons=("coincidence",), choice=2),
        ),
    )

    assert span is not None
    attributes = span.attributes or {}
    assert attributes["agentfootprint.evidence.verdict"] == "ungrounded"
    assert attributes["agentfootprint.evidence.choice"] == 1
    assert attributes["agentfootprint.evidence.choices"] == 3
    assert attributes["agentfootprint.evidence.candidates"] == 2
    verdicts = [
        facts["agentfootprint.evidence.verdict"] for name, facts in event_facts(span) if name.endswith("checked")
    ]
    assert verdicts == ["grounded", "ungrounded", "inconclusive"]


def test_reasons_stand_as_a_list_and_as_a_scalar(pipeline: Pipeline) -> None:
    answer = judgement(value(status="unsupported", flagged=False), verdict="inconclusive", reasons=("opaque_content",))

    span = pipeline.emit(pipeline.emitter(), decisions(answer))

    assert span is not None
    attributes = span.attributes or {}
    assert attributes["agentfootprint.evidence.reasons"] == ("opaque_content",)
    assert attributes["agentfootprint.evidence.reason"] == "opaque_content"
    result = event_facts(span)[-1][1]
    assert "gen_ai.evaluation.score.value" not in result
    assert result["gen_ai.evaluation.explanation"] == (
        "0 of 1 value flagged (1 unsupported); because of opaque_content"
    )


@pytest.mark.parametrize(
    ("answer", "score", "explanation"),
    [
        (judgement(verdict="no_claims"), None, "no value to look up"),
        (judgement(value(), value("b2", "said")), 1.0, "0 of 2 values flagged (1 said, 1 read)"),
        (
            judgement(value(status="unsupported", flagged=False), verdict="not_applicable"),
            None,
            "0 of 1 value flagged (1 unsupported); there was nothing to read",
        ),
    ],
)
def test_the_result_says_what_was_found(
    pipeline: Pipeline, answer: Judgement, score: float | None, explanation: str
) -> None:
    span = pipeline.emit(pipeline.emitter(), decisions(answer))

    assert span is not None
    name, facts = event_facts(span)[-1]
    assert name == "gen_ai.evaluation.result"
    assert facts.get("gen_ai.evaluation.score.value") == score
    assert facts["gen_ai.evaluation.explanation"] == explanation


def test_compacted_is_set_only_where_the_provider_or_a_strategy_folded_the_history(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    by_application = pipeline.emit(emitter, decisions(window=window("summarize")))
    by_provider = pipeline.emit(emitter, decisions(window=window("summarize", decided_by="provider")))
    by_strategy = pipeline.emit(
        emitter, decisions(window=window("summarize", decided_by="summarize-oldest", reported=True))
    )
    said_so = pipeline.emit(
        emitter, decisions(), Call(messages=(), now=0.0, edits=(ProviderEdit("summarize", "compaction"),))
    )
    cleared = pipeline.emit(
        emitter, decisions(), Call(messages=(), now=0.0, edits=(ProviderEdit("clear", "clear_tool_uses"),))
    )

    cleared_seen = pipeline.emit(emitter, decisions(window=window("clear", decided_by="provider")))

    expectations = (
        (by_application, None),
        (by_provider, True),
        (by_strategy, True),
        (said_so, True),
        (cleared, None),
        (cleared_seen, None),
    )
    for span, expected in expectations:
        assert span is not None
        assert (span.attributes or {}).get("gen_ai.conversation.compacted") is expected


def test_the_agent_span_carries_the_last_answer_and_the_totals(pipeline: Pipeline) -> None:
    calls = [RICH, decisions(), decisions(judgement(value("x-1"), value("x-2", "said")), iteration=4)]
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent support") as span:
        pipeline.emitter().summarise(span, Summary.of(calls))

    [exported] = pipeline.spans.get_finished_spans()
    assert dict(exported.attributes or {}) == {
        "agentfootprint.conversation.id": "order-4711",
        "agentfootprint.conversation.match": "explicit",
        "agentfootprint.thread": 1,
        "agentfootprint.turn": 2,
        "agentfootprint.iteration": 4,
        "agentfootprint.evidence.verdict": "grounded",
        "agentfootprint.evidence.worst_status": "read",
        "agentfootprint.evidence.action": "grounded",
        "agentfootprint.evidence.posture": "assist",
        "agentfootprint.evidence.candidates": 2,
        "agentfootprint.evidence.looked_up": 1,
        "agentfootprint.evidence.status.read": 1,
        "agentfootprint.evidence.status.said": 1,
        "agentfootprint.evidence.earlier_turns_only": 0,
        "agentfootprint.evidence.tool_results_this_turn": 1,
        "agentfootprint.evidence.choice": 0,
        "agentfootprint.evidence.choices": 1,
        "agentfootprint.totals.calls": 3,
        "agentfootprint.totals.answers": 2,
        "agentfootprint.totals.verdict.ungrounded": 1,
        "agentfootprint.totals.verdict.grounded": 1,
        "agentfootprint.totals.status.evicted": 1,
        "agentfootprint.totals.status.computed": 1,
        "agentfootprint.totals.status.said": 2,
        "agentfootprint.totals.status.read": 1,
        "agentfootprint.totals.worst_verdict": "ungrounded",
        "agentfootprint.totals.worst_status": "evicted",
        "agentfootprint.totals.evicted": 1,
    }


def test_an_agent_span_without_calls_says_so(pipeline: Pipeline) -> None:
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        pipeline.emitter().summarise(span, Summary())

    [exported] = pipeline.spans.get_finished_spans()
    assert dict(exported.attributes or {}) == {
        "agentfootprint.totals.calls": 0,
        "agentfootprint.totals.answers": 0,
    }


def test_no_span_and_an_ended_span_are_no_error(pipeline: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    emitter = pipeline.emitter()
    span = pipeline.tracers.get_tracer("test").start_span("chat")
    span.end()

    emitter.summarise(None, Summary.of([RICH]))
    emitter.summarise(span, Summary.of([RICH]))
    pipeline.emit(emitter, OVERFULL, CALL)

    assert dict(pipeline.spans.get_finished_spans()[0].attributes or {}) == {}
    assert caplog.text == ""  # the SDK warns where an ended span is written on
