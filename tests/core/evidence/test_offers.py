"""A range of dates that the model offers to search by is no claim; any other date is."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import ToolResult

READ = '{"flight": "HAT071", "date": "2025-11-12", "until": "2025-11-15"}'


def flagged(answer: str) -> list[str]:
    corpus = Corpus(Evidence())
    corpus.say("I can fly between November 12 and November 15, 2025.")
    corpus.result(ToolResult("a", "search", READ), ref="a", tool="search", turn=1, served=None)
    judgement = corpus.judge(answer, turn=1, tools_offered=True)
    return [value.text for value in judgement.values if value.flagged]


@pytest.mark.parametrize(
    "answer",
    [
        "If you're flexible, I can search outbound dates from 2025-11-10 through 2025-11-18.",
        "Would you like me to check flights between November 10 and November 18?",
        "Shall I widen the search to flights from **Nov 10** to **Nov 18, 2025**?",
        "I could look at departures between 2025-11-12 and 2025-11-18.",
    ],
)
def test_the_ends_of_an_offered_range_are_no_claims(answer: str) -> None:
    assert flagged(answer) == []


@pytest.mark.parametrize(
    ("answer", "flags"),
    [
        ("Flight HAT071 leaves on 2025-11-13.", ["2025-11-13"]),
        ("I searched all flights from 2025-11-10 through 2025-11-18.", ["2025-11-10", "2025-11-18"]),
        ("I can search again. You are booked from 2025-11-10 to 2025-11-18.", ["2025-11-10", "2025-11-18"]),
        ("I can check the flights on 2025-11-13.", ["2025-11-13"]),
        ("I can search from 2025-11-10 to 2025-11-18 for HAT072.", ["HAT072"]),
        ("It runs from 2025-11-10 to 2025-11-18. I can search from 2025-11-10 to 2025-11-18.", ["2025-11-10", "2025-11-18"]),
    ],
)  # fmt: skip
def test_everything_else_is_judged(answer: str, flags: list[str]) -> None:
    assert flagged(answer) == flags
