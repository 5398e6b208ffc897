"""Turns and the names of results."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from session_cases import asks, result, says, system, user

from otel_footprint.core.messages import Message, Text, ToolResult
from otel_footprint.core.turns import ResultNames, Turn, segment, tools_of_results


def test_results_join_the_turn_of_their_call() -> None:
    window = [user("hi"), asks(("a", "find"), ("b", "find")), result("a", "1"), result("b", "2"), says("done")]
    assert segment(window) == (Turn(0, 0), Turn(1, 3), Turn(4, 4))


def test_a_leading_result_opens_its_own_turn() -> None:
    assert segment([result("a", "1"), result("b", "2"), user("hi")]) == (Turn(0, 1), Turn(2, 2))


def test_an_empty_window_has_no_turns() -> None:
    assert segment([]) == ()


def test_text_beside_results_is_still_a_result() -> None:
    both = Message("tool", (ToolResult("a", None, "1"), Text("go on")))
    assert segment([asks(("a", "find")), both]) == (Turn(0, 1),)


MESSAGES = st.lists(
    st.sampled_from([user("u"), says("s"), asks(("a", "f")), result("a", "1"), result(None, "2"), system("x")])
)


@given(MESSAGES)
def test_every_message_is_in_exactly_one_turn(window: list[Message]) -> None:
    covered = [index for turn in segment(window) for index in range(turn.first, turn.last + 1)]
    assert covered == list(range(len(window)))
    for turn in segment(window):
        assert all(window[index].result is not None for index in range(turn.first + 1, turn.last + 1))
        assert turn.first == 0 or window[turn.first].result is None


def test_a_result_is_named_by_itself_or_by_the_nearest_call_before_it() -> None:
    window = [
        result("a", "orphan"),
        asks(("a", "first")),
        result("a", "1"),
        asks(("a", "second")),
        result("a", "2"),
        result("a", "3", name="own"),
        result(None, "4"),
    ]
    assert tools_of_results(window) == (None, None, "first", None, "second", "own", None)


def test_repeated_and_missing_ids_are_numbered() -> None:
    names = ResultNames()
    assert names.call("a", "find") == "a"
    assert names.result(ToolResult("a", None, "")) == ("a", "find")
    names.new_message()
    assert names.call("a", "look") == "a#2"
    assert names.result(ToolResult("a", None, "")) == ("a#2", "look")
    assert [names.result(ToolResult(None, None, ""))[0] for _ in range(2)] == ["result:1", "result:2"]


def test_parallel_calls_with_one_id_pair_with_their_results_in_order() -> None:
    names = ResultNames()
    names.new_message()
    assert [names.call("x", "f"), names.call("x", "f"), names.call(None, "f"), names.call(None, "f")] == [
        "x", "x#2", "result:1", "result:2",
    ]  # fmt: skip
    assert [names.result(ToolResult(call_id, None, ""))[0] for call_id in ("x", "x", None, None)] == [
        "x", "x#2", "result:1", "result:2",
    ]  # fmt: skip


def test_a_call_nobody_answered_does_not_shift_the_names_after_it() -> None:
    names = ResultNames()
    names.new_message()
    names.call("x", "f")
    names.new_message()
    assert names.call("x", "f") == "x"
    assert names.result(ToolResult("x", None, ""))[0] == "x"


def test_a_fork_numbers_on_by_itself() -> None:
    names = ResultNames()
    names.result(ToolResult("x", None, ""))
    fork = names.fork()
    assert fork.result(ToolResult("x", None, ""))[0] == "x#2"
    assert names.result(ToolResult("x", None, ""))[0] == "x#2"
