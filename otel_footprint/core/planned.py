"""What goes into planning a call and what comes out: the request, the visit in between, the window as it will be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_footprint.core.call import PlannedFacts
from otel_footprint.core.evidence.verdicts import Posture
from otel_footprint.core.messages import Authored, Message
from otel_footprint.core.window.items import Item, Kept
from otel_footprint.core.window.line import State
from otel_footprint.core.window.lines import Asked, Going, Line
from otel_footprint.core.window.record import WindowRecord
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
    """One call being planned. ``input`` is for the strategy; None: it is not to be asked, ``commit`` with None.

    ``going`` is the line it goes on with (None: a new one) at ``version``, ``state`` the window so far; ``apart`` says that
    another call of the line is under way.
    """

    input: WindowStrategyInput | None
    request: PlanRequest
    strategy: WindowStrategy | None
    state: State
    window: tuple[Message, ...]
    asked: Asked
    going: Going | None = None
    version: int = 0
    apart: bool = False


class Ticket:
    """Where a planned call stands: its line, and its state as far as it has come."""

    __slots__ = ("line", "state")

    def __init__(self, line: Line, state: State) -> None:
        self.line = line
        self.state = state


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The window of a call, as it will be sent.

    - ``items`` are for the provider's side to write, ``window`` the same in canonical form.
    - ``record`` is there whenever the strategy was engaged or could not be used; ``result`` is what it gave back, where that
      was used; ``broken`` is the rule it broke where that was not. ``decided``: it changed the window at this visit.
    - ``hint`` is the conversation and the thread, once a call of this history was observed.
    - ``authored`` are the keys of messages in the window that a person or the application did not write.
    - ``revision_available``: an answer to this call may still be sent back in this turn.
    """

    items: tuple[Item, ...]
    window: tuple[Message, ...]
    result: WindowResult | None = None
    record: WindowRecord | None = None
    broken: str | None = None
    decided: bool = False
    strategy: str | None = None
    hint: tuple[str, int] | None = None
    authored: Mapping[bytes, Authored] = field(default_factory=dict)
    revision_available: bool = True
    is_revision: bool = False
    turn: int = 0
    iteration: int = 1
    run_id: str = ""
    ticket: Ticket

    @property
    def messages_after(self) -> int:
        """Messages of the window; an answer that was sent back and its correction are not of it."""
        return len(self.ticket.state.items)

    @property
    def result_names(self) -> tuple[str | None, ...]:
        """For each message of the window the name of the tool result it is, None for any other."""
        names = iter([ref for ref in self.ticket.state.refs if ref is not None])
        return tuple([next(names, None) if message.role == "tool" else None for message in self.window])

    def facts(
        self, *, posture: Posture = "assist", revisable: bool = False, stream_unheld: bool = False
    ) -> PlannedFacts:
        """What goes with the call to those who observe it."""
        state = self.ticket.state
        return PlannedFacts(
            strategy=state.strategy,
            decided=state.decided,
            window_ref=state.window_ref,
            hint=self.hint,
            after=state.after,
            again=state.again,
            posture=posture,
            revisable=revisable,
            is_revision=self.is_revision,
            stream_unheld=stream_unheld,
            authored=self.authored,
            origin=state.origin if state.based else None,
            output=state.chosen,
            withheld=frozenset() if state.based else _withheld(state),
            unseen=state.unseen,
            turn=self.turn,
            iteration=self.iteration,
        )


def _withheld(state: State) -> frozenset[bytes]:
    kept = {item.index for item in state.items if isinstance(item, Kept)}
    return frozenset(key for place, key in enumerate(state.keys) if place not in kept)
