"""The situations the rules are for, re-enacted; and real conversations run through every strategy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from otel_footprint.core.messages import Message
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import Measured
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget
from otel_footprint.providers.openai_chat import read
from tests.core.window.cases import (
    OVER,
    Agent,
    asks,
    blocked_by_pins,
    declared,
    notices,
    pairing,
    reasons,
    result,
    says,
    step,
    steps,
    user,
)

PLANTED = (1, 3, 5, 8, 10, 12)
"""Which of the twenty calls gave a fact."""


def twenty_calls(strategy: Any, **facts: Any) -> Agent:
    """Twenty calls, six of which give a fact, under a window of six turns."""
    agent = Agent(strategy, user("Which of the twenty pages matter?"), **facts)
    for number in range(20):
        agent.call()
        content = f"FACT {number}: seat {number}A is free" if number in PLANTED else f"page {number} " * 40
        agent.add(*step(number, "scan", content))
    agent.call()
    return agent


def facts_in(window: list[Message]) -> list[int]:
    texts = [message.result.content for message in window if message.result is not None]
    return [number for number in PLANTED if f"FACT {number}: seat {number}A is free" in texts]


class TestTwentyCallsWithSixPlantedFacts:
    def test_by_recency_alone_the_facts_leave_with_the_noise(self) -> None:
        agent = twenty_calls(SlidingWindow(6))
        assert facts_in(agent.window) == []

    def test_declared_facts_stay_word_for_word_up_to_the_ceiling(self) -> None:
        agent = twenty_calls(SlidingWindow(6), standing=declared(**{f"call_{number}": "fact" for number in PLANTED}))
        assert facts_in(agent.window) == list(PLANTED)
        assert agent.last.ledger_facts is not None
        assert len(agent.last.ledger_facts.pinned) == 6
        assert agent.last.ledger_facts.yielded == 0

    def test_with_a_lower_ceiling_the_newest_stay(self) -> None:
        agent = twenty_calls(
            SlidingWindow(6),
            standing=declared(**{f"call_{number}": "fact" for number in PLANTED}),
            keep_ledger_facts=4,
        )
        assert facts_in(agent.window) == list(PLANTED[2:])

    def test_noise_leaves_first_though_it_is_younger(self) -> None:
        agent = twenty_calls(SlidingWindow(6), standing=declared(call_3="fact", call_10="noise", call_12="ruled-out"))
        assert facts_in(agent.window) == [3]

    def test_a_fact_that_is_filed_again_as_noise_is_let_go(self) -> None:
        standings = {f"call_{number}": "fact" for number in PLANTED}
        agent = twenty_calls(SlidingWindow(6), standing=standings.get)
        standings["call_5"] = "noise"
        agent.add(*step(20, "scan"))
        agent.call()
        agent.add(*step(21, "scan"))
        agent.call()
        assert facts_in(agent.window) == [number for number in PLANTED if number != 5]

    def test_a_window_full_of_facts_goes_by_recency_again_and_the_record_says_why(self) -> None:
        agent = Agent(SlidingWindow(2), user("go"), standing=lambda ref: "fact", keep_last_tool_results=0)
        for number in range(20):
            agent.add(*step(number))
            agent.call()
        facts = [record.ledger_facts for record in agent.records if record is not None and record.ledger_facts]
        assert any(pins.stand_down for pins in facts)
        assert all(len(pins.pinned) <= 6 for pins in facts)
        assert len(agent.window) <= 2 + 2 * (6 + 2)

    def test_a_new_request_lets_them_all_go(self) -> None:
        agent = twenty_calls(SlidingWindow(6), standing=declared(**{f"call_{number}": "fact" for number in PLANTED}))
        agent.add(says("Pages 2 and 5."), user("And now book seat 2A."))
        agent.call()
        agent.call()
        assert facts_in(agent.window) == []
        assert [message.text for message in agent.window][-1] == "And now book seat 2A."

    @pytest.mark.parametrize(
        "strategy", [TokenBudget(100), SummarizeOldest(100, lambda prompt: "Pages were read.", "m")]
    )
    def test_under_the_other_strategies_too(self, strategy: Any) -> None:
        agent = twenty_calls(
            strategy, standing=declared(**{f"call_{number}": "fact" for number in PLANTED}), measured=OVER
        )
        assert facts_in(agent.window) == list(PLANTED)


class TestTheOneListOfValidIds:
    IDS = json.dumps({"ids": [f"naa.{number:016x}" for number in range(40)]})

    def loop(self, **facts: Any) -> Agent:
        """A loop that asks once what there is, and then works through it."""
        agent = Agent(SlidingWindow(4), user("Check every volume."), *step(0, "whats_here", self.IDS), **facts)
        for number in range(1, 15):
            agent.call()
            agent.add(*step(number, "check"))
        agent.call()
        return agent

    def holds_ids(self, window: list[Message]) -> bool:
        return any(message.result is not None and message.result.content == self.IDS for message in window)

    def test_it_stays_though_it_is_the_oldest(self) -> None:
        agent = self.loop()
        assert self.holds_ids(agent.window)
        assert [pin.tool for pin in agent.last.observations.pinned] == ["whats_here"]
        # A long window of checks was let go around it.
        assert len(agent.window) == 3 + 2 * 4

    def test_without_the_pin_it_leaves_and_the_notice_says_so(self) -> None:
        agent = self.loop(keep_last_tool_results=0)
        assert not self.holds_ids(agent.window)
        assert any("whats_here" in given.record.dropped_observations for given in agent.results)
        first = next(given for given in agent.results if "whats_here" in given.record.dropped_observations)
        assert "(whats_here)" in notices(list(first.window or ()))[0].text

    def test_a_pin_is_never_without_its_ceiling(self) -> None:
        agent = Agent(SlidingWindow(2), user("go"))
        for number in range(20):
            agent.call()
            agent.add(*step(number, f"tool{number}"))
            # The request, a notice; and steps: two that are kept, one that is new, two that are pinned.
            assert len(agent.window) <= 2 + 2 * (2 + 1 + 2)


def test_a_loop_of_ten_iterations_keeps_the_request_under_a_small_window() -> None:
    agent = Agent(SlidingWindow(1), user("earlier"), says("answer"), user("Find order A-17."))
    for number in range(10):
        agent.call()
        assert any(message.text == "Find order A-17." for message in agent.window)
        agent.add(*step(number, "search"))
    agent.call()
    # The request, a notice, and the last step.
    assert [message.role for message in agent.window] == ["user", "user", "assistant", "tool"]
    assert set(reasons(agent.last).values()) == {"current-request", "inside-keep-window"}


def test_a_window_that_only_pins_hold_is_released_within_two_visits() -> None:
    agent = Agent(TokenBudget(100, 1), user("go"), *step(1, "a"), *step(2, "b"), says("so"), measured=OVER)
    blocked = 0
    while blocked_by_pins((agent.call(), agent.last)[1]):
        blocked += 1
    assert blocked == 2
    assert agent.last.observations.stand_down


def test_what_is_refused_for_its_size_leaves_when_more_may_leave_with_it() -> None:
    agent = Agent(
        SlidingWindow(3), user("hi"), says("hello"), says("how are you"), user("go"), keep_last_tool_results=0
    )
    agent.call()
    assert set(reasons(agent.last).values()) >= {"replacement-not-smaller"}
    agent.add(says("on it"), *steps(1))
    agent.call()
    assert agent.last.removed_message_count == 3
    assert agent.window[0].text == "go"


def test_a_batch_with_a_call_that_still_runs_stays_whole() -> None:
    agent = Agent(SlidingWindow(1), user("go"), *steps(3), asks(("a", "x"), ("b", "y")), result("a"))
    agent.call()
    agent.add(says("meanwhile"))
    agent.call()
    assert pairing(agent.window) == ({"b": 1}, {})
    assert "unresolved-tool-call" in reasons(agent.last).values()


FILES = ["tau_airline/conversations.jsonl", "tau_retail/conversations.jsonl"]
STRATEGIES: dict[str, Callable[[], Any]] = {
    "sliding-window": lambda: SlidingWindow(6),
    "sliding-window of 1": lambda: SlidingWindow(1),
    "token-budget": lambda: TokenBudget(1_000, 4),
    "summarize-oldest": lambda: SummarizeOldest(1_000, lambda prompt: "The user was helped.", "small-model", 4),
}


def conversations(path: Path) -> Iterator[list[Message]]:
    for line in path.read_text("utf-8").splitlines():
        messages = [native.message for native in read(json.loads(line)["messages"])]
        yield [message for message in messages if message.role != "system"]


def replayed(conversation: list[Message], strategy: Any) -> Agent:
    """The conversation as its agent lived it: a call wherever the assistant spoke."""
    agent = Agent(strategy)
    for message in conversation:
        if message.role == "assistant":
            # As a provider would report it: the last window, at about four characters a token.
            agent.call(measured=Measured(sum(held.chars for held in agent.window) // 4, 10))
        agent.add(message)
    return agent


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_real_conversations_stay_whole(shared_data: Path, file: str, name: str) -> None:
    calls = removed = replayed_count = 0
    for conversation in conversations(shared_data / file):
        before = pairing(conversation)
        agent = replayed(conversation, STRATEGIES[name]())
        replayed_count += 1
        calls += agent.calls
        removed += sum(record.removed_message_count for record in agent.records if record is not None)
        assert not pairing(agent.window)[0] - before[0]
        assert not pairing(agent.window)[1] - before[1]
        assert len(notices(agent.window)) <= 1
        said = [message for message in conversation if message.said_by_person]
        assert not said or said[-1] in agent.window
        kept = len(agent.window)
        assert kept == len(agent.births) <= len(conversation) + len(agent.results)
        assert all(isinstance(born, Born) for born in agent.births)
    assert replayed_count > 50
    assert removed > replayed_count
    assert calls > 10 * replayed_count
