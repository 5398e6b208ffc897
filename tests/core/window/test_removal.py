"""The refusal engine: every reason by an example, their order, and the run that is picked."""

from __future__ import annotations

import pytest

from otel_footprint.core.messages import Message, ServerToolCall, Text
from otel_footprint.core.turns import Turn
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.record import REFUSAL_REASONS
from tests.core.window.cases import asks, declared, reasons, result, says, step, steps, system, user, visit


def test_the_closed_set_is_spelled_and_ordered_as_published() -> None:
    assert REFUSAL_REASONS == (
        "current-request",
        "system-envelope",
        "paused-tool",
        "pending-check-in",
        "unresolved-tool-call",
        "last-tool-result",
        "ledger-fact",
        "inside-keep-window",
        "only-existing-summary",
        "summarizer-failed",
        "replacement-not-smaller",
    )


def test_the_oldest_turns_outside_the_keep_window_may_leave() -> None:
    plan = visit([user("hello"), says("hi"), user("find it"), *steps(4)], keep_last_tool_results=0).plan_removal(2)
    assert (plan.first, plan.last) == (0, 1)
    assert reasons(plan) == {2: "current-request", 5: "inside-keep-window", 6: "inside-keep-window"}
    assert plan.unreached == 2  # the steps between the request and the keep window


def test_unremovable_turns_before_the_run_are_stepped_over() -> None:
    plan = visit([user("find it"), *steps(4)], keep_last_tool_results=0).plan_removal(1)
    assert (plan.first, plan.last, plan.unreached) == (1, 3, 0)


def test_a_call_and_its_results_are_one_turn() -> None:
    history = [user("go"), asks(("a", "x"), ("b", "y")), result("a"), result("b"), *steps(2)]
    input = visit(history, keep_last_tool_results=0)
    assert input.turns == (Turn(0, 0), Turn(1, 3), Turn(4, 5), Turn(6, 7))
    assert (input.plan_removal(2).first, input.plan_removal(2).last) == (1, 1)


def test_a_result_that_opens_the_window_is_a_turn() -> None:
    assert visit([result("a"), result("b"), user("go")]).turns == (Turn(0, 1), Turn(2, 2))


def test_nothing_may_leave_where_all_is_recent() -> None:
    plan = visit([user("find it"), *steps(2)]).plan_removal(6)
    assert (plan.first, plan.last, plan.unreached) == (None, None, 0)
    assert reasons(plan) == {0: "current-request", 1: "inside-keep-window", 2: "inside-keep-window"}


def test_an_empty_window_has_no_turns() -> None:
    plan = visit([]).plan_removal(3)
    assert (plan.first, plan.last, plan.refusals, plan.unreached) == (None, None, (), 0)


class TestCurrentRequest:
    def request_of(self, *history: Message, request: str | None = None) -> int | None:
        return visit(list(history), request=request).current_request

    def test_the_last_message_a_person_said(self) -> None:
        assert self.request_of(user("one"), says("ok"), user("two"), *steps(1)) == 2

    def test_the_last_one_whose_text_is_the_request(self) -> None:
        assert self.request_of(user("one"), says("ok"), user("one"), user("two"), request="one") == 2

    def test_texts_are_compared_trimmed(self) -> None:
        assert self.request_of(user("one\n"), user("two"), request=" one") == 0

    def test_a_request_nobody_said_is_the_last_message_said(self) -> None:
        assert self.request_of(user("one"), user("two"), request="three") == 1

    @pytest.mark.parametrize("authored", ["notice", "summary", "correction", "injected"])
    def test_a_message_nobody_said_is_none(self, authored: str) -> None:
        assert self.request_of(user("one"), user("two", authored)) == 0  # type: ignore[arg-type]

    def test_there_may_be_none(self) -> None:
        input = visit([says("hi"), says("ho"), says("hu")])
        assert input.current_request is None
        assert input.plan_removal(1).first == 0

    def test_text_beside_results_is_not_said(self) -> None:
        told = Message("tool", (*result("call_9").parts, Text("and hurry")))
        assert self.request_of(user("one"), asks(("call_9", "x")), told) == 0


def test_a_later_system_message_stays() -> None:
    plan = visit([user("a"), says("b"), system("Be brief."), says("c"), user("go")]).plan_removal(1)
    assert reasons(plan)[2] == "system-envelope"
    assert (plan.first, plan.last, plan.unreached) == (0, 1, 1)


def test_the_paused_tool_and_a_pending_check_in_stay() -> None:
    history = [says("a"), asks(("p", "pay")), asks(("q", "ask")), user("go"), says("b")]
    plan = visit(history, paused={"p"}, pending={"q"}).plan_removal(1)
    assert reasons(plan) == {
        1: "paused-tool",
        2: "pending-check-in",
        3: "current-request",
        4: "inside-keep-window",
    }


def test_an_id_that_repeats_names_the_newest_call() -> None:
    history = [user("go"), asks(("1", "x")), result("1"), asks(("1", "x")), result("1"), says("b")]
    plan = visit(history, pending={"1"}, keep_last_tool_results=0).plan_removal(1)
    assert (plan.first, plan.last) == (1, 1)
    assert reasons(plan)[2] == "pending-check-in"


def test_an_id_that_is_not_in_the_window_holds_nothing() -> None:
    plan = visit([says("a"), user("go")], paused={"gone"}, pending={"gone"}).plan_removal(0)
    assert reasons(plan) == {1: "current-request"}


def test_a_call_without_a_result_stays() -> None:
    history = [user("go"), *steps(1), asks(("open", "x"), ("done", "y")), result("done"), *steps(2, start=5)]
    plan = visit(history, keep_last_tool_results=0).plan_removal(1)
    assert reasons(plan)[2] == "unresolved-tool-call"
    assert (plan.first, plan.last, plan.unreached) == (1, 1, 1)


def test_a_repeated_id_answers_the_nearest_call() -> None:
    history = [user("go"), asks(("1", "x")), says("again"), asks(("1", "x")), result("1"), says("a"), says("b")]
    assert reasons(visit(history, keep_last_tool_results=0).plan_removal(1)) == {
        0: "current-request",
        1: "unresolved-tool-call",
        5: "inside-keep-window",
    }


def test_calls_without_ids_are_answered_in_their_turn() -> None:
    history = [user("go"), asks((None, "x"), (None, "y")), result(None, name="x"), result(None, name="y"), says("a")]
    assert reasons(visit(history, keep_last_tool_results=0).plan_removal(1)).get(1) is None
    assert (
        reasons(visit([*history[:3], says("a")], keep_last_tool_results=0).plan_removal(1))[1] == "unresolved-tool-call"
    )


def test_a_call_that_the_provider_runs_is_not_waited_for() -> None:
    searched = Message("assistant", (ServerToolCall("ws_1", "web_search", {}), Text("found")))
    assert reasons(visit([searched, user("go")]).plan_removal(0)) == {1: "current-request"}


class TestACallWhoseResultIsInAnotherTurn:
    """Some APIs let a person's message stand between a call and its result."""

    PAIR = (asks(("c", "x")), user("hurry"), result("c"))

    def test_both_may_leave_together(self) -> None:
        plan = visit([*self.PAIR, user("go"), says("a")], keep_last_tool_results=0).plan_removal(1)
        assert (plan.first, plan.last) == (0, 1)

    def test_neither_leaves_alone(self) -> None:
        plan = visit([says("a"), *self.PAIR, user("go")], keep_last_tool_results=0).plan_removal(2)
        assert reasons(plan) == {1: "unresolved-tool-call", 2: "inside-keep-window", 3: "current-request"}
        assert (plan.first, plan.last) == (0, 0)

    def test_the_request_between_them_holds_both(self) -> None:
        plan = visit([says("a"), *self.PAIR, says("b")], keep_last_tool_results=0).plan_removal(1)
        assert reasons(plan)[1] == "unresolved-tool-call"
        assert reasons(plan)[2] == "current-request"


class TestPrecedence:
    """Of one turn the first reason in the order is named."""

    def test_request_before_system_before_paused_before_pending_before_unresolved(self) -> None:
        both = asks(("p", "pay"))
        assert reasons(visit([both, user("go")], paused={"p"}, pending={"p"}).plan_removal(0))[0] == "paused-tool"
        assert reasons(visit([both, user("go")], pending={"p"}).plan_removal(0))[0] == "pending-check-in"
        assert reasons(visit([both, user("go")]).plan_removal(0))[0] == "unresolved-tool-call"

    def test_an_unresolved_call_before_a_pin(self) -> None:
        history = [user("go"), asks(("a", "x"), ("b", "y")), result("b"), says("c")]
        plan = visit(history).plan_removal(1)
        assert reasons(plan)[1] == "unresolved-tool-call"

    def test_the_latest_result_before_a_declared_fact(self) -> None:
        history = [user("go"), *step(1), says("c")]
        plan = visit(history, standing=declared(call_1="fact")).plan_removal(1)
        assert reasons(plan)[1] == "last-tool-result"
        assert plan.ledger_facts is not None
        assert [pin.turn_index for pin in plan.ledger_facts.pinned] == [1]

    def test_being_recent_before_a_pin_but_not_before_the_others(self) -> None:
        history = [user("go"), *step(1), system("Be brief."), asks(("open", "x"))]
        assert reasons(visit(history, standing=declared(call_1="fact")).plan_removal(9)) == {
            0: "current-request",
            1: "inside-keep-window",
            2: "system-envelope",
            3: "unresolved-tool-call",
        }


class TestOnlyExistingSummary:
    def test_a_span_that_is_one_summary_is_refused(self) -> None:
        input = visit([user("what was", "summary"), user("go"), *steps(2)], keep_last_tool_results=0)
        plan = input.plan_removal(2, lambda turn: input.history[turn.first].authored == "summary")
        assert (plan.first, plan.last) == (None, None)
        assert reasons(plan)[0] == "only-existing-summary"

    def test_a_summary_with_more_behind_it_may_leave(self) -> None:
        input = visit([user("what was", "summary"), says("and"), user("go"), *steps(2)], keep_last_tool_results=0)
        plan = input.plan_removal(2, lambda turn: input.history[turn.first].authored == "summary")
        assert (plan.first, plan.last) == (0, 1)

    def test_it_does_not_keep_what_is_behind_the_request_from_leaving(self) -> None:
        input = visit([user("what was", "summary"), user("go"), *steps(5)], keep_last_tool_results=0)
        plan = input.plan_removal(2, lambda turn: input.history[turn.first].authored == "summary")
        assert (plan.first, plan.last, plan.unreached) == (2, 4, 0)
        assert reasons(plan)[0] == "only-existing-summary"

    def test_a_strategy_that_does_not_ask_may_drop_one(self) -> None:
        plan = visit([user("what was", "summary"), user("go"), *steps(2)], keep_last_tool_results=0).plan_removal(2)
        assert (plan.first, plan.last) == (0, 0)


def test_a_notice_is_no_turn_and_ends_no_run() -> None:
    history = [says("a"), user("gone", "notice"), says("b"), user("go"), says("c")]
    input = visit(history)
    assert [turn.first for turn in input.turns] == [0, 2, 3, 4]
    assert (input.plan_removal(1).first, input.plan_removal(1).last) == (0, 1)


def test_a_notice_alone_is_nothing_to_remove() -> None:
    plan = visit([user("gone", "notice"), user("go"), says("a")]).plan_removal(1)
    assert (plan.first, plan.unreached) == (None, 0)


def test_the_engine_gives_the_same_answer_each_time() -> None:
    input = visit([user("go"), *steps(12)])
    assert input.plan_removal(3) == input.plan_removal(3)
    assert input.plan_removal(3) != input.plan_removal(5)


def test_a_window_without_its_births_is_refused() -> None:
    with pytest.raises(ValueError, match="2 messages with 1 births"):
        visit([user("a"), says("b")], births=[Born()])
    with pytest.raises(ValueError, match="2 messages with 3 references"):
        visit([user("a"), says("b")], refs=[None] * 3)
