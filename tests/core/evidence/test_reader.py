"""The one reader: what of a result is JSON, what is text, and what a cut leaves."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.absence import absent, coverage, read_absence, read_coverage
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.haystack import Grade, Haystack, Question
from otel_footprint.core.evidence.reader import Reading, flat, read, without_looked_for
from otel_footprint.core.messages import Message, ToolResult


@pytest.mark.parametrize(
    ("content", "reading"),
    [
        ('{"id": 4417}', Reading(({"id": 4417},), "")),
        ('{"id": 4417}\nnote 5', Reading(({"id": 4417},), "\nnote 5")),
        ('[1, 2]["x"] tail', Reading(([1, 2], ["x"]), " tail")),
        ("{foo: 1}", Reading((), "{foo: 1}")),
        ("{level=info} 4417", Reading((), "{level=info} 4417")),
        ("plain 4417", Reading((), "plain 4417")),
        ('"abc', Reading((), '"abc')),
        ('{"a": [1, 2, {"b": "hel lo wor', Reading(({"a": [1, 2, {}]},), "hel lo \n", cut=True)),
        ('{"a": 12', Reading(({},), "\n", cut=True)),
        ('{"a": 12, "b": tr', Reading(({"a": 12},), "\n", cut=True)),
        ('{"a": {"c": 1}, "b": 123456... [cut]', Reading(({"a": {"c": 1}},), "\n... [cut]", cut=True)),
    ],
)
def test_readings(content: str, reading: Reading) -> None:
    assert read(content) == reading


leaf = st.one_of(st.integers(0, 10**8), st.text(alphabet='ab1 "\\é\n', max_size=8), st.booleans(), st.none())
trees = st.recursive(
    leaf, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3))
)


@settings(deadline=None)
@given(tree=st.dictionaries(st.text(max_size=4), trees, min_size=1, max_size=4), place=st.integers(0, 400))
def test_cut_anywhere_nothing_fails_and_no_leaf_is_invented(tree: dict[str, object], place: int) -> None:
    whole = json.dumps(tree)
    cut = whole[:place]
    reading = read(cut)
    flat(cut)
    assert json.dumps(reading.values) is not None
    if reading.cut and reading.values:
        assert _prefix(reading.values[0], tree)


def _prefix(part: object, whole: object) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _prefix(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(_prefix(one, other) for one, other in zip(part, whole, strict=False))
    return part == whole


def test_the_number_a_cut_may_have_split_is_not_read() -> None:
    cut = Haystack('{"a": 4417, "b": 123', result=True)
    assert cut.grade(Question("4417", rounding=True)) is Grade.TOKEN
    assert cut.grade(Question("123", rounding=True)) is Grade.NONE


def test_an_absence_loses_what_was_looked_for() -> None:
    envelope = absent(checked=["orders"], looked_for="ZX-1", try_instead="ask", known=["ZX-2"])
    found = read_absence(json.dumps(envelope))
    assert found is not None
    assert (found.checked, found.looked_for, found.try_instead) == (("orders",), "ZX-1", "ask")
    assert found.extra == {"known": ["ZX-2"]}
    text = without_looked_for(json.dumps(envelope))
    assert "ZX-1" not in text
    assert "ZX-2" in text


@pytest.mark.parametrize(
    "content",
    [
        {"af_absent": "true", "checked": ["a"]},
        {"af_absent": 1, "checked": ["a"]},
        {"af_absent": True, "checked": []},
        {"af_absent": True},
        {"af_absent": True, "checked": "a"},
        [{"af_absent": True, "checked": ["a"]}],
        'note {"af_absent": true, "checked": ["a"]}',
    ],
)
def test_what_only_looks_like_an_absence_is_none(content: object) -> None:
    assert read_absence(content) is None  # type: ignore[arg-type]


def test_coverage_wraps_a_result() -> None:
    found = read_coverage(coverage([1], checked=["a"], not_checked=["b"]))
    assert found is not None
    assert (found.checked, found.not_checked, found.result) == (("a",), ("b",), [1])


def test_an_absence_that_looked_nowhere_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="checked"):
        absent(checked=[])
    with pytest.raises(ConfigurationError, match="checked"):
        absent(checked="orders")
    with pytest.raises(ConfigurationError, match="af_absent"):
        absent(checked=["a"], af_absent=False)


def test_json_that_python_does_not_convert_is_text() -> None:
    content = '{"id": "AB-1234", "n": ' + "9" * 6_000 + "}"
    assert read(content) == Reading((), content)


def test_a_structure_nested_beyond_measure_is_a_message_all_the_same() -> None:
    content: list[object] = []
    for _ in range(50_000):
        content = [content]
    message = Message("tool", (ToolResult("c", "t", content),))  # type: ignore[arg-type]
    assert message.text == ""
    assert message.chars < 100
