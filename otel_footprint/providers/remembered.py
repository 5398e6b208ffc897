"""Messages read before, found again by what they were read from: an agent's list is the same list at each call, and longer.

Rules
-----
- What was read once gives the very :class:`Message` made then, wherever it stands in a list. It is found by a spelling of the
  native items, so nothing of the application's that may change is kept.
- Only plain values are remembered; objects of an SDK are read each time.
- Bounded in bytes by two generations: what was not used while one filled up goes. No lock: a race costs a second reading,
  never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps
from typing import Any, Final

from otel_footprint.core.messages import Message

_PER_MESSAGE_BYTES: Final = 500
"""What a message takes beside its text: itself, its parts, its place in the table."""

_PLAIN: Final = 2
"""The version of marshal's format that spells equal values alike, whoever else holds them."""


class Remembered:
    """A table of messages. ``max_bytes`` bounds, about, what it keeps alive."""

    def __init__(self, *, max_bytes: int = 32_000_000) -> None:
        self._half: Final = max_bytes // 2
        self._young: dict[bytes, Message] = {}
        self._old: dict[bytes, Message] = {}
        self._young_bytes = 0

    def find(self, native: Any, make: Callable[[], Message]) -> Message:
        """The message that ``native`` was read as before, else what ``make`` reads. An exception of ``make`` passes."""
        try:
            spelled = dumps(native, _PLAIN)
        except ValueError:
            return make()
        message = self._young.get(spelled)
        if message is None:
            message = self._old.get(spelled) or make()
            self._keep(spelled, message, 2 * len(spelled) + _PER_MESSAGE_BYTES)
        return message

    def _keep(self, spelled: bytes, message: Message, size: int) -> None:
        if size > self._half:
            return
        if self._young_bytes + size > self._half:
            self._old, self._young, self._young_bytes = self._young, {}, 0
        self._young[spelled] = message
        self._young_bytes += size
