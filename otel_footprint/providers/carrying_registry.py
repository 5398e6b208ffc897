"""What a wrapper below the official instrumentation saw of a call, kept until the completion hook asks for it.

Rules
-----
- The key is the call's span, sampled or not. A call without a valid span carries nothing.
- One request per span: the first one owns it. A request that runs inside another's span (made while that one's stream is
  open) is not that call, and its facts are dropped.
- Bounded: the oldest goes first. What nobody asks for (an SDK that no official instrumentation holds) costs no more.
- Thread-safe with a re-entrant lock: a finaliser may come in while the same thread is inside.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from otel_footprint.core.call import ProviderEdit

LateEdits: TypeAlias = Callable[[], tuple[ProviderEdit, ...]]
"""Edits that can be told only when the call is complete."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What the completion hook cannot see of one call; the fields are those of :class:`~otel_footprint.core.call.Call`."""

    previous_response_id: str | None = None
    server_thread: str | None = None
    edits: tuple[ProviderEdit, ...] = ()
    error_result_ids: frozenset[str] = frozenset()


class Carrying:
    """The facts of one call while it runs. Fields are assigned whole, so no lock is needed."""

    __slots__ = ("asked_for_edits", "edits", "error_result_ids", "late", "previous_response_id", "server_thread")

    def __init__(self) -> None:
        self.previous_response_id: str | None = None
        self.server_thread: str | None = None
        self.edits: tuple[ProviderEdit, ...] = ()
        self.error_result_ids: frozenset[str] = frozenset()
        self.asked_for_edits = False
        self.late: LateEdits | None = None

    def settle(self) -> Carried:
        """The facts as they are now."""
        edits = self.edits
        if self.late is not None and not edits:
            edits = self.late()
        return Carried(self.previous_response_id, self.server_thread, edits, self.error_result_ids)


class CarryRegistry:
    """Facts by span. ``limit`` is how many calls may be in it at once."""

    def __init__(self, limit: int = 4096) -> None:
        self._limit: Final = limit
        self._lock: Final = threading.RLock()
        self._entries: Final[OrderedDict[tuple[int, int], Carrying]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def begin(self, trace_id: int, span_id: int) -> Carrying | None:
        """The place for the facts of a request that starts under this span; None when the span is not its own."""
        if not trace_id or not span_id:
            return None
        key = (trace_id, span_id)
        with self._lock:
            if key in self._entries:
                return None
            entry = self._entries[key] = Carrying()
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)
        return entry

    def pop(self, trace_id: int, span_id: int) -> Carried | None:
        """The facts of the call with this span, once; None when there are none."""
        with self._lock:
            entry = self._entries.pop((trace_id, span_id), None)
        if entry is None:
            return None
        carried = entry.settle()
        return None if carried == _NOTHING else carried


_NOTHING: Final = Carried()
