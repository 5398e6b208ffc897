"""The last answers of a conversation, of which the application may still say something.

Rules
-----
- The last answer of each thread is open until the thread gives another one, or the conversation ends. Then it is settled: it
  is counted as it stands, once.
- At most ``THREADS_LIMIT`` threads; past that the one that answered longest ago is settled.
- What was sent and answered is not kept: an answer may be open for as long as the conversation lives.
- Not thread-safe: its owner has a lock.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otel_footprint.core.assessment.fold import AnswerAssessment
    from otel_footprint.telemetry.emitter import Emission

THREADS_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """A call whose answer is open. ``changed`` says that it stands otherwise than when the call was emitted."""

    emission: Emission
    changed: bool = False


class OpenAnswers:
    """The calls whose answers are open, by their thread."""

    def __init__(self) -> None:
        self._by_thread: OrderedDict[int, OpenAnswer] = OrderedDict()

    def given(self, emission: Emission) -> tuple[OpenAnswer, ...]:
        """A call has completed, or the draft of one goes out after all; what is settled by it."""
        if not emission.assessments:
            return ()
        thread = emission.decisions.thread
        settled: list[OpenAnswer] = []
        before = self._by_thread.pop(thread, None)
        if before is not None and before.emission.decisions.window is not emission.decisions.window:
            settled.append(before)
        call = replace(emission.call, messages=(), system=(), outputs=(), planned=None)
        self._by_thread[thread] = OpenAnswer(replace(emission, call=call))
        if len(self._by_thread) > THREADS_LIMIT:
            settled.append(self._by_thread.popitem(last=False)[1])
        return tuple(settled)

    def restand(self, thread: int, assessment: AnswerAssessment) -> tuple[Emission, Emission] | None:
        """The thread's last answer (of several choices the last one) stands otherwise: the call with that before, and now.

        None where it is not open, or stands as it did.
        """
        known = self._by_thread.get(thread)
        if known is None or known.emission.decisions.findings is None:
            return None
        before, found = known.emission, known.emission.decisions.findings
        if found.assessments[-1:] == (assessment,):
            return None
        now = replace(found, assessments=(*found.assessments[:-1], assessment))
        after = replace(before, decisions=replace(before.decisions, findings=now))
        self._by_thread[thread] = OpenAnswer(after, changed=True)
        return before, after

    def settle(self) -> tuple[OpenAnswer, ...]:
        """Nothing more will be said: all that were open."""
        settled = tuple(self._by_thread.values())
        self._by_thread.clear()
        return settled
