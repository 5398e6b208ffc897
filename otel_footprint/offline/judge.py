"""A recorded conversation judged answer by answer, in order, as if each answer had just been given.

Rules
-----
- The window of an answer is everything in front of it. Words of persons and of the system are said; results are
  evidence; the model's arguments are neither.
- A turn starts at a person's message; tool results and text beside them belong to the turn in progress.
- Tools count as offered when the conversation holds a tool call or a result anywhere.
- Content that cannot be read makes every later answer blind to it, never guilty of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from otel_footprint.core.evidence.answers import answer_texts
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement, Reason
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.core.feeding import unreadable
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
from otel_footprint.offline.format import Conversation
from otel_footprint.offline.pairing import Pairing
from otel_footprint.providers.native import Native


@dataclass(frozen=True, slots=True)
class Answer:
    """A judged answer and the index of its message in the list that was read."""

    message_index: int
    judgement: Judgement


def judge(conversation: Conversation, evidence: Evidence) -> Iterator[Answer]:
    """The answers of a conversation, oldest first."""
    reader = _Reader(conversation, evidence)
    for native in conversation.natives:
        answer = reader.read(native)
        if answer is not None:
            yield answer


def holds_tools(messages: Iterator[Message]) -> bool:
    """Whether any message calls a tool or carries a result."""
    kinds = (ToolCall, ToolResult, ServerToolCall, ServerToolResult)
    return any(isinstance(part, kinds) for message in messages for part in message.parts)


class _Reader:
    """Feeds one conversation to its corpus."""

    def __init__(self, conversation: Conversation, evidence: Evidence) -> None:
        self._evidence = evidence
        self._corpus = Corpus(evidence)
        self._pairing = Pairing()
        self._turn = 0
        self._blind: set[Reason] = set(conversation.blind)
        self._offered = holds_tools(native.message for native in conversation.natives)
        self._begun = False

    def read(self, native: Native) -> Answer | None:
        message, at = native.message, native.at
        if message.role == "assistant":
            self._pairing.assistant()
        if message.said_by_person:
            self._turn += 1
        if message.role != "assistant" and message.authored is None and message.text:
            self._corpus.say(message.text)
        if unreadable(message):
            self._blind.add("opaque_content")
        text = answer_texts(message, self._evidence)
        for part in message.parts:
            match part:
                case ToolCall(id=id_, name=name):
                    ref = self._pairing.call(id_, name)
                    if name not in self._evidence.answer_tools:
                        self._corpus.call(part, ref=ref, turn=self._turn, position=at)
                case ToolResult() | ServerToolResult():
                    self._result(part, at)
                case ServerToolCall(id=id_, name=name, arguments=arguments):
                    ref = self._pairing.call(id_, name)
                    self._corpus.call(ToolCall(id_, name, arguments), ref=ref, turn=self._turn, position=at)
                case Compaction():
                    if not self._begun:
                        self._blind.add("unseen_history")
                case Opaque(kind=kind):
                    if kind == "reference":
                        self._blind.add("unseen_history")
                case Text() | Reasoning():
                    pass
                case _:
                    assert_never(part)
        self._begun = self._begun or message.role != "system"
        if text is None:
            return None
        judgement = self._corpus.judge(text, turn=self._turn, tools_offered=self._offered, blind=frozenset(self._blind))
        return Answer(at, judgement)

    def _result(self, part: ToolResult | ServerToolResult, at: int) -> None:
        ref, tool = self._pairing.result(part.id, part.name)
        self._corpus.result(part, ref=ref, tool=tool, turn=self._turn, served=None, position=at)
