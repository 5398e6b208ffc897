"""The two drop strategies: when they engage, what leaves, and what is written where it was."""

from __future__ import annotations

from typing import Any

import pytest

from otel_footprint.core.call import CallRef
from otel_footprint.core.errors import ConfigurationError, WindowUnmeasurableError
from otel_footprint.core.messages import Message
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.record import BudgetPressure
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import Measured, Rebase, WindowStrategy
from otel_footprint.core.window.token_budget import TokenBudget
from tests.core.window.cases import (
    OVER,
    Agent,
    asks,
    engaged,
    notices,
    reasons,
    result,
    run,
    says,
    step,
    steps,
    system,
    user,
    visit,
)


def drop(*history: Message, keep: int = 1, **facts: Any) -> Any:
    facts.setdefault("keep_last_tool_results", 0)
    return engaged(SlidingWindow(keep), visit(history, **facts))


class TestOptions:
    @pytest.mark.parametrize("keep", [0, -1, 1.5, "6", None, True])
    def test_sliding_window(self, keep: Any) -> None:
        with pytest.raises(
            ConfigurationError, match=r"SlidingWindow: keep_recent_turns=.* write for example keep_recent_"
        ):
            SlidingWindow(keep)

    def test_the_depth_has_no_default(self) -> None:
        with pytest.raises(TypeError, match="keep_recent_turns"):
            SlidingWindow()  # type: ignore[call-arg]

    @pytest.mark.parametrize("threshold", [0, "120000", None, True, 1e5])
    def test_token_budget(self, threshold: Any) -> None:
        with pytest.raises(
            ConfigurationError, match=r"TokenBudget: threshold_tokens=.* write for example threshold_tokens="
        ):
            TokenBudget(threshold)
        with pytest.raises(ConfigurationError, match="TokenBudget: keep_recent_turns="):
            TokenBudget(1000, 0)

    def test_equal_settings_are_equal(self) -> None:
        assert SlidingWindow(6) == SlidingWindow(6) != SlidingWindow(7)
        assert TokenBudget(1000) == TokenBudget(1000, 6)

    def test_their_names_and_shape(self) -> None:
        assert (SlidingWindow(6).name, TokenBudget(1).name) == ("sliding-window", "token-budget")
        assert isinstance(SlidingWindow(6), WindowStrategy)
        assert isinstance(TokenBudget(1), WindowStrategy)


class TestWhenTheyEngage:
    def test_a_sliding_window_where_there_are_more_turns_than_it_keeps(self) -> None:
        history = [user("go"), *steps(5)]
        assert run(SlidingWindow(6), visit(history)) is None
        assert run(SlidingWindow(5), visit(history)) is not None

    def test_a_notice_is_not_counted(self) -> None:
        assert run(SlidingWindow(6), visit([user("gone", "notice"), user("go"), *steps(5)])) is None

    def test_it_needs_no_usage_and_speaks_of_no_budget(self) -> None:
        given = engaged(SlidingWindow(1), visit([user("go"), *steps(5)], unreported="never"))
        assert given.budget_pressure is None
        assert (given.record.keep_recent_turns, given.record.threshold_tokens) == (1, None)

    def test_a_budget_where_more_tokens_were_reported(self) -> None:
        history = [user("go"), *steps(9)]
        assert run(TokenBudget(100), visit(history, measured=Measured(100, 5))) is None
        given = engaged(TokenBudget(100), visit(history, measured=Measured(101, 5)))
        assert given.budget_pressure == BudgetPressure(100, 101, "evict", "tokens")
        assert (given.record.threshold_tokens, given.record.measured_tokens) == (100, 101)

    def test_before_the_first_call_nothing_is_known(self) -> None:
        assert run(TokenBudget(1), visit([user("go"), *steps(9)])) is None

    def test_a_visit_that_removes_nothing_has_a_record(self) -> None:
        given = engaged(TokenBudget(100, 6), visit([user("go"), *steps(3)], measured=OVER))
        assert (given.window, given.rebase, given.evictions) == (None, None, ())
        assert given.budget_pressure == BudgetPressure(100, 10_000, "none")
        assert set(reasons(given.record).values()) == {"current-request", "inside-keep-window"}

    @pytest.mark.parametrize("facts", [{"unreported": "never"}, {"measured": Measured(0, 0)}])
    def test_a_provider_that_reports_nothing(self, facts: Any) -> None:
        with pytest.raises(WindowUnmeasurableError, match=r"'token-budget'.*acme.*SlidingWindow\("):
            TokenBudget(1).plan(visit([user("go")], provider="acme", **facts))

    @pytest.mark.parametrize("unreported", ["stream", "stopped"])
    def test_a_stream_or_a_provider_that_stops_is_warned_about(self, unreported: Any) -> None:
        given = engaged(TokenBudget(1), visit([user("go"), *steps(9)], unreported=unreported, provider="acme"))
        assert given.record.inactive == "unmeasured"
        assert given.window is None
        assert given.warning is not None
        assert given.warning.startswith("acme ")
        assert ("include_usage" in given.warning) == (unreported == "stream")


class TestTheNotice:
    def test_it_takes_the_head_where_the_next_message_is_not_a_users(self) -> None:
        given = drop(user("a " * 200), says("b"), says("c"), user("go"), says("d"), says("e"), keep=5)
        assert given.window[0].authored == "notice"
        assert "1 earlier message left" in given.window[0].text
        assert "current request" not in given.window[0].text
        assert given.rebase == Rebase(0, 5, 2_000.0)

    def test_it_follows_the_request_that_stands_at_the_head(self) -> None:
        given = drop(user("go"), *steps(4))
        assert [message.authored for message in given.window] == [None, "notice", None, None]
        assert "The current request was kept." in given.window[1].text
        assert "(search)" in given.window[1].text
        assert given.rebase == Rebase(1, 2, 2_000.0)

    def test_a_removal_further_in_leaves_none(self) -> None:
        given = drop(user("go"), system("Be brief."), *steps(4))
        assert notices(given.window) == []
        assert given.rebase == Rebase(2, 2, None)
        given = drop(user("go"), *step(1, "a"), *steps(4, start=5), keep_last_tool_results=2)
        assert notices(given.window) == []

    def test_where_it_is_not_owed_it_is_written_only_if_it_is_smaller(self) -> None:
        given = drop(user("short"), says("talk"), user("go"), says("on"), keep=2)
        assert given.window[0].text == "go"
        given = drop(user("long " * 100), says("talk"), user("go"), says("on"), keep=2)
        assert given.window[0].authored == "notice"

    def test_names_go_first(self) -> None:
        tools = ["a" * 48, "b" * 48, "c" * 48]
        history = [user("go")]
        for number, tool in enumerate(tools):
            history += step(number, tool, "x" * 90)
        given = drop(*history, says("ok"))
        assert "Tool results are among them: call" in given.window[1].text
        assert given.window[1].chars < 270

    def test_where_it_is_owed_and_not_smaller_nothing_leaves(self) -> None:
        given = drop(user("short"), says("talk"), says("more"), user("go"), keep=3)
        assert given.window is None
        assert reasons(given.record) == {
            0: "replacement-not-smaller",
            1: "inside-keep-window",
            2: "inside-keep-window",
            3: "current-request",
        }

    def test_every_turn_of_a_span_that_is_refused_is_named(self) -> None:
        given = drop(user("a"), says("b"), says("c"), user("go"), keep=2)
        assert [reasons(given.record)[turn] for turn in (0, 1)] == ["replacement-not-smaller"] * 2

    def test_the_next_drop_absorbs_it(self) -> None:
        agent = Agent(SlidingWindow(2), user("go"), *steps(3), keep_last_tool_results=0)
        for number in range(5, 12):
            agent.call()
            assert len(notices(agent.window)) == 1
            assert agent.window[1].authored == "notice"
            agent.add(*step(number))
        first, second = agent.results[0], agent.results[1]
        assert first.record.removed_message_count == 2
        assert second.record.removed_message_count == 3  # a call, its result, and the notice
        assert second.rebase == Rebase(1, 4, second.rebase and second.rebase.inserted_at)
        assert "2 earlier messages left" in agent.window[1].text

    def test_one_at_the_head_is_absorbed_when_the_request_comes_to_stand_there(self) -> None:
        agent = Agent(SlidingWindow(4), user("old " * 90), says("b"), user("go"), *steps(3), keep_last_tool_results=0)
        agent.call()
        assert [message.authored for message in agent.window[:2]] == ["notice", None]
        agent.add(*steps(3, start=5))
        given = agent.call()
        assert [message.authored for message in agent.window[:2]] == [None, "notice"]
        assert given is not None
        assert given.rebase is not None
        assert given.rebase.absorbed == (0,)
        assert given.record.removed_message_count == 5

    def test_a_removal_further_in_leaves_the_old_one_where_it_is(self) -> None:
        given = drop(user("gone", "notice"), system("Be brief."), *steps(3), says("c"), user("go"), says("d"))
        assert given.window[0].authored == "notice"
        assert given.record.removed_message_count == 7


class TestTheRecord:
    def test_where_the_messages_were_born_and_how_long_they_lived(self) -> None:
        births = [
            Born(),
            Born(1_990.0, CallRef(7, 70), 3),
            Born(1_995.5, CallRef(7, 71), 4),
            Born(2_001.0, None, 9),
            Born(),
        ]
        history = [user("go"), *step(0, "book"), says("on"), says("ok")]
        refs = [None, None, "call_0", None, None]
        seen = visit(history, births=births, refs=refs, call_number=9, keep_last_tool_results=0)
        given = engaged(SlidingWindow(1), seen)
        assert given.record.removed_span_ids == (70, 71, None)
        assert [
            (e.survival_ms, e.iterations_survived, e.result_ref, e.tool, e.tool_call_id) for e in given.evictions
        ] == [
            (10_000, 6, None, None, None),
            (4_500, 5, "call_0", "book", "call_0"),
            (0, 0, None, None, None),
        ]

    def test_every_tool_whose_result_left_is_named(self) -> None:
        history = [user("go")]
        for number in range(30):
            history += step(number, f"tool {number % 25}")
        given = drop(*history, says("ok"))
        assert given.record.dropped_observations == tuple(f"tool {number}" for number in range(25))

    def test_turns_before_and_after(self) -> None:
        given = drop(user("go"), *steps(4))
        assert (given.record.turns_before, given.record.turns_after) == (5, 2)

    def test_the_messages_that_stay_are_the_same_objects(self) -> None:
        history = [user("go"), *steps(4)]
        given = drop(*history)
        assert given.window[0] is history[0]
        assert given.window[-1] is history[-1]


def test_a_window_without_a_request_or_a_tail_of_users() -> None:
    given = drop(asks(("a", "x")), result("a", "y" * 900), says("b"), keep=1)
    assert [message.authored for message in given.window] == ["notice", None]
