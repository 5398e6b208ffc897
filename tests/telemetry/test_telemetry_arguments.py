"""Arguments of tool calls in telemetry: counts on the span, an event for each value, a counter by tool."""

from __future__ import annotations

from typing import Any

import pytest

from otel_footprint.core.evidence.verdicts import STATUSES, Carrier, EvictedBy
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.telemetry_cases import (
    DROPPED,
    SERVED,
    Pipeline,
    argument,
    decisions,
    emitted,
    event_facts,
    judgement,
    link_facts,
    value,
)

READ = argument(carriers=(Carrier("call_1", "call_1", "list_orders", 1),), turn=1, paths=("orders[0].id", "main.id"))
INVENTED = argument("2024-05-23", "unsupported", shape="date", paths=("by_person.john.date",))
CALLS = decisions(calls=(emitted(READ, INVENTED), emitted(tool="ping", tool_call_id=None)))


def arguments_of(span: Any) -> dict[str, Any]:
    return {key: value for key, value in dict(span.attributes).items() if ".arguments." in key}


def test_the_span_counts_them_and_each_is_an_event(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), CALLS)

    assert span is not None
    assert arguments_of(span) == {
        "agentfootprint.arguments.candidates": 2,
        "agentfootprint.arguments.unaccounted": 1,
        "agentfootprint.arguments.worst_status": "unsupported",
        "agentfootprint.arguments.status.read": 1,
        "agentfootprint.arguments.status.unsupported": 1,
    }
    assert event_facts(span) == [
        (
            "agentfootprint.argument.value",
            {
                "agentfootprint.evidence.choice": 0,
                "agentfootprint.argument.tool": "get_order",
                "agentfootprint.argument.tool_call_id": "call_7",
                "agentfootprint.argument.name": "orders",
                "agentfootprint.argument.unaccounted": False,
                "agentfootprint.value.index": 0,
                "agentfootprint.value.shape": "identifier",
                "agentfootprint.value.status": "read",
                "agentfootprint.value.occurrences": 2,
                "agentfootprint.value.tool": "list_orders",
                "agentfootprint.value.tool_call_ids": ("call_1",),
                "agentfootprint.value.turn": 1,
            },
        ),
        (
            "agentfootprint.argument.value",
            {
                "agentfootprint.evidence.choice": 0,
                "agentfootprint.argument.tool": "get_order",
                "agentfootprint.argument.tool_call_id": "call_7",
                "agentfootprint.argument.name": "by_person",
                "agentfootprint.argument.unaccounted": True,
                "agentfootprint.value.index": 1,
                "agentfootprint.value.shape": "date",
                "agentfootprint.value.status": "unsupported",
                "agentfootprint.value.occurrences": 1,
            },
        ),
    ]


def test_no_verdict_depends_on_them(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), CALLS)

    assert span is not None
    assert not [key for key in span.attributes or {} if key.startswith("agentfootprint.evidence.verdict")]
    assert all(count == 0 for count in pipeline.points("agentfootprint.answers").values())


@pytest.mark.parametrize(
    ("level", "shown"),
    [("none", {}), ("flagged", {"2024-05-23": "by_person.john.date"}), ("all", {"AB-1234": "orders[0].id", "2024-05-23": "by_person.john.date"})],
)  # fmt: skip
def test_text_and_path_go_out_together_where_the_level_shows_them(
    pipeline: Pipeline, level: str, shown: dict[str, str]
) -> None:
    span = pipeline.emit(pipeline.emitter(capture_values=level), CALLS)

    assert span is not None
    facts = [fact for _, fact in event_facts(span)]
    found = {fact.get("agentfootprint.value.text"): fact.get("agentfootprint.argument.path") for fact in facts}
    assert {text: path for text, path in found.items() if text or path} == shown


def test_a_parameter_that_may_be_data_is_not_named(pipeline: Pipeline) -> None:
    paths = ("4111111111111111", "john@example.com", "card 12", "order_id2", "x" * 80)
    span = pipeline.emit(pipeline.emitter(), decisions(calls=(emitted(*(argument(paths=(p,)) for p in paths)),)))

    assert span is not None
    named = [fact.get("agentfootprint.argument.name") for _, fact in event_facts(span)]
    assert named == [None, None, None, "order_id2", None]


def test_a_counter_by_tool_and_status_whose_series_begin_at_zero(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), CALLS)

    points = pipeline.points("agentfootprint.arguments.values")
    counted = {key: count for key, count in points.items() if count}
    assert counted == {
        (("status", "read"), ("tool", "get_order")): 1,
        (("status", "unsupported"), ("tool", "get_order")): 1,
    }
    tools = {None, "get_order", "ping"}
    assert {(dict(key).get("tool"), dict(key)["status"]) for key in points} == {(t, s) for t in tools for s in STATUSES}


def test_tools_past_a_hundred_are_one(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    for number in range(130):
        pipeline.emit(emitter, decisions(calls=(emitted(READ, tool=f"tool_{number}"),)))

    points = pipeline.points("agentfootprint.arguments.values")
    assert points[(("status", "read"), ("tool", "_other"))] == 30
    assert len({dict(key).get("tool") for key in points} - {None}) == 101


def test_an_evicted_argument_links_to_the_calls_that_served_and_dropped_it(pipeline: Pipeline) -> None:
    gone = EvictedBy("evict", "application", "call_1", "get_order", dropped=DROPPED, served=SERVED)
    span = pipeline.emit(pipeline.emitter(), decisions(calls=(emitted(argument(status="evicted", evicted_by=gone)),)))

    assert span is not None
    kinds = {facts["agentfootprint.link.kind"]: (trace, at) for trace, at, facts in link_facts(span)}
    assert kinds == {"served": (SERVED.trace_id, SERVED.span_id), "dropped": (DROPPED.trace_id, DROPPED.span_id)}


def test_an_answer_comes_before_arguments_where_a_span_is_full(pipeline: Pipeline) -> None:
    many = emitted(*(argument(f"{n}", "unsupported") for n in range(100)))
    answer = judgement(value(status="unsupported"), verdict="ungrounded")
    span = pipeline.emit(pipeline.emitter(), decisions(answer, calls=(many,)))

    assert span is not None
    names = [name for name, _ in event_facts(span)]
    assert len(names) == 64
    assert names[:3] == [
        "agentfootprint.agent.evidence_checked",
        "agentfootprint.evidence.value",
        "gen_ai.evaluation.result",
    ]
    assert (span.attributes or {})["agentfootprint.limits.events_dropped"] == 39


def test_the_agents_span_counts_them_over_all_calls(pipeline: Pipeline) -> None:
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        pipeline.emitter().summarise(span, Summary.of([CALLS, decisions(), CALLS]))

    attributes = dict(pipeline.spans.get_finished_spans()[-1].attributes or {})
    totals = {key: count for key, count in attributes.items() if "argument" in key}
    assert totals == {
        "agentfootprint.totals.argument_status.read": 2,
        "agentfootprint.totals.argument_status.unsupported": 2,
    }
