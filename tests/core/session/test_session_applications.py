"""What applications do to their windows, each decision named rightly."""

from __future__ import annotations

import pytest
from session_cases import PROMPT, Store, asks, decisions_of, result, says, system, user

from otel_footprint.core.call import ProviderEdit
from otel_footprint.core.messages import Compaction, Message, Text


def dialogue(turns: int) -> list[Message]:
    """``turns`` questions, each answered after one lookup: 4 messages a turn."""
    made: list[Message] = []
    for n in range(turns):
        made += [
            user(f"question {n}: what about order {n}?"),
            asks((f"call-{n}", "lookup", {"order": n})),
            result(f"call-{n}", f'{{"order": {n}, "weight": {1000 + n}, "note": "a rather long note about it"}}'),
            says(f"Order {n} weighs {1000 + n} grams and has been sent."),
        ]
    return made


def test_a_history_that_grows_is_appended() -> None:
    store, history = Store(), dialogue(3)
    decided = [store.call(history[:n], history[n]) for n in (1, 3, 5, 7, 9, 11)]
    assert decisions_of(*decided) == ["start"] + ["append"] * 5
    assert [each.turn for each in decided] == [1, 1, 2, 2, 3, 3]
    assert [each.iteration for each in decided] == [1, 2, 1, 2, 1, 2]
    assert [each.tool_results_this_turn for each in decided] == [0, 1, 0, 1, 0, 1]
    assert {(each.conversation, each.thread) for each in decided} == {("made-1", 1)}
    assert [each.match for each in decided] == ["new"] + ["messages"] * 5
    last = decided[-1].window
    assert (last.messages_before, last.messages_after) == (10, 11)
    assert last.chars_before == sum(message.chars for message in history[:10])
    assert last.chars_after == sum(message.chars for message in history[:11])


def test_keeping_the_last_messages_is_evict() -> None:
    store, history = Store(), dialogue(3)
    store.call(history[:1], history[1])
    store.call(history[:3], history[3])
    decided = store.call(history[2:5], history[5])
    change = decided.window
    assert (change.decision, change.decided_by) == ("evict", "application")
    assert [(gone.index, gone.role, gone.key) for gone in change.evictions] == [
        (0, "user", history[0].key),
        (1, "assistant", history[1].key),
    ]
    assert decided.turn == 2
    again = store.call(history[4:7], history[7]).window
    assert [(gone.role, gone.tool, gone.tool_call_id, gone.result_ref) for gone in again.evictions] == [
        ("tool", "lookup", "call-0", "call-0"),
        ("assistant", None, None, None),
    ]
    assert again.dropped_tools == ("lookup",)
    assert again.evictions[0].chars == history[2].chars


def test_parallel_results_after_a_trimmed_window_are_no_summary() -> None:
    store = Store()
    both = asks(("a", "find"), ("b", "find"))
    store.call([user("one"), says("first answer, long enough to tell"), user("two")], both)
    change = store.call([user("two"), both, result("a", "1"), result("b", "2")], says("done")).window
    assert change.decision == "evict"
    assert [gone.index for gone in change.evictions] == [0, 1]


def test_births_and_survival_of_what_left() -> None:
    store, history = Store(), dialogue(3)
    store.call(history[:1], history[1])  # 1001 to 1002
    store.call(history[:3], history[3])  # 1003 to 1004
    store.call(history[:5], history[5])  # 1005 to 1006
    gone = store.call(history[4:7], history[7]).window.evictions  # starts at 1007
    assert [each.index for each in gone] == [0, 1, 2, 3]
    assert [each.survival_ms for each in gone] == [6000, 5000, 4000, 3000]
    assert [each.iterations_survived for each in gone] == [3, 2, 2, 1]
    assert [each.born.span_id if each.born else None for each in gone] == [1, 1, 2, 2]


def test_the_birth_of_what_was_there_before_we_looked_is_unknown() -> None:
    store, history = Store(), dialogue(3)
    store.call(history[:5], history[5])
    gone = store.call(history[3:7], history[7]).window.evictions
    assert [(each.survival_ms, each.born) for each in gone] == [(0, None)] * 3
    later = store.call(history[5:9], history[9]).window.evictions
    assert [(each.survival_ms > 0, each.born is not None) for each in later] == [(False, False), (True, True)]


def test_blanking_old_results_is_clear() -> None:
    store, history = Store(), dialogue(3)
    for n in (1, 3, 5):
        store.call(history[:n], history[n])
    blank = result("call-0", "[removed]")
    change = store.call([*history[:2], blank, *history[3:7]], history[7]).window
    assert change.decision == "clear"
    assert change.evictions == ()
    (rewrite,) = change.rewrites
    assert (rewrite.index, rewrite.tool, rewrite.tool_call_id) == (2, "lookup", "call-0")
    assert (rewrite.chars_before, rewrite.chars_after) == (history[2].chars, 9)
    assert change.dropped_tools == ("lookup",)
    grown = [*history[:2], blank, *history[3:9]]
    assert store.call(grown, history[9]).window.decision == "append"


def test_blanking_one_of_parallel_results_with_the_same_id() -> None:
    store = Store()
    twice = asks(("x", "find", {"n": 1}), ("x", "find", {"n": 2}))
    first, second = result("x", "the first result"), result("x", "the second result")
    store.call([user("go")], twice)
    store.call([user("go"), twice, first, second], says("both are there now, as you can see"))
    change = store.call(
        [user("go"), twice, first, result("x", "-"), says("both are there now, as you can see"), user("on")], says("ok")
    ).window
    assert change.decision == "clear"
    assert [(rewrite.index, rewrite.chars_before) for rewrite in change.rewrites] == [(3, second.chars)]


def test_a_result_that_grew_is_rewrite() -> None:
    store, history = Store(), dialogue(2)
    for n in (1, 3):
        store.call(history[:n], history[n])
    longer = result("call-0", "x" * 500)
    change = store.call([*history[:2], longer, *history[3:5]], history[5]).window
    assert change.decision == "rewrite"
    assert [(each.index, each.chars_after) for each in change.rewrites] == [(2, 500)]
    assert change.dropped_tools == ()


@pytest.mark.parametrize(
    "summary",
    [user("Summary so far: two orders were looked up."), says("So far I looked up two orders.")],
    ids=["user", "assistant"],
)
def test_folding_history_into_a_message_is_summarize(summary: Message) -> None:
    store, history = Store(), dialogue(3)
    for n in (1, 3, 5, 7):
        store.call(history[:n], history[n])
    decided = store.call([summary, *history[6:9]], history[9])
    change = decided.window
    assert (change.decision, change.decided_by) == ("summarize", "application")
    assert [gone.index for gone in change.evictions] == [0, 1, 2, 3, 4, 5]
    assert change.inserted == 1
    assert (decided.turn, decided.thread) == (3, 1)
    grown = store.call([summary, *history[6:11]], history[11])
    assert (grown.window.decision, grown.turn) == ("append", 3)


def test_folding_again_replaces_the_summary() -> None:
    store, history = Store(), dialogue(4)
    for n in (1, 3, 5, 7):
        store.call(history[:n], history[n])
    store.call([user("Summary 1: nothing much."), *history[6:9]], history[9])
    change = store.call([user("Summary 2: now there is more to tell."), *history[8:11]], history[11]).window
    assert change.decision == "summarize"
    assert [gone.index for gone in change.evictions] == [0, 1, 2]


def test_folding_everything_before_the_last_message_is_summarize() -> None:
    store, history = Store(), dialogue(2)
    for n in (1, 3):
        store.call(history[:n], history[n], id="c")
    decided = store.call([user("Summary: one order."), user("And now?")], says("Now nothing."), id="c")
    assert (decided.window.decision, decided.thread, decided.turn) == ("summarize", 1, 2)
    assert len(decided.window.evictions) == 4


@pytest.mark.parametrize("tools", [("lookup",), None])
def test_folding_history_into_a_second_system_message_is_summarize(tools: tuple[str, ...] | None) -> None:
    store, history = Store(), dialogue(4)
    facts = {"agent": "clerk", "tools": tools}
    for n in (1, 3, 5, 7):
        store.call(history[:n], history[n], **facts)
    folded = (PROMPT, system("Summary of the conversation so far: two orders."))
    decided = store.call(history[6:9], history[9], system=folded, **facts)
    assert (decided.window.decision, decided.thread) == ("summarize", 1)
    assert len(decided.window.evictions) == 6
    folded = (PROMPT, system("Summary of the conversation so far: three orders, all sent."))
    decided = store.call(history[8:11], history[11], system=folded, **facts)
    assert (decided.window.decision, decided.thread) == ("summarize", 1)


def test_folding_history_into_a_system_message_further_in_is_summarize() -> None:
    store, history = Store(), dialogue(3)
    for n in (1, 3, 5, 7):
        store.call(history[:n], history[n])
    summary = system("Summary: two orders.")
    change = store.call([history[0], summary, *history[6:9]], history[9]).window
    assert (change.decision, len(change.evictions), change.inserted) == ("summarize", 5, 1)


def test_a_reminder_that_changes_is_no_summary() -> None:
    store, history = Store(), dialogue(4)
    for n in (1, 3, 5, 7):
        store.call([*history[:n], system(f"Remember rule {'abcdefgh'[n]}.")], history[n])
    change = store.call([*history[6:9], system("Remember rule z.")], history[9]).window
    assert change.decision == "evict"


def test_a_reminder_in_front_that_changes_is_no_summary() -> None:
    store, history = Store(), dialogue(4)
    for n in (1, 3, 5, 7):
        store.call([history[0], system(f"Remember rule {'abcdefgh'[n]}."), *history[1:n]], history[n])
    change = store.call([history[0], system("Remember rule z."), *history[6:9]], history[9]).window
    assert change.decision == "evict"
    assert [gone.index for gone in change.evictions] == [1, 2, 3, 4, 5, 6]


def test_blanking_the_arguments_of_old_calls_is_rewrite() -> None:
    store, history = Store(), dialogue(2)
    for n in (1, 3):
        store.call(history[:n], history[n])
    blank = asks(("call-0", "lookup", {}))
    decided = store.call([history[0], blank, *history[2:5]], says("It weighs 1000 grams, as I told you."))
    change = decided.window
    assert (change.decision, change.evictions, change.inserted) == ("rewrite", (), 0)
    assert [(each.index, each.role) for each in change.rewrites] == [(1, "assistant")]


@pytest.mark.parametrize("ids", [("a", "b"), ("a", "a")])
def test_blanking_results_whose_calls_are_not_there(ids: tuple[str, str]) -> None:
    store = Store()
    results = [result(name, f"a long result number {n}") for n, name in enumerate(ids)]
    answer = says("These are the two results that I was given here.")
    store.call([*results, user("well?")], answer)
    blank = [result(name, "-" * n) for n, name in enumerate(ids, 1)]
    change = store.call([*blank, user("well?"), answer, user("on")], answer).window
    assert (change.decision, change.evictions) == ("clear", ())
    assert [(each.index, each.chars_after) for each in change.rewrites] == [(0, 1), (1, 2)]


def test_a_result_with_a_repeated_id_whose_call_left_is_still_itself() -> None:
    store = Store()
    call = asks(("find_0", "find"), text="Let me find that.")
    first, second = (result("find_0", f"result {n}") for n in range(2))
    answer = says("Here is what I have found for you up to now.")
    store.call([first, call, second, asks(("x", "look")), result("x", "long enough")], answer)
    window = [second, asks(("x", "look")), result("x", "-"), answer, user("on")]
    change = store.call(window, says("Well.")).window
    assert (change.decision, [each.index for each in change.evictions]) == ("clear", [0, 1])
    assert [each.index for each in change.rewrites] == [4]


def test_context_taken_out_of_an_old_question_is_rewrite() -> None:
    store = Store()
    long = user("Context: the shop opens at nine.\n\nQuestion: when does it open?")
    answer = says("It opens at nine in the morning.")
    store.call([long], answer, id="c")
    decided = store.call([user("Question: when does it open?"), answer, user("And closes?")], says("At five."), id="c")
    assert (decided.window.decision, decided.turn) == ("rewrite", 2)
    assert [(each.index, each.role) for each in decided.window.rewrites] == [(0, "user")]


def test_starting_over_is_reset() -> None:
    store, history = Store(), dialogue(2)
    for n in (1, 3, 5):
        store.call(history[:n], history[n], id="c")
    decided = store.call([user("Something else entirely.")], says("Sure."), id="c")
    assert (decided.window.decision, decided.thread, decided.turn) == ("reset", 1, 3)
    assert len(decided.window.evictions) == 6


def test_a_call_without_output_changes_nothing() -> None:
    store, history = Store(), dialogue(3)
    for n in (1, 3):
        store.call(history[:n], history[n])
    failed = store.call(history[2:5])
    assert (failed.window.decision, failed.window.settled, failed.turn, failed.iteration) == ("evict", False, 2, 1)
    retried = store.call(history[2:5], history[5])
    assert (retried.window.decision, retried.window.settled) == ("evict", True)
    assert (retried.turn, retried.iteration, retried.thread) == (2, 1, 1)
    assert [gone.key for gone in retried.window.evictions] == [gone.key for gone in failed.window.evictions]
    assert store.call(history[2:7], history[7]).window.decision == "append"


def test_a_first_call_that_failed_is_tried_again_in_its_thread() -> None:
    store = Store()
    failed = store.call([user("hi")], trace=7)
    assert (failed.window.decision, failed.window.settled, failed.turn, failed.iteration) == ("start", False, 1, 1)
    retried = store.call([user("hi")], says("hello"), trace=7)
    assert (retried.conversation, retried.thread, retried.window.decision) == (failed.conversation, 1, "start")
    assert (retried.turn, retried.iteration) == (1, 1)


def test_messages_that_return_keep_their_birth_and_begin_no_turn() -> None:
    store, history = Store(), dialogue(3)
    for n in (1, 3, 5):
        store.call(history[:n], history[n])
    store.call(history[4:7], history[7])
    back = store.call([*history[:4], *history[4:9]], history[9])
    assert (back.window.decision, back.window.inserted, back.turn) == ("append", 4, 3)
    gone = store.call(history[8:11], history[11]).window.evictions
    assert [each.born.span_id if each.born else None for each in gone[:4]] == [1, 1, 2, 2]
    assert [each.result_ref for each in gone if each.role == "tool"] == ["call-0", "call-1"]


def test_a_person_may_say_the_same_again_after_it_left() -> None:
    store = Store()
    first, second = says("Shall I look it up in the register?"), says("Shall I also send it to you by mail?")
    third = says("It was sent to you just now, good bye.")
    store.call([user("yes")], first)
    store.call([user("yes"), first, user("go on please")], second)
    decided = store.call([first, user("go on please"), second, user("yes")], third)
    assert (decided.window.decision, decided.turn) == ("evict", 3)
    assert [gone.index for gone in decided.window.evictions] == [0]


def test_edits_of_the_provider() -> None:
    store, history = Store(), dialogue(3)
    store.call(history[:1], history[1])
    edit = ProviderEdit("clear", "clear_tool_uses_20250919", 1)
    change = store.call(history[:3], history[3], edits=(edit,)).window
    assert (change.decision, change.decided_by) == ("clear", "provider")
    assert change.evictions == ()
    change = store.call(history[2:5], history[5], edits=(edit,)).window
    assert (change.decision, change.decided_by, len(change.evictions)) == ("clear", "provider", 2)


def test_an_edit_that_is_less_than_what_the_application_did() -> None:
    store, history = Store(), dialogue(4)
    for n in (1, 3, 5):
        store.call(history[:n], history[n])
    edit = ProviderEdit("clear", "clear_tool_uses_20250919", 1)
    change = store.call([user("Summary: one order."), *history[4:7]], history[7], edits=(edit,)).window
    assert (change.decision, change.decided_by) == ("summarize", "application")


def test_a_compaction_in_the_output_is_the_providers_summary() -> None:
    store, history = Store(), dialogue(3)
    store.call(history[:1], history[1], id="c")
    compacted = Message("assistant", (Compaction("one order was looked up"), Text("Order 0 has been sent, as I said.")))
    change = store.call(history[:3], compacted, id="c").window
    assert (change.decision, change.decided_by) == ("summarize", "provider")
    decided = store.call([compacted, user("thank you")], says("You are welcome."), id="c")
    assert (decided.window.decision, decided.window.decided_by, decided.thread) == ("summarize", "provider", 1)
    assert len(decided.window.evictions) == 3
