"""What the model wrote is read, never coerced; what is wrong is dropped and counted."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.findings.declaring import (
    ASSERTIONS_LIMIT,
    PREVIOUS_LIMIT,
    Declared,
    DeclaredStanding,
    read_texts,
    read_value,
)
from otel_footprint.core.findings.rows import TEXT_LIMIT, Assertion

FACT = {
    "toolCallId": "call_1",
    "standing": "fact",
    "assertions": [{"subject": {"kind": "order", "id": "W1"}, "predicate": "total", "value": 12.5}],
    "line": "the order's total",
}


def test_a_whole_declaration():
    declared = read_value(
        {"basis": "direct", "expect": "high", "proposition": "p", "predicts": "q", "previous": [FACT]}
    )
    assert declared == Declared(
        "direct",
        "high",
        "p",
        "q",
        (
            DeclaredStanding(
                "call_1", "fact", line="the order's total", assertions=(Assertion("order", "W1", "total", 12.5),)
            ),
        ),
    )


@pytest.mark.parametrize(
    ("value", "malformed"),
    [
        ({"basis": "direct"}, 0),
        ({}, 1),
        ({"basis": "sure"}, 1),
        ({"basis": ["direct"]}, 1),
        ({"basis": "direct", "expect": "HIGH"}, 1),
        ({"basis": "direct", "proposition": 7}, 1),
        ({"basis": "direct", "previous": {"toolCallId": "a", "standing": "fact"}}, 1),
        ({"basis": "direct", "previous": ["a"]}, 1),
        ({"basis": "direct", "previous": [{"toolCallId": "a"}]}, 1),
        ({"basis": "direct", "previous": [{"standing": "fact"}]}, 1),
        ({"basis": "direct", "previous": [{"toolCallId": "a", "standing": "true"}]}, 1),
        ({"basis": "direct", "previous": [{"toolCallId": "a" * 999, "standing": "fact"}]}, 1),
        ({"basis": "direct", "previous": [{**FACT, "standing": "noise"}]}, 1),
        ({"basis": "direct", "previous": [FACT] * (PREVIOUS_LIMIT + 10_000)}, 10_000),
        ({"basis": "direct", "previous": [{**FACT, "assertions": FACT["assertions"] * (ASSERTIONS_LIMIT + 1)}]}, 1),
        ([], 1),
        (None, 1),
        ("direct", 1),
    ],
)
def test_what_is_wrong_is_counted(value, malformed):
    assert read_value(value).malformed == malformed


@pytest.mark.parametrize("wrong", [math.nan, math.inf, [1], {"a": 1}, 10**400])
def test_a_value_that_is_no_value_is_no_assertion(wrong):
    assertion = {"subject": {"kind": "order", "id": "W1"}, "predicate": "total", "value": wrong}
    declared = read_value({"basis": "direct", "previous": [{**FACT, "assertions": [assertion]}]})
    assert declared.previous[0].assertions == ()
    assert declared.malformed == 1


def test_text_is_cut_and_says_so():
    declared = read_value({"basis": "direct", "proposition": "x" * 1_000_000, "previous": [FACT]})
    assert declared.proposition == "x" * TEXT_LIMIT
    assert declared.cut
    assert not declared.previous[0].cut


def test_the_last_of_several_counts():
    assert read_texts(['{"basis": "direct"}', '{"basis": "exploratory"}']) == Declared("exploratory", malformed=1)
    assert read_texts([]) is None


@pytest.mark.parametrize("raw", ["{", '"', "[" * 100_000, "x" * 2_000_000])
def test_what_is_no_json_is_one_malformed_declaration(raw):
    assert read_texts([raw]) == Declared(malformed=1)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["fact", "direct"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["basis", "previous", "toolCallId", "standing", "assertions", "subject", "kind", "id", "value"]
            ),
            inner,
            max_size=5,
        )
    ),
)


@given(ANYTHING)
def test_nothing_raises_and_nothing_is_made_up(value):
    declared = read_value(value)
    assert declared.malformed >= 0
    spelled = json.dumps(value)
    for one in declared.previous:
        assert json.dumps(one.tool_call_id) in spelled
        assert json.dumps(one.standing) in spelled
