"""The document by which a conversation goes on in another process: ``conversation().to_dict()`` and ``conversation(restore=…)``.

Rules
-----
- One versioned JSON document. It is read when it is handed in, as a whole or not at all: what is malformed, and a version that
  is not known, is refused by name.
- Its id is that of the conversation it was made of; a conversation that is restored without an id of its own goes on under it.
- What is saved is what is known at one moment: conversation and windows together.
- The document of a window alone (``conversation().window.to_dict()``) is taken too.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from otel_footprint import boundary
from otel_footprint.core.state.values import SavedConversation
from otel_footprint.core.window.saving import WindowState

if TYPE_CHECKING:
    from otel_footprint.core.evidence.options import Evidence
    from otel_footprint.running import Runtime


def windows_of(running: Runtime, conversation_id: str) -> WindowState:
    """The windows of a conversation, as they can be saved."""
    if running.director is not None:
        with boundary.guard("state.save"), running.lock:
            return running.director.planner.saved(conversation_id)
    return WindowState()


def saved_of(running: Runtime, conversation_id: str, *, named: bool, text: bool) -> SavedConversation:
    """All that is known of a conversation. ``named``: the application gave the id."""
    window, session = WindowState(), None
    with boundary.guard("state.save"), running.exclusively() as store:
        session = store.saved(conversation_id, text=text)
        if running.director is not None:
            window = running.director.planner.saved(conversation_id)
    running.take_waiting()
    return SavedConversation(id=conversation_id, named=named, text=text, window=window, session=session)


def go_on(running: Runtime, conversation_id: str, saved: SavedConversation, evidence: Evidence | None = None) -> None:
    """Go on with what was saved. ``evidence`` are the settings of this conversation, where it has its own."""
    with boundary.guard("state.restore"):
        with running.exclusively() as store:
            now = time.time()
            threads: frozenset[int] = frozenset()
            if saved.session is not None:
                store.restore(conversation_id, saved.session, evidence=evidence, now=now)
                threads = frozenset(thread.number for thread in saved.session.threads)
            if running.director is not None:
                running.director.planner.restore(conversation_id, saved.window, now=now, threads=threads)
        running.take_waiting()
