"""Builders for the tests of sessions: short messages, and a store that is called as an application would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otel_footprint.core.call import Call, CallRef, ExplicitSource, Output
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, Message, Text, ToolCall, ToolResult


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def system(text: str) -> Message:
    return Message("system", (Text(text),))


def says(text: str) -> Message:
    return Message("assistant", (Text(text),))


def asks(*calls: tuple[str | None, str] | tuple[str | None, str, Json], text: str = "") -> Message:
    """An assistant message with tool calls, each ``(id, name[, arguments])``."""
    parts = [ToolCall(call[0], call[1], call[2] if len(call) == 3 else {}) for call in calls]
    return Message("assistant", ((Text(text),) if text else ()) + tuple(parts))


def result(call_id: str | None, content: Json, name: str | None = None) -> Message:
    return Message("tool", (ToolResult(call_id, name, content),))


PROMPT = system("You are an agent of an airline.")


class Store:
    """A store with a clock that ticks: each call starts a second after the last one ended, and takes a second."""

    def __init__(self, *, evidence: Evidence | None = None, limits: Limits | None = None) -> None:
        self._made = 0
        self.conversations = Conversations(
            evidence=evidence or Evidence(), limits=limits or Limits(), new_id=self._new_id
        )
        self.now = 1_000.0
        self.spans = 0

    def _new_id(self) -> str:
        self._made += 1
        return f"made-{self._made}"

    def call(
        self,
        messages: Sequence[Message],
        *outputs: Message | Output,
        system: Sequence[Message] = (PROMPT,),
        trace: int | None = None,
        id: str | None = None,
        source: ExplicitSource = "explicit",
        **fields: Any,
    ) -> Decisions:
        """One call; without ``outputs`` it failed. Every call is in a trace of its own unless one is given."""
        self.spans += 1
        started = self.now + 1
        self.now += 2
        fields.setdefault("now", self.now)
        fields.setdefault("started_at", started)
        fields.setdefault("ref", CallRef(trace if trace is not None else 10_000 + self.spans, self.spans))
        return self.conversations.observe(
            Call(
                messages=tuple(messages),
                system=tuple(system),
                outputs=tuple(out if isinstance(out, Output) else Output(out, n) for n, out in enumerate(outputs)),
                conversation_id=id,
                conversation_source=source if id else None,
                **fields,
            )
        )


def decisions_of(*decided: Decisions) -> list[str]:
    return [each.window.decision for each in decided]
