"""The state of one thread: its last window, the births of its messages, its counts and its evidence.

Rules
-----
- A thread is one history. Only completed calls (with an output) change it.
- ``sent`` are the messages of the last completed call and ``slots`` what is known of each, in the same order;
  ``outputs`` are the choices the model gave to it, also those of asking again.
- Births: a message is born at the call that sent it first, an output at the call that gave it. What a thread's first
  window holds up to its last assistant message was there before we looked: its birth is unknown.
- Turn and iteration count in the thread. A turn is a message a person said; iteration counts calls since that message.
- ``attempted`` is the window of the last failed call of a thread that has no completed one yet.
- ``final`` is the text of its last answer; ``reports`` are the messages of this thread that quote a sibling's.
- ``track`` follows its findings, None where they are off.
- ``responses`` and ``server_threads`` are the provider's ids by which its window may be named.
- Bounded: of messages that left only a few facts are kept, and only of the newest ``DROPPED_LIMIT``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.findings.track import Track
from otel_footprint.core.messages import Message
from otel_footprint.core.turns import ResultNames

if TYPE_CHECKING:
    from otel_footprint.core.session import Session

DROPPED_LIMIT: Final = 1024
OUTPUTS_LIMIT: Final = 8
_ROLE: Final = attrgetter("role")
_SLOT_BYTES: Final = 600
"""What one message takes beside its text: the message, its parts, its slot, its names."""


@dataclass(slots=True, eq=False)
class Slot:
    """One message of a window and what is known of it.

    ``born_at`` is in Unix seconds, None when the birth is unknown; ``born_call`` is the number of the thread's completed
    call that sent it first; ``turn`` is the turn it came in; ``refs`` name the results it carries; ``fed`` says that the
    evidence has it; ``alive`` that it is in the window.
    """

    message: Message
    born_at: float | None
    born: CallRef | None
    born_call: int
    turn: int = 0
    refs: tuple[str, ...] = ()
    tool: str | None = None
    unreadable: bool = False
    fed: bool = False
    alive: bool = True


@dataclass(frozen=True, slots=True)
class Gone:
    """What is kept of a message that left, in case it returns."""

    born_at: float | None
    born: CallRef | None
    born_call: int
    turn: int
    refs: tuple[str, ...]
    tool: str | None
    unreadable: bool


@dataclass(eq=False)
class Thread:
    """One history of a conversation. ``number`` counts from 1; ``order`` grows with every call, so the newest is known."""

    session: Session
    number: int
    corpus: Corpus
    instruction: str
    forked_from: int | None = None

    def __post_init__(self) -> None:
        self.system: tuple[Message, ...] = ()
        self.first_system: str = ""
        self.agent: str | None = None
        self.tools: frozenset[str] = frozenset()
        self.sent: tuple[Message, ...] = ()
        self.plain: tuple[Message, ...] = ()
        self.slots: list[Slot] = []
        self.outputs: list[Slot] = []
        self.chars: int = 0
        self.attempted: tuple[Message, ...] | None = None
        self.calls: int = 0
        self.turn: int = 0
        self.iteration: int = 0
        self.results_this_turn: int = 0
        self.trace: int | None = None
        self.last: CallRef | None = None
        self.completed_at: float | None = None
        self.order: int = 0
        self.size: int = 0
        self.epoch: int = 0
        self.unseen: bool = False
        self.unreadable: int = 0
        self.system_unreadable: bool = False
        self.system_is_summary: bool = False
        self.names: ResultNames = ResultNames()
        self.gone: OrderedDict[bytes, list[Gone]] = OrderedDict()
        self.parent: Thread | None = None
        self.final: str = ""
        self.reports: dict[Thread, list[Slot]] = {}
        self.track: Track | None = None
        self.responses: dict[str, None] = {}
        self.server_threads: dict[str, None] = {}

    def remember(self, slot: Slot) -> None:
        """Keep what is needed should this message return."""
        known = self.gone.setdefault(slot.message.key, [])
        known.append(Gone(slot.born_at, slot.born, slot.born_call, slot.turn, slot.refs, slot.tool, slot.unreadable))
        if len(known) > 16:
            del known[0]
        self.gone.move_to_end(slot.message.key)
        while len(self.gone) > DROPPED_LIMIT:
            self.gone.popitem(last=False)

    def recall(self, key: bytes) -> Gone | None:
        """Take back what was kept of the newest message with this key that left."""
        known = self.gone.get(key)
        if not known:
            return None
        last = known.pop()
        if not known:
            del self.gone[key]
        return last

    def size_bytes(self) -> int:
        """About how many bytes it keeps alive."""
        text = 2 * self.chars + sum([2 * slot.message.chars for slot in self.outputs])
        system = sum([2 * message.chars for message in self.system])
        kept = _SLOT_BYTES * (len(self.slots) + len(self.outputs)) + 200 * len(self.gone) + 150 * len(self.names)
        return text + system + kept + self.corpus.size_bytes + 2_000


def opening_of(messages: Sequence[Message]) -> bytes:
    """The key of the first message; empty for an empty window."""
    return messages[0].key if messages else b""


def without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages that count for recognising a history: system text never does."""
    if "system" in map(_ROLE, messages):
        return tuple(message for message in messages if message.role != "system")
    return messages
