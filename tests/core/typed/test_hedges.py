"""Words that call a number rounded, and how far it then reaches."""

from __future__ import annotations

import pytest

from .comparing import grounds


@pytest.mark.parametrize(
    ("carried", "answer"),
    [
        (1187.32, "about $1,187"),
        (1187.32, "around $1,190"),
        (1187.32, "approximately $1,200"),
        (1187.32, "~$1,200"),
        (1187.32, "nearly $1,200"),
        (1187.32, "almost USD 1,200"),
        (1213, "over $1,200"),
        (1213, "more than $1,200"),
        (1187, "less than $1,200"),
        (49.7, "roughly $50"),
        (1_234_567, "about $1.2 million"),
    ],
)
def test_a_hedged_amount_stands_for_what_is_near(carried: float, answer: str) -> None:
    assert grounds(("price", carried), answer)


@pytest.mark.parametrize(
    ("carried", "answer"),
    [
        (1187.32, "$1,200"),
        (1187.32, "about $1,188"),
        (1187.32, "about $1,300"),
        (1187.32, "over $1,200"),
        (1213, "under $1,200"),
        (1300, "over $1,200"),
        (1100, "nearly $1,200"),
        (45, "roughly $50"),
        (1187.32, "the one, about, $1,200"),
    ],
)
def test_but_not_for_what_is_far(carried: float, answer: str) -> None:
    assert not grounds(("price", carried), answer)
