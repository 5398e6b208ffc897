"""Rows go to JSON and come back the same; anything that is not exactly a row is refused by name."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.assessment.verdict_rows import (
    AskedRow,
    FlaggedRow,
    StoppedEarlyRow,
    UnreachableRow,
    ValidatedRow,
)
from otel_footprint.core.assessment.witness import GroundedRow, ScriptShownRow, StepsUnfinishedRow, UnfinishedStep
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.findings.document import ROW_TYPES, is_well_formed, row_from_json, row_to_json
from otel_footprint.core.findings.rows import (
    Assertion,
    BasisRow,
    ConflictRow,
    ContingentRow,
    CoverageGapRow,
    DeclaredAbsentRow,
    EmptyRow,
    StandingRow,
    UnsettledRow,
)

AT = {"turn": 2, "iteration": 3}
ROWS = [
    BasisRow(**AT, ref="a", tool="search", basis="direct", expect="low", proposition="p", cut=True),
    StandingRow(
        **AT,
        ref="a#2",
        standing="fact",
        assertions=tuple(Assertion("order", "W1", "total", value) for value in (1, 1.5, "x", True, None, -4)),
    ),
    StandingRow(**AT, ref="b", standing="ruled-out", declared_by="application", unknown_id=True, sought="s"),
    ConflictRow(**AT, subject_kind="order", subject_id="W1", predicate="total", witnesses=("a", "b")),
    ContingentRow(**AT, moment="answer", value_index=0, shape="money", carriers=("a",)),
    UnsettledRow(**AT, ref="a"),
    DeclaredAbsentRow(**AT, ref="a", tool=None, gaps=2),
    CoverageGapRow(**AT, ref="a", tool="search", gaps=1),
    EmptyRow(**AT, ref="a", tool="search"),
    GroundedRow(**AT, posture="guard", candidates=4, looked_up=2, after_revision=True),
    StepsUnfinishedRow(**AT, skill_id="s", remaining=(UnfinishedStep(1, "t"),), total=2, action="accepted"),
    ScriptShownRow(**AT, block=1, label="failed", tool_call_id="c", tool="run", dispatch=1, exit_code=-9),
    ScriptShownRow(**AT, block=1, label="unmatched", reason="no-equal"),
    FlaggedRow(**AT, posture="assist", candidates=2, looked_up=1, unsupported=1, evicted=0),
    UnreachableRow(**AT, reasons=("corpus_bound",)),
    ValidatedRow(**AT, ok=True, check="total", digest="ab"),
    AskedRow(**AT),
    StoppedEarlyRow(**AT, reason="budget"),
]


def test_every_kind_of_row_is_here():
    assert {row.kind for row in ROWS} == set(ROW_TYPES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_there_and_back(row):
    stored = json.loads(json.dumps(row_to_json(row)))
    back = row_from_json(stored)
    assert back == row
    assert type(back) is type(row)
    assert is_well_formed(stored)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_a_field_of_another_shape_is_refused_by_name(row):
    stored = row_to_json(row)
    for field in fields(row):
        if field.name not in stored or field.name == "kind":
            continue
        for wrong in ({"x": 1}, [{"y": 2}], object):
            with pytest.raises(ConfigurationError, match=field.name):
                row_from_json({**stored, field.name: wrong})
        if field.name in ("turn", "iteration"):
            for wrong in (-1, 1.5, "1", True, None):
                with pytest.raises(ConfigurationError, match=field.name):
                    row_from_json({**stored, field.name: wrong})
            with pytest.raises(ConfigurationError, match=f"lacks the field '{field.name}'"):
                row_from_json({key: item for key, item in stored.items() if key != field.name})


@pytest.mark.parametrize("value", [None, 3, "grounded", [], {}, {"kind": "later"}, {"kind": 3}, {"kind": ["grounded"]}])
def test_what_is_no_row_is_refused(value):
    assert not is_well_formed(value)
    with pytest.raises(ConfigurationError):
        row_from_json(value, "rows[3]")


def test_the_refusal_names_the_place_and_the_kind():
    with pytest.raises(ConfigurationError, match=r"rows\[3\] is of the unknown kind 'later'"):
        row_from_json({"kind": "later", "turn": 1, "iteration": 1}, "rows[3]")
    with pytest.raises(ConfigurationError, match=r"row \(asked\) has the unknown field 'why'"):
        row_from_json({"kind": "asked", **AT, "why": 1})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_anything_at_all_is_a_row_or_refused(value):
    for kind in ROW_TYPES:
        stored = {**value, "kind": kind} if isinstance(value, dict) else value
        is_well_formed(stored)
