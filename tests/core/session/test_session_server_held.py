"""Windows that the provider holds: by a previous response, or by a thread object of its own."""

from __future__ import annotations

from session_cases import Store, asks, result, says, user

ANSWER = says("Your order 1234 has been sent on Monday.")
SECOND = says("And your order 5678 has been sent on Tuesday.")
CALL = asks(("a", "lookup", {"order": 1}))


def test_a_previous_response_brings_its_window() -> None:
    store = Store()
    first = store.call([user("where is it?")], CALL, response_id="r1")
    second = store.call([result("a", "order 1234")], ANSWER, response_id="r2", previous_response_id="r1")
    assert (second.conversation, second.match, second.thread) == (first.conversation, "response_id", 1)
    assert (second.window.decision, second.window.messages_before, second.window.messages_after) == ("append", 2, 3)
    assert (second.turn, second.iteration, second.tool_results_this_turn) == (1, 2, 1)
    assert second.judgements[0].verdict == "grounded"
    third = store.call([user("and the other?")], SECOND, response_id="r3", previous_response_id="r2", system=())
    assert (third.turn, third.window.decision, third.window.messages_after) == (2, "append", 5)


def test_going_on_from_an_earlier_response_forks() -> None:
    store = Store()
    store.call([user("where is it?")], ANSWER, response_id="r1")
    store.call([user("and the other?")], SECOND, response_id="r2", previous_response_id="r1")
    fork = store.call([user("and the third?")], SECOND, response_id="r3", previous_response_id="r1")
    assert (fork.thread, fork.forked_from, fork.window.decision) == (2, 1, "start")
    assert (fork.turn, fork.window.messages_after) == (2, 3)
    on = store.call([user("thanks")], ANSWER, response_id="r4", previous_response_id="r2")
    assert (on.thread, on.window.decision, on.turn) == (1, "append", 3)


def test_asking_again_with_the_same_previous_response() -> None:
    store = Store()
    store.call([user("where is it?")], ANSWER, response_id="r1")
    store.call([user("and the other?")], SECOND, response_id="r2", previous_response_id="r1")
    again = store.call([user("and the other?")], ANSWER, response_id="r3", previous_response_id="r1")
    assert (again.thread, again.window.decision, again.window.evictions) == (1, "append", ())
    for response in ("r2", "r3"):
        on = store.call([user(f"on from {response}")], SECOND, previous_response_id=response)
        assert on.conversation == again.conversation


def test_an_unknown_response_is_history_we_did_not_see() -> None:
    store = Store()
    decided = store.call([user("and the other?")], says("It is order 987654."), previous_response_id="r0", tools=("t",))
    assert (decided.window.decision, decided.match) == ("start", "new")
    (judgement,) = decided.judgements
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("unseen_history",))


def test_an_unknown_response_under_a_known_id_is_never_a_reset() -> None:
    store = Store()
    store.call([user("where is it?")], ANSWER, id="c", response_id="r1")
    decided = store.call([user("and the other?")], SECOND, id="c", previous_response_id="r9", response_id="r10")
    assert (decided.window.decision, decided.window.evictions, decided.thread) == ("append", (), 1)
    assert decided.turn == 2
    on = store.call([user("I see")], says("It is 424242."), id="c", previous_response_id="r10", tools=("t",))
    assert on.window.decision == "append"
    assert on.judgements[0].reasons == ("unseen_history",)


def test_a_response_of_another_conversation_still_brings_its_window() -> None:
    store = Store()
    store.call([user("where is it?")], CALL, id="one", response_id="r1")
    decided = store.call([result("a", "order 1234")], ANSWER, id="two", previous_response_id="r1")
    assert (decided.conversation, decided.thread, decided.window.decision) == ("two", 1, "start")
    assert (decided.window.messages_after, decided.judgements[0].verdict) == (3, "grounded")


def test_a_thread_of_the_provider_brings_its_window() -> None:
    store = Store()
    first = store.call([user("where is it?")], CALL, server_thread="t1")
    assert first.window.decision == "start"
    second = store.call([result("a", "order 1234")], ANSWER, server_thread="t1")
    assert (second.conversation, second.window.decision, second.window.messages_after) == (
        first.conversation, "append", 3,
    )  # fmt: skip
    assert second.tool_results_this_turn == 1


def test_a_thread_of_the_provider_that_is_sent_whole_is_not_doubled() -> None:
    store = Store()
    store.call([user("where is it?")], CALL, server_thread="t1")
    second = store.call([user("where is it?"), CALL, result("a", "order 1234")], ANSWER, server_thread="t1")
    assert (second.window.decision, second.window.messages_after) == ("append", 3)


def test_a_window_that_is_sent_whole_again_is_seen_again() -> None:
    store = Store()
    store.call([user("one")], ANSWER, id="c", previous_response_id="r0")
    decided = store.call([user("one"), ANSWER, user("two")], says("It is 987654."), id="c", tools=("t",))
    assert decided.window.decision == "append"
    assert decided.judgements[0].verdict == "ungrounded"


def test_a_response_from_before_the_window_was_edited_is_unknown() -> None:
    store = Store()
    opening, more = user("where is it, the first order?"), user("and the other?")
    store.call([opening], ANSWER, id="c", response_id="r1")
    store.call([opening, ANSWER, more], SECOND, id="c", response_id="r2")
    edited = store.call([more, SECOND, user("thanks")], ANSWER, id="c", response_id="r3")
    assert edited.window.decision == "evict"
    decided = store.call([user("so?")], says("It is 987654."), id="c", previous_response_id="r2", tools=("t",))
    assert decided.judgements[0].reasons == ("unseen_history",)
    decided = store.call([user("so?")], says("It is 987654."), id="c", previous_response_id="r3", tools=("t",))
    assert decided.judgements[0].verdict == "ungrounded"


def test_a_response_of_another_conversation_resets_nothing_here() -> None:
    store = Store()
    store.call([user("yes")], says("one"), id="a")
    store.call([user("other")], says("two"), response_id="r1")
    found = store.call([], says("three"), id="a", previous_response_id="r1")
    assert found.window.decision == "start"
    assert found.thread == 2
