"""The record of one visit of a window strategy: what left, what refused to leave, what was pinned.

Rules
-----
- Every removal and every refusal to remove is named. The spelling of a reason is public and means the same under every
  strategy; the order of ``REFUSAL_REASONS`` is the order of precedence for one turn.
- Indices count from 0 in the window before the change, without the leading system envelope; turn indices count the turns
  of that window. Characters are exact. There is no count of tokens after: nobody can count a window not yet sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from otel_footprint.core.call import CallRef
from otel_footprint.core.messages import Message, Role

RefusalReason: TypeAlias = Literal[
    "current-request",
    "system-envelope",
    "paused-tool",
    "pending-check-in",
    "unresolved-tool-call",
    "last-tool-result",
    "ledger-fact",
    "inside-keep-window",
    "only-existing-summary",
    "summarizer-failed",
    "replacement-not-smaller",
]
REFUSAL_REASONS: Final[tuple[RefusalReason, ...]] = get_args(RefusalReason)
PIN_REASONS: Final[frozenset[RefusalReason]] = frozenset({"last-tool-result", "ledger-fact"})

Inactive: TypeAlias = Literal["server-held", "unmeasured", "invalid-window", "strategy-failed"]
"""Why a strategy removed nothing without a turn refusing: the window is the server's; the provider reported no usage; the
window it gave back broke a rule; it raised."""

Retain: TypeAlias = Literal["conversation", "discard"]
PlanAction: TypeAlias = Literal["evict", "summarize", "none"]
BudgetUnit: TypeAlias = Literal["tokens", "chars"]


class Refusal(NamedTuple):
    """A turn that stays. Where a whole span is refused (the last two reasons) every turn of it is named.

    A named tuple for the reason of :class:`WindowEviction`.
    """

    reason: RefusalReason
    turn_index: int
    message_index: int


@dataclass(frozen=True, slots=True)
class Pin:
    """A turn that stays because of its result. ``chars`` are those of the whole turn."""

    tool_call_ids: tuple[str, ...]
    tool: str
    turn_index: int
    message_index: int
    chars: int


@dataclass(frozen=True, slots=True)
class Pins:
    """Admitted pins of one kind, newest first; ``yielded`` were turned away by the ceiling ``limit``."""

    pinned: tuple[Pin, ...] = ()
    yielded: int = 0
    limit: int = 0
    stand_down: bool = False


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """Which turns may leave: ``first`` to ``last``, both included, as turn indices; None when none may.

    ``unreached`` counts the removable turns behind the end of the run. ``ledger_facts`` is None when findings are off.
    """

    first: int | None
    last: int | None
    refusals: tuple[Refusal, ...]
    observations: Pins
    ledger_facts: Pins | None = None
    unreached: int = 0


class WindowEviction(NamedTuple):
    """One message that a strategy removes. ``survival_ms`` is 0 when its birth is unknown.

    A named tuple because a thousand of them may be made at one call, and it is the cheapest value that does not change.
    """

    index: int  # type: ignore[assignment]  # hides the method of tuples, which has no use here
    role: Role
    tool: str | None
    tool_call_id: str | None
    chars: int
    survival_ms: int
    iterations_survived: int
    key: bytes
    born: CallRef | None = None
    result_ref: str | None = None


@dataclass(frozen=True, slots=True)
class RemovalFacts:
    """Where the removed messages were born (span ids, in order, None unknown) and one eviction for each."""

    removed_span_ids: tuple[int | None, ...]
    evictions: tuple[WindowEviction, ...]


@dataclass(frozen=True, slots=True)
class FoldedSpan:
    """Messages that a summary stands for.

    ``messages`` is empty where they were discarded (``retain="discard"``). ``iteration`` and ``run_id`` name the visit;
    ``removed_span_ids`` the calls that first sent them; ``digest`` is the hash of the span's content (hex).
    """

    summary: str
    messages: tuple[Message, ...]
    message_count: int
    chars: int
    iteration: int
    run_id: str
    retain: Retain
    digest: str
    removed_span_ids: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetPressure:
    """What a strategy with a budget read: ``projected`` is what the provider reported for the last call."""

    cap: int
    projected: int
    plan_action: PlanAction
    unit: BudgetUnit = "tokens"


@dataclass(frozen=True, slots=True)
class Spend:
    """What a strategy's own model call cost; tokens are None where nobody reported them."""

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """What one engaged visit did, also when nothing was removed.

    ``dropped_observations`` names every tool whose result left, uncapped. The fields from ``keep_recent_turns`` on are the
    strategy's own, None where it has no such number. ``summarizer_skipped``: the same span was refused before and not
    paid for again.
    """

    strategy: str
    iteration: int
    removed_span_ids: tuple[int | None, ...] = ()
    removed_message_count: int = 0
    window_chars_before: int
    window_chars_after: int
    refusals: tuple[Refusal, ...] = ()
    unreached: int = 0
    dropped_observations: tuple[str, ...] = ()
    observations: Pins = Pins()
    ledger_facts: Pins | None = None
    inactive: Inactive | None = None
    keep_recent_turns: int | None = None
    turns_before: int | None = None
    turns_after: int | None = None
    threshold_tokens: int | None = None
    measured_tokens: int | None = None
    summary_chars: int | None = None
    summarizer_input_tokens: int | None = None
    summarizer_output_tokens: int | None = None
    summarizer_skipped: bool = False
