"""A circuit breaker: after some failures in a row nothing is asked any more for a while, then one question at a time.

Rules
-----
- Closed: everything passes. ``FAILURES`` failures in a row open it.
- Open: nothing passes until the pause is over. Then it is half open: one passes, the others do not until that one is back.
- A success closes it; the failure of the one that passed opens it again, for twice as long, up to ``LONGEST_S``.
- Pure and not thread-safe: time comes with the calls, in seconds of any clock that does not go back.
"""

from __future__ import annotations

from typing import Final

FAILURES: Final = 3
FIRST_S: Final = 1.0
LONGEST_S: Final = 30.0


class Breaker:
    """One circuit."""

    def __init__(self) -> None:
        self._failures = 0
        self._pause = FIRST_S
        self._opened_at: float | None = None
        self._asked_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether questions are being held back."""
        return self._opened_at is not None

    def passes(self, now: float) -> bool:
        """Whether something may be asked now. Whoever is let through says what came of it."""
        if self._opened_at is None:
            return True
        if now - self._opened_at < self._pause:
            return False
        if self._asked_at is not None and now - self._asked_at < self._pause:
            return False  # one is on its way; one that never came back is given up after as long
        self._asked_at = now
        return True

    def succeeded(self) -> None:
        """An answer came."""
        self._failures, self._pause = 0, FIRST_S
        self._opened_at = self._asked_at = None

    def failed(self, now: float) -> bool:
        """No answer came. Whether this opened the circuit."""
        self._failures += 1
        if self._opened_at is not None:
            if self._asked_at is not None:
                self._pause = min(2 * self._pause, LONGEST_S)
                self._opened_at, self._asked_at = now, None
            return False
        if self._failures >= FAILURES:
            self._opened_at = now
            return True
        return False
