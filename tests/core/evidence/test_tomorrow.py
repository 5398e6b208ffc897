"""Tomorrow is the day after the day that someone called the present."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import ToolResult


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("I will look again tomorrow (2024-05-16). You booked on 2024-05-05.", []),
        ("I will look again tomorrow (2024-05-06). You booked on 2024-05-05.", ["2024-05-06"]),
        ("You booked on 2024-05-05 and fly the next day, 2024-05-06.", []),
    ],
)
def test_tomorrow(answer: str, flagged: list[str]) -> None:
    corpus = Corpus(Evidence())
    corpus.say("The current time is 2024-05-15 15:00:00 EST.")
    corpus.result(ToolResult("a", None, '{"booked": "2024-05-05"}'), ref="a", tool=None, turn=1, served=None)
    judgement = corpus.judge(answer, turn=1, tools_offered=True)
    assert [value.text for value in judgement.values if value.flagged] == flagged
