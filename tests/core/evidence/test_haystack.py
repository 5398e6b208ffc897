"""Looking a form up in raw text equals looking it up in the straightforward index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence.haystack import Grade, Haystack, Question
from otel_footprint.core.evidence.normal import fold, form, tokens
from otel_footprint.core.evidence.reader import folded_json, read
from tests.core.evidence import oracle

ALPHABET = 'aB7e0142x.,:_-/@# "\\\n\t{}[]()$%é–٣\u2009'
texts = st.text(alphabet=ALPHABET, max_size=24)
numbers = st.one_of(
    st.integers(-(10**7), 10**7),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from([98304.0, 1.12e-02, 417, 1234, 234.5]),
)
trees = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


@st.composite
def results(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["json", "compact", "ascii", "several", "text", "tail"]))
    if kind == "text":
        return draw(texts)
    tree = draw(st.one_of(st.lists(trees, max_size=4), st.dictionaries(texts, trees, max_size=4)))
    spelled = json.dumps(tree, ensure_ascii=kind == "ascii", separators=(",", ":") if kind == "compact" else None)
    if kind == "several":
        return spelled + "\n" + json.dumps(draw(st.lists(trees, max_size=3)))
    return spelled + ("\n" + draw(texts) if kind == "tail" else "")


def asked_forms(content: str, extra: list[str]) -> set[str]:
    """Forms worth asking: those that are there, parts of them, and others."""
    there = sorted(oracle.index(content))[:40]
    cut = {one[1:] for one in there} | {one[:-1] for one in there} | {one + "0" for one in there}
    return {found for one in {*there, *cut, *extra} if (found := form(one))}


@settings(max_examples=400, deadline=None)
@given(content=results(), extra=st.lists(texts.map(lambda text: fold(text).replace(" ", "")), max_size=4))
def test_raw_search_equals_the_index(content: str, extra: list[str]) -> None:
    assume(not read(content).cut)  # the oracle reads JSON that was cut as text
    haystack, indexed = Haystack(content, result=True), oracle.index(content)
    for asked in asked_forms(content, [token.form for one in extra for token in tokens(one)]):
        question = Question(asked, rounding=True)
        found = haystack.grade(question) is Grade.TOKEN
        assert found == (not question.forms.isdisjoint(indexed)), (asked, content)


def test_a_number_in_scientific_notation_is_told_beside_a_comma_of_json_too() -> None:
    asked = Question("0.00006103515625", rounding=True)
    assert Haystack("[[6.103515625e-05,100]]", result=True).grade(asked) is Grade.TOKEN
    assert Haystack("[[16.103515625e-05,100]]", result=True).grade(asked) is Grade.NONE


def test_raw_search_equals_the_index_on_real_results(shared_data: Path) -> None:
    path = shared_data / "tau2" / "airline.jsonl"
    checked = 0
    for line in path.read_text(encoding="utf-8").splitlines()[:6]:
        contents = [one["content"] for one in json.loads(line)["messages"] if one["role"] == "tool" and one["content"]]
        pool = sorted(set().union(*(oracle.index(content) for content in contents)))[::7]
        for content in contents:
            haystack, indexed = Haystack(content, result=True), oracle.index(content)
            for asked in pool:
                found = haystack.grade(Question(asked, rounding=True)) is Grade.TOKEN
                assert found == (asked in indexed), (asked, content[:80])
                checked += 1
    assert checked > 1000


@pytest.mark.parametrize(
    ("content", "asked", "grade"),
    [
        ('{"id": 4417}', "4417", Grade.TOKEN),
        ('{"id":4417}', "4417", Grade.TOKEN),
        ('{"id":4417}', "441", Grade.NONE),
        ('{"a":[1,234]}', "1234", Grade.NONE),
        ('{"a":[1,234]}', "234", Grade.TOKEN),
        ('{"a":"1,234"}', "1234", Grade.TOKEN),
        ("total 98,304 bytes", "98304", Grade.TOKEN),
        ('{"a": 98304.0}', "98304", Grade.TOKEN),
        ("0xEF0101 up", "ef0101", Grade.TOKEN),
        ("0xef01011 naa.0xef0101ab", "ef0101", Grade.NONE),
        ('{"pm": "gift_card_7504069"}', "7504069", Grade.SEGMENT),
        ('{"pm": "gift_card_17504069"}', "7504069", Grade.NONE),
        ('{"price": 12.50}', "50", Grade.NONE),
        ("1.12e-02 s", "0.0112", Grade.TOKEN),
        ("1000ml bottle", "1000", Grade.NONE),
        ('{"note": "line\\n4417 \\"QX-9\\""}', "qx-9", Grade.TOKEN),
        ('{"note": "caf\\u00e9-4417"}', "café-4417", Grade.TOKEN),
        ("{not json} C:\\new4417", "new4417", Grade.TOKEN),
        ('{"a": 12, "b": 4417', "4417", Grade.NONE),
        ('{"a": 4417, "b": "whole words 88123 cu', "88123", Grade.TOKEN),
        ('{"a": 4417, "b": "whole words 88123', "88123", Grade.NONE),
    ],
)
def test_examples(content: str, asked: str, grade: Grade) -> None:
    assert Haystack(content, result=True).grade(Question(asked, rounding=True)) is grade


@given(
    st.text(st.sampled_from("\u03a3\u03c3\u03c2\u0130\u00df\u039fa1 -\u2011\u00ad")),
    st.text(st.sampled_from("\u03a3\u0130\u039fb ")),
)
def test_text_folds_character_by_character(one: str, other: str) -> None:
    assert fold(one + other) == fold(one) + fold(other)
    assert len(fold(one)) == len(one)
    assert json.loads(folded_json(json.dumps([one]))) == [fold(one)]
