"""Judgements as the JSON document of ``otel-footprint check --json`` and of ``check()``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from otel_footprint.core.evidence.verdicts import (
    ArgumentValue,
    CallJudgement,
    Carrier,
    Derivation,
    EvictedBy,
    Judgement,
    Value,
)
from otel_footprint.offline.judge import Judgements


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


class ArgumentDocument(TypedDict):
    """One distinct value that a tool call passes on.

    ``message_index`` is the message with the call, None for a recorded one. ``path`` names the argument
    (``flights[0].date``), ``also_at`` the others that hold the same value; a recorded one has the parameter's name, or
    None. ``unaccounted`` says that nothing accounts for it in a window that was wholly seen.
    """

    message_index: int | None
    tool: str
    tool_call_id: str | None
    path: str | None
    also_at: list[str]
    value: str | None
    shape: str
    status: str
    unaccounted: bool
    carriers: list[CarrierDocument]
    derivation: DerivationDocument | None
    evicted_by: EvictedByDocument | None


class AnswerDocument(TypedDict):
    """One judged answer. ``message_index`` counts from 0 in the list that was read; None for a recorded verdict.

    ``arguments`` are the values of the tool calls since the answer before; those of the calls after the last answer
    stand with it. Empty where arguments were not asked for.
    """

    message_index: int | None
    choice: int
    verdict: str
    reasons: list[str]
    values: list[ValueDocument]
    arguments: list[ArgumentDocument]


class ConversationDocument(TypedDict):
    """One conversation."""

    id: str | None
    answers: list[AnswerDocument]


def conversation_document(id: str | None, judgements: Judgements) -> ConversationDocument:
    """One conversation with its answers, in order."""
    answers = [answer_document(one.message_index, one.judgement, one.calls) for one in judgements.answers]
    if answers:
        answers[-1]["arguments"] += argument_documents(judgements.calls_after)
    return {"id": id, "answers": answers}


def argument_documents(calls: Iterable[CallJudgement]) -> list[ArgumentDocument]:
    """The values that these calls pass on, in order."""
    return [_argument(call, value) for call in calls for value in call.values]


def answer_document(
    message_index: int | None, judgement: Judgement, calls: Sequence[CallJudgement] = ()
) -> AnswerDocument:
    """One judged answer, with the tool calls since the answer before it."""
    return {
        "message_index": message_index,
        "choice": judgement.choice,
        "verdict": judgement.verdict,
        "reasons": list(judgement.reasons),
        "values": [_value(value) for value in judgement.values],
        "arguments": argument_documents(calls),
    }


def _argument(call: CallJudgement, value: ArgumentValue) -> ArgumentDocument:
    return {
        "message_index": call.position,
        "tool": call.tool,
        "tool_call_id": call.tool_call_id,
        "path": value.paths[0] if value.paths else "",
        "also_at": list(value.paths[1:]),
        "value": value.text,
        "shape": value.shape,
        "status": value.status,
        "unaccounted": value.unaccounted,
        "carriers": _carriers(value.carriers),
        "derivation": _derivation(value.derivation),
        "evicted_by": None if value.evicted_by is None else _evicted_by(value.evicted_by),
    }


def _value(value: Value) -> ValueDocument:
    return {
        "value": value.text,
        "spans": [list(span) for span in value.spans],
        "shape": value.shape,
        "status": value.status,
        "flagged": value.flagged,
        "carriers": _carriers(value.carriers),
        "derivation": _derivation(value.derivation),
        "evicted_by": None if value.evicted_by is None else _evicted_by(value.evicted_by),
        "misplaced": [
            {"span": list(item.span), "belongs_to": item.belongs_to, "named": item.named} for item in value.misplaced
        ],
    }


def _carriers(carriers: Iterable[Carrier]) -> list[CarrierDocument]:
    return [{"message_index": carrier.position, "tool_call_id": carrier.tool_call_id} for carrier in carriers]


def _derivation(derivation: Derivation | None) -> DerivationDocument | None:
    return None if derivation is None else {"name": derivation.name, "inputs": list(derivation.inputs)}


def _evicted_by(evicted: EvictedBy) -> EvictedByDocument:
    return {
        "decision": evicted.decision,
        "decided_by": evicted.decided_by,
        "tool_call_id": evicted.tool_call_id,
        "tool": evicted.tool,
    }
