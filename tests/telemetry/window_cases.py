"""Visits of window strategies for the tests: one of each kind, one that meets every limit, and any at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st

from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.record import (
    REFUSAL_REASONS,
    BudgetPressure,
    BudgetUnit,
    FoldedSpan,
    Inactive,
    Pin,
    Pins,
    PlanAction,
    Refusal,
    Retain,
    Spend,
    WindowEviction,
    WindowRecord,
)
from otel_footprint.core.window.strategy import Rebase, WindowResult
from otel_footprint.telemetry.window_facts import VisitFacts
from tests.telemetry.telemetry_cases import SERVED, counts, names_, refs, roles, texts

NOTICE = Message("user", (Text("[notice]"),), authored="notice")
LEFT = (
    WindowEviction(
        index=0,
        role="user",
        tool=None,
        tool_call_id=None,
        chars=11,
        survival_ms=0,
        iterations_survived=2,
        key=b"a" * 16,
    ),
    WindowEviction(
        index=2,
        role="tool",
        tool="get_order",
        tool_call_id="call_1",
        chars=120,
        survival_ms=4200,
        iterations_survived=2,
        key=b"0123456789abcdef",
        born=SERVED,
        result_ref="call_1#2",
    ),
)
PIN = Pin(tool_call_ids=("call_9",), tool="search", turn_index=3, message_index=4, chars=77)


def record(strategy: str = "sliding-window", **other: Any) -> WindowRecord:
    fields: dict[str, Any] = {"iteration": 3, "window_chars_before": 400, "window_chars_after": 290}
    return WindowRecord(strategy=strategy, **{**fields, **other})


def visit(record: WindowRecord, result: WindowResult | None = None, **other: Any) -> VisitFacts:
    fields: dict[str, Any] = {"messages_before": 9, "messages_after": 7, "turn": 2}
    return VisitFacts(record=record, result=result, **{**fields, **other})


REMOVED = visit(
    record(
        removed_span_ids=(None, SERVED.span_id),
        removed_message_count=2,
        dropped_observations=("get_order",),
        refusals=(
            Refusal("current-request", 2, 3),
            Refusal("last-tool-result", 3, 4),
            Refusal("inside-keep-window", 4, 6),
        ),
        unreached=1,
        observations=Pins((PIN,), yielded=1, limit=2),
        keep_recent_turns=1,
        turns_before=5,
        turns_after=3,
    ),
    WindowResult(record=record(), window=(NOTICE,), rebase=Rebase(head_count=0, kept_tail_count=7), evictions=LEFT),
    conversation="order-4711",
    thread=1,
)
"""A sliding window that dropped two messages, one of them a tool's result, around a pin."""

FOLDED = visit(
    record(
        "summarize-oldest",
        removed_span_ids=(None, SERVED.span_id),
        removed_message_count=2,
        keep_recent_turns=6,
        turns_before=9,
        turns_after=8,
        threshold_tokens=1000,
        measured_tokens=1500,
        summary_chars=40,
        summarizer_input_tokens=210,
        summarizer_output_tokens=12,
    ),
    WindowResult(
        record=record(),
        window=(NOTICE,),
        rebase=Rebase(head_count=0, kept_tail_count=7, inserted_at=1000.0),
        evictions=LEFT,
        folded=(
            FoldedSpan(
                summary="s" * 40,
                messages=(),
                message_count=2,
                chars=131,
                iteration=3,
                run_id="r",
                retain="discard",
                digest="00",
            ),
        ),
        budget_pressure=BudgetPressure(cap=1000, projected=1500, plan_action="summarize"),
        spend=Spend("small-model", 210, 12),
    ),
)
"""A summary that stands for two messages."""

REFUSED = visit(
    record(
        "summarize-oldest",
        window_chars_after=400,
        refusals=(
            Refusal("inside-keep-window", 1, 1),
            Refusal("ledger-fact", 3, 4),
            Refusal("replacement-not-smaller", 0, 0),
        ),
        observations=Pins(limit=2, stand_down=True),
        ledger_facts=Pins((PIN,), limit=6, stand_down=True),
        summarizer_skipped=True,
    ),
    WindowResult(record=record(), budget_pressure=BudgetPressure(cap=1000, projected=1500, plan_action="none")),
)
"""A visit that removed nothing, for a reason about the whole span, with both kinds of pins released."""

HELD = visit(record(window_chars_after=400, inactive="server-held"), None, messages_before=1, messages_after=1)
"""A window that the provider holds."""

OVERFULL_VISIT = visit(
    record(
        "s" * 300,
        removed_message_count=100,
        dropped_observations=tuple(f"tool_{n}" for n in range(50)),
        refusals=tuple(Refusal(reason, n, n) for n, reason in enumerate(REFUSAL_REASONS * 4)),
    ),
    replace(REMOVED.result, evictions=LEFT * 50),  # type: ignore[type-var]
    conversation="c" * 300,
)
"""A visit that meets every limit."""

pins = st.builds(
    Pins,
    st.lists(st.builds(Pin, st.lists(texts, max_size=3).map(tuple), texts, counts, counts, counts), max_size=3).map(
        tuple
    ),
    counts,
    counts,
    st.booleans(),
)
window_evictions = st.builds(
    WindowEviction,
    index=counts,
    role=roles,
    tool=names_,
    tool_call_id=names_,
    chars=counts,
    survival_ms=counts,
    iterations_survived=counts,
    key=st.binary(min_size=16, max_size=16),
    born=st.none() | refs,
    result_ref=names_,
)
records = st.builds(
    WindowRecord,
    strategy=texts,
    iteration=counts,
    removed_message_count=counts,
    window_chars_before=counts,
    window_chars_after=counts,
    refusals=st.lists(st.builds(Refusal, st.sampled_from(REFUSAL_REASONS), counts, counts), max_size=4).map(
        lambda some: tuple(some * 20)
    ),
    unreached=counts,
    dropped_observations=st.lists(texts, max_size=5).map(lambda some: tuple(some * 8)),
    observations=pins,
    ledger_facts=st.none() | pins,
    inactive=st.none() | st.sampled_from(get_args(Inactive)),
    keep_recent_turns=st.none() | counts,
    summary_chars=st.none() | counts,
    summarizer_skipped=st.booleans(),
)
results = st.builds(
    WindowResult,
    record=records,
    evictions=st.lists(window_evictions, max_size=2).map(lambda some: tuple(some * 30)),
    folded=st.lists(
        st.builds(
            FoldedSpan, texts, st.just(()), counts, counts, counts, texts, st.sampled_from(get_args(Retain)), texts
        ),
        max_size=1,
    ).map(tuple),
    budget_pressure=st.none()
    | st.builds(
        BudgetPressure,
        counts,
        counts,
        st.sampled_from(get_args(PlanAction)),
        st.sampled_from(get_args(BudgetUnit)),
    ),
    spend=st.none() | st.builds(Spend, texts, st.none() | counts, st.none() | counts),
)
any_visits = st.builds(
    VisitFacts,
    record=records,
    result=st.none() | results,
    messages_before=counts,
    messages_after=counts,
    conversation=names_,
    thread=st.none() | counts,
    turn=counts,
)
