"""Pins: which turns they hold, their ceilings, and how they stand down."""

from __future__ import annotations

from typing import get_args

import pytest

from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.window.pins import best_standing
from otel_footprint.core.window.record import Pin
from otel_footprint.core.window.sliding_window import SlidingWindow
from tests.core.window.cases import (
    Agent,
    asks,
    blocked_by_pins,
    declared,
    reasons,
    result,
    says,
    step,
    steps,
    user,
    visit,
)


class TestLastToolResult:
    def test_the_latest_result_of_each_tool_newest_first(self) -> None:
        history = [user("go"), *step(1, "a"), *step(2, "b"), *step(3, "a"), *steps(2, "c", start=10)]
        plan = visit(history).plan_removal(2)
        assert plan.observations.pinned == (
            Pin(("call_3",), "a", 3, 5, 400),
            Pin(("call_2",), "b", 2, 3, 400),
        )
        assert (plan.first, plan.last) == (1, 1)
        assert plan.observations.yielded == 0

    def test_the_ceiling_turns_the_older_ones_away(self) -> None:
        history = [user("go"), *step(1, "a"), *step(2, "b"), *step(3, "c"), *step(4, "d"), says("ok")]
        plan = visit(history).plan_removal(1)
        assert [pin.tool for pin in plan.observations.pinned] == ["d", "c"]
        assert (plan.observations.yielded, plan.observations.limit) == (2, 2)
        assert (plan.first, plan.last) == (1, 2)

    @pytest.mark.parametrize("off", [0, False])
    def test_it_can_be_turned_off(self, off: int) -> None:
        plan = visit([user("go"), *step(1, "a"), says("ok")], keep_last_tool_results=off).plan_removal(1)
        assert (plan.observations.pinned, plan.observations.limit, plan.observations.yielded) == ((), 0, 0)
        assert plan.first == 1

    def test_one_for_each_turn(self) -> None:
        history = [user("go"), asks(("x", "a"), ("y", "b")), result("x"), result("y"), says("ok")]
        plan = visit(history).plan_removal(1)
        assert plan.observations.pinned == (Pin(("y",), "b", 1, 1, 800),)

    def test_nothing_before_the_request(self) -> None:
        plan = visit([user("go"), *step(1, "a"), user("next"), says("ok")]).plan_removal(1)
        assert plan.observations.pinned == ()
        assert (plan.first, plan.last) == (0, 1)

    def test_a_result_whose_tool_cannot_be_named_is_never_pinned(self) -> None:
        history = [user("go"), asks(("x", "a")), result("x"), result("stranger"), says("ok")]
        assert [pin.tool for pin in visit(history).plan_removal(1).observations.pinned] == ["a"]
        assert visit([user("go"), says("hm"), result("stranger"), says("ok")]).plan_removal(1).observations.pinned == ()

    def test_a_results_own_name_wins(self) -> None:
        history = [user("go"), asks(("x", "a")), result("x", name="b"), says("ok")]
        assert [pin.tool for pin in visit(history).plan_removal(1).observations.pinned] == ["b"]

    def test_inside_the_keep_window_it_costs_nothing(self) -> None:
        history = [user("go"), *step(1, "a"), *step(2, "b"), *step(3, "c"), *step(4, "d")]
        plan = visit(history).plan_removal(2)
        assert [pin.tool for pin in plan.observations.pinned] == ["b", "a"]
        assert (plan.observations.yielded, plan.first) == (0, None)

    def test_it_is_named_as_the_conversation_names_it(self) -> None:
        history = [user("go"), asks(("1", "a")), result("1"), asks(("1", "b")), result("1"), says("ok")]
        plan = visit(history).plan_removal(1)
        assert [pin.tool_call_ids for pin in plan.observations.pinned] == [("1#2",), ("1",)]
        refs = [{2: "1#7", 4: "1#8"}.get(index) for index in range(len(history))]
        plan = visit(history, refs=refs).plan_removal(1)
        assert [pin.tool_call_ids for pin in plan.observations.pinned] == [("1#8",), ("1#7",)]

    def test_a_call_that_never_ran_is_no_result(self) -> None:
        history = [user("go"), *step(1, "a"), *step(2, "a"), says("ok")]
        plan = visit(history, never_ran={"call_2"}).plan_removal(1)
        assert [pin.tool_call_ids for pin in plan.observations.pinned] == [("call_1",)]


class TestLedgerFacts:
    HISTORY = (user("go"), *step(1, "a"), *step(2, "a"), *step(3, "a"), says("ok"))

    def test_off_without_findings(self) -> None:
        plan = visit(self.HISTORY).plan_removal(1)
        assert plan.ledger_facts is None
        assert visit(self.HISTORY).standing_of is None

    def test_the_turns_declared_facts_newest_first(self) -> None:
        plan = visit(
            self.HISTORY, standing=declared(call_1="fact", call_2="fact"), keep_last_tool_results=0
        ).plan_removal(1)
        assert plan.ledger_facts is not None
        assert plan.ledger_facts.pinned == (
            Pin(("call_2",), "a", 2, 3, 400),
            Pin(("call_1",), "a", 1, 1, 400),
        )
        assert reasons(plan)[1] == reasons(plan)[2] == "ledger-fact"
        assert (plan.first, plan.last) == (3, 3)

    @pytest.mark.parametrize("standing", ["open", "noise", "ruled-out", None])
    def test_no_other_standing_holds(self, standing: Standing | None) -> None:
        plan = visit(self.HISTORY, standing=lambda ref: standing, keep_last_tool_results=0).plan_removal(1)
        assert plan.ledger_facts is not None
        assert plan.ledger_facts.pinned == ()

    def test_the_ceiling(self) -> None:
        plan = visit(
            self.HISTORY, standing=lambda ref: "fact", keep_ledger_facts=1, keep_last_tool_results=0
        ).plan_removal(1)
        assert plan.ledger_facts is not None
        assert [pin.turn_index for pin in plan.ledger_facts.pinned] == [3]
        assert (plan.ledger_facts.yielded, plan.ledger_facts.limit) == (2, 1)

    @pytest.mark.parametrize("off", [0, False])
    def test_it_can_be_turned_off(self, off: int) -> None:
        plan = visit(self.HISTORY, standing=lambda ref: "fact", keep_ledger_facts=off).plan_removal(1)
        assert plan.ledger_facts is not None
        assert (plan.ledger_facts.pinned, plan.ledger_facts.limit) == ((), 0)

    def test_one_fact_beside_noise_holds_its_turn_with_all_its_results(self) -> None:
        history = [user("go"), asks(("x", "a"), ("y", "b")), result("x"), result("y"), says("ok")]
        plan = visit(history, standing=declared(x="noise", y="fact"), keep_last_tool_results=0).plan_removal(1)
        assert plan.ledger_facts is not None
        assert plan.ledger_facts.pinned == (Pin(("x", "y"), "b", 1, 1, 800),)

    def test_nothing_before_the_request(self) -> None:
        history = [user("go"), *step(1), user("next"), says("ok")]
        plan = visit(history, standing=lambda ref: "fact").plan_removal(1)
        assert plan.ledger_facts is not None
        assert plan.ledger_facts.pinned == ()

    def test_only_where_a_result_can_be_named(self) -> None:
        history = [user("go"), says("hm"), result("stranger"), says("ok")]
        plan = visit(history, standing=lambda ref: "fact").plan_removal(1)
        assert plan.ledger_facts is not None
        assert plan.ledger_facts.pinned == ()

    def test_a_call_that_never_ran_has_no_say(self) -> None:
        history = [user("go"), asks(("x", "a"), ("y", "b")), result("x"), result("y"), says("ok")]
        facts = {"standing": declared(x="noise", y="fact"), "never_ran": {"y"}, "keep_last_tool_results": 0}
        plan = visit(history, **facts).plan_removal(1)  # type: ignore[arg-type]
        assert plan.ledger_facts is not None
        assert plan.ledger_facts.pinned == ()

    def test_a_repeated_id_is_asked_by_its_name_in_the_conversation(self) -> None:
        history = [user("go"), asks(("1", "a")), result("1"), asks(("1", "a")), result("1"), says("ok")]
        plan = visit(history, standing=declared(**{"1#2": "fact"}), keep_last_tool_results=0).plan_removal(1)
        assert plan.ledger_facts is not None
        assert [pin.tool_call_ids for pin in plan.ledger_facts.pinned] == [("1#2",)]


class TestTurnStanding:
    def test_the_order(self) -> None:
        order: list[Standing | None] = ["fact", "open", None, "ruled-out", "noise"]
        assert set(order) == {*get_args(Standing), None}
        for place, standing in enumerate(order):
            assert best_standing(order[place:]) == standing

    def test_a_strategy_may_ask(self) -> None:
        history = [user("go"), asks(("x", "a"), ("y", "b")), result("x"), result("y"), *step(1), says("ok")]
        input = visit(history, standing=declared(x="noise", call_1="open"))
        assert input.standing_of is not None
        # The undeclared result beside the noise keeps the turn from being noise.
        assert [input.standing_of(turn) for turn in input.turns] == [None, None, "open", None]


class TestStandDown:
    def blocked(self) -> Agent:
        """An agent that may drop nothing but what is pinned, and adds nothing."""
        return Agent(SlidingWindow(1), user("go"), *step(1, "a"), *step(2, "b"), says("ok"))

    def test_after_two_visits_that_only_pins_blocked_they_release_for_one(self) -> None:
        agent = self.blocked()
        agent.call()
        assert blocked_by_pins(agent.last)
        agent.call()
        assert blocked_by_pins(agent.last)
        agent.call()
        assert agent.last.removed_message_count == 4
        assert agent.last.observations.stand_down
        assert agent.last.observations.pinned == ()

    def test_both_kinds_release(self) -> None:
        agent = Agent(SlidingWindow(1), user("go"), *step(1, "a"), says("ok"), standing=lambda ref: "fact")
        for _ in range(3):
            agent.call()
        assert agent.last.ledger_facts is not None
        assert agent.last.ledger_facts.stand_down
        assert agent.last.removed_message_count == 2

    def test_a_visit_that_removed_something_is_not_blocked(self) -> None:
        agent = self.blocked()
        agent.call()
        agent.add(says("more"))
        agent.call()
        assert agent.last.removed_message_count == 1
        agent.call()
        assert not agent.last.observations.stand_down

    def test_a_visit_without_a_record_between_them_starts_anew(self) -> None:
        agent = self.blocked()
        agent.call()
        agent.records.append(None)
        agent.call()
        agent.call()
        assert blocked_by_pins(agent.last)

    def test_a_kind_that_is_off_does_not_stand_down(self) -> None:
        agent = self.blocked()
        agent.call()
        agent.call()
        agent.call(standing=lambda ref: "fact", keep_ledger_facts=0)
        assert agent.last.ledger_facts is not None
        assert not agent.last.ledger_facts.stand_down
