"""Asking many texts at once equals asking each of them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.carried import BULK_CHARS, Carried
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.shelf import Shelf, Words
from otel_footprint.core.evidence.sources import Source, Stack
from tests.core.evidence.test_haystack import asked_forms, results, texts


def carried(text: str, *, result: bool = True) -> Carried:
    return Carried(text, result=result)


@settings(max_examples=150, deadline=None)
@given(st.lists(results(), max_size=4), st.lists(texts, max_size=3), st.booleans(), st.booleans(), st.booleans())
def test_no_text_that_carries_a_form_is_left_out(
    contents: list[str], extra: list[str], rounding: bool, tail: bool, literal: bool
) -> None:
    shelf = Shelf()
    shelf.places(Question("1234", rounding=rounding))
    held = [carried(content) for content in contents]
    for one in held:
        shelf.add(one)
    for spelled in sorted({form for content in contents for form in asked_forms(content, extra)}):
        question = Question(spelled, rounding=rounding, tail=tail, literal=literal)
        places = list(shelf.places(question))
        assert places == sorted(set(places))
        assert {place for place, one in enumerate(held) if one.grade(question)} <= set(places)


def test_a_text_is_found_by_a_rounded_and_by_a_scientific_spelling() -> None:
    spellings = ["12.50", "1.250e1", "12.500", "[12.5, 3]", "x12.5", "1,234.50", "0x12ab"]
    shelf = Shelf(carried(text) for text in spellings)
    assert set(spellings[:4]) <= {spellings[place] for place in shelf.places(Question("12.5", rounding=True))}
    assert list(shelf.places(Question("1234.5", rounding=True))) == [5]
    assert list(shelf.places(Question("12ab", rounding=True))) == [6]


def test_only_texts_with_the_form_are_looked_at() -> None:
    shelf = Shelf(carried(f'{{"id": "HAT{number}", "day": "2024-05-12"}}') for number in range(100, 200))
    assert list(shelf.places(Question("hat142", rounding=False))) == [42]
    assert list(shelf.places(Question("2024-05-13", rounding=False))) == []


def test_what_was_dropped_is_found_no_more() -> None:
    shelf = Shelf([carried("a 1234"), carried("b 1234")])
    question = Question("1234", rounding=False)
    assert list(shelf.places(question)) == [0, 1]
    shelf.drop(0)
    assert list(shelf.places(question)) == [1]


def source(number: int, *, in_window: bool = True) -> Source:
    return Source(f"r{number}", None, "t", carried(f"order {number}"), 1, None, None, "good", in_window=in_window)


def test_a_stack_gives_what_is_in_the_window_and_forgets_what_was_dropped() -> None:
    sources = [source(1000 + number) for number in range(6)]
    stack = Stack(sources)
    sources[1].in_window = False
    assert stack.holding(Question("1001", rounding=False)) == []
    assert stack.holding(Question("1005", rounding=False)) == [sources[5]]
    for one in sources[:4]:
        stack.drop(one)
        assert stack.holding(Question(one.ref[1:], rounding=False)) == []
    assert stack.holding(Question("1005", rounding=False)) == [sources[5]]
    assert [one.place for one in sources[4:]] == [0, 1]


words = st.lists(
    st.sampled_from(
        [
            "on May 3, 2024",
            "$1,250.50",
            "about 5 GB",
            "14:30",
            "half past nine",
            "three bags",
            "HAT123",
            "nothing",
            "7 %",
        ]
    ),
    max_size=4,
)


@settings(max_examples=100, deadline=None)
@given(words, words, st.booleans())
def test_one_index_of_words_states_what_any_of_them_states(said: list[str], asked: list[str], year: bool) -> None:
    held = [carried(text, result=False) for text in said]
    shelf = Words(held[:2])
    for text in asked:
        for value in typed.find(text):
            assert shelf.states(value, lambda _: year) == any(one.match(value, lambda _: year) for one in held[:2])
    for one in held[2:]:
        shelf.add(one)
    for text in asked:
        for value in typed.find(text):
            assert shelf.states(value, lambda _: year) == any(one.match(value, lambda _: year) for one in held)
    assert shelf.years == {number for one in held for number in one.years}


def test_words_of_a_very_long_text_count_too() -> None:
    shelf = Words([carried("x " * BULK_CHARS + "on May 3, 2024", result=False), carried("in 2023-01-02", result=False)])
    (value,) = typed.find("2024-05-03")
    assert shelf.states(value, lambda _: True)
    assert shelf.years >= {2023}
