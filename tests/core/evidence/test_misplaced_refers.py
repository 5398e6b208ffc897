"""A value beside words that refer to another thing than the named row is left alone, and without them it is not."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, ToolResult

ORDERS: Json = [
    {"order_id": "W1001", "customer": "Anna Berg", "total": 120.50, "items": 3},
    {"order_id": "W1002", "customer": "Carl Dorn", "total": 89.99, "items": 5},
]


def misplaced(answer: str) -> list[str]:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, ORDERS), ref="a", tool=None, turn=1, served=None)
    return [value.text for value in corpus.judge(answer, turn=1, tools_offered=True).values if value.misplaced]


@pytest.mark.parametrize(
    ("about", "refers"),
    [
        ("Anna Berg's order costs $89.99.", "Anna Berg's order costs less than the $89.99 one."),
        ("Anna Berg has one at $89.99.", "Anna Berg has another at $89.99."),
        ("Anna Berg's order came to $89.99.", "Anna Berg's order would come to $89.99."),
        ("Next to Anna Berg's order stands $89.99.", "Compared to Anna Berg's order there is $89.99."),
        ("Anna Berg, that is $89.99.", "Anna Berg, you save $89.99."),
        ("Anna Berg's order has 5 items.", "Anna Berg's order has 5 more items."),
        ("Anna Berg's order got 5 items.", "Anna Berg's order got 5 items yesterday."),
        ("Anna Berg's order has 5 items left.", "Anna Berg, there are 5 items left in stock."),
    ],
)
def test_words_that_refer_to_another_thing(about: str, refers: str) -> None:
    assert len(misplaced(about)) == 1
    assert misplaced(refers) == []
