"""Judgements as the JSON document of ``otel-footprint check --json`` and of ``check()``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from otel_footprint.core.evidence.verdicts import EvictedBy, Judgement, Value
from otel_footprint.offline.judge import Answer


class CarrierDocument(TypedDict):
    """A tool result that carries a value. ``message_index`` is None where the result is in no message of the list."""

    message_index: int | None
    tool_call_id: str | None


class DerivationDocument(TypedDict):
    """How a computed value is reached, and from which stated or carried values."""

    name: str
    inputs: list[str]


class EvictedByDocument(TypedDict):
    """What dropped the result that carried an evicted value."""

    decision: str
    decided_by: str
    tool_call_id: str | None
    tool: str | None


class MisplacedDocument(TypedDict):
    """A value found only beside another entity than the one it is stated of."""

    span: list[int]
    belongs_to: str
    named: str


class ValueDocument(TypedDict):
    """One distinct value. ``value`` and ``spans`` are as the answer spells it; a recorded one may be without its text."""

    value: str | None
    spans: list[list[int]]
    shape: str
    status: str
    flagged: bool
    carriers: list[CarrierDocument]
    derivation: DerivationDocument | None
    evicted_by: EvictedByDocument | None
    misplaced: list[MisplacedDocument]


class AnswerDocument(TypedDict):
    """One judged answer. ``message_index`` counts from 0 in the list that was read; None for a recorded verdict."""

    message_index: int | None
    choice: int
    verdict: str
    reasons: list[str]
    values: list[ValueDocument]
    arguments: list[object]


class ConversationDocument(TypedDict):
    """One conversation."""

    id: str | None
    answers: list[AnswerDocument]


def conversation_document(id: str | None, answers: Iterable[Answer]) -> ConversationDocument:
    """One conversation with its answers, in order."""
    return {"id": id, "answers": [answer_document(answer.message_index, answer.judgement) for answer in answers]}


def answer_document(message_index: int | None, judgement: Judgement) -> AnswerDocument:
    """One judged answer."""
    return {
        "message_index": message_index,
        "choice": judgement.choice,
        "verdict": judgement.verdict,
        "reasons": list(judgement.reasons),
        "values": [_value(value) for value in judgement.values],
        "arguments": [],
    }


def _value(value: Value) -> ValueDocument:
    derivation = value.derivation
    return {
        "value": value.text,
        "spans": [list(span) for span in value.spans],
        "shape": value.shape,
        "status": value.status,
        "flagged": value.flagged,
        "carriers": [
            {"message_index": carrier.position, "tool_call_id": carrier.tool_call_id} for carrier in value.carriers
        ],
        "derivation": None if derivation is None else {"name": derivation.name, "inputs": list(derivation.inputs)},
        "evicted_by": None if value.evicted_by is None else _evicted_by(value.evicted_by),
        "misplaced": [
            {"span": list(item.span), "belongs_to": item.belongs_to, "named": item.named} for item in value.misplaced
        ],
    }


def _evicted_by(evicted: EvictedBy) -> EvictedByDocument:
    return {
        "decision": evicted.decision,
        "decided_by": evicted.decided_by,
        "tool_call_id": evicted.tool_call_id,
        "tool": evicted.tool,
    }
