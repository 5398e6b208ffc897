"""What stands around a JSON leaf says what its number is."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.typed import LeafIndex, find, named_leaves
from otel_footprint.core.messages import Json


def carried(value: Json, answer: str) -> bool:
    index = LeafIndex(named_leaves(value))
    return all(
        any(index.carrier(key) for key in asked.asked)
        or any(next(index.within(interval), None) for interval in asked.wants)
        for asked in find(answer)
    )


@pytest.mark.parametrize(
    ("value", "answer", "wrong"),
    [
        ({"value": 5, "unit": "GB"}, "5 GB", "6 GB"),
        ({"value": 5, "unit": "GB"}, "5000 MB", "5 MB"),
        ({"temperature": {"value": 21, "units": "C"}}, "21 °C", "22 °C"),
        ({"temperature": {"value": 70, "units": "fahrenheit"}}, "70 °F", "71 °F"),
        ({"amount": 50, "currency": "EUR"}, "€50", "$50"),
        ({"amount": 5000, "currency": "usd"}, "$50.00", "$51.00"),
        ({"unit_amount": 1999}, "$19.99", "$19.98"),
        ({"prices": {"economy": 1187.32}}, "about $1,190", "about $1,290"),
        ({"size_bytes": {"0": 1024, "1": 2048}}, "2 KiB", "3 KiB"),
        ({"rates": [{"share": 0.25}]}, "25%", "26%"),
        ({"distance": {"text": "5 km", "value": 5000}}, "5 km", "6 km"),
        ({"weight": {"0": 7}}, "7 kg", "8 kg"),
        ({"temp": {"day": 21.4, "night": 12.6}}, "13 °C", "14 °C"),
        ({"duration": {"minutes": 135}}, "2 hours 15 minutes", "2 hours 16 minutes"),
        ({"May 20, 2024": 7}, "2024-05-20", "2024-05-21"),
    ],
)
def test_a_number_has_the_unit_that_stands_around_it(value: Json, answer: str, wrong: str) -> None:
    assert carried(value, answer)
    assert not carried(value, wrong)


def test_leaves_come_in_order_with_their_keys() -> None:
    assert list(named_leaves({"a": [1, 2], "price": {"x": 3}})) == [
        (None, "a"),
        ("a", 1),
        ("a", 2),
        (None, "price"),
        (None, "x"),
        ("price x", 3),
    ]
