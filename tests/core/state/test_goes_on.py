"""Whatever an application does, a conversation that goes on in another process at every call is decided about as one that stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_cases import Worker, asks, result, says, user

from otel_footprint.core.decisions import Decisions
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.messages import Message, Opaque, Text
from otel_footprint.core.window.sliding_window import SlidingWindow

SYSTEM = [Message("system", (Text("Answer from the tools. The limit is 500.00."),))]


class Pair:
    """One process, and a chain of processes each of which has one call.

    A call that failed while a strategy decides is tried again where it failed: what was decided for it is known only there.
    """

    def __init__(self, *, text: bool, strategy: Any = None) -> None:
        self.text, self.count = text, 0
        self.one = Worker(strategy, findings=Findings())
        self.two = self.one.elsewhere(text=text)

    def call(self, messages: Sequence[Message], *outputs: Message, **fields: Any) -> tuple[Decisions, Decisions]:
        fields.setdefault("acting", False)
        fields.setdefault("system", SYSTEM)
        here = self.one.call(messages, *outputs, number=self.count, **fields)
        there = self.two.call(messages, *outputs, number=self.count, **fields)
        self.count += 1
        if outputs or not fields["acting"]:
            self.two = self.two.elsewhere(text=self.text)
        if self.text:
            assert there == here
        else:
            assert bare(there) == bare(here)
            for was, now in zip(here.judgements, there.judgements, strict=True):
                assert now.verdict in (was.verdict, "inconclusive")
        return here, there

    def both(self, what: Callable[[Worker], None]) -> None:
        """Something that the application says beside its calls."""
        what(self.one)
        what(self.two)


def bare(decisions: Decisions) -> Decisions:
    return replace(decisions, judgements=(), calls=(), findings=None)


TEXT = pytest.mark.parametrize("text", [True, False], ids=["text", "bare"])


def read(number: int) -> list[Message]:
    return [
        asks((f"c{number}", "get_order", {"id": f"W-55{number:03}"})),
        result(f"c{number}", {"order": f"W-77{number:03}", "total": 100.25 + number}),
    ]


def history(count: int) -> list[Message]:
    made = [user("What about my orders?")]
    for number in range(count):
        made += read(number)
    return made


def grow(pair: Pair, messages: list[Message], count: int, **fields: Any) -> list[Message]:
    """``count`` calls of a tool; what the history is then."""
    for number in range(count):
        made = read(pair.count + number)
        pair.call(messages, made[0], **fields)
        messages = [*messages, *made]
    return messages


@TEXT
def test_a_result_that_left_is_evicted_and_one_that_returns_has_its_birth(text: bool) -> None:
    pair = Pair(text=text)
    messages = grow(pair, [user("What about my orders?")], 3)
    pair.call(messages, says("Total 100.25."))
    here, there = pair.call(
        [messages[0], *messages[3:], says("Total 100.25."), user("And the first?")], says("It was 100.25.")
    )
    assert [each.result_ref for each in here.window.evictions] == [None, "c0"]
    assert here.judgements[0].verdict == "ungrounded"
    assert there.judgements[0].verdict == ("ungrounded" if text else "inconclusive")
    again = [*messages, says("Total 100.25."), user("And the first?"), says("It was 100.25."), user("So?")]
    here, _ = pair.call(again, says("100.25"))
    assert here.window.inserted == 2
    gone = pair.call([user("So?"), says("100.25"), user("Now?")], says("Yes."))[0]
    assert {each.result_ref: each.iterations_survived for each in gone.window.evictions}["c0"] == 5


@TEXT
def test_a_conversation_within_one_window_lacks_nothing_once_it_was_shown(text: bool) -> None:
    pair = Pair(text=text)
    messages = grow(pair, [user("What about my orders?")], 3)
    here, there = pair.call(messages, says("W-77001 comes to 101.25, W-99999 to nothing."))
    assert here == there
    assert here.judgements[0].verdict == "ungrounded"


def test_what_an_answer_computed_is_no_more_known_without_text() -> None:
    pair = Pair(text=False)
    messages = grow(pair, [user("What about my orders?")], 3)
    answer = says("All three: 303.75.")
    pair.call(messages, answer)
    here, there = pair.call([*messages, answer, user("Sure?")], says("W-11111 is not."))
    assert here.judgements[0].verdict == "ungrounded"
    assert there.judgements[0].verdict == "inconclusive"
    assert there.judgements[0].reasons == ("unseen_history",)


@TEXT
def test_a_fork_and_a_sub_agent_whose_report_is_quoted(text: bool) -> None:
    pair = Pair(text=text)
    messages = grow(pair, [user("What about my orders?")], 2)
    fork = [messages[0], *messages[1:3], user("Only that one.")]
    assert pair.call(fork, says("Total 100.25."))[0].forked_from == 1
    inner = [Message("system", (Text("You look things up."),))]
    report = says("The parcel PKG-4471 weighs 12.375 kg.")
    task = [user("Look for the parcel."), asks(("p1", "find", {})), result("p1", "PKG-4471 12.375 kg")]
    pair.call(task[:1], task[1], system=inner)
    assert pair.call(task, report, system=inner)[0].thread == 3
    whole = [*messages, asks(("t9", "delegate", {})), result("t9", report.text)]
    pair.call(messages, whole[-2])
    here, there = pair.call(whole, says("It weighs 12.375 kg."))
    assert here.judgements[0].verdict == there.judgements[0].verdict == "grounded"


@TEXT
def test_windows_that_the_provider_holds(text: bool) -> None:
    pair = Pair(text=text)
    one = read(1)
    pair.call([user("My order?")], one[0], response_id="r1")
    pair.call(one[1:], says("Total 101.25."), response_id="r2", previous_response_id="r1")
    here, _ = pair.call([user("Sure?")], says("101.25, yes."), response_id="r3", previous_response_id="r2")
    assert (here.thread, here.turn, here.window.decision) == (1, 2, "append")
    here, _ = pair.call([user("Or else?")], says("101.25."), response_id="r4", previous_response_id="r2")
    assert here.forked_from == 1
    pair.call([user("Hello.")], says("Yes?"), server_thread="conv_1")
    assert pair.call([user("The order.")], says("Which?"), server_thread="conv_1")[0].window.messages_before == 2


@TEXT
def test_words_and_evidence_beside_the_messages(text: bool) -> None:
    pair = Pair(text=text)
    pair.both(lambda worker: worker.store.say("a", "I pay 812.40 at most.", now=1_000.0))
    pair.both(lambda worker: worker.store.hand_in("a", "Policy P-7781: 33.75 per day.", "policy", now=1_000.0))
    pair.two = pair.two.elsewhere(text=text)
    if not text:  # the application says so again, in whatever process it is
        pair.both(lambda worker: worker.store.say("a", "I pay 812.40 at most.", now=1_000.0))
        pair.both(lambda worker: worker.store.hand_in("a", "Policy P-7781: 33.75 per day.", "policy", now=1_000.0))
    here, there = pair.call([user("So?")], says("812.40, by P-7781 33.75 a day."), tools=("get",))
    assert here.judgements == there.judgements
    assert here.judgements[0].verdict == "grounded"


def test_what_was_said_here_stays_when_a_store_brings_more() -> None:
    there = Worker()
    there.call([user("Hello.")], says("Yes?"), number=0)
    here = Worker()
    here.store.say("a", "I pay 812.40 at most.", now=1_000.0)
    here.restore(there.document(text=True))
    decided = here.call([user("Hello."), says("Yes?"), user("So?")], says("You pay 812.40."), number=1, tools=("get",))
    assert decided.turn == 2
    assert decided.judgements[0].verdict == "grounded"


@TEXT
def test_several_choices_a_failed_call_and_one_made_once_more(text: bool) -> None:
    pair = Pair(text=text)
    messages = grow(pair, [user("My orders?")], 1)
    pair.call(messages)
    pair.call(messages, says("100.25 it is."), says("It is W-77000."))
    pair.call(messages, says("100.25, I said."))
    here, _ = pair.call([*messages, says("It is W-77000."), user("Fine.")], says("Good."))
    assert (here.thread, here.turn, here.window.decision) == (1, 2, "append")


@TEXT
def test_an_output_in_other_words_is_recognised(text: bool) -> None:
    pair = Pair(text=text)
    first = user("My order?")
    call = asks(("c1", "get_order", {"id": "W-1"}), text="Let me see.")
    pair.call([first], call)
    here, _ = pair.call([first, asks(("c1", "get_order", {"id": "W-1"})), result("c1", "total 7.75")], says("7.75"))
    assert (here.thread, here.window.decision) == (1, "rewrite")


@TEXT
def test_a_first_call_that_failed_is_tried_again(text: bool) -> None:
    pair = Pair(text=text)
    pair.call([user("My order?")])
    here, _ = pair.call([user("My order?")], says("Which?"))
    assert (here.thread, here.turn, here.window.decision) == (1, 1, "start")


@TEXT
def test_a_system_text_that_changes_in_its_digits_and_one_that_grows(text: bool) -> None:
    pair = Pair(text=text)
    messages = [user("My order?")]
    clock = [Message("system", (Text("It is 12:01. Be kind."),))]
    pair.call(messages, says("Which do you mean, please tell me the number?"), system=clock)
    messages += [says("Which do you mean, please tell me the number?"), user("W-1, of course.")]
    clock = [Message("system", (Text("It is 12:02. Be kind."),))]
    assert pair.call(messages, says("Thank you, I look for it."), system=clock)[0].thread == 1
    grown = [Message("system", (Text("It is 12:02. Be kind.\nBefore: the person asked for W-1."),))]
    rest = [messages[-1], says("Thank you, I look for it."), user("And?")]
    here, _ = pair.call(rest, says("Nothing."), system=grown)
    assert (here.thread, here.window.decision) == (1, "summarize")


@TEXT
def test_what_cannot_be_read_stays_so(text: bool) -> None:
    pair = Pair(text=text)
    picture = Message("user", (Text("Look."), Opaque("image")))
    pair.call([picture], says("I see."))
    here, there = pair.call([picture, says("I see."), user("And the price?")], says("812.40"), tools=("get",))
    assert here.judgements[0].verdict == there.judgements[0].verdict == "inconclusive"
    assert "opaque_content" in there.judgements[0].reasons


@TEXT
def test_an_agent_whose_windows_a_strategy_of_ours_keeps_short(text: bool) -> None:
    pair = Pair(text=text, strategy=SlidingWindow(2))
    messages = [user("What about my orders?")]
    decided = []
    for number in range(8):
        made = read(number) if number % 4 != 3 else [says(f"So far {100.25 + number - 1}."), user("Go on.")]
        decided.append(pair.call(messages, made[0], acting=True)[0])
        messages = [*messages, *made]
    assert sum(len(one.window.evictions) for one in decided) > 4
    assert {one.window.decided_by for one in decided} >= {"sliding-window"}


@TEXT
@pytest.mark.parametrize("chars", [0, 400], ids=["small", "large"])
def test_what_was_decided_for_a_call_that_failed_is_decided_anew_elsewhere(text: bool, chars: int) -> None:
    worker = Worker(SlidingWindow(2))
    messages = [user("What about my orders?")]
    told: list[bytes] = []

    def call(*outputs: Message) -> Decisions:
        decided = worker.call(messages, *outputs, number=len(messages), system=SYSTEM)
        sent = [message.key for message in worker.sent]
        left = [each.key for each in decided.window.evictions]
        assert decided.window.messages_after == len(sent)
        assert not set(left) & {*sent, *told}
        assert {message.key for message in messages} <= {*sent, *told, *left}
        if outputs:
            told.extend(left)
        return decided

    def reads(number: int) -> Decisions:
        asked = read(number)[0]
        decided = call(asked)
        messages.extend([asked, result(f"c{number}", {"order": f"W-77{number:03}", "note": "." * chars})])
        return decided

    for number in range(3):
        reads(number)
    assert "c0" in [each.result_ref for each in call().window.evictions]
    worker = worker.elsewhere(text=text)
    messages.append(user("Please."))
    decided = reads(3)
    assert worker.sent[-1] == messages[-3]
    assert (decided.turn, decided.window.decided_by) == (2, "sliding-window" if chars else "application")
    assert [each.result_ref for each in decided.window.evictions if each.result_ref] == (["c0", "c1"] if chars else [])
    assert ("c0" in [each.result_ref for each in reads(4).window.evictions]) is not bool(chars)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["read", "answer", "wrong", "ask", "fail", "again", "other", "system"]), st.just(0)),
        st.tuples(st.sampled_from(["drop", "clear", "fork", "back", "fold"]), st.integers(0, 6)),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.booleans(), st.booleans())
def test_whatever_an_application_does(steps: list[tuple[str, int]], text: bool, acting: bool) -> None:
    pair = Pair(text=text, strategy=SlidingWindow(2) if acting else None)
    fields: dict[str, Any] = {"acting": acting}
    messages = [user("What about my orders?")]
    dropped: list[Message] = []
    for what, place in steps:
        number = pair.count
        if what == "read":
            made = read(number % 4)
            pair.call(messages, made[0], **fields)
            messages = [*messages, *made]
        elif what in ("answer", "wrong"):
            value = 100.25 + number if what == "answer" else 4711.5
            answer = says(f"It comes to {value}, {2 * value} for both.")
            pair.call(messages, answer, **fields)
            messages = [*messages, answer, user(f"And number {number}?")]
        elif what == "ask":
            messages = [*messages, user("Please.")]
        elif what == "fail":
            pair.call(messages, **fields)
        elif what == "again":
            pair.call(messages, says("As I said."), **fields)
        elif what == "other":
            pair.call(
                [user("Something else.")], says("Yes?"), system=[Message("system", (Text("Other."),))], acting=False
            )
        elif what == "system":
            fields["system"] = [Message("system", (Text(f"Answer from the tools. It is {number}:00."),))]
        elif what == "drop" and len(messages) > place + 1:
            dropped, messages = messages[:place], messages[place:]
        elif what == "back":
            messages = [*dropped, *messages]
        elif what == "clear":
            messages = [
                result(one.result.id or "", "[cleared]") if one.result is not None and index < place else one
                for index, one in enumerate(messages)
            ]
        elif what == "fork":
            messages = [*messages[: place + 1], user(f"Another way {number}.")]
        elif what == "fold" and len(messages) > place + 2:
            messages = [user("Summary: orders were read."), *messages[place + 1 :]]
