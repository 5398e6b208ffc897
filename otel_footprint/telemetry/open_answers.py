"""The last answers of a conversation, of which the application may still say something.

Rules
-----
- The last answer of each thread is open until the thread gives another one, or the conversation ends. Then it is counted
  as it stands, once.
- At most ``THREADS_LIMIT`` threads; past that the one that answered longest ago is counted as it stands.
- Not thread-safe: its owner has a lock.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otel_footprint.core.assessment.fold import AnswerAssessment
    from otel_footprint.telemetry.emitter import Emission

THREADS_LIMIT: Final = 64


class OpenAnswers:
    """The calls whose answers are open, by their thread."""

    def __init__(self) -> None:
        self._by_thread: OrderedDict[int, Emission] = OrderedDict()

    def given(self, emission: Emission) -> tuple[Emission, ...]:
        """A call has completed; the calls whose answers are settled by it."""
        if not emission.assessments:
            return ()
        thread = emission.decisions.thread
        before = self._by_thread.pop(thread, None)
        self._by_thread[thread] = emission
        crowded = [self._by_thread.popitem(last=False)[1]] if len(self._by_thread) > THREADS_LIMIT else []
        return (*crowded, *(() if before is None else (before,)))

    def last(self, thread: int) -> Emission | None:
        """The call of this thread whose answer is open."""
        return self._by_thread.get(thread)

    def restand(self, thread: int, assessment: AnswerAssessment) -> Emission | None:
        """The thread's last answer, of several choices the last one, stands otherwise now; the call with that."""
        emission = self._by_thread.get(thread)
        if emission is None or emission.decisions.findings is None:
            return None
        found = emission.decisions.findings
        now = replace(found, assessments=(*found.assessments[:-1], assessment))
        after = self._by_thread[thread] = replace(emission, decisions=replace(emission.decisions, findings=now))
        return after

    def settle(self) -> tuple[Emission, ...]:
        """Nothing more will be said: all that were open."""
        settled = tuple(self._by_thread.values())
        self._by_thread.clear()
        return settled
