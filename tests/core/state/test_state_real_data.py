"""Real conversations cut at every call: each call is decided about by a process that was restored from a document."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from state_cases import FILES, Worker, recorded

from otel_footprint.core.decisions import Decisions
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.messages import Message
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import WindowStrategy

COUNT = None if os.environ.get("OTEL_FOOTPRINT_REPLAY") == "all" else 4
"""Conversations of each file; all of them take minutes."""
STRATEGIES: dict[str, WindowStrategy | None] = {"none": None, "sliding": SlidingWindow(4)}


def both(
    conversation: list[Message], strategy: WindowStrategy | None, *, text: bool
) -> list[tuple[Decisions, Decisions]]:
    """For each call what one process decides, and what a chain of processes does, each with one call."""
    unbroken = Worker(strategy, findings=Findings())
    broken = unbroken.elsewhere(text=text)
    head = conversation[:1] if conversation[0].role == "system" else []
    found = []
    for place in range(len(head), len(conversation)):
        message = conversation[place]
        if message.role == "assistant":
            history = conversation[len(head) : place]
            one = unbroken.call(history, message, system=head, number=len(found))
            two = broken.call(history, message, system=head, number=len(found))
            found.append((one, two))
            broken = broken.elsewhere(text=text)
    assert found
    one_track, two_track = unbroken.store.track_of("a", 1), broken.store.track_of("a", 1)
    assert one_track is not None
    assert two_track is not None
    assert one_track.ledger.rows == two_track.ledger.rows or not text
    return found


@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize("name", FILES)
def test_with_text_every_call_is_decided_as_if_nothing_had_been_cut(
    name: str, strategy: str, shared_data: Path
) -> None:
    for conversation in recorded(shared_data, name, COUNT):
        for one, two in both(conversation, STRATEGIES[strategy], text=True):
            assert two == one


@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize("name", FILES)
def test_without_text_windows_and_counts_agree_and_nothing_is_accused(
    name: str, strategy: str, shared_data: Path
) -> None:
    for conversation in recorded(shared_data, name, COUNT):
        for number, (one, two) in enumerate(both(conversation, STRATEGIES[strategy], text=False)):
            assert replace(two, judgements=(), calls=(), findings=None) == replace(
                one, judgements=(), calls=(), findings=None
            )
            for here, there in zip(one.judgements, two.judgements, strict=True):
                if here.verdict == there.verdict:
                    continue
                assert number
                if there.verdict == "inconclusive":
                    assert "unseen_history" in there.reasons
                else:  # what the model also said to a tool is found there, where the result that left is not known
                    lost = {value.text for value in here.values if value.flagged}
                    assert {value.status for value in here.values if value.flagged} == {"evicted"}
                    assert {value.status for value in there.values if value.text in lost} == {"echoed"}
