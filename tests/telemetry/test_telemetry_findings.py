"""Findings and how far answers stand, as whole spans and log records."""

from __future__ import annotations

from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.findings_cases import (
    DISPATCHING,
    FOUND,
    LABELS,
    answers,
    change,
    counted,
    found_events,
    ours,
    series,
)
from tests.telemetry.telemetry_cases import Pipeline, decisions, event_facts, judgement, value

HASH_KEY = b"a key for tests only"


def test_findings_stand_on_the_chat_span_in_counts_and_words(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), FOUND)

    assert span is not None
    assert ours(span.attributes) == {
        "agentfootprint.findings.declared": 3,
        "agentfootprint.findings.malformed": 4,
        "agentfootprint.findings.conflicts": 1,
        "agentfootprint.findings.contingent": 1,
        "agentfootprint.findings.unsettled": 1,
        "agentfootprint.findings.undecorated": 2,
        "agentfootprint.findings.undecorated_tools": ("get_order", "search"),
        "agentfootprint.answer.assessment": "unknown",
        "agentfootprint.answer.standing": "not-sure",
        "agentfootprint.answer.reasons": (
            "coverage-gap",
            "declared-absent",
            "empty-undeclared",
            "sources-conflict",
            "value-contingent",
            "script-unmatched",
        ),
        "agentfootprint.answer.reason": "coverage-gap",
        "agentfootprint.answer.checked": ("names-and-numbers", "script-match"),
        "agentfootprint.answer.scripts.submitted": 1,
        "agentfootprint.answer.scripts.ran": 1,
        "agentfootprint.answer.scripts.failed": 1,
        "agentfootprint.answer.scripts.unmatched": 1,
    }


def test_every_row_is_an_event_without_a_word_of_the_model(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(hash_key=HASH_KEY), FOUND)

    assert span is not None
    at = {"turn": 2, "iteration": 3}
    assert found_events(span) == [
        (
            "tools.absent",
            {
                "absence.kind": "declared-absent",
                "absence.tool_call_id": "call_1",
                "absence.gaps": 2,
                "absence.tool": "search",
            },
        ),
        (
            "tools.absent",
            {
                "absence.kind": "coverage-gap",
                "absence.tool_call_id": "call_2",
                "absence.gaps": 1,
                "absence.tool": "list_orders",
            },
        ),
        ("tools.absent", {"absence.kind": "empty-undeclared", "absence.tool_call_id": "call_3", "absence.gaps": 0}),
        (
            "findings.declared",
            {
                "finding.tool": "get_order",
                "finding.basis": "direct",
                "finding.tool_call_id": "call_9",
                "finding.expect": "high",
                "finding.text_cut": True,
            },
        ),
        ("findings.declared", {"finding.tool": "get_order", "finding.basis": "exploratory"}),
        (
            "findings.standing",
            {
                **at,
                "finding.standing": "fact",
                "finding.declared_by": "model",
                "finding.tool_call_id": "call_4",
                "finding.assertions": 2,
                "finding.text_cut": True,
            },
        ),
        (
            "findings.conflict",
            {
                "finding.key_hash": "e18d5c8149edf7db74254e73237be2b5",
                "finding.tool_call_ids": ("call_4", "call_5"),
            },
        ),
        (
            "findings.standing",
            {
                **at,
                "finding.standing": "ruled-out",
                "finding.declared_by": "model",
                "finding.tool_call_id": "call_1",
                "finding.unsettled": True,
            },
        ),
        (
            "findings.standing",
            {
                **at,
                "finding.standing": "noise",
                "finding.declared_by": "model",
                "finding.unknown_id": True,
                "finding.id_hash": "87861dbc1eab0c6bb3afca4e1757f2a7",
            },
        ),
        (
            "findings.standing",
            {
                **at,
                "finding.standing": "open",
                "finding.declared_by": "application",
                "finding.tool_call_id": "call_2",
            },
        ),
        (
            "findings.contingent",
            {
                "finding.moment": "answer",
                "value.index": 0,
                "value.shape": "identifier",
                "finding.tool_call_ids": ("call_1",),
            },
        ),
        *(
            (
                "answer.script_shown",
                {
                    "script.block": block,
                    "script.label": label,
                    "script.tool": "python",
                    "script.tool_call_id": "call_6",
                    "script.dispatch": block,
                    "script.exit_code": 0,
                },
            )
            for block, label in ((1, "submitted"), (2, "ran"), (3, "failed"))
        ),
        ("answer.script_shown", {"script.block": 4, "script.label": "unmatched", "script.reason": "no-equal"}),
    ]


def test_under_capture_all_the_model_is_quoted(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(capture_values="all"), FOUND)

    assert span is not None
    declared, standings, conflict = (
        [facts for name, facts in found_events(span) if name == f"findings.{kind}"]
        for kind in ("declared", "standing", "conflict")
    )
    assert declared[0]["finding.proposition"] == "the order was shipped"
    assert declared[0]["finding.predicts"] == "a date"
    assert standings[0]["finding.line"] == "shipped"
    assert standings[0]["finding.asserted"] == ("order W-1 delivery = shipped", "order W-1 total = 12.5")
    assert (standings[1]["finding.sought"], standings[1]["finding.settles"]) == ("a refund", "no refund")
    assert standings[2]["finding.unknown_ref"] == "the one I saw"
    assert (conflict[0]["finding.subject"], conflict[0]["finding.predicate"]) == ("order W-1", "delivery")


def test_a_call_that_passes_on_a_value_set_aside_is_contingent_at_dispatch(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), DISPATCHING)

    assert span is not None
    assert found_events(span) == [
        (
            "findings.contingent",
            {
                "finding.moment": "dispatch",
                "value.index": 1,
                "value.shape": "date",
                "finding.tool": "book",
                "finding.tool_call_ids": ("call_1", "call_2"),
            },
        )
    ]
    assert "agentfootprint.answer.standing" not in (span.attributes or {})


def test_where_findings_are_off_nothing_is_said_of_them(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), decisions(judgement(value())))

    assert span is not None
    assert ours(span.attributes) == {}
    assert found_events(span) == []
    assert counted(pipeline, "answer.standing") == {}
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as agent:
        pipeline.emitter().summarise(agent, Summary.of([decisions(judgement(value()))]))
    assert ours(pipeline.spans.get_finished_spans()[-1].attributes) == {}


def test_a_draft_that_was_sent_back_has_no_standing(pipeline: Pipeline) -> None:
    draft = decisions(
        judgement(value(status="unsupported"), verdict="ungrounded", action="recheck"),
        findings=FindingsChange(declared=1),
    )

    span = pipeline.emit(pipeline.emitter(), draft)

    assert span is not None
    assert "agentfootprint.answer.standing" not in (span.attributes or {})
    assert [facts["gen_ai.evaluation.name"] for name, facts in event_facts(span) if name.startswith("gen_ai")] == [
        "agentfootprint.evidence"
    ]
    assert counted(pipeline, "answer.standing") == {}


def test_of_several_choices_the_least_settled_one_is_on_the_span_and_each_has_its_result(pipeline: Pipeline) -> None:
    findings = FindingsChange(assessments=(answers("known"), answers("not-assessed"), answers("consistent")))
    call = decisions(judgement(), judgement(choice=1), judgement(choice=2), findings=findings)

    span = pipeline.emit(pipeline.emitter(), call)

    assert span is not None
    assert (span.attributes or {})["agentfootprint.answer.standing"] == "not-assessed"
    results = [
        facts for name, facts in event_facts(span) if facts.get("gen_ai.evaluation.name") == "agentfootprint.answer"
    ]
    assert [(one["agentfootprint.evidence.choice"], one["gen_ai.evaluation.score.label"]) for one in results] == [
        (0, "known"),
        (1, "not-assessed"),
        (2, "consistent"),
    ]
    assert counted(pipeline, "answer.standing") == {
        series(standing=word, **LABELS): 1 for word in ("known", "not-assessed", "consistent")
    }


def test_the_standing_is_a_standard_result_on_the_span_and_in_the_log(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(), FOUND)

    expected = {
        "gen_ai.evaluation.name": "agentfootprint.answer",
        "gen_ai.evaluation.score.label": "not-sure",
        "gen_ai.evaluation.explanation": (
            "unknown: 2 checks ran; because of coverage-gap, declared-absent, empty-undeclared, sources-conflict, "
            "value-contingent, script-unmatched"
        ),
        "gen_ai.response.id": "resp_1",
        "agentfootprint.evidence.choice": 0,
    }
    assert span is not None
    assert expected in [facts for _, facts in event_facts(span)]
    logged = [dict(data.log_record.attributes or {}) for data in pipeline.logs.get_finished_logs()]
    assert [facts["gen_ai.evaluation.name"] for facts in logged] == ["agentfootprint.evidence", "agentfootprint.answer"]
    assert logged[1] == expected


def test_rows_go_into_the_log_as_the_setting_says(pipeline: Pipeline) -> None:
    span = pipeline.emit(pipeline.emitter(events="log"), FOUND)

    assert span is not None
    assert span.events == ()
    names = [data.log_record.event_name for data in pipeline.logs.get_finished_logs()]
    assert names.count("agentfootprint.findings.standing") == 4
    assert names.count("agentfootprint.tools.absent") == 3


def test_the_agents_span_has_the_last_standing_and_the_counts_of_all_calls(pipeline: Pipeline) -> None:
    first = decisions(judgement(value()), findings=change(declared=1))
    calls = [
        first,
        DISPATCHING,
        FOUND,
        decisions(judgement(), findings=FindingsChange((), 1, 2, (answers("consistent"),))),
    ]

    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        pipeline.emitter().summarise(span, Summary.of(calls))

    [agent] = pipeline.spans.get_finished_spans()
    assert ours(agent.attributes) == {
        "agentfootprint.findings.declared": 6,
        "agentfootprint.findings.malformed": 6,
        "agentfootprint.findings.conflicts": 1,
        "agentfootprint.findings.contingent": 2,
        "agentfootprint.answer.assessment": "unknown",
        "agentfootprint.answer.standing": "consistent",
        "agentfootprint.answer.checked": ("names-and-numbers",),
        "agentfootprint.totals.standing.not-assessed": 1,
        "agentfootprint.totals.standing.not-sure": 1,
        "agentfootprint.totals.standing.consistent": 1,
    }
