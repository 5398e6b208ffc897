"""The standing of an answer: its reasons by name, its support only from a validation of these bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.assessment.fold import assess
from otel_footprint.core.assessment.verdict_rows import (
    AskedRow,
    FlaggedRow,
    StoppedEarlyRow,
    UnreachableRow,
    ValidatedRow,
    digest_of,
)
from otel_footprint.core.assessment.witness import GroundedRow, ScriptShownRow, StepsUnfinishedRow, UnfinishedStep
from otel_footprint.core.findings.rows import (
    BasisRow,
    ConflictRow,
    ContingentRow,
    CoverageGapRow,
    DeclaredAbsentRow,
    EmptyRow,
    StandingRow,
    UnsettledRow,
)

AT = {"turn": 2, "iteration": 3}
DIGEST = digest_of("The total is 12.50")
CLEAN = GroundedRow(**AT, posture="assist", candidates=2, looked_up=1)
REASONS = {
    "asked": AskedRow(**AT),
    "coverage-gap": CoverageGapRow(**AT, ref="a", tool="t", gaps=1),
    "declared-absent": DeclaredAbsentRow(**AT, ref="a", tool="t"),
    "empty-undeclared": EmptyRow(**AT, ref="a", tool="t"),
    "sources-conflict": ConflictRow(**AT, subject_kind="k", subject_id="i", predicate="p", witnesses=("a", "b")),
    "value-unsupported": FlaggedRow(**AT, posture="assist", candidates=2, looked_up=1, unsupported=1, evicted=0),
    "value-survived-revision": FlaggedRow(
        **AT, posture="guard", candidates=2, looked_up=1, unsupported=1, evicted=0, after_revision=True
    ),
    "value-evicted": FlaggedRow(**AT, posture="assist", candidates=2, looked_up=1, unsupported=0, evicted=1),
    "value-contingent": ContingentRow(**AT, moment="answer", value_index=0, shape="number", carriers=("a",)),
    "stopped-early": StoppedEarlyRow(**AT, reason="budget"),
    "answer-check-failed": ValidatedRow(**AT, ok=False, check="total", digest=DIGEST),
    "check-unreachable": UnreachableRow(**AT, reasons=("corpus_bound",)),
    "steps-unfinished": StepsUnfinishedRow(
        **AT, skill_id="s", remaining=(UnfinishedStep(1, "t"),), total=2, action="accepted"
    ),
    "script-unmatched": ScriptShownRow(**AT, block=1, label="unmatched", reason="no-equal"),
}
QUIET = [
    CLEAN,
    BasisRow(**AT, ref="a", tool="t", basis="direct"),
    StandingRow(**AT, ref="a", standing="noise"),
    UnsettledRow(**AT, ref="a"),
    ScriptShownRow(**AT, block=1, label="ran"),
    ContingentRow(**AT, moment="dispatch", value_index=0, shape="number", carriers=("a",), tool="t"),
    ValidatedRow(**AT, ok=True, check="total", digest=DIGEST),
    ValidatedRow(**AT, ok=True, check="total"),
]


def fold(*rows, digest=DIGEST):
    return assess(rows, turn=2, iteration=3, digest=digest)


@pytest.mark.parametrize("code", REASONS)
def test_each_reason_fires_and_carries_its_row(code):
    found = fold(CLEAN, REASONS[code])
    assert [(reason.code, reason.rows) for reason in found.reasons] == [(code, (REASONS[code],))]
    assert (found.assessment, found.standing) == ("unknown", "ask" if code == "asked" else "not-sure")


def test_both_kinds_of_flagged_values_are_reasons():
    row = FlaggedRow(**AT, posture="assist", candidates=2, looked_up=1, unsupported=1, evicted=1)
    assert [reason.code for reason in fold(row).reasons] == ["value-unsupported", "value-evicted"]


def test_a_clean_check_is_consistent_and_never_known():
    found = fold(CLEAN)
    assert (found.assessment, found.standing) == ("unrefuted", "consistent")
    assert [(one.check, one.ran, one.of) for one in found.checked] == [("names-and-numbers", 1, 2)]
    assert found.support == ()


def test_only_a_validation_of_these_bytes_supports():
    same = ValidatedRow(**AT, ok=True, check="total", digest=DIGEST)
    assert fold(CLEAN, same).standing == "known"
    assert fold(CLEAN, same).support == (same,)
    other = fold(CLEAN, same, digest=digest_of("The total is 12.51"))
    assert other.standing == "consistent"
    assert [one.check for one in other.checked] == ["names-and-numbers"], "it did not run on these bytes"
    assert fold(same, digest=None).standing == "not-assessed"
    early = ValidatedRow(turn=2, iteration=1, ok=True, check="total", digest=DIGEST)
    assert fold(CLEAN, early).standing == "known"
    assert fold(ValidatedRow(**AT, ok=True, check="total")).standing == "consistent"


def test_nothing_on_record_is_not_assessed():
    found = fold()
    assert (found.assessment, found.standing, found.checked) == ("not-applicable", "not-assessed", ())


def test_a_check_that_could_not_reach_a_verdict_has_not_run():
    assert fold(REASONS["check-unreachable"]).checked == ()


def test_rows_of_other_turns_and_other_answers_do_not_count():
    earlier = GroundedRow(turn=2, iteration=1, posture="assist", candidates=1, looked_up=1)
    flagged = FlaggedRow(turn=2, iteration=1, posture="assist", candidates=2, looked_up=1, unsupported=1, evicted=0)
    other = AskedRow(turn=1, iteration=3)
    assert fold(earlier, flagged, other).standing == "not-assessed"
    conflict = ConflictRow(turn=2, iteration=1, subject_kind="k", subject_id="i", predicate="p", witnesses=("a", "b"))
    assert fold(CLEAN, conflict).standing == "not-sure"


@given(st.lists(st.sampled_from([*REASONS.values(), *QUIET]), max_size=12), st.sampled_from([DIGEST, None, "other"]))
def test_the_order_of_standings(rows, digest):
    found = fold(*rows, digest=digest)
    codes = {reason.code for reason in found.reasons}
    if "asked" in codes:
        assert found.standing == "ask"
    elif codes:
        assert found.standing == "not-sure"
    if found.standing == "known":
        assert found.support
        assert all(row.digest == digest == DIGEST for row in found.support)
    else:
        assert found.support == ()
    if found.standing == "consistent":
        assert found.checked
        assert not codes
    assert found == fold(*rows, digest=digest)
