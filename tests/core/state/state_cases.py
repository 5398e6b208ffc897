"""Real conversations that are cut: one agent goes on in one process, the other in a new process at every call."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otel_footprint.core.call import Call, CallRef, Output
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.messages import Json, Message, Text, ToolCall, ToolResult
from otel_footprint.core.planner import Planner, PlanRequest
from otel_footprint.core.state.document import from_document, to_document
from otel_footprint.core.state.values import SavedConversation
from otel_footprint.core.window.strategy import WindowStrategy
from otel_footprint.providers import openai_chat

FILES = ["tau_airline/conversations.jsonl", "tau_retail/conversations.jsonl", "tau2/airline.jsonl", "tau2/retail.jsonl"]


def read(line: str) -> list[Message]:
    """One recorded conversation."""
    return [native.message for native in openai_chat.read(json.loads(line)["messages"])]


def recorded(folder: Path, name: str, count: int | None = None) -> Iterator[list[Message]]:
    """The conversations of a file, the first ``count`` of them."""
    with (folder / name).open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, count):
            yield read(line)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def says(text: str) -> Message:
    return Message("assistant", (Text(text),))


def asks(*calls: tuple[str, str, Json], text: str = "") -> Message:
    parts = [ToolCall(id_, name, arguments) for id_, name, arguments in calls]
    return Message("assistant", ((Text(text),) if text else ()) + tuple(parts))


def result(call_id: str, content: Json) -> Message:
    return Message("tool", (ToolResult(call_id, None, content),))


class Worker:
    """A process in small: planner and observer with a clock that is told. ``id`` names its conversation.

    ``sent`` is the window of its last call.
    """

    def __init__(
        self,
        strategy: WindowStrategy | None = None,
        *,
        id: str = "a",
        findings: Findings | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        self.strategy, self.id, self.findings = strategy, id, findings
        self.sent: tuple[Message, ...] = ()
        self._made = itertools.count(1)
        self.planner = Planner(new_id=lambda: f"run-{next(self._made)}")
        self.store = Conversations(
            evidence=evidence or Evidence(), limits=Limits(), new_id=lambda: f"made-{next(self._made)}"
        )

    def call(
        self,
        messages: Sequence[Message],
        *outputs: Message,
        number: int,
        system: Sequence[Message] = (),
        acting: bool = True,
        **fields: Any,
    ) -> Decisions:
        """The ``number``-th call of the conversation."""
        now = 1_000.0 + 2 * number
        planned = None
        window = tuple(messages)
        if acting:
            visit = self.planner.begin(
                PlanRequest(
                    messages=window, system=tuple(system), now=now - 1, conversation_id=self.id, trace_id=number + 1
                ),
                strategy=self.strategy,
            )
            given = self.strategy.plan(visit.input) if self.strategy is not None and visit.input is not None else None
            planned = self.planner.commit(visit, given)  # type: ignore[arg-type]  # no strategy here suspends
            window = tuple(Message(message.role, message.parts, message.name) for message in planned.window)
        self.sent = window
        call = Call(
            messages=window,
            system=tuple(system),
            outputs=tuple(Output(message, choice) for choice, message in enumerate(outputs)),
            now=now,
            started_at=now - 0.5,
            ref=CallRef(number + 1, number + 1, 1),
            conversation_id=self.id,
            conversation_source="explicit",
            planned=None if planned is None else planned.facts(),
            **fields,
        )
        decisions = self.store.observe(call, findings=self.findings)
        if planned is not None:
            self.planner.complete(planned, call, decisions)
        return decisions

    def document(self, *, text: bool) -> dict[str, Json]:
        """What another process would be given, as it comes out of a file."""
        session = self.store.saved(self.id, text=text)
        saved = SavedConversation(
            id=self.id, named=True, text=text, window=self.planner.saved(self.id), session=session
        )
        document: dict[str, Json] = json.loads(json.dumps(to_document(saved)))
        return document

    def restore(self, document: dict[str, Json], *, now: float = 1_000.0) -> None:
        """Go on with that."""
        saved = from_document(document)
        numbers = [thread.number for thread in saved.session.threads] if saved.session is not None else []
        if saved.session is not None:
            self.store.restore(self.id, saved.session, now=now)
        self.planner.restore(self.id, saved.window, now=now, threads=numbers)

    def elsewhere(self, *, text: bool) -> Worker:
        """Another process that goes on from here."""
        other = Worker(self.strategy, id=self.id, findings=self.findings)
        other.restore(self.document(text=text))
        return other
