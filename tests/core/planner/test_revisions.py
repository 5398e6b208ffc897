"""An answer that is sent back: one revision a turn, and what stays of it."""

from __future__ import annotations

from typing import Any

import pytest
from planner_cases import Called, Live, asks, correction, result, run, says, user

from otel_footprint.core.messages import Message
from otel_footprint.core.window.items import Put
from otel_footprint.core.window.sliding_window import SlidingWindow

DRAFT = says("Your booking is QX7781ZZ and costs 9,123 dollars.")
CHECK = correction("[automatic check] QX7781ZZ")
NATIVE = ({"role": "assistant", "content": "Your booking"},)


def drafted(live: Live, messages: list[Message]) -> Called:
    """A call whose answer states what nobody read."""
    return live.call(messages, DRAFT, posture="guard", revisable=True)


def revised(live: Live, before: Called, *outputs: Message) -> Called:
    planned = live.planner.revise(before.planned, DRAFT, NATIVE, CHECK)
    return live.answer(before.visit, planned, *outputs, posture="guard")


def test_the_revision_is_the_call_before_asked_again() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    first = drafted(live, messages)
    assert [each.action for each in first.decisions.judgements] == ["recheck"]
    assert first.planned.revision_available
    second = revised(live, first, says("I do not have your booking."))
    assert second.window == (*first.window, DRAFT, CHECK)
    assert [message.authored for message in second.window[-2:]] == ["draft", "correction"]
    put = second.planned.items[-2]
    assert isinstance(put, Put)
    assert put.native is NATIVE
    assert second.planned.is_revision
    assert not second.planned.revision_available
    assert second.planned.record is None
    assert second.decisions.thread == first.decisions.thread
    assert second.decisions.turn == first.decisions.turn
    assert second.decisions.iteration == second.planned.iteration == first.planned.iteration + 1
    change = second.decisions.window
    assert (change.decision, change.evictions, change.inserted) == ("append", (), 0)
    assert change.chars_after == first.decisions.window.chars_after


def test_a_revised_answer_leaves_nothing_of_the_first_in_later_windows() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    revised(live, drafted(live, messages), says("I do not have your booking."))
    messages += [says("I do not have your booking."), user("Thanks. And now?")]
    later = live.call(messages, says("Nothing."), posture="guard", revisable=True)
    assert not any(message.authored in ("draft", "correction") for message in later.window)
    assert later.planned.revision_available, "another turn"
    assert later.decisions.thread == 1
    assert later.decisions.window.decided_by in ("application", "sliding-window")
    assert not any(each.key == DRAFT.key for each in later.decisions.window.evictions)


def test_a_revision_that_calls_tools_keeps_the_pair_until_a_person_speaks() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 2)
    looked = asks(("look", "tool_0"))
    revised(live, drafted(live, messages), looked)
    messages += [looked, result("look", "rows " * 80)]
    for number in range(6):
        called = live.call(messages, asks((f"n{number}", "tool_1")), posture="guard", revisable=False)
        marks = [message.authored for message in called.window]
        assert marks.count("draft") == marks.count("correction") == 1
        place = marks.index("draft")
        assert called.window[place + 1].authored == "correction"
        assert called.window[0].role == "user", "the request stands before it"
        assert not called.planned.revision_available, "the one revision of this turn is spent"
        change = called.decisions.window
        assert change.messages_after == len(called.window) - 2
        assert not any(each.key in (DRAFT.key, CHECK.key) for each in change.evictions)
        given = called.planned.result
        if given is not None and given.window is not None:
            assert change.chars_after == given.record.window_chars_after
        messages += [asks((f"n{number}", "tool_1")), result(f"n{number}", "rows " * 80)]
    live.call(messages, says("It is done."), posture="guard")
    messages += [says("It is done."), user("And now?")]
    later = live.call(messages, says("Nothing."), posture="guard", revisable=True)
    assert not any(message.authored in ("draft", "correction") for message in later.window)
    assert later.planned.revision_available


def test_a_revision_that_failed_leaves_the_draft_as_the_answer() -> None:
    live = Live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(live, messages, 6)
    failed = revised(live, drafted(live, messages))
    assert not failed.decisions.window.settled
    messages += [DRAFT, user("Really?")]
    visit = live.begin(messages)
    assert visit.going is not None
    assert len(visit.window) < len(messages)
    later = live.answer(visit, live.commit(visit), says("No."))
    assert later.decisions.thread == 1
    assert not any(message.authored in ("draft", "correction") for message in later.window)


def test_a_correction_is_neither_evidence_nor_a_turn() -> None:
    live = Live(None)
    messages = [
        user("Read it all."),
    ]
    run(live, messages, 2)
    second = revised(live, drafted(live, messages), says("It is QX7781ZZ."))
    assert second.decisions.turn == 1
    assert second.decisions.judgements[0].verdict == "ungrounded"
    assert second.decisions.judgements[0].action == "flagged"
    assert second.decisions.judgements[0].posture == "guard"


def test_a_posture_acts_only_where_it_can() -> None:
    def action(**facts: object) -> tuple[str, str]:
        live = Live(None)
        messages = [user("Read it all.")]
        run(live, messages, 2)
        judged = live.call(messages, DRAFT, **facts).decisions.judgements[0]
        return judged.posture, judged.action

    assert action() == ("assist", "flagged")
    assert action(posture="guard", revisable=True) == ("guard", "recheck")
    assert action(posture="guard") == ("guard", "flagged")
    assert action(posture="rails", revisable=True) == ("rails", "recheck")
    assert action(posture="rails") == ("rails", "refused")
    assert action(posture="rails", revisable=True, stream_unheld=True)[0] == "assist"
    assert action(posture="rails", stream_unheld=True) == ("assist", "flagged")


@pytest.mark.parametrize("tie", [{"conversation_id": "a", "trace_id": None}, {"trace_id": 7}])
def test_one_revision_a_turn_also_where_the_provider_holds_the_window(tie: dict[str, Any]) -> None:
    live = Live(SlidingWindow(1), server_held=True, **tie)
    first = live.call([user("One.")], DRAFT, posture="guard", revisable=True)
    second = revised(live, first, asks(("look", "tool_0")))
    assert second.window == (user("One."), DRAFT, CHECK)
    later = live.call([result("look", "rows")], says("It is done."), posture="guard")
    assert not later.planned.revision_available
    assert later.window == (result("look", "rows"),), "the provider has the pair already"
    next_turn = live.call([user("Two.")], says("It is done."), posture="guard")
    assert next_turn.planned.revision_available
    assert next_turn.planned.turn == 2
