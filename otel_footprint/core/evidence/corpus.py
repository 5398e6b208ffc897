"""The evidence of one thread: what was said, called, returned and dropped, and the judge over it.

Rules
-----
- Not thread-safe and without a clock: the session that owns it holds the lock.
- Adding is cheap and never reads the text: reading happens when an answer asks.
- Words that were said stay said for life. A result that left stays known (within the bound) only to say ``evicted``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement, Reason
from otel_footprint.core.messages import ServerToolResult, ToolCall, ToolResult


class Corpus:
    """Everything one thread's answers may draw on."""

    def __init__(self, options: Evidence) -> None:
        self.options = options

    @property
    def size_bytes(self) -> int:
        """Bytes of text it keeps alive, about."""
        return 0

    def say(self, text: str) -> None:
        """Add words of a person or the application: exempt for life."""

    def hand_in(self, text: str, name: str) -> None:
        """Add evidence the application handed in under a name; it never leaves."""

    def call(self, call: ToolCall, *, ref: str, turn: int, position: int | None = None) -> None:
        """Add the model's arguments; ``ref`` pairs the call with its result."""

    def result(
        self,
        result: ToolResult | ServerToolResult,
        *,
        ref: str,
        tool: str | None,
        turn: int,
        served: CallRef | None,
        position: int | None = None,
    ) -> None:
        """Add a result that is in the window from now on. The same ref again replaces the one that left before."""

    def serve(self, refs: Iterable[str], *, turn: int, served: CallRef | None) -> None:
        """Say that these results are in the window of this call (again)."""

    def leave(self, refs: Iterable[str], *, decision: str, decided_by: str, dropped: CallRef | None) -> None:
        """Say that these results have left the window, by which decision and in which call they were missing first."""

    def fork(self) -> Corpus:
        """A corpus that starts as this one and goes its own way."""
        return Corpus(self.options)

    def judge(
        self,
        text: str,
        *,
        choice: int = 0,
        turn: int,
        tools_offered: bool,
        blind: frozenset[Reason] = frozenset(),
        siblings: Sequence[Corpus] = (),
    ) -> Judgement:
        """Judge one answer. ``siblings`` are corpora whose results count as evidence here too."""
        return Judgement(
            choice=choice, verdict="no_claims", reasons=(), values=(), candidates=0, looked_up=0, earlier_turns_only=0,
            posture=self.options.posture,
        )
