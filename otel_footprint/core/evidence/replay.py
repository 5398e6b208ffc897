"""A stream of results that is worked out once, as far as anybody asked, and read by many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Replay(Generic[T]):
    """What ``make`` yields; it is called when the first of it is asked for."""

    __slots__ = ("_make", "_rest", "_seen")

    def __init__(self, make: Callable[[], Iterator[T]]) -> None:
        self._make = make
        self._rest: Iterator[T] | None = None
        self._seen: list[T] = []

    def __iter__(self) -> Iterator[T]:
        seen = self._seen
        if self._rest is None:
            self._rest = self._make()
        place = 0
        while True:
            while place < len(seen):
                yield seen[place]
                place += 1
            try:
                seen.append(next(self._rest))
            except StopIteration:
                return
