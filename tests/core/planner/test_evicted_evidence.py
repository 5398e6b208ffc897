"""An answer that states a value the strategy dropped is told by what dropped it, and when."""

from __future__ import annotations

from typing import Any

import pytest
from planner_cases import Called, Live, asks, result, run, says, user

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.verdicts import Value
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.summarize_oldest import SummarizeOldest

FOLDING = SummarizeOldest(400, lambda _: "They read rows.", "m", 3)
OLD = [asks(("old", "tool_0")), result("old", "The booking is QX7781 at 4,821.77 dollars. " + "x" * 300)]


def stated(called: Called) -> Value:
    (judged,) = called.decisions.judgements
    return next(value for value in judged.values if value.text == "QX7781")


@pytest.mark.parametrize(("strategy", "decision"), [(SlidingWindow(3), "evict"), (FOLDING, "summarize")])
def test_a_value_of_a_dropped_result_is_evicted(strategy: Any, decision: str) -> None:
    live = Live(strategy)
    messages = [user("Find my booking.")]
    live.call(messages, OLD[0])
    messages += OLD
    run(live, messages, 8)
    called = live.call(messages, says("Your booking is QX7781."))
    value = stated(called)
    assert value.status == "evicted"
    assert value.evicted_by is not None
    assert (value.evicted_by.decision, value.evicted_by.decided_by) == (decision, strategy.name)


@pytest.mark.parametrize(("strategy", "decision"), [(SlidingWindow(3), "evict"), (FOLDING, "summarize")])
def test_also_where_no_call_here_ever_sent_it(strategy: Any, decision: str) -> None:
    live = Live(strategy)
    messages = [user("Find my booking."), *OLD]
    for number in range(9):
        messages += [asks((f"c{number}", f"tool_{number % 3}")), result(f"c{number}", f"row {number} " * 40)]
    called = live.call(messages, says("Looking."), tokens=9_000)
    if strategy is FOLDING:  # it waits for the provider's count
        messages += [says("Looking."), user("And?")]
        called = live.call(messages, says("Still looking."), tokens=9_000)
    assert called.planned.decided
    messages += [called.call.outputs[0].message, user("What is it?")]
    value = stated(live.call(messages, says("Your booking is QX7781.")))
    assert value.status == "evicted"
    assert value.evicted_by is not None
    assert (value.evicted_by.decision, value.evicted_by.decided_by) == (decision, strategy.name)


def test_also_after_a_restart() -> None:
    here = Live(SlidingWindow(3), conversation_id="a")
    messages = [user("Find my booking.")]
    here.call(messages, OLD[0])
    messages += OLD
    run(here, messages, 8)
    there = Live(SlidingWindow(3), conversation_id="a")
    there.planner.restore("a", here.planner.saved("a"), now=there.now)
    value = stated(there.call(messages, says("Your booking is QX7781.")))
    assert value.status == "evicted"
    assert value.evicted_by is not None
    assert value.evicted_by.decided_by == "sliding-window"


def test_what_dropped_it_is_the_visit_where_that_has_a_span() -> None:
    live = Live(SlidingWindow(2))
    messages = [
        user("Find my booking."),
        *OLD,
        *(m for _ in range(5) for m in (asks(("c", "tool_0")), result("c", "row"))),
    ]
    visit = live.begin(messages)
    planned = live.commit(visit)
    assert planned.decided
    live.planner.written(planned, CallRef(7, 4_711))
    value = stated(live.answer(visit, planned, says("Your booking is QX7781.")))
    assert value.evicted_by is not None
    assert value.evicted_by.dropped == CallRef(7, 4_711)
