"""Reading long JSON piece by piece gives what reading it whole gives."""

from __future__ import annotations

import json
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.evidence.pieces import is_whole, pieces, values_of
from otel_footprint.core.evidence.typed import gather_numbers, named_leaves
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


def numbers_of(value: Json) -> list[tuple[str | None, float]]:
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
        found: dict[str | None, array[float]] = {}
        for name, piece in read(text):
            gather_numbers(piece, name, found)
        assert sorted(((name, size) for name in found for size in found[name]), key=repr) == numbers_of(value)
    assert is_whole(f" {text}\n")


@pytest.mark.parametrize(
    "text", ["", "7", '"a"', "[1", "[1,]", '{"a" 1}', "{1: 2}", '{"a": 1} tail', "[1] [2]", "[1 2]", "{"]
)
def test_what_is_not_one_list_or_object_is_not_whole(text: str) -> None:
    assert not is_whole(text)
    for read in (pieces, values_of):
        with pytest.raises(ValueError):
            list(read(text))
