"""What a thread's answers may draw on, as its window changes."""

from __future__ import annotations

from session_cases import PROMPT, Store, asks, result, says, system, user

from otel_footprint.core.call import Call, CallRef, Output
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement, Value
from otel_footprint.core.messages import Compaction, Message, Opaque, ServerToolCall, ServerToolResult, Text

CALL = asks(("a", "lookup", {"order": "first"}))
READ = result("a", "the parcel number is PX-4711")
LONG_HELLO = says("Hello, what can I do for you today? Ask me anything.")
ANSWER = says("The parcel number is PX-4711, as I have just read.")


def judged(decided: Decisions) -> Judgement:
    (judgement,) = decided.judgements
    return judgement


def only_value(decided: Decisions) -> Value:
    (value,) = judged(decided).values
    return value


def test_a_result_in_the_window_is_read_and_named() -> None:
    store = Store()
    store.call([user("which parcel?")], CALL)
    value = only_value(store.call([user("which parcel?"), CALL, READ], ANSWER))
    assert value.status == "read"
    assert [(carrier.ref, carrier.tool, carrier.turn) for carrier in value.carriers] == [("a", "lookup", 1)]


def test_a_result_that_left_makes_a_value_evicted_and_names_both_calls() -> None:
    store = Store()
    history = [user("which parcel?"), CALL, READ, ANSWER, user("again?")]
    for n in (1, 3):
        store.call(history[:n], history[n], id="c")  # the second, span 2, served it last
    decided = store.call(history[3:5], says("It is PX-4711."), id="c")
    assert decided.window.decision == "evict"
    value = only_value(decided)
    assert value.status == "evicted"
    assert value.evicted_by is not None
    assert (value.evicted_by.decision, value.evicted_by.decided_by) == ("evict", "application")
    assert (value.evicted_by.tool_call_id, value.evicted_by.tool) == ("a", "lookup")
    assert value.evicted_by.served is not None
    assert value.evicted_by.dropped is not None
    assert (value.evicted_by.served.span_id, value.evicted_by.dropped.span_id) == (2, 3)


def test_the_call_that_served_a_result_last_is_named() -> None:
    store = Store()
    history = [user("which parcel?"), CALL, READ, ANSWER, user("again?"), ANSWER, user("and again?")]
    for n in (1, 3, 5):
        store.call(history[:n], history[n], id="c")
    value = only_value(store.call(history[4:], says("It is PX-4711."), id="c"))
    assert value.evicted_by is not None
    assert value.evicted_by.served is not None
    assert value.evicted_by.served.span_id == 3


def test_a_blanked_result_is_evicted_by_clear_and_read_again_when_it_returns() -> None:
    store = Store()
    history = [user("which parcel?"), CALL, READ, ANSWER, user("again?")]
    for n in (1, 3):
        store.call(history[:n], history[n], trace=1)
    again = says("It is PX-4711.")
    blanked = [*history[:2], result("a", "-"), *history[3:]]
    decided = store.call(blanked, again, trace=1)
    value = only_value(decided)
    assert value.evicted_by is not None
    assert (decided.window.decision, value.status, value.evicted_by.decision) == ("clear", "evicted", "clear")
    restored = store.call([*history, again, user("sure?")], says("Yes, PX-4711."), trace=1)
    assert restored.window.decision == "rewrite"
    assert only_value(restored).status == "read"


def test_a_result_that_left_and_returned_is_read() -> None:
    store = Store()
    history = [user("which parcel?"), CALL, READ, ANSWER, user("again?"), says("It was as I said before, see there.")]
    for n in (1, 3):
        store.call(history[:n], history[n])
    store.call([history[0], *history[3:5]], history[5])
    back = store.call([*history, user("which?")], says("PX-4711."))
    assert (back.window.decision, only_value(back).status) == ("append", "read")
    assert only_value(back).carriers[0].ref == "a"


def test_words_stay_said_after_they_left_the_window() -> None:
    store = Store()
    store.call([user("mine is PX-4711")], ANSWER, id="c")
    decided = store.call([user("which one?")], says("PX-4711."), id="c", tools=("lookup",))
    assert (decided.window.decision, only_value(decided).status) == ("reset", "said")


def test_a_summary_says_nothing() -> None:
    store = Store()
    history = [user("which parcel?"), CALL, READ, ANSWER, user("again?")]
    for n in (1, 3):
        store.call(history[:n], history[n], id="c")
    folded = [user("Summary: it was PX-4711 or PX-9999."), user("again?")]
    decided = store.call(folded, says("PX-4711 or PX-9999."), id="c")
    assert decided.window.decision == "summarize"
    assert [value.status for value in judged(decided).values] == ["evicted", "unsupported"]


def test_the_system_prompt_is_said_and_what_changes_in_it_too() -> None:
    store = Store()
    clock = lambda time: (system(f"You sell.\nIt is {time}."),)  # noqa: E731
    store.call([user("hi")], LONG_HELLO, system=clock("2024-05-15 09:11:12"))
    decided = store.call(
        [user("hi"), LONG_HELLO, user("time?")], says("09:14:13"), system=clock("2024-05-15 09:14:13"), tools=("t",)
    )
    assert only_value(decided).status == "said"


def test_ids_marked_as_errors_by_the_request_ground_as_failed() -> None:
    def status(errors: frozenset[str]) -> str:
        store = Store()
        call = asks(("a", "lookup", {"order": "PX-4711"}))
        store.call([user("look it up")], call)
        done = result("a", "no luck today")
        return only_value(
            store.call([user("look it up"), call, done], says("I tried PX-4711."), error_result_ids=errors)
        ).status

    assert status(frozenset()) == "echoed"
    assert status(frozenset({"a"})) == "argument_only"


def test_repeated_ids_name_their_results_apart() -> None:
    store = Store()
    calls = [asks(("find_0", "find", {"n": n})) for n in (1, 2)]
    history = [user("go"), calls[0], result("find_0", "PX-1001"), calls[1], result("find_0", "PX-2002")]
    for n in (1, 3):
        store.call(history[:n], history[n])
    decided = store.call(history, says("PX-1001 and PX-2002"))
    assert [value.carriers[0].ref for value in judged(decided).values] == ["find_0", "find_0#2"]


def test_what_we_cannot_read_accuses_nobody_while_it_is_in_the_window() -> None:
    store = Store()
    image = Message("user", (Text("what is on it?"), Opaque("image")))
    hello = says("It shows a parcel with a number on its label.")
    store.call([image], hello, id="c", tools=("t",))
    decided = store.call([image, hello, user("which number?")], says("PX-4711."), id="c", tools=("t",))
    assert (judged(decided).verdict, judged(decided).reasons) == ("inconclusive", ("opaque_content",))
    decided = store.call([user("which number?"), says("PX-4711."), user("?")], says("PX-4711."), id="c", tools=("t",))
    assert (decided.window.decision, judged(decided).verdict) == ("evict", "ungrounded")


def test_blocks_of_media_in_a_result_cannot_be_read() -> None:
    store = Store()
    call = asks(("a", "screenshot"))
    shot = result("a", [{"type": "text", "text": "here"}, {"type": "image", "source": {"type": "base64", "data": ""}}])
    store.call([user("go")], call)
    assert judged(store.call([user("go"), call, shot], says("PX-4711."))).reasons == ("opaque_content",)


def test_an_opaque_compaction_cannot_be_read() -> None:
    store = Store()
    history = Message("assistant", (Compaction(None),))
    decided = store.call([history, user("which?")], says("PX-4711."), tools=("t",))
    assert judged(decided).reasons == ("opaque_content",)


def test_partial_output_accuses_nobody() -> None:
    store = Store()
    decided = store.call([user("which?")], Output(says("It is PX-47"), partial=True), tools=("t",))
    assert judged(decided).reasons == ("partial_output",)


def test_a_server_side_result_is_evidence_for_the_same_answer() -> None:
    store = Store()
    searched = Message(
        "assistant",
        (
            ServerToolCall("s", "web_search", {"query": "parcel"}),
            ServerToolResult("s", None, "found PX-4711"),
            Text("It is PX-4711."),
        ),
    )
    decided = store.call([user("which?")], searched)
    assert only_value(decided).status == "read"
    assert only_value(decided).carriers[0].tool == "web_search"
    assert decided.tool_results_this_turn == 1
    on = store.call([user("which?"), searched, user("sure?")], says("Yes, PX-4711."), trace=None)
    assert (only_value(on).status, on.tool_results_this_turn, judged(on).earlier_turns_only) == ("read", 0, 1)


def test_a_choice_not_gone_on_with_takes_its_results_along() -> None:
    store = Store()

    def searched(number: str) -> Message:
        return Message(
            "assistant",
            (ServerToolCall(number, "search", {}), ServerToolResult(number, None, number), Text("Found it.")),
        )

    one, two = searched("PX-1001"), searched("PX-2002")
    store.call([user("which?")], one, two, id="c")
    decided = store.call([user("which?"), two, user("name it")], says("PX-1001 or PX-2002"), id="c")
    assert [value.status for value in judged(decided).values] == ["evicted", "read"]


def test_an_encrypted_server_result_cannot_be_read() -> None:
    store = Store()
    searched = Message(
        "assistant",
        (
            ServerToolCall("s", "web_search", {}),
            ServerToolResult("s", None, [{"type": "web_search_result", "title": "t", "encrypted_content": "Ab=="}]),
            Text("It is PX-4711."),
        ),
    )
    assert judged(store.call([user("which?")], searched)).reasons == ("opaque_content",)


def test_text_beside_tool_calls_is_not_judged_and_choices_are_judged_one_by_one() -> None:
    store = Store()
    draft = asks(("a", "lookup"), text="I guess it is PX-9999.")
    assert store.call([user("which?")], draft).judgements == ()
    decided = store.call([user("which?"), draft, READ], ANSWER, says("It is PX-0815."))
    assert [(each.choice, each.verdict) for each in decided.judgements] == [(0, "grounded"), (1, "ungrounded")]


def test_a_fork_inherits_evidence_up_to_where_it_left() -> None:
    store = Store()
    calls = [asks((name, "lookup", {"n": name})) for name in "ab"]
    history = [
        user("first?"), calls[0], result("a", "PX-1001"), says("It is PX-1001, I have just read it."),
        user("second?"), calls[1], result("b", "PX-2002"), says("It is PX-2002, I have just read it."),
    ]  # fmt: skip
    for n in (1, 3, 5, 7):
        store.call(history[:n], history[n], id="c")
    fork = store.call([*history[:4], user("both?")], says("PX-1001 and PX-2002"), id="c")
    assert (fork.thread, fork.forked_from) == (2, 1)
    assert [value.status for value in judged(fork).values] == ["read", "evicted"]
    assert judged(fork).values[0].carriers[0].ref == "a"
    back = store.call([*history, user("both?")], says("PX-1001 and PX-2002"), id="c")
    assert (back.thread, [value.status for value in judged(back).values]) == (1, ["read", "read"])


def test_a_fork_names_repeated_ids_on() -> None:
    store = Store()
    history = [user("go"), CALL, READ, ANSWER, user("again")]
    for n in (1, 3):
        store.call(history[:n], history[n], id="c")
    store.call(history, LONG_HELLO, id="c")
    again = [*history[:4], user("otherwise"), CALL]
    store.call(again[:5], CALL, id="c")
    fork = store.call([*again, result("a", "the parcel number is PX-0815")], says("It is PX-0815."), id="c")
    assert (fork.thread, only_value(fork).carriers[0].ref) == (2, "a#2")


def test_a_siblings_results_count_where_its_final_output_is_held() -> None:
    def statuses(report: str) -> list[str]:
        store = Store()
        prompt = (system("You look things up."),)
        main = [user("which parcels?"), asks(("d", "delegate"))]
        store.call(main[:1], main[1], id="c")
        store.call([user("look")], CALL, system=prompt, id="c")
        store.call([user("look"), CALL, READ], says('I found it: "the" parcel.'), system=prompt, id="c")
        decided = store.call([*main, result("d", report)], says("It is PX-4711."), id="c")
        assert decided.thread == 1
        return [value.status for value in judged(decided).values]

    assert statuses('I found it: "the" parcel.') == ["read"]
    assert statuses('{"report": "I found it: \\"the\\" parcel."}') == ["read"]
    assert statuses("done") == ["unsupported"]


def test_handed_in_and_said_from_outside_reach_every_thread() -> None:
    store = Store()
    store.conversations.hand_in("c", "parcel PX-4711", "register.pdf", now=0.0)
    store.conversations.say("c", "I mean PX-0815", now=0.0)
    decided = store.call([user("which?")], says("PX-4711 and PX-0815, and PX-9999"), id="c", tools=("t",))
    assert [value.status for value in judged(decided).values] == ["read", "said", "unsupported"]
    store.conversations.hand_in("c", "parcel PX-9999", "later.pdf", now=0.0)
    other = store.call([user("sub")], says("PX-4711 and PX-9999"), system=(system("Other."),), id="c", tools=("t",))
    assert (other.thread, [value.status for value in judged(other).values]) == (2, ["read", "read"])


def test_a_conversation_may_be_judged_by_settings_of_its_own() -> None:
    store = Store(evidence=Evidence())
    call = asks(("a", "lookup", {"order": "PX-4711"}))
    store.call([user("look")], call)
    window = [user("look"), call, result("a", "done")]
    store.spans += 1
    decided = store.conversations.observe(
        Call(
            messages=tuple(window), system=(PROMPT,), outputs=(Output(says("I tried PX-4711.")),), now=store.now + 2,
            ref=CallRef(99, 99),
        ),
        evidence=Evidence(strict=True),
    )  # fmt: skip
    assert only_value(decided).status == "argument_only"
