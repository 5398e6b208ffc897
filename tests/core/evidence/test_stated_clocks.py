"""How long a journey takes that an answer lists leg by leg, from the times it states."""

from __future__ import annotations

import itertools
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
    assert duration(f"A total flight time of 5 hours:\n\n{answer}") == ("computed", "duration between times")
    assert duration(f"A total travel time of 5 hours:\n\n{answer}")[0] == "unsupported"


def test_times_that_nothing_accounts_for_are_no_inputs() -> None:
    assert duration("HAT290 leaves at 2:05 PM and lands at 3:05 PM, after 60 minutes.")[0] == "unsupported"


@pytest.mark.parametrize(
    "answer",
    [
        "I found 2:00 PM, 4:00 PM, 5:00 PM and 8:00 PM.\n\nThe appointment takes 6 hours.",
        "- HAT290: 2:00 PM to 4:00 PM\n- HAT175: 5:00 PM to 8:00 PM\n\nYour refund takes 60 minutes.",
    ],
)
def test_times_in_the_answer_say_nothing_of_what_is_no_journey(answer: str) -> None:
    assert duration(answer)[0] == "unsupported"


def test_two_of_many_times_of_a_row_are_whole_hours_apart_by_chance() -> None:
    corpus = Corpus(Evidence())
    slots = json.dumps({"slots": ["08:00", "09:30", "11:15", "13:45", "15:30", "18:00"]})
    corpus.result(ToolResult("a", "find", slots), ref="a", tool="find", turn=1, served=None)
    answer = "I found 08:00, 09:30, 11:15, 13:45, 15:30 and 18:00. The appointment takes 14 hours."
    assert corpus.judge(answer, turn=1, tools_offered=True).values[-1].status == "unsupported"


def test_many_mentions_of_one_time_cost_no_more_than_one() -> None:
    """The bound is of work, not of time: what was tried for a value is counted."""
    lengths = [100 + 7 * (30 - step) for step in range(31)]
    spelled = [f"{length // 60} hours {length % 60} minutes" for length in lengths]
    answer = "\n".join(f"- Total {one}, of it {other} and 7 minutes." for one, other in itertools.pairwise(spelled))
    corpus = Corpus(Evidence())
    given = json.dumps({"at": "10:00", "took": spelled[-1], "more": "7 minutes"})
    corpus.result(ToolResult("a", "find", given), ref="a", tool="find", turn=1, served=None)
    bare = corpus.fork().judge(f"{answer}\n\nDepart 10:00", turn=1, tools_offered=True)
    many = corpus.fork().judge(f"{answer}\n\nDepart {'10:00 ' * 50}", turn=1, tools_offered=True)
    assert bare.counts == many.counts


def test_a_time_without_its_half_is_read_so_that_the_journey_is_shortest() -> None:
    legs = [{"leaves": "9:30", "lands": "11:45"}, {"leaves": "12:40", "lands": "1:20"}]
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", "find", json.dumps(legs)), ref="a", tool="find", turn=1, served=None)
    answer = "9:30 to 11:45\n12:40 to 1:20\nTotal travel time: 3 hours 50 minutes"
    value = corpus.judge(answer, turn=1, tools_offered=True).values[-1]
    assert value.derivation is not None
    assert (value.status, value.derivation.inputs) == ("computed", ("09:30", "13:20"))
