"""The bounds of the store, and that nothing outlives what it belongs to."""

from __future__ import annotations

from session_cases import Store, asks, result, says, system, user

from otel_footprint.core.conversations import Limits
from otel_footprint.core.session import THREADS_LIMIT

ANSWER = says("This is an answer that is long enough to be told from others.")


def test_the_number_of_conversations_is_bounded_and_the_oldest_goes() -> None:
    store = Store(limits=Limits(conversations=3))
    for name in "abc":
        store.call([user(name)], ANSWER, id=name)
    store.call([user("a"), ANSWER, user("on")], ANSWER, id="a")
    store.call([user("d")], ANSWER, id="d")
    assert (len(store.conversations), store.conversations.evicted_conversations) == (3, 1)
    assert store.call([user("a"), ANSWER, user("on"), ANSWER, user("more")], ANSWER, id="a").window.decision == "append"
    assert store.call([user("b"), ANSWER, user("on")], ANSWER, id="b").window.decision == "start"


def test_idle_conversations_go() -> None:
    store = Store(limits=Limits(idle_s=10))
    store.call([user("a")], ANSWER, id="a")
    store.now += 5
    store.call([user("b")], ANSWER, id="b")
    store.now += 6
    store.call([user("b"), ANSWER, user("on")], ANSWER, id="b")
    assert (len(store.conversations), store.conversations.evicted_conversations) == (1, 1)


def test_bytes_are_bounded() -> None:
    store = Store(limits=Limits(bytes=400_000))
    for n in range(10):
        store.call([user("x" * 50_000 + str(n))], ANSWER, id=str(n))
        assert store.conversations.size_bytes <= 400_000
    assert store.conversations.evicted_conversations > 0
    assert len(store.conversations) >= 1


def test_one_conversation_that_is_too_large_loses_its_oldest_threads() -> None:
    store = Store(limits=Limits(bytes=600_000))
    for n in range(10):
        store.call([user("x" * 50_000 + str(n))], ANSWER, system=(system(f"Agent {'abcdefghij'[n]}"),), id="c")
    assert store.conversations.size_bytes <= 600_000
    assert store.conversations.evicted_conversations == 0
    last = store.call([user("x" * 50_000 + "9"), ANSWER, user("on")], ANSWER, system=(system("Agent j"),), id="c")
    assert (last.thread, last.window.decision) == (10, "append")


def test_threads_of_a_conversation_are_bounded() -> None:
    store = Store()
    for n in range(THREADS_LIMIT + 20):
        decided = store.call([user(f"task {n}")], ANSWER, system=(system("x" * (n + 1)),), id="c")
    assert decided.thread == THREADS_LIMIT + 20
    first = store.call([user("task 0"), ANSWER, user("on")], ANSWER, system=(system("x"),), id="c")
    assert (first.thread, first.window.decision) == (THREADS_LIMIT + 21, "start")


def test_ids_of_what_went_are_unknown_again() -> None:
    store = Store(limits=Limits(conversations=1))
    store.call([user("a")], ANSWER, response_id="r1", server_thread="t1")
    store.call([user("b")], ANSWER)
    on = store.call([user("c")], says("It is 987654."), previous_response_id="r1", tools=("t",))
    assert (on.window.messages_after, on.judgements[0].reasons) == (1, ("unseen_history",))
    on = store.call([user("d")], says("It is 987654."), server_thread="t1", tools=("t",))
    assert (on.window.messages_after, on.judgements[0].reasons) == (1, ("unseen_history",))


def test_an_emptied_store_holds_no_index() -> None:
    store = Store(limits=Limits(idle_s=10))
    for n in range(20):
        store.call([user(str(n))], ANSWER, response_id=f"r{n}", server_thread=f"t{n}", trace=n + 1)
    store.now += 100
    store.call([user("last")], ANSWER, trace=99)
    inner = store.conversations
    assert len(inner) == 1
    assert len(inner._index) == 1
    assert (len(inner._server_held._responses), len(inner._server_held._threads)) == (0, 0)
    assert (len(inner._index.outputs), len(inner._index._openings), len(inner._index.traces)) == (1, 1, 1)


def test_what_is_kept_of_messages_that_left_is_bounded() -> None:
    store = Store()
    history = [user("start")]
    for n in range(1500):
        history += [asks((f"c{n}", "find")), result(f"c{n}", f"value {n}")]
    out = says("An answer that is long enough to be recognised by itself.")
    store.call(history, out, id="c")
    decided = store.call([history[-1], out, user("on")], ANSWER, id="c")
    assert len(decided.window.evictions) == 3000
    (thread,) = store.conversations._sessions["c"].index
    assert len(thread.gone) == 1024


def test_a_window_of_one_message_many_times_over_is_no_trouble() -> None:
    store = Store()
    many = [user("yes"), says("ok")] * 10_000
    store.call(many, says("ok"), id="c")
    change = store.call([*many[5_001:], says("ok"), user("yes")], says("ok"), id="c").window
    assert change.decision in ("evict", "append", "summarize")
    assert change.messages_before - len(change.evictions) + 1 == change.messages_after


def test_many_conversations_that_hold_the_same_messages_are_told_apart() -> None:
    store = Store(limits=Limits(conversations=2000))
    closing = says("Your request was submitted; is there anything else that I can do for you?")
    histories = [[user("hi"), ANSWER, user(f"I am {n}"), says(f"Hello {n}."), user("submit it")] for n in range(1500)]
    opened = [store.call(history, closing).conversation for history in histories]
    assert len(set(opened)) == 1500
    for n in (0, 700, 1499):
        on = store.call([*histories[n], closing, user("no")], says("Good bye."))
        assert (on.conversation, on.window.decision) == (opened[n], "append")
    for n in (800, 1200):
        on = store.call([*histories[n][2:], closing, user("no")], says("Good bye."))
        assert (on.conversation, on.window.decision) == (opened[n], "evict")
