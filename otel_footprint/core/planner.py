"""The planner: what window a call is to send, from the application's list, what was carried, and what a strategy decides.

Rules
-----
- ``begin`` changes nothing; a visit that is never committed never was. ``commit`` fixes the window that is sent, ``complete``
  that the provider answered.
- Between ``begin`` and ``commit`` the strategy runs without a lock, so other calls may come in between: a history that went
  on meanwhile is left alone, and the late visit becomes a history of its own.
- Pure and not thread-safe: no clock, ids from ``new_id``; the caller holds a lock around each method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from otel_footprint.core.call import Call, CallRef, PlannedFacts
from otel_footprint.core.conversations import Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.verdicts import Posture
from otel_footprint.core.messages import Authored, Message
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.core.window.record import FoldedSpan, WindowRecord
from otel_footprint.core.window.strategy import WindowResult, WindowStrategy, WindowStrategyInput


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A call as the application asked for it. ``now`` is Unix seconds.

    - ``messages`` is its list in canonical form without the leading ``system`` envelope.
    - ``conversation_id`` is the explicit or ambient one; ``request`` what the person asked for, where the application said so.
    - ``server_held``: the provider holds the window, and the list is only what is new.
    """

    messages: tuple[Message, ...]
    system: tuple[Message, ...] = ()
    tools: tuple[str, ...] | None = None
    model: str | None = None
    provider: str | None = None
    agent: str | None = None
    conversation_id: str | None = None
    trace_id: int | None = None
    now: float
    request: str | None = None
    streamed: bool = False
    server_held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One call being planned. ``input`` is for the strategy; None: it is not to be asked, ``commit`` with None."""

    input: WindowStrategyInput | None
    request: PlanRequest
    strategy: WindowStrategy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The window of a call, as it will be sent.

    - ``items`` are for the provider's side to write, ``window`` the same in canonical form.
    - ``result`` is what the strategy gave back where it was used; ``record`` is there whenever the strategy was engaged or
      could not be used, and is filed once.
    - ``decided``: the window differs by the strategy's doing from the one that was sent last.
    - ``authored`` are the keys of messages nobody said.
    - ``revision_available``: an answer to this call may still be sent back in this turn.
    """

    items: tuple[Item, ...]
    window: tuple[Message, ...]
    result: WindowResult | None = None
    record: WindowRecord | None = None
    decided: bool = False
    strategy: str | None = None
    hint: tuple[str, int] | None = None
    authored: Mapping[bytes, Authored] = field(default_factory=dict)
    revision_available: bool = True
    is_revision: bool = False
    turn: int = 0
    iteration: int = 1
    run_id: str = ""

    def facts(
        self,
        *,
        posture: Posture = "assist",
        revisable: bool = False,
        stream_unheld: bool = False,
        window_ref: CallRef | None = None,
    ) -> PlannedFacts:
        """What goes with the call to those who observe it. ``window_ref`` is the span of the strategy's visit."""
        return PlannedFacts(
            strategy=self.strategy,
            decided=self.decided,
            window_ref=window_ref,
            hint=self.hint,
            posture=posture,
            revisable=revisable,
            is_revision=self.is_revision,
            stream_unheld=stream_unheld,
            authored=self.authored,
            turn=self.turn,
            iteration=self.iteration,
        )


def _called(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


class Planner:
    """Plans the window of every call that is acted on. ``new_id`` makes ids of runs where there is no trace."""

    def __init__(self, *, limits: Limits | None = None, new_id: Callable[[], str]) -> None:
        self._limits = limits or Limits()
        self._new_id = new_id

    def begin(
        self,
        request: PlanRequest,
        *,
        strategy: WindowStrategy | None,
        keep_last_tool_results: int = 2,
        as_child: Callable[..., Any] = _called,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Visit:
        """Find the history the call goes on with, and lay out what the strategy may look at."""
        return Visit(input=None, request=request, strategy=strategy)

    def commit(self, visit: Visit, result: WindowResult | None, *, failed: bool = False) -> Planned:
        """Fix the window. ``result`` is what the strategy gave back, None that it did not engage; ``failed``: it raised."""
        request = visit.request
        items = tuple(Kept(index) for index in range(len(request.messages)))
        return Planned(items=items, window=request.messages)

    def complete(self, planned: Planned, call: Call, decisions: Decisions) -> None:
        """The provider answered (or the call failed: no outputs)."""

    def revise(
        self, planned: Planned, draft: Message, draft_native: tuple[object, ...], correction: Message
    ) -> Planned:
        """The window of the same call asked again, with the answer that is sent back and its correction at the end."""
        more: tuple[Put, ...] = (Put(replace(draft, authored="draft"), draft_native), Put(correction))
        return replace(
            planned,
            items=(*planned.items, *more),
            window=(*planned.window, *(put.message for put in more)),
            result=None,
            record=None,
            is_revision=True,
            revision_available=False,
        )

    def folded(self, conversation_id: str) -> tuple[FoldedSpan, ...]:
        """What summaries stand for in the windows of this conversation, in the order in which it was folded."""
        return ()
