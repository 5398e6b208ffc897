"""``conversation().window``: what happened to the window at the last call, and what our strategy said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_footprint.core.decisions import Eviction, Rewrite, WindowChange, WindowDecision
    from otel_footprint.core.messages import Json
    from otel_footprint.core.window.record import FoldedSpan, WindowRecord
    from otel_footprint.core.window.saving import WindowState


@dataclass(frozen=True, slots=True)
class Window:
    """A view of a conversation's window as it is now.

    ``change`` is what the last completed call did to it, None before the first; its fields can be asked for directly and
    are None, 0 or empty before then. ``record`` is that of the last visit on which the window strategy engaged, None where
    there was none.
    """

    change: WindowChange | None
    record: WindowRecord | None
    _saved: Callable[[], WindowState]

    @property
    def decision(self) -> WindowDecision | None:
        """What happened: the first of the decisions that holds."""
        return self.change.decision if self.change is not None else None

    @property
    def decided_by(self) -> str | None:
        """``application``, ``provider``, or the name of a window strategy."""
        return self.change.decided_by if self.change is not None else None

    @property
    def messages_before(self) -> int:
        """Messages of the call before, without the system envelope."""
        return self.change.messages_before if self.change is not None else 0

    @property
    def messages_after(self) -> int:
        """Messages that were sent, without the system envelope."""
        return self.change.messages_after if self.change is not None else 0

    @property
    def chars_before(self) -> int:
        """Characters of the call before."""
        return self.change.chars_before if self.change is not None else 0

    @property
    def chars_after(self) -> int:
        """Characters that were sent."""
        return self.change.chars_after if self.change is not None else 0

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        """The messages that left."""
        return self.change.evictions if self.change is not None else ()

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """The messages that stand where they stood, with other content."""
        return self.change.rewrites if self.change is not None else ()

    @property
    def inserted(self) -> int:
        """How many messages appeared before the last one that was kept."""
        return self.change.inserted if self.change is not None else 0

    @property
    def dropped_tools(self) -> tuple[str, ...]:
        """Names of the tools whose results left."""
        return self.change.dropped_tools if self.change is not None else ()

    @property
    def settled(self) -> bool:
        """False where the last call had no output, so that it changed nothing."""
        return self.change.settled if self.change is not None else True

    @property
    def folded(self) -> tuple[FoldedSpan, ...]:
        """The messages that summaries stand for, in the order in which they were folded."""
        return self._saved().folded

    def to_dict(self) -> dict[str, Json]:
        """What is needed to go on with this window in another process, as JSON: see ``conversation(restore=…)``."""
        return self._saved().to_dict()
