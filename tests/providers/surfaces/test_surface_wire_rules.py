"""Whatever a strategy takes out of a history, the provider takes what is left: every API, random and recorded histories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from surface_agent import SURFACES, run
from surface_histories import Model, Person, Step, Use, alternating, from_chat

from otel_footprint import SlidingWindow, SummarizeOldest, TokenBudget
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
