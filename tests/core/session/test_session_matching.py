"""Which conversation and which thread of it a call belongs to."""

from __future__ import annotations

import pytest
from session_cases import PROMPT, Store, asks, result, says, system, user

from otel_footprint.core.call import Output
from otel_footprint.core.messages import Message, Text

GREETING = says("Hello! How may I help?")
LONG = says("I can help you with that; which of your reservations is it about?")


def test_two_conversations_with_the_same_opening_stay_apart() -> None:
    store = Store()
    first = store.call([user("hi")], LONG)
    second = store.call([user("hi")], LONG)
    assert first.conversation != second.conversation
    left, right = [user("hi"), LONG, user("the one to Rome")], [user("hi"), LONG, user("the one to Oslo")]
    to_rome, to_oslo = says("Rome it is, then; what about it?"), says("Oslo it is, then; what about it?")
    one = store.call(left, to_rome)
    two = store.call(right, to_oslo)
    assert {one.conversation, two.conversation} == {first.conversation, second.conversation}
    for _ in range(2):
        left, right = [*left, to_rome, user("left")], [*right, to_oslo, user("right")]
        to_rome, to_oslo = says(f"{to_rome.text} Rome"), says(f"{to_oslo.text} Oslo")
        assert store.call(right, to_oslo).conversation == two.conversation
        assert store.call(left, to_rome).conversation == one.conversation


def test_an_equal_greeting_merges_nothing() -> None:
    store = Store()
    one = store.call([user("I am Ann."), GREETING, user("My order?")], says("Which one?"))
    two = store.call([user("I am Bob."), GREETING, user("My parcel?")], says("Which parcel?"))
    three = store.call([user("I am Cid."), says("Which one?"), user("My order?")], says("None."))
    assert len({one.conversation, two.conversation, three.conversation}) == 3


def test_a_greeting_that_is_part_of_another_merges_nothing() -> None:
    store = Store()
    one = store.call([user("hi")], says("Hello! I am glad to see you again, dear Ann."))
    two = store.call([user("hi"), says("Hello!"), user("My order?")], says("Which one?"))
    assert one.conversation != two.conversation


def test_a_short_output_and_one_more_message_need_an_id_or_the_trace() -> None:
    def trimmed(**fields: object) -> str:
        store = Store()
        store.call([user("a"), LONG, user("b")], says("Yes."), **fields)  # type: ignore[arg-type]
        return store.call([user("b"), says("Yes."), user("c")], says("No."), **fields).window.decision  # type: ignore[arg-type]

    assert trimmed() == "start"
    assert trimmed(trace=1) == "evict"
    assert trimmed(id="c") == "evict"


def test_tool_call_ids_identify_nothing() -> None:
    store = Store()
    call = asks(("call_1", "find", {"q": 1}))
    one = store.call([user("find one")], call)
    two = store.call([user("find two"), asks(("call_1", "find", {"q": 2})), result("call_1", "2")], LONG)
    assert one.conversation != two.conversation
    assert store.call([user("find one"), call, result("call_1", "1")], LONG).conversation == one.conversation


def test_an_explicit_id_is_the_conversation() -> None:
    store = Store()
    one = store.call([user("hi")], LONG, id="mine")
    assert (one.conversation, one.inferred, one.match) == ("mine", False, "explicit")
    other = store.call([user("hi"), LONG, user("on")], GREETING, id="other")
    assert (other.conversation, other.thread, other.window.decision) == ("other", 1, "start")
    ambient = store.call([user("hey")], LONG, id="theirs", source="ambient")
    assert (ambient.conversation, ambient.match) == ("theirs", "ambient")


def test_ties_go_to_the_same_trace() -> None:
    store = Store()
    opening = [user("hi")]
    one = store.call(opening, LONG, trace=1)
    two = store.call(opening, LONG, trace=2)
    assert one.conversation != two.conversation
    on = [*opening, LONG, user("on")]
    assert store.call(on, GREETING, trace=1).conversation == one.conversation
    assert store.call(on, GREETING, trace=2).conversation == two.conversation


def test_a_clock_in_the_system_prompt_changes_nothing() -> None:
    store = Store()
    at = lambda clock: (system(f"You are an agent. It is {clock}."),)  # noqa: E731
    one = store.call([user("hi")], LONG, system=at("9:59"))
    two = store.call([user("hi"), LONG, user("on")], GREETING, system=at("10:00"))
    assert (two.conversation, two.window.decision) == (one.conversation, "append")
    three = store.call([user("hi"), LONG, user("on")], GREETING, system=(system("You are a poet."),))
    assert three.conversation != one.conversation


def test_agent_and_tools_make_a_candidate_where_the_prompt_changes() -> None:
    store = Store()
    facts = {"agent": "clerk", "tools": ("find", "book")}
    one = store.call([user("hi")], LONG, system=(system("Memory: none."),), **facts)
    facts["tools"] = ("book", "find")
    on = [user("hi"), LONG, user("on")]
    assert store.call(on, GREETING, system=(system("Memory: cats."),), **facts).conversation == one.conversation
    facts["tools"] = ()
    on += [GREETING, user("further")]
    assert store.call(on, LONG, system=(system("Memory: dogs."),), **facts).conversation != one.conversation


def test_another_prompt_over_the_same_history_is_another_thread() -> None:
    store = Store()
    history = [user("hi"), LONG]
    store.call(history[:1], LONG, id="c")
    longer = (system(f"{PROMPT.text} Find a title for what follows."),)
    title = store.call([*history, user("now")], GREETING, system=longer, id="c")
    assert (title.thread, title.window.decision) == (2, "start")


def test_of_threads_with_the_same_output_the_one_that_shares_most_is_meant() -> None:
    store = Store()
    call = asks(("call_1", "update", {"order": 7}))
    mine = [user("I am Ann"), says("Hello Ann, what is it?"), user("change order 7"), says("Shall I?"), user("yes")]
    other = [user("I am Bob"), says("Hello Bob, what is it?"), *[user("x"), says("y")] * 5, user("do it"), user("yes")]
    one = store.call(mine, call)
    two = store.call(other, call)
    assert one.conversation != two.conversation
    decided = store.call([*mine[1:], call, result("call_1", "done")], LONG)
    assert (decided.conversation, decided.window.decision) == (one.conversation, "evict")


def test_a_regenerated_answer_is_the_same_call_asked_again() -> None:
    store = Store()
    first, second = says("The first answer to this question is so."), says("The second answer to it is otherwise.")
    store.call([user("q")], first, trace=1)
    again = store.call([user("q")], second, trace=1)
    assert (again.thread, again.turn, again.iteration) == (1, 1, 2)
    change = again.window
    assert (change.decision, change.evictions, change.messages_before, change.messages_after) == ("append", (), 1, 1)
    assert store.call([user("q"), second, user("on")], LONG, trace=1).window.decision == "append"


def test_an_application_may_go_on_with_the_answer_before_the_regenerated_one() -> None:
    store = Store()
    first, second = says("The first answer to this question is so."), says("The second answer to it is otherwise.")
    store.call([user("q")], first, trace=1)
    store.call([user("q")], second, trace=1)
    decided = store.call([user("q"), first, user("on")], LONG, trace=1)
    assert (decided.thread, decided.window.decision, decided.window.evictions) == (1, "append", ())


def test_an_edited_question_is_a_fork() -> None:
    store = Store()
    answers = [says(f"This is the answer number {n} to the question.") for n in range(4)]
    history = [user("q0"), answers[0], user("q1"), answers[1], user("q2"), answers[2]]
    for n in (1, 3, 5):
        store.call(history[:n], history[n], id="c")
    fork = store.call([*history[:2], user("q1, but otherwise")], answers[3], id="c")
    assert (fork.conversation, fork.thread, fork.forked_from) == ("c", 2, 1)
    assert (fork.window.decision, fork.window.evictions) == ("start", ())
    assert (fork.turn, fork.iteration) == (2, 1)
    on = store.call([*history[:2], user("q1, but otherwise"), answers[3], user("on")], LONG, id="c")
    assert (on.thread, on.turn, on.window.decision, on.forked_from) == (2, 3, "append", 1)
    back = store.call([*history, user("q3")], LONG, id="c")
    assert (back.thread, back.turn, back.window.decision) == (1, 4, "append")


def test_a_parallel_fan_out_in_one_trace_forks() -> None:
    store = Store()
    plan = says("First look at the north, then look at the south.")
    store.call([user("plan")], plan, trace=1)
    north = store.call([user("plan"), plan, user("look north")], LONG, trace=1)
    south = store.call([user("plan"), plan, user("look south")], LONG, trace=1)
    assert (north.thread, north.window.decision) == (1, "append")
    assert (south.thread, south.forked_from, south.window.decision, south.turn) == (2, 1, "start", 2)


def test_a_sub_agent_under_the_same_id_is_a_thread_of_its_own() -> None:
    store = Store()
    main = [user("book a flight"), asks(("a", "delegate"))]
    store.call(main[:1], main[1], id="c")
    prompt = (system("You search for flights."),)
    task = [user("find flights to Rome"), asks(("s", "search"))]
    sub = store.call(task[:1], task[1], system=prompt, id="c")
    assert (sub.thread, sub.forked_from, sub.window.decision, sub.turn) == (2, None, "start", 1)
    sub = store.call([*task, result("s", "HAT001")], says("There is HAT001."), system=prompt, id="c")
    assert (sub.thread, sub.window.decision) == (2, "append")
    back = store.call([*main, result("a", "There is HAT001.")], says("I found HAT001 for you."), id="c")
    assert (back.thread, back.window.decision, back.iteration) == (1, "append", 2)
    second = store.call([user("find hotels in Rome")], asks(("s", "search")), system=prompt, id="c")
    assert (second.thread, second.window.decision) == (3, "start")


def test_an_application_without_memory_under_an_id_resets() -> None:
    store = Store()
    store.call([user("one")], LONG, id="c")
    decided = store.call([user("two")], LONG, id="c")
    assert (decided.thread, decided.window.decision, decided.turn) == (1, "reset", 2)


def test_a_call_that_began_before_the_other_ended_does_not_continue_it() -> None:
    store = Store()
    store.call([user("one")], LONG, id="c")
    parallel = store.call([user("two")], LONG, id="c", started_at=store.now - 0.5)
    assert (parallel.thread, parallel.window.decision) == (2, "start")


def test_keeping_only_the_last_output_under_an_id_continues() -> None:
    store = Store()
    store.call([user("one")], LONG, id="c")
    decided = store.call([LONG, user("two")], GREETING, id="c")
    assert (decided.thread, decided.window.decision) == (1, "evict")


def test_any_of_several_choices_may_be_gone_on_with() -> None:
    store = Store()
    choices = [says(f"This is choice {name}, as good as any other.") for name in "abc"]
    store.call([user("q")], *choices)
    decided = store.call([user("q"), choices[2], user("on")], LONG)
    assert (decided.window.decision, decided.window.evictions, decided.thread) == ("append", (), 1)
    assert decided.window.messages_before == 2


def test_system_text_further_in_does_not_count() -> None:
    store = Store()
    one = store.call([user("hi"), system("Be brief.")], LONG)
    decided = store.call([user("hi"), LONG, user("on"), system("Be brief.")], GREETING)
    assert (decided.conversation, decided.window.decision) == (one.conversation, "append")
    assert decided.window.evictions == ()


def test_asking_again_with_another_reminder() -> None:
    store = Store()
    store.call([user("hi"), system("Be brief.")], LONG, trace=1)
    again = store.call([user("hi"), system("Be very brief."), system("Please.")], GREETING, trace=1)
    assert (again.thread, again.turn, again.iteration, again.window.messages_after) == (1, 1, 2, 3)
    on = store.call([user("hi"), system("Be very brief."), system("Please."), LONG, user("on")], GREETING, trace=1)
    assert (on.thread, on.window.decision, on.window.evictions, on.turn) == (1, "append", (), 2)


SPOKEN = asks(("a", "find", {"n": 1}), ("b", "find", {"n": 2}), text="Let me look that up for you.")


@pytest.mark.parametrize(
    "kept",
    [
        asks(("a", "find", {"n": 1}), ("b", "find", {"n": 2})),
        asks(("a", "find", {"n": 1})),
        asks(("other:a", "find", {"n": 1})),
    ],
    ids=["without its text", "its first call only", "under another id"],
)
def test_an_output_with_calls_that_a_framework_keeps_in_other_words(kept: Message) -> None:
    store = Store()
    first = store.call([user("go")], SPOKEN)
    answer = result(kept.tool_calls[0].id, "PX-1001")
    decided = store.call([user("go"), kept, answer], says("It is PX-1001, as found."))
    assert (decided.conversation, decided.thread, decided.turn, decided.iteration) == (first.conversation, 1, 1, 2)
    assert (decided.window.decision, decided.window.evictions) == ("rewrite", ())
    assert [(each.index, each.role) for each in decided.window.rewrites] == [(1, "assistant")]
    assert decided.judgements[0].values[0].carriers[0].tool == "find"
    on = store.call([user("go"), kept, answer, says("It is PX-1001, as found."), user("on")], GREETING)
    assert (on.conversation, on.window.decision, on.turn) == (first.conversation, "append", 2)


def test_such_an_output_is_recognised_in_a_trimmed_window_by_id_name_and_arguments() -> None:
    store = Store()
    history = [user("go"), asks(("z", "find")), result("z", "nothing"), user("try again")]
    first = store.call(history, SPOKEN)
    kept = asks(("a", "find", {"n": 1}))
    decided = store.call([history[3], kept, result("a", "PX-1001")], says("It is PX-1001, as found."))
    assert (decided.conversation, decided.window.decision) == (first.conversation, "evict")
    assert decided.match == "tool_call"
    assert [each.index for each in decided.window.evictions] == [0, 1, 2]
    store = Store()
    first = store.call(history, SPOKEN)
    kept = asks(("a", "find", {"n": 3}))
    decided = store.call([history[3], kept, result("a", "PX-1001")], says("It is PX-1001, as found."))
    assert (decided.conversation != first.conversation, decided.window.decision) == (True, "start")


def test_an_answer_that_is_kept_cut_or_wrapped() -> None:
    answer = says("Thought: I know.\nFinal Answer: the parcel left on Monday.")
    for kept in (says("Final Answer: the parcel left on Monday."), says(f"{answer.text}\n(sent by the agent)")):
        store = Store()
        first = store.call([user("where is it?")], answer)
        decided = store.call([user("where is it?"), kept, user("and?")], LONG)
        assert (decided.conversation, decided.window.decision) == (first.conversation, "rewrite")
    store = Store()
    first = store.call([user("where is it?")], answer)
    decided = store.call([user("where is it?"), says("I will not tell."), user("and?")], LONG)
    assert (decided.conversation != first.conversation, decided.window.decision) == (True, "start")


def test_a_crowd_with_one_greeting_in_one_trace_is_told_apart() -> None:
    store = Store()
    opened = [store.call([user(f"I am {n}, hi")], GREETING, trace=5) for n in range(200)]
    for n in (0, 77, 199):
        decided = store.call([user(f"I am {n}, hi"), GREETING, user("on")], LONG, trace=5)
        assert (decided.conversation, decided.thread) == (opened[n].conversation, opened[n].thread)


def test_a_partial_answer_is_an_output() -> None:
    store = Store()
    cut = Message("assistant", (Text("The order was sent on the fif"),))
    store.call([user("q")], Output(cut, partial=True), trace=1)
    again = store.call([user("q")], LONG, trace=1)
    assert (again.thread, again.window.decision, again.turn) == (1, "append", 1)
