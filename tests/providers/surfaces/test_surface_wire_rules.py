"""Whatever a strategy takes out of a history, the provider takes what is left: every API, random and recorded histories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from surface_agent import SURFACES, check_written, run
from surface_histories import Model, Person, Step, Use, alternating, append, from_chat, new

from otel_footprint import SlidingWindow, SummarizeOldest, TokenBudget
from otel_footprint.core.messages import Message, Text
from otel_footprint.core.turns import segment
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.core.window.strategy import WindowStrategy

texts = st.text("abcde éß", min_size=1, max_size=30).filter(lambda text: bool(text.strip()))


@st.composite
def conversations(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    number = 0
    for _ in range(draw(st.integers(1, 30))):
        kind = draw(st.sampled_from("paacc"))
        form = draw(st.integers(0, 9))
        if kind == "p":
            steps.append(Person(draw(texts), form))
        elif kind == "a":
            steps.append(Model(draw(texts), (), draw(st.booleans()), form))
        else:
            uses = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                name = draw(st.sampled_from(["get_order", "search", "read-file"]))
                uses.append(Use(f"call_{number}", name, {"n": number}, draw(texts) * draw(st.integers(1, 40))))
            said, beside = draw(st.sampled_from(["", "Looking."])), draw(st.sampled_from(["", "Be quick."]))
            steps.append(Model(said, tuple(uses), draw(st.booleans()), form, beside))
    return alternating([Person("Where is my order?"), *steps, Person("And now?"), Model("Here.")])


def summary(prompt: str) -> str:
    return "They spoke of orders."


strategies = st.one_of(
    st.builds(SlidingWindow, st.integers(1, 8)),
    st.builds(TokenBudget, st.just(500), st.integers(1, 8)),
    st.builds(lambda keep: SummarizeOldest(500, summary, "small", keep), st.integers(1, 8)),
)


@pytest.mark.parametrize("api", SURFACES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=conversations(), strategy=strategies, pins=st.integers(0, 2), revise_every=st.sampled_from([0, 0, 3]))
def test_what_is_sent_is_a_request_the_provider_takes(
    api: str, steps: list[Step], strategy: WindowStrategy, pins: int, revise_every: int
) -> None:
    run(api, steps, strategy, revise_every=revise_every, keep_last_tool_results=pins)


@pytest.mark.parametrize("api", SURFACES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=conversations(), data=st.data())
def test_any_run_of_turns_may_leave_with_or_without_a_notice(api: str, steps: list[Step], data: st.DataObject) -> None:
    app = new(api)
    for step in steps[:-1]:
        append(app, step)
    reading = SURFACES[api].read(app.kwargs)
    assert reading is not None
    turns = segment(reading.messages)
    first = data.draw(st.integers(0, len(turns) - 1), "first turn to leave")
    last = data.draw(st.integers(first - 1, len(turns) - 2), "last turn to leave")
    items: list[Item] = [Kept(index) for turn in turns[:first] for index in range(turn.first, turn.last + 1)]
    if data.draw(st.booleans(), "a notice"):
        items.append(Put(Message("user", (Text("[notice]"),), authored="notice")))
    items += [Kept(index) for turn in turns[last + 1 :] for index in range(turn.first, turn.last + 1)]
    check_written(api, app.kwargs, reading, tuple(items))


@pytest.mark.parametrize("api", SURFACES)
def test_something_is_taken_out_at_all(api: str) -> None:
    uses = [Model("", (Use(f"call_{n}", "search", {"n": n}, "x" * 200),), form=n) for n in range(12)]
    sent = run(api, [Person("Find it."), *uses, Model("Found.")], SlidingWindow(2))
    assert any(planned.record is not None and planned.record.removed_message_count for _, planned, _ in sent)


RECORDED = [("tau_airline/conversations.jsonl", 12), ("tau_retail/conversations.jsonl", 12)]
RECORDED += [("tau2/airline.jsonl", 6), ("tau2/retail.jsonl", 6)]


@pytest.mark.parametrize("api", SURFACES)
@pytest.mark.parametrize(("name", "count"), RECORDED, ids=[name for name, _ in RECORDED])
def test_recorded_conversations_stay_valid(api: str, name: str, count: int, shared_data: Path) -> None:
    with (shared_data / name).open() as lines:
        conversations = [from_chat(_messages(json.loads(line))) for line, _ in zip(lines, range(count), strict=False)]
    assert len(conversations) == count
    removed = 0
    for place, steps in enumerate(conversations):
        strategy = (SlidingWindow(4), TokenBudget(500, 3), SummarizeOldest(500, summary, "small", 3))[place % 3]
        sent = run(api, alternating(steps), strategy)
        removed += sum(planned.record.removed_message_count for _, planned, _ in sent if planned.record is not None)
    assert removed > count


def _messages(value: Any) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else value.get("messages") or value.get("traj")
