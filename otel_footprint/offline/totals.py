"""Counts over everything a check has judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from otel_footprint.core.evidence.verdicts import STATUSES, VERDICTS
from otel_footprint.offline.document import AnswerDocument, ArgumentDocument, ConversationDocument


class _Arguments(TypedDict, total=False):
    arguments: dict[str, int]


class TotalsDocument(_Arguments):
    """The totals of ``check --json``. ``flagged`` counts answers, ``unreadable`` inputs or parts of them.

    ``misplaced`` counts the places at which a value stands beside the name of another row.
    ``arguments`` counts the values of tool calls by status, only where they were asked for.
    """

    files: int
    conversations: int
    answers: int
    flagged: int
    values: int
    misplaced: int
    verdicts: dict[str, int]
    statuses: dict[str, int]
    unreadable: int


def is_flagged(answer: AnswerDocument) -> bool:
    """Whether an answer is one to look at: it holds a flagged value, or was recorded as ungrounded."""
    return answer["verdict"] == "ungrounded" or any(value["flagged"] for value in answer["values"])


@dataclass(slots=True)
class Totals:
    """A running count. ``arguments`` is None where those were not asked for."""

    files: int = 0
    conversations: int = 0
    answers: int = 0
    flagged: int = 0
    values: int = 0
    misplaced: int = 0
    unreadable: int = 0
    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    arguments: dict[str, int] | None = None

    def add(self, conversation: ConversationDocument) -> None:
        """Count one conversation."""
        self.conversations += 1
        for answer in conversation["answers"]:
            self.answers += 1
            self.flagged += is_flagged(answer)
            self.verdicts[answer["verdict"]] = self.verdicts.get(answer["verdict"], 0) + 1
            for value in answer["values"]:
                self.values += 1
                self.misplaced += len(value["misplaced"])
                self.statuses[value["status"]] = self.statuses.get(value["status"], 0) + 1

    def add_arguments(self, values: Iterable[ArgumentDocument]) -> None:
        """Count what the tool calls of a conversation pass on."""
        if self.arguments is None:
            self.arguments = dict.fromkeys(STATUSES, 0)
        for value in values:
            self.arguments[value["status"]] = self.arguments.get(value["status"], 0) + 1

    def document(self) -> TotalsDocument:
        """The counts as JSON."""
        document: TotalsDocument = {
            "files": self.files,
            "conversations": self.conversations,
            "answers": self.answers,
            "flagged": self.flagged,
            "values": self.values,
            "misplaced": self.misplaced,
            "verdicts": dict(self.verdicts),
            "statuses": dict(self.statuses),
            "unreadable": self.unreadable,
        }
        if self.arguments is not None:
            document["arguments"] = dict(self.arguments)
        return document
