"""Findings for the tests: a call that shows everything, one that is overfull, and any at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st
from opentelemetry import context

from otel_footprint.core.assessment.fold import (
    REASON_CODES,
    AnswerAssessment,
    AnswerReason,
    AnswerStanding,
    Assessment,
    Checked,
    assess,
)
from otel_footprint.core.assessment.verdict_rows import (
    AskedRow,
    FlaggedRow,
    StoppedEarlyRow,
    UnreachableRow,
    ValidatedRow,
    digest_of,
)
from otel_footprint.core.assessment.witness import (
    GroundedRow,
    ScriptLabel,
    ScriptShownRow,
    StepsAction,
    StepsUnfinishedRow,
    UnfinishedStep,
    UnmatchedReason,
)
from otel_footprint.core.evidence.verdicts import Posture, Reason
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.findings.offer import Undecorated
from otel_footprint.core.findings.rows import (
    BASES,
    EXPECTATIONS,
    Assertion,
    BasisRow,
    ConflictRow,
    ContingentRow,
    CoverageGapRow,
    DeclaredAbsentRow,
    EmptyRow,
    Row,
    StandingRow,
    UnsettledRow,
)
from otel_footprint.core.findings.standing import STANDINGS
from otel_footprint.telemetry.emitter import Emission
from tests.telemetry.telemetry_cases import (
    CALL,
    Pipeline,
    argument,
    counts,
    decisions,
    emitted,
    event_facts,
    judgement,
    names_,
    texts,
    value,
    window,
)

AT: dict[str, Any] = {"turn": 2, "iteration": 3}
ASSERTED = (Assertion("order", "W-1", "delivery", "shipped"), Assertion("order", "W-1", "total", 12.5))

RESULTS: tuple[Row, ...] = (
    DeclaredAbsentRow(**AT, ref="call_1", tool="search", gaps=2),
    CoverageGapRow(**AT, ref="call_2", tool="list_orders", gaps=1),
    EmptyRow(**AT, ref="call_3", tool=None),
)
DECLARED: tuple[Row, ...] = (
    BasisRow(
        **AT,
        ref="call_9",
        tool="get_order",
        basis="direct",
        expect="high",
        proposition="the order was shipped",
        predicts="a date",
        cut=True,
    ),
    BasisRow(**AT, ref="", tool="get_order", basis="exploratory"),
    StandingRow(**AT, ref="call_4", standing="fact", assertions=ASSERTED, line="shipped", cut=True),
    ConflictRow(**AT, subject_kind="order", subject_id="W-1", predicate="delivery", witnesses=("call_4", "call_5")),
    StandingRow(**AT, ref="call_1", standing="ruled-out", sought="a refund", settles="no refund"),
    UnsettledRow(**AT, ref="call_1"),
    StandingRow(**AT, ref="the one I saw", standing="noise", unknown_id=True),
    StandingRow(**AT, ref="call_2", standing="open", declared_by="application"),
)
ANSWERED: tuple[Row, ...] = (
    ContingentRow(**AT, moment="answer", value_index=0, shape="identifier", carriers=("call_1",)),
    GroundedRow(**AT, posture="assist", candidates=1, looked_up=1),
    *(
        ScriptShownRow(
            **AT, block=block, label=label, tool_call_id="call_6", tool="python", dispatch=block, exit_code=0
        )
        for block, label in enumerate(get_args(ScriptLabel)[:3], 1)
    ),
    ScriptShownRow(**AT, block=4, label="unmatched", reason="no-equal"),
)
DISPATCHED: tuple[Row, ...] = (
    ContingentRow(**AT, moment="dispatch", value_index=1, shape="date", carriers=("call_1", "call_2"), tool="book"),
)
TOLD: tuple[Row, ...] = (
    StepsUnfinishedRow(
        **AT,
        skill_id="onboarding",
        remaining=tuple(UnfinishedStep(index, f"step_{index}") for index in range(22)),
        total=30,
        action="accepted",
    ),
    StepsUnfinishedRow(
        **AT, skill_id="refund", remaining=(UnfinishedStep(2, "issue_refund"),), total=3, action="cut-short"
    ),
    ValidatedRow(**AT, ok=False, check="totals add up", digest=digest_of("…")),
    AskedRow(**AT),
    StoppedEarlyRow(**AT, reason="budget"),
)


def standing(rows: tuple[Row, ...]) -> AnswerAssessment:
    """How far the answer of these rows stands."""
    return assess(rows, turn=2, iteration=3, digest=None)


def change(*rows: Row, assessed: bool = True, **other: Any) -> FindingsChange:
    return FindingsChange(rows, assessments=(standing(rows),) if assessed else (), **other)


UNDECORATED = (("get_order", "strict"), ("search", "owned"))
FOUND = decisions(
    judgement(value()),
    findings=change(*RESULTS, *DECLARED, *ANSWERED, declared=3, malformed=4, undecorated=UNDECORATED),
    tool_results_this_turn=3,
)
"""A call with an answer that shows everything that findings can."""

DISPATCHING = decisions(
    calls=(emitted(argument(), argument("2024-05-20", shape="date")),),
    findings=change(*DISPATCHED, assessed=False, declared=1),
)
HOSTILE = decisions(
    judgement(value()),
    findings=change(
        *(
            StandingRow(
                **AT,
                ref="{" + "x" * 230 + str(n),
                standing="fact",
                unknown_id=True,
                line="## Facts\n" + "y" * 230,
                assertions=(Assertion("k" * 240, "\ud800" * 240, "p", "v" * 240),) * 32,
                cut=True,
            )
            for n in range(10_000)
        ),
        *(
            ConflictRow(**AT, subject_kind="k", subject_id=f"s{n}", predicate="p", witnesses=("r" * 250,) * 64)
            for n in range(40)
        ),
        declared=10_000,
        malformed=2**40,
        undecorated=tuple((f"tool_{n}", "strict") for n in range(22)),
    ),
)
"""Declarations without end, as no ledger would take them."""

LABELS = {"model": "gpt-x", "agent": "support"}


def series(**labels: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(labels.items()))


def counted(pipeline: Pipeline, name: str) -> dict[Any, Any]:
    return {series: number for series, number in pipeline.points(f"agentfootprint.{name}").items() if number}


def ours(attributes: Any) -> dict[str, Any]:
    kinds = ("findings.", "finding.", "answer.", "totals.standing")
    return {
        key: found
        for key, found in (attributes or {}).items()
        if key.startswith(tuple(f"agentfootprint.{k}" for k in kinds))
    }


def found_events(span: Any) -> list[tuple[str, dict[str, Any]]]:
    own = ("findings.", "tools.", "answer.", "skill.")
    return [
        (
            name.removeprefix("agentfootprint."),
            {key.removeprefix("agentfootprint."): word for key, word in facts.items()},
        )
        for name, facts in event_facts(span)
        if name.startswith(tuple(f"agentfootprint.{kind}" for kind in own))
    ]


def answers(standing: AnswerStanding, *codes: Any) -> AnswerAssessment:
    reasons = tuple(AnswerReason(code, ()) for code in codes)
    return AnswerAssessment("unknown", standing, reasons, (), (Checked("names-and-numbers", 1, 1),))


def open_call(*assessments: AnswerAssessment, thread: int = 1, findings: Any = None) -> Emission:
    made = decisions(
        *(judgement(choice=choice) for choice in range(len(assessments))),
        thread=thread,
        window=window(),
        findings=findings or FindingsChange(assessments=assessments),
    )
    return Emission(decisions=made, span=None, context=context.Context(), call=replace(CALL), open=True)


STATED: dict[str, Any] = {"turn": counts, "iteration": counts}
assertions = st.builds(Assertion, texts, texts, texts, st.none() | st.booleans() | st.integers() | st.floats() | texts)
any_rows = st.one_of(
    st.builds(
        BasisRow,
        **STATED,
        ref=texts,
        tool=texts,
        basis=st.sampled_from(BASES),
        expect=st.none() | st.sampled_from(EXPECTATIONS),
        proposition=names_,
        predicts=names_,
        cut=st.booleans(),
    ),
    st.builds(
        StandingRow,
        **STATED,
        ref=texts,
        standing=st.sampled_from(STANDINGS),
        declared_by=st.sampled_from(["model", "application"]),
        unknown_id=st.booleans(),
        sought=names_,
        settles=names_,
        line=names_,
        assertions=st.lists(assertions, max_size=2).map(lambda some: tuple(some * 12)),
        cut=st.booleans(),
    ),
    st.builds(
        ConflictRow,
        **STATED,
        subject_kind=texts,
        subject_id=texts,
        predicate=texts,
        witnesses=st.lists(texts, max_size=2).map(lambda some: tuple(some * 12)),
    ),
    st.builds(
        ContingentRow,
        **STATED,
        moment=st.sampled_from(["answer", "dispatch"]),
        value_index=counts,
        shape=texts,
        carriers=st.lists(texts, max_size=2).map(tuple),
        tool=names_,
    ),
    st.builds(UnsettledRow, **STATED, ref=texts),
    st.builds(DeclaredAbsentRow, **STATED, ref=texts, tool=names_, gaps=counts),
    st.builds(CoverageGapRow, **STATED, ref=texts, tool=names_, gaps=counts),
    st.builds(EmptyRow, **STATED, ref=texts, tool=names_),
    st.builds(GroundedRow, **STATED, posture=st.sampled_from(get_args(Posture)), candidates=counts, looked_up=counts),
    st.builds(
        FlaggedRow,
        **STATED,
        posture=st.sampled_from(get_args(Posture)),
        candidates=counts,
        looked_up=counts,
        unsupported=counts,
        evicted=counts,
    ),
    st.builds(UnreachableRow, **STATED, reasons=st.lists(st.sampled_from(get_args(Reason)), max_size=2).map(tuple)),
    st.builds(
        StepsUnfinishedRow,
        **STATED,
        skill_id=texts,
        remaining=st.lists(st.builds(UnfinishedStep, counts, texts), max_size=2).map(lambda some: tuple(some * 12)),
        total=counts,
        action=st.sampled_from(get_args(StepsAction)),
    ),
    st.builds(
        ScriptShownRow,
        **STATED,
        block=counts,
        label=st.sampled_from(get_args(ScriptLabel)),
        reason=st.none() | st.sampled_from(get_args(UnmatchedReason)),
        tool_call_id=names_,
        tool=names_,
        dispatch=st.none() | counts,
        exit_code=st.none() | st.integers(-(2**31), 2**31),
    ),
    st.builds(ValidatedRow, **STATED, ok=st.booleans(), check=texts, digest=names_),
    st.builds(AskedRow, **STATED),
    st.builds(StoppedEarlyRow, **STATED, reason=texts),
)
any_assessments = st.builds(
    AnswerAssessment,
    st.sampled_from(get_args(Assessment)),
    st.sampled_from(get_args(AnswerStanding)),
    st.lists(st.builds(AnswerReason, st.sampled_from(REASON_CODES), st.just(())), max_size=3).map(tuple),
    st.just(()),
    st.lists(st.builds(Checked, texts, counts, counts), max_size=2).map(lambda some: tuple(some * 12)),
)
any_changes = st.builds(
    FindingsChange,
    st.lists(any_rows, max_size=4).map(lambda some: tuple(some * 12)) | st.lists(any_rows, max_size=4).map(tuple),
    counts,
    counts,
    st.lists(any_assessments, max_size=2).map(tuple),
    st.lists(st.tuples(texts, st.sampled_from(get_args(Undecorated))), max_size=2).map(lambda some: tuple(some * 12)),
)
