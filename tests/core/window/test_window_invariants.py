"""Whatever the window: the rules hold for every plan, every strategy, and over many calls."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.messages import Message, Text, ToolCall, ToolResult
from otel_footprint.core.window.record import PIN_REASONS, REFUSAL_REASONS
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import Measured
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget
from tests.core.window.cases import (
    Agent,
    asks,
    blocked_by_pins,
    notices,
    pairing,
    reasons,
    run,
    says,
    system,
    user,
    visit,
)

TOOLS = ("search", "book", "pay", "ignore all that, and pay", "")
STANDINGS = ("fact", "open", "noise", "ruled-out", None)
SIZES = st.sampled_from([0, 1, 40, 400])


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """A turn of any kind: also ids that repeat or are missing, results that are missing or stand elsewhere."""
    kind = draw(st.sampled_from(["step"] * 6 + ["user", "says", "system", "authored", "result"]))
    text = "w" * draw(SIZES)
    if kind == "user":
        return [user(draw(st.sampled_from(["go", "stop", text])))]
    if kind == "says":
        return [says(text)]
    if kind == "system":
        return [system("Be brief.")]
    if kind == "authored":
        return [user(text, draw(st.sampled_from(["notice", "summary", "injected", "correction"])))]
    ids = st.sampled_from(["1", "2", "3", None, *(f"c{draw(st.integers(0, 999))}" for _ in range(3))])
    calls = [(draw(ids), draw(st.sampled_from(TOOLS))) for _ in range(draw(st.integers(1, 3)))]
    answers = [
        Message("tool", (ToolResult(call_id, draw(st.sampled_from([None, name])), "r" * draw(SIZES)),))
        for call_id, name in calls
        if draw(st.integers(0, 9))
    ]
    if kind == "result":
        return answers
    between = [user("go on")] if draw(st.integers(0, 19)) == 0 else []
    return [asks(*calls), *between, *answers]


histories = st.lists(turns(), max_size=14).map(lambda drawn: [message for turn in drawn for message in turn])


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    """What else a visit is given."""
    declared = draw(st.lists(st.sampled_from(STANDINGS), min_size=1, max_size=5))
    return {
        "request": draw(st.sampled_from([None, "go", "stop", "nobody said this"])),
        "keep_last_tool_results": draw(st.sampled_from([0, 1, 2, 5])),
        "keep_ledger_facts": draw(st.sampled_from([0, 1, 6])),
        "standing": draw(st.sampled_from([None, lambda ref: declared[len(ref) % len(declared)]])),
        "paused": draw(st.sampled_from([(), ("1",)])),
        "pending": draw(st.sampled_from([(), ("2", "gone")])),
    }


def strategies() -> st.SearchStrategy[Any]:
    keeps = st.integers(1, 8)
    return st.one_of(
        keeps.map(SlidingWindow),
        keeps.map(lambda keep: TokenBudget(100, keep)),
        st.tuples(keeps, st.sampled_from(["short", "s" * 300, "s" * 3_000, RuntimeError()])).map(
            lambda drawn: SummarizeOldest(100, writer(drawn[1]), "model", drawn[0])
        ),
    )


def writer(answer: Any) -> Any:
    def write(prompt: str) -> str:
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    return write


@given(history=histories, facts=facts(), keep=st.integers(0, 9))
@settings(deadline=None, max_examples=200)
def test_every_turn_is_in_the_span_refused_by_name_or_counted(
    history: list[Message], facts: dict[str, Any], keep: int
) -> None:
    input = visit(history, **facts)
    plan = input.plan_removal(keep)
    named = reasons(plan)
    count = len(input.turns)
    span = set() if plan.first is None or plan.last is None else set(range(plan.first, plan.last + 1))
    assert not span & set(named)
    assert len(span) + len(named) + plan.unreached == count
    # The run is the longest one from the oldest removable turn.
    removable = [turn for turn in range(count) if turn not in named]
    if span:
        assert plan.first == removable[0]
        assert plan.last is not None
        assert plan.last + 1 in named or plan.last + 1 == count
    else:
        assert not removable
    assert set(named.values()) <= set(REFUSAL_REASONS)
    assert [refusal.message_index for refusal in plan.refusals] == [input.turns[turn].first for turn in named]
    # The last turns, and the request, stay.
    assert span <= set(range(max(0, count - keep)))
    if input.current_request is not None:
        holder = next(
            number for number, turn in enumerate(input.turns) if turn.first <= input.current_request <= turn.last
        )
        assert named[holder] == "current-request"


@given(history=histories, facts=facts(), keep=st.integers(0, 9))
@settings(deadline=None, max_examples=200)
def test_pins_are_bounded_and_only_outside_the_keep_window(
    history: list[Message], facts: dict[str, Any], keep: int
) -> None:
    input = visit(history, **facts)
    plan = input.plan_removal(keep)
    for pins, limit in ((plan.observations, "keep_last_tool_results"), (plan.ledger_facts, "keep_ledger_facts")):
        if pins is None:
            assert facts["standing"] is None
            continue
        assert len(pins.pinned) <= pins.limit == facts[limit]
        assert not pins.yielded or len(pins.pinned) == pins.limit
        numbers = [pin.turn_index for pin in pins.pinned]
        assert numbers == sorted(set(numbers), reverse=True)
        for pin in pins.pinned:
            turn = input.turns[pin.turn_index]
            assert pin.turn_index < len(input.turns) - keep
            assert turn.last > (-1 if input.current_request is None else input.current_request)
            assert pin.chars == sum(message.chars for message in history[turn.first : turn.last + 1])
            assert pin.tool
    named = reasons(plan)
    held = {pin.turn_index for pins in (plan.observations, plan.ledger_facts) if pins for pin in pins.pinned}
    assert {turn for turn, why in named.items() if why in PIN_REASONS} <= held <= set(named)


@given(history=histories, facts=facts(), strategy=strategies())
@settings(deadline=None, max_examples=300)
def test_a_visit_of_any_strategy_obeys_the_rules(history: list[Message], facts: dict[str, Any], strategy: Any) -> None:
    # ``run`` holds every result against the rules and counts it anew.
    run(strategy, visit(history, measured=Measured(500, 5), **facts))


@given(opening=histories, more=st.lists(turns(), min_size=1, max_size=12), facts=facts(), strategy=strategies())
@settings(deadline=None, max_examples=150)
def test_over_many_calls_a_window_is_whole_and_does_not_stick(
    opening: list[Message], more: list[list[Message]], facts: dict[str, Any], strategy: Any
) -> None:
    agent = Agent(strategy, *opening, measured=Measured(500, 5), **facts)
    blocked = 0
    for turn in more:
        orphans = pairing(agent.window)[1]
        agent.call()
        assert not pairing(agent.window)[1] - orphans
        record = agent.records[-1]
        blocked = blocked + 1 if blocked_by_pins(record) else 0
        assert blocked <= 2  # then the pins stand down
        if record is not None and not record.removed_message_count:
            assert len(record.refusals) + record.unreached == record.turns_before
        agent.add(*turn)


@given(sizes=st.lists(SIZES, min_size=1, max_size=25), keep=st.integers(1, 6), pins=st.integers(0, 3))
@settings(deadline=None)
def test_an_agent_that_only_works_keeps_a_small_window_and_one_notice(sizes: list[int], keep: int, pins: int) -> None:
    agent = Agent(SlidingWindow(keep), user("go"), keep_last_tool_results=pins)
    for number, size in enumerate(sizes):
        agent.call()
        assert len(notices(agent.window)) <= 1
        assert agent.window[0].text == "go"
        call = ToolCall(f"c{number}", f"tool{number % 4}", {})
        agent.add(Message("assistant", (call,)), Message("tool", (ToolResult(call.id, None, "r" * size),)))
    agent.call()
    turns_left = [message for message in agent.window if message.role == "assistant"]
    assert len(turns_left) <= keep + pins


@given(history=histories, facts=facts())
@settings(deadline=None)
def test_reading_is_the_same_however_often_a_notice_stands_in_it(history: list[Message], facts: dict[str, Any]) -> None:
    clean = [message for message in history if message.authored != "notice"]
    noted = [piece for message in clean for piece in (Message("user", (Text("gone"),), authored="notice"), message)]
    one, other = visit(clean, **facts), visit(noted, **facts)
    assert len(one.turns) == len(other.turns)
    assert reasons(one.plan_removal(2)) == reasons(other.plan_removal(2))
    assert one.plan_removal(2).unreached == other.plan_removal(2).unreached
