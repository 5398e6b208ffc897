"""Builders for the tests of window strategies, and an independent recount of what a visit did."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from otel_footprint.core.call import CallRef
from otel_footprint.core.messages import Authored, Json, Message, Part, Text, ToolCall, ToolResult
from otel_footprint.core.window.checking import allowed
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.record import PIN_REASONS, RemovalPlan, WindowRecord
from otel_footprint.core.window.strategy import Measured, WindowResult, WindowStrategyInput
from otel_footprint.core.window.visit import visit_input

OVER = Measured(10_000, 5)


def user(text: str, authored: Authored | None = None) -> Message:
    return Message("user", (Text(text),), authored=authored)


def says(text: str) -> Message:
    return Message("assistant", (Text(text),))


def system(text: str) -> Message:
    return Message("system", (Text(text),))


def asks(*calls: tuple[str | None, str], text: str = "") -> Message:
    """An assistant message with tool calls, each ``(id, name)``."""
    parts: tuple[Part, ...] = tuple(ToolCall(call_id, name, {}) for call_id, name in calls)
    return Message("assistant", (Text(text), *parts) if text else parts)


def result(call_id: str | None, content: Json = "a row of the table, " * 20, name: str | None = None) -> Message:
    return Message("tool", (ToolResult(call_id, name, content),))


def step(number: int, tool: str = "search", content: Json = "a row of the table, " * 20) -> list[Message]:
    """One step of an agent: a call and its result."""
    return [asks((f"call_{number}", tool)), result(f"call_{number}", content)]


def steps(count: int, tool: str = "search", start: int = 0) -> list[Message]:
    return [message for number in range(start, start + count) for message in step(number, tool)]


def visit(
    history: Sequence[Message], *, births: Sequence[Born] | None = None, call_number: int = 9, **facts: Any
) -> WindowStrategyInput:
    """A visit of this window; whatever is not given is plain."""
    facts.setdefault("iteration", 7)
    facts.setdefault("run_id", "run")
    facts.setdefault("now", 2_000.0)
    return visit_input(
        history,
        births=births
        if births is not None
        else [Born(1_000.0 + i, CallRef(1, 100 + i), 1) for i in range(len(history))],
        call_number=call_number,
        **facts,
    )


def run(strategy: Any, input: WindowStrategyInput) -> WindowResult | None:
    """Let the strategy plan, driven by a loop where it is a coroutine; what it gives back obeys the rules."""
    planned = strategy.plan(input)
    given = asyncio.run(planned) if asyncio.iscoroutine(planned) else planned
    if given is not None:
        assert allowed(given, input), allowed(given, input).reason
        recount(given, input)
    return given


def engaged(strategy: Any, input: WindowStrategyInput) -> WindowResult:
    given = run(strategy, input)
    assert given is not None
    return given


def reasons(plan: RemovalPlan | WindowRecord) -> dict[int, str]:
    """The refusal of each turn that has one."""
    named = {refusal.turn_index: refusal.reason for refusal in plan.refusals}
    assert len(named) == len(plan.refusals)
    return named


def pairing(window: Sequence[Message]) -> tuple[Counter[str | None], Counter[str | None]]:
    """Calls without a later result, and results without an earlier call, by id. Independent of what we plan with."""
    waiting: Counter[str | None] = Counter()
    orphans: Counter[str | None] = Counter()
    for message in window:
        for part in message.parts:
            if isinstance(part, ToolCall):
                waiting[part.id] += 1
            elif isinstance(part, ToolResult):
                if waiting[part.id]:
                    waiting[part.id] -= 1
                else:
                    orphans[part.id] += 1
    return +waiting, +orphans


def notices(window: Sequence[Message]) -> list[Message]:
    return [message for message in window if message.authored == "notice"]


def recount(given: WindowResult, input: WindowStrategyInput) -> None:
    """Hold the record against the two windows, counting anew."""
    before, record = list(input.history), given.record
    after = before if given.window is None else list(given.window)
    own = {id(message) for message in before}
    kept = [message for message in after if id(message) in own]
    put = [message for message in after if id(message) not in own]
    places = {id(message): index for index, message in enumerate(before)}
    kept_places = [places[id(message)] for message in kept]
    left = [index for index in range(len(before)) if index not in set(kept_places)]
    assert kept_places == sorted(kept_places)
    assert len(put) <= 1
    assert all(message.authored in ("notice", "summary") for message in put)
    assert record.removed_message_count == len(left) == len(record.removed_span_ids) == len(given.evictions)
    assert [eviction.index for eviction in given.evictions] == left
    assert record.window_chars_before == sum(message.chars for message in before)
    assert record.window_chars_after == sum(message.chars for message in after)
    for eviction in given.evictions:
        message = before[eviction.index]
        assert (eviction.key, eviction.chars, eviction.role) == (message.key, message.chars, message.role)
    tools = [eviction.tool for eviction in given.evictions if eviction.tool]
    assert list(record.dropped_observations) == list(dict.fromkeys(tools))
    # A call and its result leave together.
    assert not pairing(after)[0] - pairing(before)[0]
    assert not pairing(after)[1] - pairing(before)[1]
    # What is being answered stays.
    if input.current_request is not None:
        assert before[input.current_request] in kept
    # Every turn was asked, and is accounted for.
    gone = [turn for turn in input.turns if turn.first in left]
    assert record.inactive or len(gone) + len(record.refusals) + record.unreached == len(input.turns)
    assert len(record.refusals) == len(reasons(record))
    # What left is one run of turns, and turns leave whole.
    numbers = [input.turns.index(turn) for turn in gone]
    assert not numbers or numbers == list(range(numbers[0], numbers[-1] + 1))
    in_turns = {index for turn in gone for index in range(turn.first, turn.last + 1)}
    assert all(before[index].authored == "notice" for index in set(left) - in_turns)
    # A window is never longer for what was done to it, and never opens with what a provider refuses.
    assert record.window_chars_after <= record.window_chars_before
    if left and 0 in left:
        assert after[0].role == "user"
    for pins in (record.observations, record.ledger_facts):
        if pins is not None:
            assert len(pins.pinned) <= pins.limit
            assert not (pins.stand_down and pins.pinned)


class Agent:
    """An agent whose window is carried from call to call, as it is under a strategy of ours."""

    def __init__(self, strategy: Any, *opening: Message, **facts: Any) -> None:
        self.strategy = strategy
        self.facts = facts
        self.window: list[Message] = []
        self.births: list[Born] = []
        self.records: list[WindowRecord | None] = []
        self.results: list[WindowResult] = []
        self.calls = 0
        self.add(*opening)

    def add(self, *messages: Message) -> None:
        self.window += messages
        ref = CallRef(1, 1_000 + self.calls)
        self.births += [Born(1_000.0 + self.calls, ref, self.calls + 1) for _ in messages]

    def call(self, **facts: Any) -> WindowResult | None:
        """One call: the strategy plans, and its window is what is carried on."""
        self.calls += 1
        given = run(
            self.strategy,
            visit(
                self.window,
                births=self.births,
                call_number=self.calls,
                iteration=self.calls,
                now=1_000.0 + self.calls,
                previous=self.records[-2:],
                **(self.facts | facts),
            ),
        )
        self.records.append(None if given is None else given.record)
        if given is not None:
            self.results.append(given)
            if given.window is not None and given.rebase is not None:
                born = Born(1_000.0 + self.calls, CallRef(1, 1_000 + self.calls), self.calls)
                origins = given.rebase.origins(len(self.births))
                self.births = [born if i is None else self.births[i] for i in origins]
                self.window = list(given.window)
        return given

    @property
    def last(self) -> WindowRecord:
        record = self.records[-1]
        assert record is not None
        return record


def blocked_by_pins(record: WindowRecord | None) -> bool:
    """Whether the visit removed nothing and named a pin."""
    return (
        record is not None
        and not record.removed_message_count
        and any(refusal.reason in PIN_REASONS for refusal in record.refusals)
    )


def declared(**standings: Any) -> Callable[[str], Any]:
    """What the model declared, by the reference of a result."""
    return lambda ref: standings.get(ref)
