"""A heap leaves out no text that carries what is asked, also where it need not search for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.heap import Heap
from otel_footprint.core.evidence.normal import fold
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.typed import Gathered
from otel_footprint.core.messages import Json, ToolResult

PHRASES = [
    "Feb 5, 2025",
    "Feb\u00a05, 2025",
    "7:31 PM",
    "12.5 kg",
    "2025-01-02 10:30 UTC",
    "\u0663 Feb",
    "3 \u00b5g",
    "left at 7:31 pm\nsharp",
    'said "12.5 kg" twice',
    "true 5 kg",
    "no digits at all",
    "\u0130stanbul 5 kg",
    "\u0394\u0399\u03a3\u039a\u039f\u03a3 5 kg",
]
ASKED = sorted({fold(one) for phrase in PHRASES for one in (phrase, phrase[:8], phrase[2:])} | {"5 kg", "feb 5, 2025"})

leaves = st.sampled_from(PHRASES) | st.sampled_from(["W1234567", "2025-01-02"]) | st.integers(0, 3000) | st.booleans()
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*PHRASES, "id", "size_kb"]), inner),
    max_leaves=8,
)
documents = st.one_of(
    st.builds(
        lambda tree, ascii_only: json.dumps(tree, ensure_ascii=ascii_only),
        st.lists(trees, max_size=4) | st.dictionaries(st.sampled_from([*PHRASES, "id"]), trees),
        st.booleans(),
    ),
    st.sampled_from(PHRASES),
    st.just('{"due": "Feb 5, 2025", "due": 1, "weight": "7 kg"}'),
)


def heap_of(*texts: str) -> Heap:
    return Heap([Carried(text, result=True) for text in texts])


def phrase(spelled: str) -> Question:
    return Question(spelled, rounding=False, literal=True)


@settings(max_examples=200, deadline=None)
@given(st.lists(documents, min_size=1, max_size=4))
def test_no_text_that_holds_a_phrase_is_left_out(texts: list[str]) -> None:
    heap = heap_of(*texts)
    for spelled in ASKED:
        question = phrase(spelled)
        held = {place for place, text in enumerate(texts) if Carried(text, result=True).grade(question)}
        assert held <= heap.places(question)


def test_what_no_string_holds_is_not_searched_for() -> None:
    many = json.dumps([{"id": f"W{number}", "due": "2025-02-05"} for number in range(1_000_000, 1_001_000)])
    heap = heap_of('[{"due": "Feb 5, 2025"}]', many)
    assert heap.places(phrase("feb 5, 2025")) == {0}
    assert heap.places(phrase("feb 5, 2031")) == set()
    assert heap.places(phrase("w1234567")) == set()
    assert set(heap._haystack._first) == {"feb 5, 2025", "w1234567"}  # what was searched for


@pytest.mark.parametrize(
    "text",
    [
        '{"due": "Feb 5, 2025", "due": 1, "weight": "7 kg"}',  # reading it as JSON loses the first
        '{"weight": "7 kg"} due Feb 5, 2025',  # not all of it is JSON
        '{"Feb 5, 2025": "7 kg"}',
    ],
)
def test_what_reading_loses_is_searched_for(text: str) -> None:
    assert heap_of(text).places(phrase("feb 5, 2025")) == {0}


def test_a_string_that_many_results_repeat_is_kept_once() -> None:
    found = Gathered(max_chars=20)
    for _ in range(50):
        found.add([{"weight": "12.5 kg", "note": "\u0663 Feb"}], None)
    assert list(found.strings or ()) == [("weight", "12.5 kg"), ("note", "\u0663 Feb")]
    assert found.quoted == 200


@pytest.mark.parametrize("strings", [1, 2_000])  # as few as are read, and more than that
def test_a_value_beside_a_quote_in_a_string(strings: int) -> None:
    rows = [{"display": f'OLED number {number}, 1.7" inches\nwide'} for number in range(strings)]
    heap = heap_of("[]", json.dumps(rows))
    (asked,) = typed.find("1.7-inch")
    assert heap.carrying(asked, lambda _: True) == {1}
    (other,) = typed.find("1.8-inch")
    assert heap.carrying(other, lambda _: True) == set()


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("long", [False, True])
def test_a_final_sigma_beside_a_letter_that_grows_when_lowered(*, escaped: bool, long: bool) -> None:
    row: Json = {"city": "\u0130stanbul", "note": "16384 MB \u0394\u0399\u03a3\u039a\u039f\u03a3"}
    corpus = Corpus(Evidence())
    filler: list[Json] = [{"pad": "words", "n": place} for place in range(4000)]
    for place, content in enumerate([[row], filler] if long else [[row]]):
        spelled = json.dumps(content, ensure_ascii=escaped)
        corpus.result(ToolResult(f"r{place}", None, spelled), ref=f"r{place}", tool=None, turn=1, served=None)
    values = corpus.judge("It has 16 GB, not 17 GB.", turn=1, tools_offered=True).values
    assert [value.status for value in values] == ["respelled", "unsupported"]
