"""How a window strategy is shaped: what it is given, what it gives back.

Rules
-----
- A strategy decides and nothing else: it is handed the refusal engine and the provenance bound, and gets no guards, no
  session and no way around a rule. What it gives back is checked before it is used.
- ``None`` means that it did not engage: no record. An engaged visit always gives a record.
- Indices count in ``history``, which is the window without its leading system envelope. A drop notice in it belongs to no
  turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.messages import Message
from otel_footprint.core.turns import Turn
from otel_footprint.core.window.record import (
    BudgetPressure,
    FoldedSpan,
    RemovalFacts,
    RemovalPlan,
    Spend,
    WindowEviction,
    WindowRecord,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Tokens the provider reported for the last completed call. ``(0, 0)`` is one that reported nothing."""

    input: int
    output: int


@dataclass(frozen=True, slots=True)
class Billing:
    """What a strategy will spend: the provider's name and the model."""

    provider: str | None
    model: str


class PlanRemoval(Protocol):
    """The refusal engine, bound to this visit."""

    def __call__(
        self, keep_recent_turns: int, is_existing_summary: Callable[[Turn], bool] | None = None
    ) -> RemovalPlan: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStrategyInput:
    """Everything a strategy may look at.

    ``measured`` is None before the first completed call, and after a call that reported none where ``unreported`` says
    so: ``"stream"`` for a streamed call without usage, ``"stopped"`` where an earlier call of the run reported some,
    ``"never"`` where a call that was not streamed reported none and no call before did. ``agent_model`` and
    ``provider_name`` are those of the call. ``now`` is Unix seconds. ``as_child(fn, *args)`` runs a billed call of the
    strategy's as a child of the window's span, not itself windowed; it gives back what ``fn`` does (an awaitable
    stays one). ``current_request`` is the index of the message that is being answered.
    """

    history: Sequence[Message]
    turns: Sequence[Turn]
    measured: Measured | None
    unreported: Literal["stream", "stopped", "never"] | None
    iteration: int
    run_id: str
    agent_model: str | None
    provider_name: str | None
    now: float
    plan_removal: PlanRemoval
    removal_facts: Callable[[Sequence[int]], RemovalFacts]
    standing_of: Callable[[Turn], Standing | None] | None
    cancelled: Callable[[], bool]
    as_child: Callable[..., Any]
    current_request: int | None = None


@dataclass(frozen=True, slots=True)
class Rebase:
    """How the new window lies on the old one: ``[*head, (one new message)?, *tail]``.

    ``inserted_at`` is the Unix time of the new message; None where nothing was inserted. ``absorbed`` are the indices of
    old drop notices inside the head or the tail that left too; the counts include them.
    """

    head_count: int
    kept_tail_count: int
    inserted_at: float | None = None
    absorbed: tuple[int, ...] = ()

    def origins(self, size: int) -> tuple[int | None, ...]:
        """For each message of the new window its index in the old one of ``size`` messages; None is the new message."""
        kept: list[int | None] = [*range(self.head_count)]
        if self.inserted_at is not None:
            kept.append(None)
        kept += range(size - self.kept_tail_count, size)
        if self.absorbed:
            kept = [index for index in kept if index is None or index not in self.absorbed]
        return tuple(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """What becomes of the window. ``window`` None leaves it; ``rebase`` is there exactly when ``window`` is."""

    record: WindowRecord
    window: tuple[Message, ...] | None = None
    rebase: Rebase | None = None
    evictions: tuple[WindowEviction, ...] = ()
    folded: tuple[FoldedSpan, ...] = ()
    budget_pressure: BudgetPressure | None = None
    spend: Spend | None = None
    warning: str | None = None


@runtime_checkable
class WindowStrategy(Protocol):
    """A window strategy. ``plan`` may also be a plain function; ``billing`` may be absent."""

    @property
    def name(self) -> str:
        """Stable name, on every record."""
        ...

    def plan(self, input: WindowStrategyInput) -> WindowResult | None | Awaitable[WindowResult | None]:
        """Decide about this window."""
        ...
