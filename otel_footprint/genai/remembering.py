"""What an instrumentation made of a message is kept for the next call, which sends the same message again.

Converting the history anew for every call is most of what a hook costs: 3 µs a message on OpenAI and 11 µs on Anthropic,
beside less than 1 µs to find it here.

Rules
-----
- Only functions that read each message of a list by itself are replaced; what they make is equal, and is never changed by
  anybody afterwards.
- A message is found by its bytes, so one that was changed in place is read anew. One that holds an SDK's own objects has
  no bytes: it is read as ever.
- Bounded in bytes by two generations: what was not used while one filled up goes. No lock, since a finaliser may read in
  the middle of another reading: a race costs a second reading, never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps
from typing import Any, Final

MAX_BYTES: Final = 16_000_000
"""Of the keys of one generation; what was made of a message shares its strings and takes about as much again."""

_MARSHAL: Final = 2
"""The newest format in which equal values have equal bytes: later ones mark what is referred to twice."""

_PER_ENTRY_BYTES: Final = 600


class Remembered:
    """``around`` of a patch: reads a list with the original function, message by message, each once."""

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._young: dict[bytes, tuple[Any, ...]] = {}
        self._old: dict[bytes, tuple[Any, ...]] = {}
        self._bytes = 0

    def __call__(self, original: Callable[..., list[Any]], items: Any) -> list[Any]:
        """What ``original(items)`` gives, a new list each time."""
        if items.__class__ is not list:
            return original(items)
        made: list[Any] = []
        known = self._young.get
        for item in items:
            try:
                key = dumps(item, _MARSHAL)
            except ValueError:  # an object that is no plain value
                made += original([item])
                continue
            found = known(key)
            if found is None:
                found = self._read(original, item, key)
                known = self._young.get
            made += found
        return made

    def _read(self, original: Callable[..., list[Any]], item: Any, key: bytes) -> tuple[Any, ...]:
        found = self._old.get(key)
        if found is None:
            found = tuple(original([item]))
        self._bytes += len(key) + _PER_ENTRY_BYTES
        if self._bytes > self._max_bytes:
            self._old, self._young, self._bytes = self._young, {}, len(key) + _PER_ENTRY_BYTES
        self._young[key] = found
        return found
