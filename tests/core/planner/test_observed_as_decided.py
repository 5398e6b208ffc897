"""What is observed of a call is what was decided about it, and is reported once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from planner_cases import PROMPT, Live, run, says, user

from otel_footprint.core.call import PlannedFacts
from otel_footprint.core.messages import Message, Text
from otel_footprint.core.window.planned_call import as_planned
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget


def gone(evictions: Iterable[Any]) -> list[tuple[object, ...]]:
    return [(each.index, each.key, each.chars, each.role, each.tool, each.result_ref) for each in evictions]


@pytest.mark.parametrize(
    ("strategy", "decision"),
    [
        (SlidingWindow(3), "evict"),
        (TokenBudget(400, 3), "evict"),
        (SummarizeOldest(400, lambda _: "ok", "m", 3), "summarize"),
    ],
)
def test_the_observed_diff_is_the_decided_one(strategy, decision: str) -> None:
    live = Live(strategy)
    messages = [user("Read it all.")]
    decided = 0
    for each in run(live, messages, 14):
        change, given = each.decisions.window, each.planned.result
        if given is None or given.window is None:
            assert not change.evictions
            assert change.decided_by == "application"
            continue
        decided += 1
        assert (change.decision, change.decided_by, change.reported) == (decision, strategy.name, True)
        assert gone(change.evictions) == gone(e for e in given.evictions if e.index < change.messages_before)
        assert change.messages_after == len(each.window)
        assert change.chars_after == given.record.window_chars_after
    assert decided > 2


def test_what_the_application_took_out_itself_is_its_own_eviction() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 8)
    first = live.call(messages, says("So far."))
    kept = [index for index in first.kept if index]
    own = messages[kept[0]]
    rewritten = [message for message in messages if message not in (own, messages[kept[0] + 1])]
    called = live.call([*rewritten, says("So far."), user("And now?")], says("Now this."))
    change = called.decisions.window
    assert called.planned.decided
    assert change.decided_by == "application"
    assert not change.reported
    assert {each.key for each in change.evictions} <= {own.key, messages[kept[0] + 1].key} | {
        message.key for message in first.window if message.authored
    }


def test_a_notice_joined_to_its_neighbour_is_parted_from_it() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    called = run(live, messages, 6)[-1]
    request, notice = called.window[:2]
    assert notice.authored == "notice"
    joined = Message("user", (*request.parts, *notice.parts))
    call = as_planned(called.call, called.call.planned)
    wire = replace(called.call, messages=(joined, *called.call.messages[2:]))
    assert as_planned(wire, wire.planned).messages == call.messages
    assert [message.authored for message in as_planned(wire, wire.planned).messages[:2]] == [None, "notice"]


def test_a_call_nobody_acted_on_is_read_as_it_is() -> None:
    live = Live(None)
    called = live.call([user("Hi")], says("Hello!"))
    assert called.call.planned == PlannedFacts(turn=1)
    assert as_planned(called.call, called.call.planned) is called.call
    assert PROMPT.role == "system"
    assert called.window[0].parts == (Text("Hi"),)
