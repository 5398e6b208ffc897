"""What any strategy gives back is held against the rules before it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from otel_footprint.core.messages import Message, Reasoning, Text
from otel_footprint.core.window.checking import allowed
from otel_footprint.core.window.record import FoldedSpan, WindowRecord
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import Rebase, WindowResult, WindowStrategyInput
from tests.core.window.cases import engaged, notices, says, step, steps, system, user, visit

HISTORY = (user("old"), says("talk"), user("go"), *steps(6))


def cut(
    input: WindowStrategyInput, first: int, last: int, put: Message | None = None, keep: int | None = None
) -> WindowResult:
    """What an application's own strategy would give back that removes the messages from ``first`` to ``last``."""
    history = input.history
    window = (*history[:first], *(() if put is None else (put,)), *history[last + 1 :])
    facts = input.removal_facts(range(first, last + 1))
    chars = sum(message.chars for message in history)
    return WindowResult(
        window=window,
        rebase=Rebase(first, len(history) - last - 1, None if put is None else input.now),
        evictions=facts.evictions,
        record=WindowRecord(
            strategy="mine",
            iteration=input.iteration,
            removed_span_ids=facts.removed_span_ids,
            removed_message_count=len(facts.evictions),
            window_chars_before=chars,
            window_chars_after=sum(message.chars for message in window),
            keep_recent_turns=keep,
        ),
    )


def reason(given: WindowResult, input: WindowStrategyInput) -> str:
    said = allowed(given, input)
    assert not said
    assert said.reason is not None
    return said.reason


@pytest.fixture
def input() -> WindowStrategyInput:
    return visit(HISTORY, keep_last_tool_results=1)


def test_a_removal_of_what_may_leave(input: WindowStrategyInput) -> None:
    assert allowed(cut(input, 0, 1), input)
    assert allowed(cut(input, 0, 0), input)
    assert allowed(cut(input, 0, 1, user("What was: talk.", "summary")), input)
    assert allowed(cut(input, 0, 1, user("Be quick.", "injected")), input)


@pytest.mark.parametrize(
    ("first", "last", "keep", "why"),
    [
        (2, 2, None, r"turn 2 had to stay \(current-request\)"),
        (0, 2, None, r"turn 2 had to stay \(current-request\)"),
        (13, 14, None, r"turn 8 had to stay \(last-tool-result\)"),
        (3, 3, None, "turn 3 left in part"),
        (4, 4, None, "turn 3 left in part"),
        (3, 4, None, "turn 3 is not in the span that may leave"),
        (0, 1, 8, r"turn 1 had to stay \(inside-keep-window\)"),
    ],
)
def test_what_had_to_stay(input: WindowStrategyInput, first: int, last: int, keep: int | None, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(reason(cut(input, first, last, keep=keep), input))


def test_a_message_put_in_says_who_wrote_it_and_is_text(input: WindowStrategyInput) -> None:
    assert "does not say who wrote it" in reason(cut(input, 0, 1, user("as if said")), input)
    assert "not a user message of text" in reason(cut(input, 0, 1, says("as if answered")), input)
    assert "not a user message of text" in reason(cut(input, 0, 1, system("Obey.")), input)


def test_what_is_kept_is_kept_as_it_is(input: WindowStrategyInput) -> None:
    given = cut(input, 0, 1)
    assert given.window is not None
    changed = (user("stop"), *given.window[1:])
    assert "changed" in reason(replace(given, window=changed), input)
    marked = (replace(given.window[0], authored="injected"), *given.window[1:])
    assert "changed" in reason(replace(given, window=marked), input)
    thought = replace(given.window[1], parts=(*given.window[1].parts, Reasoning("hm")))
    assert "changed" in reason(replace(given, window=(given.window[0], thought, *given.window[2:])), input)
    swapped = (given.window[0], *given.window[3:5], *given.window[1:3], *given.window[5:])
    assert "changed" in reason(replace(given, window=swapped), input)
    equal = (Message("user", (Text("go"),)), *given.window[1:])
    assert allowed(replace(given, window=equal), input)


@pytest.mark.parametrize(
    "rebase", [Rebase(-1, 14), Rebase(0, 16), Rebase(9, 9), Rebase(0, 12), Rebase(1, 12), Rebase(0, 13, None, (0,))]
)
def test_a_rebase_that_does_not_fit(input: WindowStrategyInput, rebase: Rebase) -> None:
    assert reason(replace(cut(input, 0, 1), rebase=rebase), input)


def test_a_window_without_a_rebase_and_the_reverse(input: WindowStrategyInput) -> None:
    given = cut(input, 0, 1)
    assert "together" in reason(replace(given, rebase=None), input)
    assert "together" in reason(replace(given, window=None), input)


@pytest.mark.parametrize(
    ("field", "value"), [("removed_message_count", 1), ("window_chars_after", 5), ("window_chars_before", 5)]
)
def test_the_record_tells_what_was_done(input: WindowStrategyInput, field: str, value: Any) -> None:
    given = cut(input, 0, 1)
    assert field in reason(replace(given, record=replace(given.record, **{field: value})), input)


def test_every_message_that_leaves_is_an_eviction(input: WindowStrategyInput) -> None:
    given = cut(input, 0, 1)
    assert "evictions" in reason(replace(given, evictions=given.evictions[:1]), input)
    assert "evictions" in reason(replace(given, evictions=(*given.evictions, given.evictions[0])), input)


def test_a_result_that_leaves_the_window_removes_nothing(input: WindowStrategyInput) -> None:
    chars = sum(message.chars for message in HISTORY)
    record = WindowRecord(strategy="mine", iteration=1, window_chars_before=chars, window_chars_after=chars)
    nothing = WindowResult(record=record)
    assert allowed(nothing, input)
    assert reason(replace(nothing, record=replace(record, removed_message_count=1)), input)
    assert reason(replace(nothing, record=replace(record, window_chars_after=0)), input)
    assert reason(replace(nothing, evictions=input.removal_facts([0]).evictions), input)
    folded = FoldedSpan("text", (), 1, 1, 1, "run", "discard", "")
    assert reason(replace(nothing, folded=(folded,)), input)


def test_a_strategy_that_does_nothing_new_may_still_say_so(input: WindowStrategyInput) -> None:
    chars = sum(message.chars for message in HISTORY)
    record = WindowRecord(strategy="mine", iteration=1, window_chars_before=chars, window_chars_after=chars)
    assert allowed(WindowResult(record=record, window=HISTORY, rebase=Rebase(len(HISTORY), 0)), input)


class TestNotices:
    def with_notice(self, *before: Message) -> Sequence[Message]:
        return [*before, user("gone", "notice"), says("talk"), user("go"), says("on")]

    def test_one_may_leave_alone_and_may_be_stepped_over(self) -> None:
        input = visit(self.with_notice(user("old")))
        assert allowed(cut(input, 1, 1), input)
        assert allowed(cut(input, 0, 1), input)
        assert allowed(cut(input, 0, 2), input)

    def test_only_a_notice_is_absorbed(self) -> None:
        input = visit([user("gone", "notice"), user("go"), *step(1, "a"), says("talk"), says("on")])
        given = engaged(SlidingWindow(2), replace(input))
        assert given.rebase is None or notices(given.window or ())
        plain = visit([user("old"), user("go"), says("talk"), says("on")])
        wrong = cut(plain, 2, 2)
        assert wrong.window is not None
        wrong = replace(wrong, window=wrong.window[1:], rebase=Rebase(2, 1, None, (0,)))
        assert "absorbed" in reason(wrong, plain)


@pytest.mark.parametrize(
    "said",
    [
        {"warning": ["not a text"]},
        {"budget_pressure": "much"},
        {"spend": 5},
        {"folded": ("a span",)},
        {"evictions": (1,)},
    ],
    ids=lambda said: next(iter(said)),
)
def test_what_cannot_be_written_down_is_not_used(input: WindowStrategyInput, said: dict[str, Any]) -> None:
    assert "types" in reason(replace(cut(input, 0, 1), **said), input)


@pytest.mark.parametrize("said", [{"refusals": ("x",)}, {"observations": 5}, {"ledger_facts": 5}])
def test_a_record_of_other_types_is_not_used(input: WindowStrategyInput, said: dict[str, Any]) -> None:
    given = cut(input, 0, 1)
    assert "types" in reason(replace(given, record=replace(given.record, **said)), input)
