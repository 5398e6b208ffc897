"""Reading long JSON piece by piece gives what reading it whole gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.evidence.pieces import gathered, pieces, values_of
from otel_footprint.core.evidence.typed import Gathered, named_leaves
from otel_footprint.core.messages import Json

keys = st.sampled_from(["price", "total_usd", "unit", "size", "n", "", "x" * 90])
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 10**6), st.floats(-9, 1e6), st.sampled_from(["kg", "a", ""])
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=14,
)
wholes = st.one_of(st.lists(trees, max_size=4), st.dictionaries(keys, trees, max_size=4))


def every_number(value: Json) -> list[tuple[str | None, float]]:
    return sorted(
        (
            (key, float(leaf))
            for key, leaf in named_leaves(value)
            if isinstance(leaf, (int, float)) and not isinstance(leaf, bool)
        ),
        key=repr,
    )


@given(value=wholes, spaced=st.booleans())
def test_pieces_hold_the_numbers_of_the_whole(value: Json, spaced: bool) -> None:
    text = json.dumps(value, indent=1 if spaced else None)
    for read in (pieces, values_of):
        found = Gathered()
        for name, piece in read(text):
            found.add([piece], name if name is None or len(name) <= 80 else None)
        assert sorted(
            ((name, size) for name in found.numbers for size in found.numbers[name]), key=repr
        ) == every_number(value)
    assert gathered(f" {text}\n") is not None


@pytest.mark.parametrize(
    "text", ["", "7", '"a"', "[1", "[1,]", '{"a" 1}', "{1: 2}", '{"a": 1} tail', "[1] [2]", "[1 2]", "{"]
)
def test_what_is_not_one_list_or_object_is_not_whole(text: str) -> None:
    assert gathered(text) is None
    for read in (pieces, values_of):
        with pytest.raises(ValueError):
            list(read(text))
