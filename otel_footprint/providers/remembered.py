"""Messages read before, found again by what they were read from: an agent's list is the same list at each call, and longer.

Rules
-----
- What was read once gives the very messages made then, wherever it stands in a list. It is found by a spelling of the native
  items, so what was changed in place is read anew; and it is read from a copy, so nothing of the application's is kept that
  may change later.
- Only plain values are remembered. Objects of an SDK are read each time, from what they are as plain values where there is
  such a form.
- Bounded in bytes by two generations: what was not used while one filled up goes. No lock: a race costs a second reading,
  never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps, loads
from typing import Any, Final, Generic, TypeVar

_Read = TypeVar("_Read")

_PER_MESSAGE_BYTES: Final = 500
"""What a message takes beside its text: itself, its parts, its place in the table."""

_PLAIN: Final = 2
"""The version of marshal's format that spells equal values alike, whoever else holds them."""


class Remembered(Generic[_Read]):
    """A table of what was read: messages, or several at a time. ``max_bytes`` bounds, about, what it keeps alive."""

    def __init__(self, *, max_bytes: int = 32_000_000) -> None:
        self._half: Final = max_bytes // 2
        self._young: dict[bytes, _Read] = {}
        self._old: dict[bytes, _Read] = {}
        self._young_bytes = 0

    def find(self, native: Any, make: Callable[[Any], _Read], *, plain: Callable[[Any], object] | None = None) -> _Read:
        """What ``native`` was read as before, else what ``make`` makes of it. An exception of ``make`` passes.

        ``make`` is given a copy of ``native``. ``plain`` gives an equal value of plain ones for what is none.
        """
        try:
            spelled = dumps(native, _PLAIN)
        except ValueError:
            return make(native) if plain is None else self.find(plain(native), make)
        read = self._young.get(spelled)
        if read is None:
            read = self._old.get(spelled)
            if read is None:
                read = make(loads(spelled))
            self._keep(spelled, read, 2 * len(spelled) + _PER_MESSAGE_BYTES)
        return read

    def _keep(self, spelled: bytes, read: _Read, size: int) -> None:
        if size > self._half:
            return
        if self._young_bytes + size > self._half:
            self._old, self._young, self._young_bytes = self._young, {}, 0
        self._young[spelled] = read
        self._young_bytes += size
