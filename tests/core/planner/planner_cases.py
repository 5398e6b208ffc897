"""A live agent in small: an application's list, the planner, a provider that answers, and what is observed of each call.

The provider's side hands on the window without marks, as a hook reads it from the wire.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from otel_footprint.core.call import Call, CallRef, Output
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, Message, Text, ToolCall, ToolResult
from otel_footprint.core.planner import Planned, Planner, PlanRequest, Visit
from otel_footprint.core.window.items import Kept
from otel_footprint.core.window.strategy import WindowResult, WindowStrategy


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def system(text: str) -> Message:
    return Message("system", (Text(text),))


def says(text: str) -> Message:
    return Message("assistant", (Text(text),))


def asks(*calls: tuple[str, str], text: str = "") -> Message:
    """An assistant message with tool calls, each ``(id, name)``."""
    parts = [ToolCall(id_, name, {"of": id_}) for id_, name in calls]
    return Message("assistant", ((Text(text),) if text else ()) + tuple(parts))


def result(call_id: str, content: Json) -> Message:
    return Message("tool", (ToolResult(call_id, None, content),))


def correction(text: str) -> Message:
    return Message("user", (Text(text),), authored="correction")


DRAFT_PAIR = (says("Your booking is QX7781ZZ."), correction("[automatic check] QX7781ZZ"))
PROMPT = system("You are an agent of an airline.")


def on_the_wire(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as anyone reads them who was not told who wrote them."""
    return tuple(Message(message.role, message.parts, message.name) for message in messages)


def decide(strategy: WindowStrategy, visit: Visit) -> WindowResult | None:
    """What the strategy says; one that never suspends is driven by hand."""
    if visit.input is None:
        return None
    answer = strategy.plan(visit.input)
    if not inspect.isawaitable(answer):
        return answer
    step: Any = answer.__await__()
    try:
        next(step)
    except StopIteration as done:
        given: WindowResult | None = done.value
        return given
    raise AssertionError("it suspended")


@dataclass(frozen=True)
class Called:
    """One call that was planned, made and observed."""

    visit: Visit
    planned: Planned
    call: Call
    decisions: Decisions

    @property
    def window(self) -> tuple[Message, ...]:
        return self.planned.window

    @property
    def kept(self) -> list[int]:
        """The places in the application's list of what was sent."""
        return [item.index for item in self.planned.items if isinstance(item, Kept)]


class Live:
    """Planner and observer side by side; the clock ticks a second for each thing that happens."""

    def __init__(
        self,
        strategy: WindowStrategy | None,
        *,
        evidence: Evidence | None = None,
        limits: Limits | None = None,
        **fields: Any,
    ) -> None:
        self.strategy = strategy
        self.fields = fields
        self.made = itertools.count(1)
        self.now = 1_000.0
        self.planner = Planner(limits=limits, new_id=lambda: f"run-{next(self.made)}")
        self.conversations = Conversations(
            evidence=evidence or Evidence(), limits=limits or Limits(), new_id=lambda: f"made-{next(self.made)}"
        )
        self.spans = 0

    def begin(self, messages: Sequence[Message], **fields: Any) -> Visit:
        self.now += 1
        given: dict[str, Any] = {"system": (PROMPT,), "trace_id": 7, **self.fields, **fields}
        return self.planner.begin(PlanRequest(messages=tuple(messages), now=self.now, **given), strategy=self.strategy)

    def commit(self, visit: Visit) -> Planned:
        given = decide(self.strategy, visit) if self.strategy is not None else None
        return self.planner.commit(visit, given)

    def answer(
        self,
        visit: Visit,
        planned: Planned,
        *outputs: Message,
        tokens: int | None = None,
        revisable: bool = False,
        **facts: Any,
    ) -> Called:
        """The provider answers (or, without outputs, fails), and the call is observed."""
        self.now += 1
        self.spans += 1
        request = visit.request
        call = Call(
            messages=on_the_wire(planned.window),
            system=request.system,
            outputs=tuple(Output(message, choice) for choice, message in enumerate(outputs)),
            now=self.now,
            started_at=self.now - 0.5,
            ref=CallRef(request.trace_id or 90_000 + self.spans, self.spans),
            agent=request.agent,
            tools=request.tools,
            conversation_id=request.conversation_id,
            conversation_source="explicit" if request.conversation_id else None,
            input_tokens=1 + sum(message.chars for message in planned.window) // 4
            if tokens is None
            else tokens or None,
            planned=planned.facts(revisable=revisable, **facts),
        )
        decisions = self.conversations.observe(call)
        self.planner.complete(planned, call, decisions)
        return Called(visit, planned, call, decisions)

    def call(self, messages: Sequence[Message], *outputs: Message, **fields: Any) -> Called:
        """Plan, call, observe."""
        facts = {key: fields.pop(key) for key in ("posture", "revisable", "stream_unheld", "tokens") if key in fields}
        visit = self.begin(messages, **fields)
        return self.answer(visit, self.commit(visit), *outputs, **facts)


def steps(count: int, *, first: int = 0, chars: int = 400) -> list[Message]:
    """That many calls of tools with their results."""
    made: list[Message] = []
    for number in range(first, first + count):
        made += [asks((f"c{number}", f"tool_{number % 3}")), result(f"c{number}", f"row {number} ".ljust(chars, "."))]
    return made


def run(live: Live, messages: list[Message], count: int, *, first: int = 0, **fields: Any) -> list[Called]:
    """An agent that calls a tool at each of the next ``count`` calls; the list grows by what it does."""
    called = []
    for number in range(first, first + count):
        made = steps(1, first=number)
        called.append(live.call(messages, made[0], **fields))
        messages += made
    return called


__all__ = [
    "DRAFT_PAIR", "PROMPT", "Called", "Live", "asks", "correction", "decide", "on_the_wire", "replace", "result", "run", "says", "steps",
    "system", "user",
]  # fmt: skip
