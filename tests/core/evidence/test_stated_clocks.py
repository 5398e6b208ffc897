"""How long a journey takes that an answer lists leg by leg, from the times it states."""

from __future__ import annotations

import json

import pytest

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement
from otel_footprint.core.messages import ToolResult

LEGS = [
    {"flight_number": "HAT290", "departure": "14:00:00", "arrival": "16:00:00"},
    {"flight_number": "HAT175", "departure": "17:00:00", "arrival": "20:00:00"},
    {"flight_number": "HAT031", "departure": "23:30:00", "arrival": "01:15:00"},
]
TOGETHER = "- **HAT290**\n  - Departure: 2:00 PM\n  - Arrival: 4:00 PM\n- **HAT175**\n  - Departure: 5:00 PM\n  - Arrival: 8:00 PM"
APART = TOGETHER.replace("\n- **HAT175**", "\n\n- **HAT175**")


def judged(answer: str) -> Judgement:
    corpus = Corpus(Evidence())
    corpus.say("Which is the fastest way back?")
    corpus.result(ToolResult("a", "find", json.dumps(LEGS)), ref="a", tool="find", turn=1, served=None)
    return corpus.judge(answer, turn=1, tools_offered=True)


def duration(answer: str) -> tuple[str, str | None]:
    (value,) = [value for value in judged(answer).values if value.shape == "duration"]
    return value.status, value.derivation.name if value.derivation is not None else None


@pytest.mark.parametrize(
    "answer",
    [
        f"The fastest way has a total travel time of {{}}:\n\n{TOGETHER}",
        f"{TOGETHER}\n\nThis option has a total travel time of {{}}.",
        f"A total travel time of {{}}:\n\n{APART}\n\nShall I book it?",
    ],
)
def test_a_journey_of_several_legs(answer: str) -> None:
    assert duration(answer.format("6 hours")) == ("computed", "duration between times")
    assert duration(answer.format("7 hours"))[0] == "unsupported"
    assert judged(answer.format("7 hours")).verdict == "ungrounded"


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("HAT031 leaves at 11:30 PM and lands at 1:15 AM, after 1 hour 45 minutes.", "1 hour 40 minutes"),
        ("You land with HAT290 at 4:00 PM; after a layover of 60 minutes HAT175 leaves at 5:00 PM.", "65 minutes"),
    ],
)
def test_over_midnight_and_a_layover(answer: str, wrong: str) -> None:
    assert duration(answer)[0] == "computed"
    stated = next(value.text for value in judged(answer).values if value.shape == "duration")
    assert duration(answer.replace(stated, wrong))[0] == "unsupported"


@pytest.mark.parametrize("answer", [TOGETHER, APART])
def test_the_time_in_the_air_is_without_what_lies_between(answer: str) -> None:
    assert duration(f"A total flight time of 5 hours:\n\n{answer}") == ("computed", "sum of durations")
    assert duration(f"A total travel time of 5 hours:\n\n{answer}")[0] == "unsupported"


def test_times_that_nothing_accounts_for_are_no_inputs() -> None:
    assert duration("HAT290 leaves at 2:05 PM and lands at 3:05 PM, after 60 minutes.")[0] == "unsupported"
