"""One judged conversation on its way to the reports: its document, and where a person finds each answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.offline.document import (
    ArgumentDocument,
    ConversationDocument,
    argument_documents,
    conversation_document,
)
from otel_footprint.offline.format import Conversation
from otel_footprint.offline.judge import judge


@dataclass(frozen=True, slots=True)
class Judged:
    """``places`` has one entry per answer: ``message 12``, or ``span <trace id>/<span id>``.

    ``loose`` are the arguments of tool calls in a conversation that has no answer they could stand with.
    """

    document: ConversationDocument
    places: tuple[str, ...]
    loose: list[ArgumentDocument] = field(default_factory=list)

    @property
    def arguments(self) -> list[ArgumentDocument]:
        """Every value that a tool call of the conversation passes on, in order."""
        return [*(one for answer in self.document["answers"] for one in answer["arguments"]), *self.loose]


def judge_conversation(conversation: Conversation, evidence: Evidence, *, arguments: bool = False) -> Judged:
    """Judge a message list; with ``arguments`` also what its tool calls pass on."""
    judgements = judge(conversation, evidence, arguments=arguments)
    document = conversation_document(conversation.id, judgements)
    places = tuple(f"message {answer['message_index']}" for answer in document["answers"])
    return Judged(document, places, [] if places else argument_documents(judgements.calls_after))
