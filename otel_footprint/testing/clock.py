"""Time and ids that a test decides."""

from __future__ import annotations

import threading


class FixedClock:
    """A clock that moves only when told. Called, it gives Unix seconds."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._lock = threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            return self._now

    def advance(self, seconds: float) -> float:
        """Move on (or back) and give the new time."""
        with self._lock:
            self._now += seconds
            return self._now


class FixedIds:
    """Counts up: ``prefix1``, ``prefix2``, …"""

    def __init__(self, prefix: str = "id-") -> None:
        self._prefix = prefix
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            self._count += 1
            return f"{self._prefix}{self._count}"
