"""Real conversations replayed as live agents through planner and observer: each assistant message is what a call gives."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from planner_cases import Live, on_the_wire
from planner_watch import Watch

from otel_footprint.core.messages import Message
from otel_footprint.core.session import Session
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget
from otel_footprint.providers import openai_chat

FILES = ["tau_airline/conversations.jsonl", "tau_retail/conversations.jsonl"]
STRATEGIES = {
    "sliding": SlidingWindow(4),
    "budget": TokenBudget(1_200, 4),
    "summary": SummarizeOldest(1_200, lambda _: "The user wants to change a booking.", "m", 4),
    "none": None,
}


def read(line: str) -> list[Message]:
    """One recorded conversation."""
    return [native.message for native in openai_chat.read(json.loads(line)["messages"])]


@pytest.fixture(scope="module", params=FILES)
def conversations(request: pytest.FixtureRequest, shared_data: Path) -> list[list[Message]]:
    return [read(line) for line in (shared_data / request.param).read_text("utf-8").splitlines()]


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the judging out, which takes longer than all the rest: windows are looked at here."""
    monkeypatch.setattr(Session, "_judge", lambda *_: None)
    monkeypatch.setattr(Session, "_judge_calls", lambda *_: [])


@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize(
    "fields", [{"trace_id": None}, {"trace_id": None, "conversation_id": ""}], ids=["unnamed", "named"]
)
def test_every_window_is_carried_and_observed_as_decided(
    conversations: list[list[Message]], strategy: str, fields: dict[str, Any]
) -> None:
    live = Live(STRATEGIES[strategy])
    watches: list[Watch] = []
    gone: dict[int, set[int]] = {}  # shared: conversations that are equal so far may take each other's place
    for number, conversation in enumerate(conversations):
        head = [message for message in conversation[:1] if message.role == "system"]
        given = {**fields, "system": tuple(head)}
        if "conversation_id" in fields:
            given["conversation_id"] = f"real-{number}"
        watches.append(Watch(live, given, [], gone))
    decided, threads = Counter[str](), set()
    for place in range(max(map(len, conversations))):
        for number, conversation in enumerate(conversations):
            if place >= len(conversation) or conversation[place].role == "system":
                continue
            message, watch = conversation[place], watches[number]
            if message.role == "assistant":
                called = watch.call(*on_the_wire([message]))
                decided[called.decisions.window.decided_by] += 1
                threads.add((called.decisions.conversation, called.decisions.thread))
                assert called.visit.going is not None or not any(m.role == "assistant" for m in watch.messages)
            watch.messages.append(message)
    if STRATEGIES[strategy] is None:
        assert set(decided) == {"application"}
    else:
        assert decided[STRATEGIES[strategy].name] > 20
    if "conversation_id" in fields:
        assert len(threads) == len(conversations)
