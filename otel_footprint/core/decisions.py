"""What the core says about one call: the values that telemetry turns into spans, events, logs and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.verdicts import CallJudgement, Judgement
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.messages import Role

Match: TypeAlias = Literal["explicit", "ambient", "response_id", "tool_call", "messages", "new"]
"""How a call found its conversation."""

WindowDecision: TypeAlias = Literal["start", "append", "evict", "summarize", "clear", "rewrite", "reset"]


@dataclass(frozen=True, slots=True)
class Eviction:
    """One message that left the window.

    ``index`` counts from 0 in the window it left; ``survival_ms`` is 0 when its birth is unknown; ``key`` identifies the
    content (hashed with the process's key before export); ``reason`` is the decision. ``result_ref`` is the result's
    name in the conversation (``<id>`` or ``<id>#<n>``).
    """

    index: int
    role: Role
    tool: str | None
    tool_call_id: str | None
    result_ref: str | None
    chars: int
    survival_ms: int
    iterations_survived: int
    reason: WindowDecision
    key: bytes
    born: CallRef | None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A tool result (or message) that stands where it stood, with other content. ``index`` is in the earlier window."""

    index: int
    role: Role
    tool: str | None
    tool_call_id: str | None
    chars_before: int
    chars_after: int
    key: bytes


@dataclass(frozen=True, slots=True)
class WindowChange:
    """What happened to the window since the last completed call of the thread.

    ``decided_by`` is ``application``, ``provider`` or a strategy's name. Counts are of canonical messages without the
    system envelope; characters are exact. ``settled`` is False for a call without output: it changed nothing, so the
    next call is compared with the same window again, and evictions are counted then. ``reported``: a strategy of ours
    decided them, and its own span and metrics hold them already.
    """

    decision: WindowDecision
    decided_by: str
    messages_before: int
    messages_after: int
    chars_before: int
    chars_after: int
    evictions: tuple[Eviction, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    inserted: int = 0
    dropped_tools: tuple[str, ...] = ()
    settled: bool = True
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Decisions:
    """Everything decided about one call.

    ``conversation`` is our id: the explicit one, or one we made (``inferred``; never exported as
    ``gen_ai.conversation.id``). ``thread`` counts from 1. ``turn`` is the ordinal of the person's messages seen, 0 before
    the first; ``iteration`` counts provider calls since that message, from 1. ``calls`` are the tool calls the outputs
    emit, with the values of their arguments. ``findings`` is what the call added to the ledger, None where findings are off.
    """

    conversation: str
    inferred: bool
    match: Match
    thread: int
    forked_from: int | None
    turn: int
    iteration: int
    window: WindowChange
    tool_results_this_turn: int
    judgements: tuple[Judgement, ...] = ()
    calls: tuple[CallJudgement, ...] = ()
    findings: FindingsChange | None = None
