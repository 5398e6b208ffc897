"""A window that is saved goes on in another process; what is malformed is refused by name."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planner_cases import DRAFT_PAIR, Live, asks, result, run, says, user

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.message_json import Reader, message_to_json
from otel_footprint.core.messages import (
    Compaction,
    Message,
    Opaque,
    Reasoning,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)
from otel_footprint.core.window.record import PIN_REASONS
from otel_footprint.core.window.saving import WindowState
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.summarize_oldest import SummarizeOldest

FOLDING = SummarizeOldest(400, lambda _: "They read rows.", "m", 3)


def live(strategy: Any = FOLDING) -> Live:
    return Live(strategy, conversation_id="a")


def saved(of: Live) -> dict[str, Any]:
    text = json.dumps(of.planner.saved("a").to_dict())
    document: dict[str, Any] = json.loads(text)
    return document


def restored(document: dict[str, Any], strategy: Any = FOLDING) -> Live:
    other = live(strategy)
    other.planner.restore("a", WindowState.from_dict(document), now=other.now)
    return other


@pytest.mark.parametrize("strategy", [FOLDING, SlidingWindow(3)])
def test_another_process_goes_on_with_the_same_window(strategy: Any) -> None:
    here = live(strategy)
    messages = [user("Read it all.")]
    run(here, messages, 9)
    there = restored(saved(here), strategy)
    there.now, there.spans = here.now, here.spans
    for number in range(9, 15):
        answer = asks((f"c{number}", "tool_0"))
        one, two = here.call(messages, answer), there.call(messages, answer)
        assert one.planned.items == two.planned.items
        assert (one.planned.turn, one.planned.iteration) == (two.planned.turn, two.planned.iteration)
        assert one.planned.record == two.planned.record
        assert (two.decisions.turn, two.decisions.iteration) == (one.decisions.turn, one.decisions.iteration)
        messages += [answer, result(f"c{number}", f"row {number} " * 40)]
    assert here.planner.folded("a") == there.planner.folded("a")


def test_what_was_folded_is_in_the_document_word_by_word() -> None:
    here = live()
    messages = [user("Read it all.")]
    run(here, messages, 12)
    spans = here.planner.folded("a")
    assert spans
    assert sum(len(span.messages) for span in spans) >= 4
    again = WindowState.from_dict(saved(here))
    assert again.to_dict() == saved(here)
    assert again.folded == spans
    assert [message.parts for span in again.folded for message in span.messages] == [
        message.parts for span in spans for message in span.messages
    ]


def test_stand_down_is_remembered() -> None:
    here = live(SlidingWindow(1))
    messages = [user("Read it all.")]
    for number in range(30):
        record = run(here, messages, 1, first=number)[0].planned.record
        if record is None or record.removed_message_count or not any(r.reason in PIN_REASONS for r in record.refusals):
            continue
        kept = WindowState.from_dict(saved(here)).lines[-1].state.records[-1]
        assert kept is not None
        assert (kept.refusals, kept.removed_message_count) == (record.refusals, 0)
        return
    raise AssertionError("no visit was held up by a pin")


def test_an_answer_that_was_sent_back_is_not_saved() -> None:
    here = live(None)
    messages = [user("Read it all.")]
    run(here, messages, 2)
    draft, check = DRAFT_PAIR
    first = here.call(messages, draft, posture="guard", revisable=True)
    second = here.planner.revise(first.planned, draft, (object(),), check)
    here.answer(first.visit, second, asks(("z", "tool_0")))
    assert check.text not in json.dumps(saved(here))
    other = restored(saved(here), None)
    visit = other.begin([*messages, asks(("z", "tool_0")), result("z", "rows")])
    assert visit.going is not None
    assert visit.state.revised_turn == visit.state.turn, "the one revision of the turn is spent"


def test_nothing_known_is_an_empty_document() -> None:
    assert saved(live()) == {"format": "otel-footprint window", "version": 1, "lines": []}
    assert restored(saved(live())).planner.folded("a") == ()


def whole() -> dict[str, Any]:
    here = live()
    run(here, [user("Read it all.")], 12)
    return saved(here)


WHOLE = whole()
ROWS = [
    (["version"], 2, "version 2 is not known"),
    (["version"], True, "version True is not known"),
    (["format"], "other", "format 'other'"),
    (["lines"], {}, "lines is not a list"),
    (["lines", 0], [], r"lines\[0\] is not an object"),
    (["lines", 0, "turn"], -1, r"lines\[0\].turn is not a whole number"),
    (["lines", 0, "turn"], True, r"lines\[0\].turn is not a whole number"),
    (["lines", 0, "keys"], "abc", r"lines\[0\].keys is not hexadecimal"),
    (["lines", 0, "items", 0, "index"], 10_000, r"lines\[0\].items\[0\].index is not a place"),
    (["lines", 0, "items", 2, "index"], 0, r"lines\[0\].items\[2\].index is not a place"),
    (["lines", 0, "items", 0, "born_at"], float("nan"), r"born_at is not a number"),
    (["lines", 0, "outputs"], [], r"lines\[0\].outputs is not a list of at least one"),
    (["lines", 0, "outputs", 0, "role"], "boss", r"lines\[0\].outputs\[0\].role is not one of"),
    (["lines", 0, "outputs", 0, "parts", 0, "type"], "spell", r"parts\[0\].type is not a kind of part"),
    (["lines", 0, "unreported"], "maybe", r"lines\[0\].unreported is not one of"),
    (["lines", 0, "after", "span_id"], "12", r"lines\[0\].after.span_id is not hexadecimal"),
    (["lines", 0, "folded", 0, "retain"], "burn", r"lines\[0\].folded\[0\].retain is not one of"),
    (["lines", 0, "measured"], [1], r"lines\[0\].measured is not"),
]


@pytest.mark.parametrize(("path", "value", "said"), ROWS)
def test_what_is_malformed_is_refused_by_name(path: list[Any], value: Any, said: str) -> None:
    document = copy.deepcopy(WHOLE)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    assert path[-1] in place if isinstance(place, dict) else path[-1] < len(place)
    place[path[-1]] = value
    with pytest.raises(ConfigurationError, match=said):
        WindowState.from_dict(document)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_document_with_anything_in_it_is_read_or_refused(data: st.DataObject) -> None:
    document = copy.deepcopy(WHOLE)
    place: Any = document
    while True:
        step = data.draw(st.sampled_from(sorted(place)) if isinstance(place, dict) else st.integers(0, len(place) - 1))
        if not isinstance(place[step], (dict, list)) or not place[step] or data.draw(st.booleans()):
            break
        place = place[step]
    place[step] = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just([]) | st.just({}) | st.just([[]])
    )
    with contextlib.suppress(ConfigurationError):
        WindowState.from_dict(document)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ids = st.none() | st.text(max_size=5)
parts = st.one_of(
    st.builds(Text, st.text()),
    st.builds(ToolCall, ids, st.text(), json_values),
    st.builds(ToolResult, ids, ids, json_values, st.booleans()),
    st.builds(ServerToolCall, ids, st.text(), json_values),
    st.builds(ServerToolResult, ids, ids, json_values),
    st.builds(Reasoning, st.text()),
    st.builds(Compaction, st.none() | st.text()),
    st.builds(Opaque, st.text()),
)


@given(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(parts, max_size=4).map(tuple),
        ids,
        st.sampled_from([None, "notice", "correction", "summary", "injected", "draft"]),
    )
)
def test_a_message_comes_back_with_its_key(message: Message) -> None:
    row = json.loads(json.dumps(message_to_json(message)))
    back = Reader("it").message(row, "here")
    has_odd_arguments = any(
        isinstance(part, (ToolCall, ServerToolCall)) and getattr(again, "arguments", None) != part.arguments
        for part, again in zip(message.parts, back.parts, strict=True)
    )
    assert back.key == message.key or has_odd_arguments
    assert (back.role, back.name, back.authored, back.chars) == (
        message.role,
        message.name,
        message.authored,
        message.chars,
    )


def test_a_document_is_small_beside_what_it_speaks_of() -> None:
    here = live(SlidingWindow(3))
    messages = [user("Read it all.")]
    run(here, messages, 40)
    text = json.dumps(here.planner.saved("a").to_dict())
    assert says("x").role == "assistant"
    assert "row 1 " not in text, "the application's own messages stay with the application"
