"""A planned window as places in the application's own list, with what is put between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from otel_footprint.core.messages import Message


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of the application's list, by its index in the canonical reading (from 0, without the leading envelope)."""

    index: int


@dataclass(frozen=True, slots=True)
class Put:
    """A message that is not in the application's list: a drop notice, a summary, a correction, a failed answer.

    ``native`` are the provider's own items where there are any (a failed answer, put back as it came); else the provider's
    side builds one from ``message``.
    """

    message: Message
    native: tuple[object, ...] = ()


Item: TypeAlias = Kept | Put


def kept(first: int, end: int) -> tuple[Kept, ...]:
    """The places from ``first`` up to ``end``. A place is the same value in every window, so most are made only once."""
    global _shared
    if len(_shared) < end <= _SHARED_LIMIT:
        size = min(max(end, 2 * len(_shared)), _SHARED_LIMIT)
        _shared = tuple(map(Kept, range(size)))  # one assignment: another thread sees the shorter one or this one
    shared = _shared[first:end]
    return shared if first + len(shared) >= end else (*shared, *map(Kept, range(first + len(shared), end)))


_SHARED_LIMIT: Final = 8_192
_shared: tuple[Kept, ...] = ()
