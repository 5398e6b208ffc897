"""The reserved member leaves a JSON object wherever it stands and however the text is cut; every other byte stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.findings.peeling import RESERVED, Peeler, peel_text


def in_pieces(text, cuts):
    peeler = Peeler()
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    return "".join(peeler.feed(piece) for piece in pieces) + peeler.close(), peeler


@pytest.mark.parametrize(
    ("text", "seen", "removed"),
    [
        ('{"a":1,"_findings":{"x":[1,{}]},"b":2}', '{"a":1,"b":2}', ['{"x":[1,{}]}']),
        ('{"_findings": {"x": "}"}, "a": 1}', '{ "a": 1}', ['{"x": "}"}']),
        ('{"a": 1, "_findings" : 7 }', '{"a": 1}', ["7"]),
        ('{"_findings":{}}', "{}", ["{}"]),
        ('{"a":1,"\\u005ffindings":{}}', '{"a":1}', ["{}"]),
        ('{"_findings":1,"_findings":2,"a":3}', '{"a":3}', ["1", "2"]),
        ('{"a":{"_findings":1}}', '{"a":{"_findings":1}}', []),
        ('{"a":"\\"_findings\\":{}","_find":1}', '{"a":"\\"_findings\\":{}","_find":1}', []),
        ('{"_findings_x":1,"_":2}', '{"_findings_x":1,"_":2}', []),
        ('[{"_findings":1}]', '[{"_findings":1}]', []),
        ("not JSON, {_findings}", "not JSON, {_findings}", []),
        ("", "", []),
        ('{"a":1,"_find', '{"a":1,"_find', []),
        ('{"a":1,"_findings":{"x"', '{"a":1', []),
        ('{"_findings" 1}', '{"_findings" 1}', []),
        ('{"a":1} and "_findings": 2', '{"a":1} and "_findings": 2', []),
    ],
)
def test_what_is_seen(text, seen, removed):
    assert peel_text(text) == (seen, removed)
    for cut in range(len(text)):
        assert in_pieces(text, [cut])[0] == seen
    assert in_pieces(text, range(len(text)))[0] == seen


def test_only_what_may_be_the_key_is_held_back():
    peeler = Peeler()
    assert peeler.feed('{"a":1') == '{"a":1'
    assert peeler.feed(', "_f') == ""
    assert peeler.feed("x") == ', "_fx'
    assert peeler.feed('":"text that arrives') == '":"text that arrives'


def test_white_space_without_end_is_no_burden():
    peeler = Peeler()
    for _ in range(200_000):
        peeler.feed(" ")
    assert peeler.feed("{") == "{"
    for _ in range(200_000):
        peeler.feed(" ")
    assert len(peeler.feed('"a"')) + len(peeler.close()) == 200_003


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just(RESERVED), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=5), JSON, max_size=4),
    JSON,
    st.integers(0, 4),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.lists(st.integers(0, 400), max_size=6),
)
def test_any_cut_gives_the_object_without_its_member(members, declared, at, indent, escape, cuts):
    members.pop(RESERVED, None)
    plain = list(members.items())
    whole = dict([*plain[:at], (RESERVED, declared), *plain[at:]])
    text = json.dumps(whole, indent=indent, ensure_ascii=escape)
    seen, peeler = in_pieces(text, cuts)
    assert json.loads(seen) == members
    assert [json.loads(raw) for raw in peeler.removed] == [declared]
    assert seen == peel_text(text)[0]


@given(st.text() | st.text(alphabet='{}[],:"\\_findgs u05 \n'), st.lists(st.integers(0, 400), max_size=6))
def test_any_text_at_all_comes_out_the_same_however_it_is_cut(text, cuts):
    seen, _ = in_pieces(text, cuts)
    assert seen == in_pieces(text, [])[0]


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.lists(st.integers(0, 400), max_size=6))
def test_an_object_without_the_member_keeps_every_byte(members, cuts):
    members.pop(RESERVED, None)
    text = json.dumps(members)
    seen, peeler = in_pieces(text, cuts)
    assert seen == text
    assert peeler.removed == []
