"""Which call a result belongs to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.offline.pairing import Pairing


def test_ids_pair_and_repeat() -> None:
    pairing = Pairing()
    pairing.assistant()
    assert [pairing.call("a", "f"), pairing.call("b", "g")] == ["a", "b"]
    assert pairing.result("b", None) == ("b", "g")
    assert pairing.result("a", None) == ("a", "f")
    pairing.assistant()
    assert pairing.call("a", "f") == "a#2"
    assert pairing.result("a", None) == ("a#2", "f")
    assert pairing.result("a", "late") == ("a#3", "late")


def test_missing_ids_pair_by_order_and_name() -> None:
    pairing = Pairing()
    pairing.assistant()
    refs = [pairing.call(None, "f"), pairing.call(None, "g"), pairing.call(None, "f")]
    assert refs == ["result:1", "result:2", "result:3"]
    assert pairing.result(None, "g") == ("result:2", "g")
    assert pairing.result(None, None) == ("result:1", "f")
    assert pairing.result(None, "f") == ("result:3", "f")


def test_a_result_with_an_id_takes_a_call_without_one_and_the_reverse() -> None:
    pairing = Pairing()
    pairing.assistant()
    pairing.call(None, "f")
    assert pairing.result("x", None) == ("result:1", "f")
    pairing.assistant()
    pairing.call("y", "g")
    assert pairing.result(None, None) == ("y", "g")


def test_an_unanswered_call_without_id_is_closed_by_the_next_assistant_message() -> None:
    pairing = Pairing()
    pairing.assistant()
    pairing.call(None, "f")
    pairing.assistant()
    pairing.call(None, "g")
    assert pairing.result(None, None) == ("result:2", "g")


def test_a_result_without_any_call() -> None:
    assert Pairing().result(None, "f") == ("result:1", "f")
    assert Pairing().result("z", None) == ("z", None)


@given(st.lists(st.tuples(st.sampled_from(["assistant", "call", "result"]), st.sampled_from([None, "a", "b"]))))
def test_no_two_results_share_a_name_unless_one_call_was_paired(steps: list[tuple[str, str | None]]) -> None:
    pairing = Pairing()
    results = []
    for step, identity in steps:
        if step == "assistant":
            pairing.assistant()
        elif step == "call":
            pairing.call(identity, "f")
        else:
            results.append(pairing.result(identity, None)[0])
    assert len(results) == len(set(results))
