"""What is carried from call to call, and when the application's list starts it over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planner_cases import Live, asks, result, run, says, steps, user

from otel_footprint.core.conversations import Limits
from otel_footprint.core.window import line
from otel_footprint.core.window.items import Kept, Put
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import WindowResult, WindowStrategyInput
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget


def test_what_was_dropped_never_comes_back() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    called = run(live, messages, 12)
    gone: set[int] = set()
    for each in called:
        assert not gone & set(each.kept)
        gone |= set(range(len(each.visit.request.messages))) - set(each.kept)
    assert gone
    assert called[-1].kept[0] == 0, "the current request stays"
    assert [each.decisions.thread for each in called] == [1] * 12


def test_the_next_window_is_the_carried_one_and_the_new_tail() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    before = run(live, messages, 1, first=6)[0]
    visit = live.begin(messages)
    assert visit.window == (*before.window, *messages[-2:])


def test_one_notice_stands_in_the_window_however_often_it_drops() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    for each in run(live, messages, 10):
        put = [item for item in each.planned.items if isinstance(item, Put)]
        assert len(put) <= 1
        assert [message.authored for message in each.window if message.authored] == ["notice"] * len(put)


def test_counts_are_those_of_the_conversation() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("One.")]
    run(live, messages, 4)
    live.call(messages, says("Done with one."))
    messages += [says("Done with one."), user("Two.")]
    second = run(live, messages, 3, first=10)
    assert [(each.planned.turn, each.planned.iteration) for each in second] == [(2, 1), (2, 2), (2, 3)]
    for each in second:
        assert (each.decisions.turn, each.decisions.iteration) == (each.planned.turn, each.planned.iteration)
    assert {each.planned.run_id for each in second} == {f"{7:032x}"}


def test_a_list_that_was_there_before_has_its_turns_counted_also_those_that_leave() -> None:
    live = Live(SlidingWindow(2))
    old = [user("One."), *steps(4), says("Done with one."), user("Two."), *steps(4, first=4)]
    called = live.call(old, asks(("z", "tool_0")))
    assert called.planned.decided
    assert (called.planned.turn, called.planned.iteration) == (2, 5)
    assert (called.decisions.turn, called.decisions.iteration) == (2, 5)


def test_the_same_list_asked_again_is_sent_as_it_was() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    last = run(live, messages, 6)[-1]
    asked = messages[:-2]
    again = live.call(asked, says("Another answer."))
    assert again.planned.items == last.planned.items
    assert again.planned.record is None
    assert again.visit.input is None
    assert again.decisions.thread == 1
    assert again.decisions.window.decision == "append"
    assert not again.decisions.window.evictions


def test_a_failed_call_is_repeated_without_evicting_twice() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    run(live, messages, 4)
    failed = live.call(messages)
    assert failed.planned.decided
    assert not failed.decisions.window.settled
    again = live.call(messages, says("Done."))
    assert again.planned.items == failed.planned.items
    assert again.planned.record is None
    change = again.decisions.window
    assert (change.decision, change.decided_by, change.reported) == ("evict", "sliding-window", True)
    assert change.evictions == tuple(
        each for each in change.evictions if each.key in {gone.key for gone in failed.planned.result.evictions}
    )


def test_after_a_failed_call_a_longer_list_goes_on_with_what_was_decided() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 5)
    failed = live.call(messages)
    assert failed.planned.decided
    messages.append(user("Are you there?"))
    after = live.call(messages, says("Yes."))
    dropped = set(range(len(messages) - 1)) - set(failed.kept)
    assert not dropped & set(after.kept)
    assert after.decisions.turn == after.planned.turn == 2
    assert after.decisions.window.decided_by == "sliding-window"


def test_a_list_that_the_application_edited_starts_over() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    del messages[1:3]
    visit = live.begin(messages)
    assert visit.window == tuple(messages)
    assert all(isinstance(item, Kept) for item in visit.state.items)
    called = live.answer(visit, live.commit(visit), says("Done."))
    assert called.decisions.thread == 1, "it still holds the last output"
    assert called.planned.turn == 1


def test_a_regenerated_earlier_answer_is_a_line_of_its_own() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    shorter = messages[:5]
    fork = live.call(shorter, says("Another way."))
    assert fork.decisions.forked_from == 1
    assert fork.visit.window == tuple(shorter)
    going_on = live.call(messages, says("The first way."))
    assert going_on.decisions.thread == 1
    assert len(going_on.window) < len(messages)


def test_equal_greetings_are_not_one_line() -> None:
    live = Live(SlidingWindow(3))
    first = live.call([user("Hi")], says("Hello!"), trace_id=1)
    second = live.call([user("Hi")], says("Hello!"), trace_id=2)
    assert first.decisions.conversation != second.decisions.conversation
    assert second.planned.hint is None


def test_an_output_in_other_words_goes_on() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 5)
    live.call(messages, asks(("z", "tool_1"), text="I will look."))
    messages += [asks(("z", "tool_1")), result("z", "rows")]
    called = live.call(messages, says("Done."))
    assert len(called.window) < len(messages)
    assert called.decisions.thread == 1


def test_ids_keep_conversations_apart() -> None:
    live = Live(SlidingWindow(3))
    for id_ in ("a", "b"):
        messages = [user("Read it all.")]
        called = run(live, messages, 6, conversation_id=id_)
        assert {each.decisions.conversation for each in called} == {id_}
        assert {each.decisions.thread for each in called} == {1}


def test_another_system_instruction_is_another_line() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    visit = live.begin(messages, system=(user("You write titles."),))
    assert visit.going is None
    assert live.begin(messages).going is not None


def test_a_window_the_provider_holds_is_left_alone_and_the_record_says_so() -> None:
    live = Live(SlidingWindow(1), conversation_id="a", server_held=True)
    called = live.call([user("One.")], asks(("a", "tool_1")))
    for number in range(5):
        called = live.call([result("a", f"rows {number}")], asks(("a", "tool_1")))
        record = called.planned.record
        assert record is not None
        assert (record.inactive, record.removed_message_count, record.strategy) == ("server-held", 0, "sliding-window")
        assert record.window_chars_before == record.window_chars_after == called.window[0].chars
        assert called.kept == [0]
        assert called.planned.turn == 1


def test_a_strategy_that_failed_leaves_the_window_and_the_record_says_so() -> None:
    live = Live(SlidingWindow(2))
    messages = [user("Read it all.")]
    run(live, messages, 4)
    visit = live.begin(messages)
    planned = live.planner.commit(visit, None, failed=True)
    assert planned.record is not None
    assert planned.record.inactive == "strategy-failed"
    assert planned.window == visit.window


def test_a_result_that_breaks_a_rule_is_not_used() -> None:
    class Greedy:
        name = "greedy"

        def plan(self, input: WindowStrategyInput) -> WindowResult | None:
            given = SlidingWindow(1).plan(input)
            return given and given.window and replace(given, window=given.window[1:])

    live = Live(Greedy())
    messages = [user("Read it all.")]
    run(live, messages, 8)
    called = live.call(messages, says("Done."))
    assert called.planned.record is not None
    assert called.planned.record.inactive == "invalid-window"
    assert called.planned.broken
    assert called.window == tuple(messages)


def test_a_call_that_never_left_leaves_its_line_free() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    visit = live.begin([*messages, user("Cancelled.")])
    planned = live.commit(visit)
    live.planner.abandon(planned)
    after = live.begin([*messages, user("Another.")])
    assert not after.apart
    assert live.commit(after).ticket.line is planned.ticket.line


def test_what_is_kept_of_folded_spans_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "FOLDED_CHARS", 3_000)
    live = Live(SummarizeOldest(400, lambda _: "They read rows.", "m", 3), conversation_id="a")
    messages = [user("Read it all.")]
    run(live, messages, 30)
    spans = live.planner.folded("a")
    assert sum(span.chars for span in spans if span.messages) <= 3_000
    assert [bool(span.messages) for span in spans] == sorted(bool(span.messages) for span in spans)
    assert {span.retain for span in spans} == {"conversation", "discard"}
    assert all(span.message_count and span.summary for span in spans)


def test_the_store_is_bounded_and_says_what_it_let_go() -> None:
    live = Live(SlidingWindow(3), limits=Limits(conversations=2, idle_s=1_000.0))
    for number in range(12):
        run(live, [user(f"Read {number}.")], 2, conversation_id=f"id-{number}")
    assert live.planner.evicted_lines == 12 - 8
    live.now += 2_000
    live.call([user("Hi")], says("Hello!"))
    assert live.planner.evicted_lines == 12
    assert live.planner.folded("id-11") == ()


def test_a_list_that_goes_another_way_keeps_out_what_left() -> None:
    live = Live(SlidingWindow(3), conversation_id="a")
    messages = [user("Read it all.")]
    run(live, messages, 6)
    untaken = live.call(messages, says("An answer that is not taken."))
    left = set(range(len(messages))) - set(untaken.kept)
    assert left
    another = [*messages, user("Another question.")]
    called = live.call(another, says("Another answer."))
    assert called.planned.hint is None, "a line of its own"
    assert not left & set(called.kept)
    assert not {messages[j].key for j in left} & {message.key for message in called.visit.window}
    assert called.planned.turn == called.decisions.turn == 2
    edited = live.call([*messages, user("Edited.")], says("Yet another."))
    assert not left & set(edited.kept)
    assert edited.planned.ticket.line is not called.planned.ticket.line


def test_what_a_fork_left_out_is_told_once_and_known_as_gone() -> None:
    live = Live(SlidingWindow(3), conversation_id="a")
    messages = [user("Read it all.")]
    run(live, messages, 6)
    live.call(messages, says("An answer that is not taken."))
    messages.append(user("Another question."))
    visit = live.begin(messages)
    planned = live.commit(visit)
    told = 0 if planned.result is None else len(planned.result.evictions)
    gone = len(messages) - sum(isinstance(item, Kept) for item in planned.items)
    assert told < gone
    assert len(planned.facts().unseen) == gone


def test_reported_tokens_hold_on_where_the_answer_is_not_taken() -> None:
    """An application that keeps no answers: every call goes another way than the one before."""
    live = Live(TokenBudget(100, 2), conversation_id="a")
    messages = [user("Question 0.")]
    for number in range(1, 6):
        live.call(messages, says(f"Answer {number}."), tokens=1_000)
        messages.append(user(f"Question {number}. " + "More of it. " * 40))
    assert len(live.call(messages, says("Done.")).window) < len(messages)


def test_a_fork_inside_what_left_starts_over() -> None:
    live = Live(SlidingWindow(3), conversation_id="a")
    messages = [user("Read it all.")]
    run(live, messages, 6)
    live.call(messages, says("Done."))
    other = [*messages[:2], user("Something else.")]
    assert live.begin(other).window == tuple(other)


def test_a_fork_whose_common_beginning_was_taken_out_is_no_reset() -> None:
    live = Live(SlidingWindow(1), conversation_id="a")
    messages = [user("Begin.")]
    live.call(messages, asks(("c1", "look")))
    fork = live.call([*messages, user("Yes, the other one.")], says("Fine."))
    assert [message.text for message in fork.window] == ["Yes, the other one."]
    assert (fork.decisions.thread, fork.decisions.forked_from, fork.decisions.window.decision) == (2, 1, "start")
    again = live.call(messages, says("Once more."))
    assert again.decisions.thread == 1
    assert (again.decisions.turn, again.decisions.iteration) == (again.planned.turn, again.planned.iteration)
