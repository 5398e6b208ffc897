"""The summary of many calls is a pure fold."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_footprint.core.decisions import Decisions
from otel_footprint.telemetry.summary import WORST_FIRST, AnswerSummary, Summary
from tests.telemetry.telemetry_cases import RICH, any_decisions, decisions, judgement, value, window


def test_no_call_gives_an_empty_summary() -> None:
    assert Summary.of([]) == Summary()
    assert Summary().last is None


def test_the_last_answer_stands_also_after_a_call_without_one() -> None:
    summary = Summary.of([RICH, decisions(iteration=9)])

    assert summary.last == AnswerSummary.worst(RICH)
    assert (summary.calls, summary.answers, summary.iteration) == (2, 1, 9)


def test_the_worst_stands_also_after_a_better_one() -> None:
    bad = decisions(judgement(value(status="argument_only"), verdict="ungrounded"))
    worse = decisions(judgement(value(status="unsupported"), verdict="ungrounded"))
    good = decisions(judgement(value()))

    summary = Summary.of([bad, worse, bad, good])

    assert (summary.worst_verdict, summary.worst_status) == ("ungrounded", "unsupported")
    assert summary.last == AnswerSummary.worst(good)


def test_what_left_a_window_is_counted_once() -> None:
    failed = replace(RICH, window=replace(RICH.window, settled=False), judgements=())

    assert Summary.of([failed, RICH]).evicted == len(RICH.window.evictions)


def test_a_draft_is_no_answer_unless_it_goes_out_after_all() -> None:
    draft = decisions(judgement(value(status="unsupported"), verdict="ungrounded", action="recheck"))
    revised = decisions(judgement(value()))

    summary = Summary.of([draft, revised])
    assert (summary.calls, summary.answers, summary.revisions) == (2, 1, 1)
    assert summary.worst_verdict == "grounded"

    shipped = replace(draft, judgements=(replace(draft.judgements[0], action="flagged"),))
    kept = Summary.of([draft]).add_answers(shipped)
    assert (kept.calls, kept.answers, kept.revisions) == (1, 1, 1)
    assert kept.last == AnswerSummary.worst(shipped)


def test_of_several_choices_the_worst_verdict_is_the_summary_and_between_equals_the_worse_status() -> None:
    call = decisions(
        judgement(choice=0, verdict="no_claims"),
        judgement(value(status="evicted"), choice=1, verdict="ungrounded"),
        judgement(value(status="unsupported"), choice=2, verdict="ungrounded"),
        judgement(value(status="unsupported"), choice=3, verdict="ungrounded"),
        window=window("start"),
    )

    worst = AnswerSummary.worst(call)

    assert worst is not None
    assert (worst.choice, worst.choices, worst.worst_status) == (2, 4, "unsupported")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(any_decisions, max_size=4))
def test_totals_add_up(calls: list[Decisions]) -> None:
    summary = Summary.of(calls)

    drafts = [call for call in calls if any(judgement.action == "recheck" for judgement in call.judgements)]
    judged = [judgement for call in calls if call not in drafts for judgement in call.judgements]
    assert summary.revisions == len(drafts)
    assert summary.calls == len(calls)
    assert summary.answers == len(judged) == sum(summary.verdicts.values())
    assert sum(summary.statuses.values()) == sum(len(judgement.values) for judgement in judged)
    if judged:
        assert summary.worst_verdict == min((j.verdict for j in judged), key=WORST_FIRST.index)
    else:
        assert summary.worst_verdict is None
