"""One judged conversation on its way to the reports: its document, and where a person finds each answer."""

from __future__ import annotations

from dataclasses import dataclass

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.offline.document import ConversationDocument, conversation_document
from otel_footprint.offline.format import Conversation
from otel_footprint.offline.judge import judge


@dataclass(frozen=True, slots=True)
class Judged:
    """``places`` has one entry per answer: ``message 12``, or ``span <trace id>/<span id>``."""

    document: ConversationDocument
    places: tuple[str, ...]


def judge_conversation(conversation: Conversation, evidence: Evidence) -> Judged:
    """Judge a message list."""
    document = conversation_document(conversation.id, judge(conversation, evidence))
    return Judged(document, tuple(f"message {answer['message_index']}" for answer in document["answers"]))
