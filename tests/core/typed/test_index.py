"""The index of leaves answers as if every value had been read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence.typed import LeafIndex, Typed, agrees, find, of_leaf

Leaf = tuple[str | None, object]


def all_values(leaves: Iterable[Leaf], tail: str = "") -> list[Typed]:
    return [
        part
        for value in [*(one for leaf in leaves for one in of_leaf(*leaf)), *find(tail)]
        for part in (value, *value.parts)
    ]


def by_index(index: LeafIndex, asked: Typed) -> bool:
    return any(index.carrier(key) is not None for key in asked.asked) or any(
        next(index.within(interval), None) is not None for interval in asked.wants
    )


KEYS = st.sampled_from(
    [None, "price", "created_at", "departure_time_est", "size_bytes", "duration", "duration_ms", "temp_c", "weight", "phone",
     "id", "amount_cents", "discount", "date", "humidity", "count"]
)  # fmt: skip
STRINGS = st.one_of(
    st.dates().map(str),
    st.datetimes().map(lambda at: at.replace(microsecond=0).isoformat()),
    st.datetimes().map(lambda at: at.strftime("%Y-%m-%d %H:%M:%S")),
    st.datetimes().map(lambda at: at.strftime("%Y-%m-%dT%H:%MZ")),
    st.times().map(lambda at: at.strftime("%H:%M:%S")),
    st.times().map(lambda at: at.strftime("%H:%M")),
    st.uuids().map(str),
    st.builds("{} {}".format, st.integers(0, 3000), st.sampled_from(["GB", "ms", "hours", "kg", "bags", "%", "km/h", "am", "K"])),
    st.builds("{}{}".format, st.integers(0, 3000), st.sampled_from(["GB", "ml", "h", "mAh", "%", "-inch", "K", "M", "th", "pm"])),
    st.builds("{}{}".format, st.sampled_from(["HAT", "gift_card_", "USD", "$", "+1", "0x", "W", "PT", "€", "-"]), st.integers(0, 10**8)),
    st.floats(0, 10**6).map(lambda x: f"{x:,.2f}"),
    st.floats(0, 10**6).map(lambda x: f"${x:,.2f}"),
    st.integers(0, 10**19).map(str),
    st.sampled_from(
        ["three bags are left", "2h 15m", "5 ft 10 in", "May 20, 2024", "May 19-23", "20 may", "1,5 kg", "1.234,56 EUR", "PT2H15M",
         "3/4 cup", "157.5 x 78.1 x 13.7 mm", "+1 555 123 4567", "00:1a:2b:3c:4d:5e", "from 5 to 7 kg", "10/12", "02:15:00", "1.2e5",
         "24:00", "2 million", "001a2b3c4d5e", "500601603b201e02", "12 May", "7 a.m."]
    ),
)  # fmt: skip
VALUES = st.one_of(
    st.integers(0, 3000),
    st.integers(10**8, 2 * 10**9),
    st.integers(10**12, 2 * 10**12),
    st.integers(19000101, 20991231),
    st.decimals(-1000, 10**6, places=2).map(float),
    st.floats(allow_nan=True),
    st.integers(),
    st.booleans(),
    st.none(),
    STRINGS,
)
LEAVES = st.lists(st.tuples(KEYS, VALUES), max_size=6)
QUESTIONS = st.lists(st.tuples(KEYS, VALUES), max_size=3)


@given(leaves=LEAVES, others=QUESTIONS, tail=st.one_of(st.just(""), STRINGS))
@settings(max_examples=400, deadline=None)
def test_the_index_finds_what_reading_everything_finds(leaves: list[Leaf], others: list[Leaf], tail: str) -> None:
    index = LeafIndex(leaves, tail)
    values = all_values(leaves, tail)
    questions = [*values, *all_values(others)]
    for value in list(questions):
        questions += find(value.text)
    for asked in questions:
        assert by_index(index, asked) == any(agrees(asked, value) for value in values), asked


def test_the_index_finds_the_same_in_real_conversations(shared_data: Path) -> None:
    lines = (shared_data / "tau_airline" / "conversations.jsonl").read_text(encoding="utf-8").splitlines()
    compared = 0
    for line in lines[:12]:
        leaves: list[Leaf] = []
        for message in json.loads(line)["messages"]:
            text = message.get("content") or ""
            if message["role"] == "tool":
                leaves += flat(parsed(text))
            elif message["role"] == "assistant" and leaves:
                index, values = LeafIndex(leaves), all_values(leaves)
                for asked in find(text):
                    assert by_index(index, asked) == any(agrees(asked, value) for value in values), asked
                    compared += 1
    assert compared > 50


def parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def flat(value: object, key: str | None = None) -> list[Leaf]:
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in [*flat(inner, name), (None, name)]]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in flat(inner, key)]
    return [(key, value)]


@given(
    leaves=st.lists(
        st.tuples(
            st.sampled_from(["at", "at_est", "created_at"]),
            st.one_of(
                st.builds(
                    "2024-05-{:02d}T{:02d}:30:00{}".format,
                    st.integers(18, 21),
                    st.integers(0, 23),
                    st.sampled_from(["", "Z", "+02:00", "-05:00", "+1100"]),
                ),
                st.builds(lambda hours: 1715990400 + hours * 3600, st.integers(0, 90)),
            ),
        ),
        max_size=8,
    ),
    day=st.integers(18, 21),
    hour=st.integers(0, 23),
    zone=st.sampled_from(["EDT", "UTC", "CEST", "UTC+9", ""]),
)
@settings(deadline=None)
def test_dates_with_zones_are_found_as_if_all_were_read(leaves: list[Leaf], day: int, hour: int, zone: str) -> None:
    index, values = LeafIndex(leaves), all_values(leaves)
    for asked in find(f"May {day}, 2024 at {hour:02d}:30 {zone}") + find(f"May {day}, {hour:02d}:30 {zone}"):
        assert by_index(index, asked) == any(agrees(asked, value) for value in values), asked


def test_what_repeats_is_kept_once() -> None:
    index = LeafIndex([("date", "2024-05-20"), ("price", 12.5), ("size", "10 GB")] * 10_000)
    asked = find("May 20, 2024 $12.50 10 GB")
    assert len(asked) == 3
    assert all(by_index(index, one) for one in asked)
    assert index.years == {2024}


@pytest.mark.parametrize("text", ["May 21, 2024", "$12.51", "11 GB"])
def test_what_is_not_carried_is_not_found(text: str) -> None:
    index = LeafIndex([("date", "2024-05-20"), ("price", 12.5), ("size", "10 GB")])
    assert not by_index(index, find(text)[0])
