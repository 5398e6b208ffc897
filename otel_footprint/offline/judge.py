"""A recorded conversation judged answer by answer, in order, as if each answer had just been given.

Rules
-----
- The window of an answer is everything in front of it. Words of persons and of the system are said; results are
  evidence; the model's arguments are neither.
- A turn starts at a person's message; tool results and text beside them belong to the turn in progress.
- Tools count as offered when the conversation holds a tool call or a result anywhere.
- Content that cannot be read makes every later answer blind to it, never guilty of it.
- The arguments of tool calls are judged only when asked for, each message's against what stands in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from otel_footprint.core.evidence.answers import answer_texts
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import CallJudgement, Judgement, Reason
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
    """A judged answer and the index of its message in the list that was read.

    ``calls`` are the tool calls since the answer before it, empty where arguments are not judged.
    """

    message_index: int
    judgement: Judgement
    calls: tuple[CallJudgement, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgements:
    """The answers of a conversation, oldest first, and the judged tool calls after the last of them."""

    answers: tuple[Answer, ...]
    calls_after: tuple[CallJudgement, ...] = ()


def judge(conversation: Conversation, evidence: Evidence, *, arguments: bool = False) -> Judgements:
    """Judge the answers of a conversation, and with ``arguments`` what its tool calls pass on."""
    reader = _Reader(conversation, evidence, arguments=arguments)
    answers = [answer for native in conversation.natives if (answer := reader.read(native)) is not None]
    return Judgements(tuple(answers), reader.take_calls())


def holds_tools(messages: Iterator[Message]) -> bool:
    """Whether any message calls a tool or carries a result."""
    kinds = (ToolCall, ToolResult, ServerToolCall, ServerToolResult)
    return any(isinstance(part, kinds) for message in messages for part in message.parts)


class _Reader:
    """Feeds one conversation to its corpus."""

    def __init__(self, conversation: Conversation, evidence: Evidence, *, arguments: bool = False) -> None:
        self._arguments = arguments
        self._calls: list[CallJudgement] = []
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
        calls_before = self._corpus.calls_made
        for part in message.parts:
            match part:
                case ToolCall(id=id_, name=name):
                    if self._arguments and text is None:
                        self._judge_call(part, at, calls_before)
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
        return Answer(at, judgement, self.take_calls())

    def take_calls(self) -> tuple[CallJudgement, ...]:
        """The calls judged since they were last taken."""
        taken, self._calls = tuple(self._calls), []
        return taken

    def _judge_call(self, call: ToolCall, at: int, calls_before: int) -> None:
        self._calls.append(
            self._corpus.judge_call(
                call, turn=self._turn, calls_before=calls_before, blind=frozenset(self._blind), position=at
            )
        )

    def _result(self, part: ToolResult | ServerToolResult, at: int) -> None:
        ref, tool = self._pairing.result(part.id, part.name)
        self._corpus.result(part, ref=ref, tool=tool, turn=self._turn, served=None, position=at)
