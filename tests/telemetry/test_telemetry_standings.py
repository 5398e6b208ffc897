"""How far answers stand: counted once, when nothing more is said of them; and what the application says."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_footprint.core.assessment.fold import REASON_CODES, AnswerStanding
from otel_footprint.core.call import Output
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.findings.rows import ConflictRow, ContingentRow, Row, StandingRow
from otel_footprint.core.findings.standing import STANDINGS
from otel_footprint.core.messages import Message, Text
from otel_footprint.telemetry.open_answers import THREADS_LIMIT, OpenAnswers
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.findings_cases import (
    AT,
    DISPATCHING,
    FOUND,
    LABELS,
    TOLD,
    answers,
    any_changes,
    counted,
    found_events,
    open_call,
    series,
)
from tests.telemetry.telemetry_cases import Pipeline, decisions, event_facts, judgement


def test_every_standing_and_reason_stands_at_zero_from_the_start(pipeline: Pipeline) -> None:
    pipeline.emitter()

    assert pipeline.points("agentfootprint.findings") == {series(standing=word): 0 for word in STANDINGS}
    assert pipeline.points("agentfootprint.answer.standing") == {
        series(standing=word): 0 for word in get_args(AnswerStanding)
    }
    assert pipeline.points("agentfootprint.answer.reasons") == {series(reason=word): 0 for word in REASON_CODES}


def test_the_standings_of_a_model_and_an_agent_stand_at_zero_before_the_call_that_answers(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), DISPATCHING)

    points = pipeline.points("agentfootprint.answer.standing")
    assert {series for series in points if len(series) == 3} == {
        series(standing=word, **LABELS) for word in get_args(AnswerStanding)
    }
    assert set(points.values()) == {0}


def test_standings_are_counted_by_what_they_say_and_answers_by_how_far_they_stand(pipeline: Pipeline) -> None:
    pipeline.emit(pipeline.emitter(), FOUND)

    assert counted(pipeline, "findings") == {series(standing=word): 1 for word in STANDINGS}
    assert counted(pipeline, "answer.standing") == {series(standing="not-sure", **LABELS): 1}
    assert counted(pipeline, "answer.reasons") == {
        series(reason=word, agent="support"): 1
        for word in (
            "coverage-gap",
            "declared-absent",
            "empty-undeclared",
            "sources-conflict",
            "value-contingent",
            "script-unmatched",
        )
    }


def test_no_sampling_changes_a_count_of_findings() -> None:
    sampled, unsampled = Pipeline(), Pipeline(sampler=ALWAYS_OFF)
    for pipeline in (sampled, unsampled):
        pipeline.emit(pipeline.emitter(), FOUND)

    assert unsampled.spans.get_finished_spans() == ()
    for name in ("findings", "answer.standing", "answer.reasons"):
        assert unsampled.points(f"agentfootprint.{name}") == sampled.points(f"agentfootprint.{name}")
    assert len(unsampled.logs.get_finished_logs()) == 2  # both results


def test_an_open_answer_is_counted_when_it_is_settled_and_once(pipeline: Pipeline) -> None:
    emitter = pipeline.emitter()
    emission = open_call(answers("consistent"))
    emitter.emit(emission)
    assert counted(pipeline, "answer.standing") == {}
    assert sum(pipeline.points("agentfootprint.answers").values()) == 1

    emitter.settled(emission, None, changed=False)

    assert counted(pipeline, "answer.standing") == {series(standing="consistent", **LABELS): 1}
    assert len(pipeline.logs.get_finished_logs()) == 2  # no new result


def test_a_standing_that_changed_goes_out_again_on_the_conversations_span(pipeline: Pipeline) -> None:
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        pipeline.emitter().settled(open_call(answers("ask", "asked")), span, changed=True)

    [agent] = pipeline.spans.get_finished_spans()
    [(name, facts)] = event_facts(agent)
    assert (name, facts["gen_ai.evaluation.score.label"]) == ("gen_ai.evaluation.result", "ask")
    [logged] = pipeline.logs.get_finished_logs()
    assert logged.log_record.span_id == agent.get_span_context().span_id
    assert dict(logged.log_record.attributes or {}) == facts
    assert counted(pipeline, "answer.reasons") == {series(reason="asked", agent="support"): 1}


def test_a_draft_that_goes_out_after_all_has_its_result_in_the_log(pipeline: Pipeline) -> None:
    emission = replace(open_call(answers("not-sure", "value-unsupported")), open=False)

    pipeline.emitter().answer_stands(emission)

    [logged] = pipeline.logs.get_finished_logs()
    assert (logged.log_record.attributes or {})["gen_ai.evaluation.score.label"] == "not-sure"
    assert counted(pipeline, "answer.standing") == {series(standing="not-sure", **LABELS): 1}


def test_what_the_application_says_is_an_event_on_the_conversations_span(pipeline: Pipeline) -> None:
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        pipeline.emitter().told(TOLD[1:], span, context.Context())

    [agent] = pipeline.spans.get_finished_spans()
    at = {"turn": 2, "iteration": 3}
    assert found_events(agent) == [
        (
            "skill.steps_unfinished",
            {
                **at,
                "steps.skill_id": "refund",
                "steps.total": 3,
                "steps.remaining": 1,
                "steps.remaining_tools": ("issue_refund",),
                "steps.action": "cut-short",
            },
        ),
        (
            "answer.witness",
            {
                **at,
                "witness.kind": "validated",
                "witness.check": "totals add up",
                "witness.ok": False,
                "witness.exact": True,
            },
        ),
        ("answer.witness", {**at, "witness.kind": "asked"}),
        ("answer.witness", {**at, "witness.kind": "stopped-early", "witness.reason": "budget"}),
    ]


def test_what_it_says_without_a_span_is_counted_and_logged(pipeline: Pipeline) -> None:
    row = StandingRow(**AT, ref="call_1", standing="fact", declared_by="application")

    pipeline.emitter(events="both").told((row,), None, context.Context())

    assert counted(pipeline, "findings") == {series(standing="fact"): 1}
    [logged] = pipeline.logs.get_finished_logs()
    assert logged.log_record.event_name == "agentfootprint.findings.standing"


def test_the_last_answer_of_a_thread_is_open_until_the_next() -> None:
    open_answers = OpenAnswers()
    first, second, other = (
        open_call(answers("consistent")),
        open_call(answers("known")),
        open_call(answers("ask"), thread=2),
    )

    assert open_answers.given(first) == ()
    assert open_answers.given(other) == ()
    assert open_answers.given(open_call(findings=FindingsChange(declared=1))) == ()  # a call without an answer
    [settled] = open_answers.given(second)
    assert (settled.emission, settled.changed) == (first, False)
    assert [one.emission for one in open_answers.settle()] == [other, second]
    assert open_answers.settle() == ()


def test_nothing_that_was_sent_is_kept_for_an_open_answer() -> None:
    open_answers = OpenAnswers()
    said = Message("user", (Text("a question"),))
    emission = open_call(answers("consistent"))
    open_answers.given(replace(emission, call=replace(emission.call, messages=(said,), outputs=(Output(said),))))

    [settled] = open_answers.settle()
    assert (settled.emission.call.messages, settled.emission.call.outputs) == ((), ())
    assert settled.emission.call.model == "gpt-x"


def test_an_answer_stands_otherwise_until_it_is_settled() -> None:
    open_answers = OpenAnswers()
    open_answers.given(open_call(answers("known"), answers("consistent")))

    assert open_answers.restand(1, answers("consistent")) is None
    assert open_answers.restand(2, answers("ask")) is None
    restood = open_answers.restand(1, answers("ask", "asked"))
    assert restood is not None
    before, after = restood
    assert [one.standing for one in before.assessments] == ["known", "consistent"]
    assert [one.standing for one in after.assessments] == ["known", "ask"]
    [settled] = open_answers.settle()
    assert (settled.emission, settled.changed) == (after, True)
    assert open_answers.restand(1, answers("known")) is None


def test_a_draft_that_goes_out_after_all_takes_the_place_of_its_own_call() -> None:
    open_answers = OpenAnswers()
    emission = open_call(answers("consistent"))
    open_answers.given(emission)
    whole = replace(
        emission, decisions=replace(emission.decisions, findings=FindingsChange(assessments=(answers("not-sure"),)))
    )

    assert open_answers.given(whole) == ()
    assert [one.emission for one in open_answers.settle()] == [whole]


def test_threads_without_end_are_settled_oldest_first() -> None:
    open_answers = OpenAnswers()
    settled = [one for n in range(THREADS_LIMIT + 3) for one in open_answers.given(open_call(answers("ask"), thread=n))]

    assert [one.emission.decisions.thread for one in settled] == [0, 1, 2]
    assert len(open_answers.settle()) == THREADS_LIMIT


def test_a_summary_takes_back_how_an_answer_stood() -> None:
    call = decisions(judgement(), findings=FindingsChange(assessments=(answers("consistent"),)))
    summary = Summary.of([call])

    again = summary.filed(TOLD).restand((answers("consistent"),), (answers("ask", "asked"),))

    assert again.findings is not None
    assert again.findings.last is not None
    assert again.findings.last.standing == "ask"
    assert again.findings.standings == {"ask": 1}


@given(st.lists(any_changes, max_size=4))
def test_a_summary_adds_up(changes: list[FindingsChange]) -> None:
    calls = [decisions(*(judgement(choice=n) for n in range(len(c.assessments))), findings=c) for c in changes]

    summary = Summary.of(calls)

    found = summary.findings
    if not changes:
        assert found is None
        return
    assert found is not None
    rows: list[Row] = [row for one in changes for row in one.rows]
    assert found.counts.declared == sum(one.declared for one in changes)
    assert found.counts.conflicts == sum(isinstance(row, ConflictRow) for row in rows)
    assert found.counts.contingent == sum(isinstance(row, ContingentRow) for row in rows)
    assert sum(found.standings.values()) == sum(len(one.assessments) for one in changes)
    answered = [one for one in changes if one.assessments]
    if answered:
        assert found.last is not None
        assert found.last.standing in {one.standing for one in answered[-1].assessments}
        undone = summary
        for one in answered:
            undone = undone.restand(one.assessments, ())
        assert undone.findings is not None
        assert undone.findings.standings == {}
