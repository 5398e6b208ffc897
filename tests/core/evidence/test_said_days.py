"""A date of which a person gave the day alone, in the month that the conversation is about."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement
from otel_footprint.core.messages import ToolResult

NOW = "The current time is 2024-05-15 15:00:00 EST."


def judged(said: str, answer: str, *, system: str = NOW) -> Judgement:
    corpus = Corpus(Evidence())
    corpus.say(system)
    corpus.say(said)
    corpus.result(ToolResult("a", "find", '{"booked": "2024-07-01"}'), ref="a", tool="find", turn=1, served=None)
    return corpus.judge(answer, turn=1, tools_offered=True)


def status(said: str, answer: str, *, system: str = NOW) -> str:
    return judged(said, answer, system=system).values[-1].status


@pytest.mark.parametrize(
    ("said", "answer", "expected"),
    [
        ("It is on the 5th. I want to move it to the next day, the 6th.", "I will look on May 6th.", "computed"),
        ("It is on the 5th. I want to move it to the next day, the 6th.", "I will look on May 8th.", "unsupported"),
        ("Move it to the 26th please", "I will look on 2024-05-26.", "computed"),
        ("Move it to the 26th please", "I will look on 2023-05-26.", "unsupported"),
        ("Move it to the 26th please", "I will look on June 26th.", "unsupported"),
        ("Move it to the 26th please", "It was booked on July 1. I will look on July 26th.", "computed"),
        ("Book the 2nd, please.", "I will look on May 2nd.", "unsupported"),
        ("I prefer the 3rd or the 4th option", "I will look on May 3rd.", "unsupported"),
        ("Move it: on the 5th, please", "It was booked on July 1. I will look on 06/05/2024.", "unsupported"),
        ("Move it: on the 5th, please", "I will look on 06/05/2024.", "unsupported"),
        ("Move it: on the 6th, please", "I will look on 06/05/2024.", "computed"),  # the 6th of May, or June 5
        ("From the 20th until the 26th", "I will look on May 26th.", "computed"),
        ("I mean the 6th flight of the list", "I will look on May 6th.", "unsupported"),
        ("I mean the 6th " + "and so on " * 300, "I will look on May 6th.", "unsupported"),
    ],
)
def test_a_day_without_its_month(said: str, answer: str, expected: str) -> None:
    assert status(said, answer) == expected


def test_the_derivation_names_the_day_and_the_month() -> None:
    value = judged("Make it on the 6th.", "I will look on May 6th.").values[-1]
    assert value.derivation is not None
    assert (value.derivation.name, value.derivation.inputs) == ("day of the month", ("2024-05", "6"))


def test_without_any_month_nothing_follows_from_a_day() -> None:
    assert status("Make it on the 6th.", "I will look on May 6th.", system="Be kind.") == "unsupported"
