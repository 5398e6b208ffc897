"""A system prompt that changes from call to call: one history stays one line, and sub-agents stay apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planner_cases import Called, Live, asks, result, says, steps, system, user

from otel_footprint.core.messages import Message
from otel_footprint.core.window.lines import How
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.token_budget import TokenBudget

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def weekday(call: int) -> str:
    return f"Today is {DAYS[call % 7]}."


def documents(call: int) -> str:
    return f"Use these: {'abc'[call % 3] * (call % 5)} and {call}"


def memory(call: int) -> str:
    return "You know:" + "".join(f"\n- the person likes {DAYS[each % 7]}" for each in range(call))


def run(live: Live, messages: list[Message], count: int, prompt: Callable[[int], str], **fields: Any) -> list[Called]:
    called = []
    for number in range(count):
        made = steps(1, first=number)
        called.append(live.call(messages, made[0], system=(system(prompt(number)),), **fields))
        messages += made
    return called


@pytest.mark.parametrize("prompt", [weekday, documents, memory])
@pytest.mark.parametrize("strategy", [SlidingWindow(3), TokenBudget(400, 3)])
def test_under_an_id_the_window_is_carried_whatever_the_prompt_says(
    strategy: Any, prompt: Callable[[int], str]
) -> None:
    changing, steady = Live(strategy), Live(strategy)
    ours = run(changing, [user("Read it all.")], 10, prompt, conversation_id="c")
    same = run(steady, [user("Read it all.")], 10, lambda _: "You read.", conversation_id="c")
    assert [each.kept for each in ours] == [each.kept for each in same]
    assert {each.decisions.thread for each in ours} == {1}
    assert [each.decisions.iteration for each in ours] == list(range(1, 11))
    evicted = [index for each in ours if each.planned.result for index in each.planned.result.evictions]
    left = [each for each in ours if each.planned.decided]
    assert len(left) > 2
    assert len(evicted) == sum(len(each.decisions.window.evictions) for each in left)


@pytest.mark.parametrize("trace", [7, None])
def test_a_prompt_that_only_grows_needs_no_id(trace: int | None) -> None:
    live = Live(SlidingWindow(3))
    called = run(live, [user("Read it all.")], 8, memory, trace_id=trace)
    assert [each.visit.going is not None for each in called] == [False] + [True] * 7
    assert len({each.decisions.thread for each in called}) == 1
    assert all(len(each.planned.result.evictions) <= 3 for each in called if each.planned.decided)


def test_without_an_id_other_words_are_another_history() -> None:
    live = Live(SlidingWindow(3))
    called = run(live, [user("Read it all.")], 3, weekday)
    assert [each.visit.going for each in called] == [None] * 3


def test_the_same_list_under_another_prompt_is_the_call_once_more() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    run(live, messages, 5, weekday, conversation_id="c")
    first = live.call(messages, says("One."), conversation_id="c", system=(system("Monday."),))
    again = live.call(messages, says("Two."), conversation_id="c", system=(system("Tuesday."),))
    assert again.visit.going is not None
    assert again.visit.going.how is How.AGAIN
    assert again.kept == first.kept


@pytest.mark.parametrize("other", [{"agent": "critic"}, {"tools": ("other",)}])
def test_a_named_agent_or_one_with_other_tools_stays_apart_over_the_same_list(other: dict[str, Any]) -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    run(live, messages, 4, weekday, conversation_id="c", tools=("read",))
    fields = {"tools": ("read",), **other}
    visit = live.begin(messages, conversation_id="c", system=(system("You judge."),), **fields)
    assert visit.going is None


def test_agents_with_one_question_in_common_stay_apart() -> None:
    live = Live(SlidingWindow(2))
    lists = {name: [user("What is it?")] for name in ("plans", "reads")}
    seen: dict[str, set[int]] = {name: set() for name in lists}
    for number in range(6):
        for name, messages in lists.items():
            made = [asks((f"{name}{number}", "read")), result(f"{name}{number}", f"{name} {number} " * 20)]
            called = live.call(messages, made[0], conversation_id="c", system=(system(f"An agent that {name}."),))
            seen[name].add(called.decisions.thread)
            messages += made
    assert [len(threads) for threads in seen.values()] == [1, 1]
    assert seen["plans"] != seen["reads"]


def test_a_call_under_way_is_not_gone_on_with_under_another_prompt() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    run(live, messages, 4, weekday, conversation_id="c")
    live.commit(live.begin(messages, conversation_id="c", system=(system("You read."),)))
    assert live.begin(messages, conversation_id="c", system=(system("You judge."),)).going is None


def test_who_comes_back_after_another_went_on_with_the_list_keeps_out_what_left() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 8, lambda _: "You read.", conversation_id="c")
    last = live.call(messages, says("All read."), conversation_id="c", system=(system("You read."),))
    messages.append(says("All read."))
    title = [*messages, user("A title?")]
    live.call(title, says("Reading"), conversation_id="c", system=(system("You name."),))
    visit = live.begin([*messages, user("More?")], conversation_id="c", system=(system("You read."),))
    assert visit.going is not None
    assert visit.going.how is How.FORKED
    assert len(visit.window) <= len(last.window) + 2


@given(st.lists(st.text(max_size=12), min_size=12, max_size=12))
def test_any_prompts(prompts: list[str]) -> None:
    live = Live(SlidingWindow(3))
    called = run(live, [user("Read it all.")], 12, lambda number: prompts[number], conversation_id="c")
    assert {each.decisions.thread for each in called} == {1}
    for before, after in itertools.pairwise(called):
        assert set(after.kept) <= {*before.kept, *range(after.kept[-1] - 1, after.kept[-1] + 1)}


def test_a_notice_that_goes_with_a_restarted_window_is_not_the_applications_eviction() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 8, lambda _: "You read.")
    before = live.call(messages, says("So far."), system=(system("You read."),))
    assert any(message.authored == "notice" for message in before.window)
    live.strategy = None
    edited = [messages[0], *steps(8, chars=300)]
    called = live.call([*edited, says("So far."), user("And now?")], says("This."), system=(system("You read."),))
    change = called.decisions.window
    assert called.visit.going is not None
    assert called.visit.going.how is How.REWRITTEN
    assert change.decided_by == "application"
    assert change.decision == "clear"
    assert not change.evictions
