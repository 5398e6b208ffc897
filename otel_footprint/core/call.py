"""One completed provider call, as the edges hand it to the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from otel_footprint.core.messages import Authored, Message
from otel_footprint.core.per_call import per_call

if TYPE_CHECKING:
    from otel_footprint.core.evidence.verdicts import Posture
    from otel_footprint.core.findings.offer import Undecorated

MODEL_OPERATIONS: Final = frozenset({"chat", "generate_content", "interactions.create", "text_completion"})
"""The operations of the conventions that are model calls; any other (an agent's, a workflow's, a tool's) is none."""

CUT_SHORT: Final = frozenset({"error", "length", "max_tokens", "max_output_tokens", "incomplete", "content_filter"})
"""Finish reasons that say that the model had more to write."""


@dataclass(frozen=True, slots=True)
class CallRef:
    """Where a call is in the trace, so that a later decision can link to it. Ids are OpenTelemetry's integers."""

    trace_id: int
    span_id: int
    trace_flags: int = 0


@per_call(frozen=True, slots=True)
class Output:
    """One choice the model gave.

    ``partial`` is True when the text is not all the model wrote: a broken or abandoned stream, a length cut.
    """

    message: Message
    choice: int = 0
    finish_reason: str | None = None
    partial: bool = False


EditKind: TypeAlias = Literal["clear", "evict", "summarize"]


@dataclass(frozen=True, slots=True)
class ProviderEdit:
    """An edit of the window that the provider made on its side and said so.

    ``kind`` uses the words of the window decisions; ``count`` is how many tool results or messages it names, 0 if it
    does not; ``source`` is the provider's own word (``clear_tool_uses_20250919``, ``compaction``, ``truncation``).
    """

    kind: EditKind
    source: str
    count: int = 0


ExplicitSource: TypeAlias = Literal["explicit", "ambient"]


@dataclass(frozen=True, slots=True)
class FindingsFacts:
    """What went into a request so that the model can declare findings, for those who observe the call.

    ``owned`` are tools that have an argument of the reserved name themselves; ``texts`` are ours in the system part;
    ``served`` are the results that were served as a ticket, by the ticket's text; ``undecorated`` are tools that the
    argument could not be offered to, with the reason.
    """

    owned: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    served: Mapping[str, Message] = field(default_factory=dict)
    undecorated: tuple[tuple[str, Undecorated], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFacts:
    """What was decided about a call before it was made, so that what is observed of it agrees.

    - ``strategy`` is the name of the window strategy, ``decided`` whether the window differs by its doing from the one the
      last completed call of this history sent. ``window_ref`` is the span of the visit that changed it, None where nothing
      records spans: what left by it leads there.
    - ``hint`` is the conversation and the thread this history was found to be, ``after`` its last completed call, ``again``
      whether this is that call once more.
    - ``posture``, ``revisable`` (a revision of an ungrounded answer will follow), ``is_revision``; ``stream_unheld``: a
      stream that is not held back cannot be unsaid.
    - ``authored`` are the keys of the messages in the window that a person or the application did not write.
    - ``origin`` tells for each message of the window, without a draft and its correction, where it stands in what the last
      completed call sent, its output and what is new, -1 where it stands nowhere; None where nothing left, or where that
      window was not what was planned from: ``withheld`` are then the keys of what the strategy took out of the list.
      ``output`` is the key of the one of that call's outputs with which the list goes on.
    - ``unseen`` are messages of the list that are not in the window and that no call observed here has sent.
    - ``turn`` and ``iteration`` of the call.
    - ``findings`` is what was offered to the model, None where findings are off or nothing was.
    """

    strategy: str | None = None
    decided: bool = False
    window_ref: CallRef | None = None
    hint: tuple[str, int] | None = None
    after: CallRef | None = None
    again: bool = False
    posture: Posture = "assist"
    revisable: bool = False
    is_revision: bool = False
    stream_unheld: bool = False
    authored: Mapping[bytes, Authored] = field(default_factory=dict)
    origin: tuple[int, ...] | None = None
    output: bytes | None = None
    withheld: frozenset[bytes] = frozenset()
    unseen: tuple[Message, ...] = ()
    turn: int = 0
    iteration: int = 1
    findings: FindingsFacts | None = None


@per_call(frozen=True, slots=True, kw_only=True)
class Call:
    """One call. Times are Unix seconds.

    - ``system`` is the leading system envelope (the system instruction, and system messages that open the history);
      ``messages`` is the rest, as sent. System messages further in stay in ``messages``.
    - ``outputs`` is empty for a call that failed.
    - ``tools`` are the names offered; None when the edge cannot know.
    - ``conversation_id`` with ``conversation_source``: ``explicit`` is ours (`conversation(id=…)`, also without a given
      id), ``ambient`` the framework's ``gen_ai.conversation.id``.
    - ``previous_response_id``: the provider holds the window of that response; ``messages`` is then only what was sent.
    - ``server_thread``: the provider's own conversation or thread object holds the window, by its id.
    - ``error_result_ids``: ids of tool results that the request marks as errors where the parts do not carry it.
    - ``input_tokens`` and ``output_tokens`` are what the provider reported; None where it reported nothing.
    - ``planned`` is there where we acted on the call.
    """

    messages: tuple[Message, ...]
    system: tuple[Message, ...] = ()
    outputs: tuple[Output, ...] = ()
    now: float
    started_at: float | None = None
    ref: CallRef | None = None
    operation: str = "chat"
    provider: str | None = None
    model: str | None = None
    agent: str | None = None
    tools: tuple[str, ...] | None = None
    conversation_id: str | None = None
    conversation_source: ExplicitSource | None = None
    response_id: str | None = None
    previous_response_id: str | None = None
    server_thread: str | None = None
    edits: tuple[ProviderEdit, ...] = ()
    error_result_ids: frozenset[str] = frozenset()
    input_tokens: int | None = None
    output_tokens: int | None = None
    planned: PlannedFacts | None = None
