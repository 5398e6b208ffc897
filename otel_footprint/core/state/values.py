"""The state of a conversation as values: what a document says, read and checked as a whole before anything is restored.

Nothing here is shared with a live session; a message may be a stub.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.saving import SavedCorpus
from otel_footprint.core.findings.track import SavedTrack
from otel_footprint.core.messages import Message
from otel_footprint.core.stubs import Content
from otel_footprint.core.thread import Gone
from otel_footprint.core.turns import SavedNames
from otel_footprint.core.window.saving import WindowState


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSlot:
    """One message of a window and what is known of it, as in :class:`~otel_footprint.core.thread.Slot`."""

    message: Message
    born_at: float | None = None
    born: CallRef | None = None
    born_call: int = 0
    turn: int = 0
    refs: tuple[str, ...] = ()
    tool: str | None = None
    unreadable: bool = False
    fed: bool = False


@dataclass(frozen=True, slots=True)
class SavedResponse:
    """A response whose window the provider holds: the first ``sent`` messages of its thread's, and ``output``."""

    id: str
    sent: int
    output: Message
    unseen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedThread:
    """One history, as in :class:`~otel_footprint.core.thread.Thread`. ``parent`` and the keys of ``reports`` are numbers of
    threads; ``reports`` holds places in ``slots``."""

    number: int
    instruction: Content = ""
    first_system: Content = ""
    forked_from: int | None = None
    parent: int | None = None
    agent: str | None = None
    tools: frozenset[str] = frozenset()
    system: tuple[Message, ...] = ()
    slots: tuple[SavedSlot, ...] = ()
    outputs: tuple[SavedSlot, ...] = ()
    attempted: tuple[Message, ...] | None = None
    chars: int = 0
    calls: int = 0
    turn: int = 0
    iteration: int = 0
    results_this_turn: int = 0
    trace: int | None = None
    last: CallRef | None = None
    completed_at: float | None = None
    unseen: bool = False
    unreadable: int = 0
    system_unreadable: bool = False
    system_is_summary: bool = False
    names: SavedNames = field(default_factory=SavedNames)
    gone: tuple[tuple[bytes, tuple[Gone, ...]], ...] = ()
    final: Content = ""
    reports: tuple[tuple[int, tuple[int, ...]], ...] = ()
    responses: tuple[SavedResponse, ...] = ()
    server_threads: tuple[str, ...] = ()
    corpus: SavedCorpus = field(default_factory=SavedCorpus)
    track: SavedTrack | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSession:
    """All threads of a conversation, the one asked longest ago first; ``created`` is how many there have been.

    ``lost``: there were calls before of which nothing is known. ``handed_in`` are names and texts of evidence, ``said`` words that are in no message, both also for threads to come.
    """

    created: int = 0
    tools_seen: bool = False
    handed_in: tuple[tuple[str, Content], ...] = ()
    said: tuple[Content, ...] = ()
    threads: tuple[SavedThread, ...] = ()
    lost: bool = False

    @property
    def calls(self) -> int:
        """How many calls of it have completed: what it grows by."""
        return sum(thread.calls for thread in self.threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedConversation:
    """One document. ``id`` is None where it is of a window alone; ``named``: the application gave the id, not we.

    ``calls`` is how many calls there were, also where ``session`` is None since nothing is known of them any more.
    """

    id: str | None = None
    named: bool = False
    text: bool = False
    calls: int = 0
    window: WindowState = field(default_factory=WindowState)
    session: SavedSession | None = None
