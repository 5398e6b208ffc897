"""Results find the calls they answer where ids were made up from name and place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.madeup_ids import paired
from otel_footprint.core.messages import Message, Text, ToolCall, ToolResult


def calls(*ids: tuple[str, str]) -> Message:
    return Message("assistant", (Text("Looking."), *(ToolCall(id_, name, {}) for id_, name in ids)))


def result(id_: str) -> Message:
    return Message("tool", (ToolResult(id_, None, "x"),))


def ids_of(messages: tuple[Message, ...]) -> list[str | None]:
    return [message.result.id for message in messages if message.result is not None]


def test_a_text_in_front_of_the_calls_moves_their_places() -> None:
    messages = [calls(("f_1", "f"), ("g_2", "g"), ("f_3", "f")), result("f_0"), result("g_1"), result("f_2")]
    assert ids_of(paired(messages)) == ["f_1", "g_2", "f_3"]


def test_what_has_its_call_stays_the_very_object() -> None:
    messages = [calls(("abc", "f"), ("f_1", "f")), result("f_1"), result("abc"), result("zzz_1")]
    assert all(one is other for one, other in zip(paired(messages), messages, strict=True))


def test_calls_that_were_passed_over_are_not_waited_for() -> None:
    messages = [calls(("f_1", "f"), ("f_2", "f")), result("f_1"), calls(("f_5", "f")), result("f_0")]
    assert ids_of(paired(messages)) == ["f_1", "f_5"]


names = st.sampled_from(["f", "g", "read_file"])


@given(st.lists(st.lists(names, min_size=1, max_size=4), max_size=5), st.integers(0, 2))
def test_every_result_in_the_order_of_its_calls_finds_its_own(turns: list[list[str]], texts: int) -> None:
    messages: list[Message] = []
    expected: list[str] = []
    for turn in turns:
        made = [(f"{name}_{place + texts}", name) for place, name in enumerate(turn)]
        messages += [calls(*made), *(result(f"{name}_{place}") for place, name in enumerate(turn))]
        expected += [id_ for id_, _ in made]
    answered = ids_of(paired(messages))
    assert sorted(map(str, answered)) == sorted(expected)
    assert [str(id_).rpartition("_")[0] for id_ in answered] == [id_.rpartition("_")[0] for id_ in expected]
