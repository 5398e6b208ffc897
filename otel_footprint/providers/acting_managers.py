"""Stream managers acted on: the context manager an SDK returns from ``stream()``, which makes its request when entered.

Rules
-----
- The SDK builds its manager at once, with the application's arguments, so that what it refuses it refuses there and then.
- Planning happens on entering. A manager that is never entered has no visit and no request.
- A plan that changes the arguments has the SDK build another manager; one that was built and not entered is let go of
  without a warning about a coroutine that nobody awaits.
- Leaving leaves the manager that was entered.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from otel_footprint.providers.acting_calls import Job, arun, run
from otel_footprint.providers.acting_seam import unlayered
from otel_footprint.providers.carrying_seam import PROXY
from otel_footprint.providers.surface import Acting, Delivery, Surface


@dataclass(frozen=True, slots=True)
class Building:
    """How managers come about: built by the SDK, with what they call marked as their own; and how a call is taken up."""

    build: Callable[[Mapping[str, Any]], Any]
    inside: Callable[[], AbstractContextManager[None]]
    begin: Callable[[Delivery], Acting | None]


class _Line:
    """Managers of one ``stream()`` call: the first as the SDK built it, and those that a plan needs."""

    def __init__(self, building: Building, kwargs: Mapping[str, Any]) -> None:
        self._building = building
        self._kwargs = kwargs
        with building.inside():
            self.first = building.build(kwargs)
        self._waiting = self.first
        self.entered: Any = None

    def manager(self, kwargs: Mapping[str, Any]) -> Any:
        """The manager for these arguments, not entered yet."""
        if self._waiting is not None and _same(kwargs, self._kwargs):
            first, self._waiting = self._waiting, None
            return first
        self.drop()
        return self._building.build(kwargs)

    def drop(self) -> None:
        """Let go of a manager that nobody will enter."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            _let_go(waiting)

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """A manager gives a stream and nothing else."""
        return None

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The stream itself."""
        return response

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """The stream itself."""
        return stream


class _SyncLine(_Line):
    def call(self, kwargs: Mapping[str, Any]) -> Any:
        """Enter a manager."""
        with self._building.inside():
            manager = self.manager(kwargs)
            stream = manager.__enter__()
        before, self.entered = self.entered, manager
        if before is not None:
            before.__exit__(None, None, None)
        return stream


class _AsyncLine(_Line):
    async def call(self, kwargs: Mapping[str, Any]) -> Any:
        """Enter a manager."""
        with self._building.inside():
            manager = self.manager(kwargs)
            stream = await manager.__aenter__()
        before, self.entered = self.entered, manager
        if before is not None:
            await before.__aexit__(None, None, None)
        return stream


class Manager(PROXY):  # type: ignore[misc]
    """Stands for a manager of a synchronous client."""

    def __init__(self, building: Building, kwargs: Mapping[str, Any], surface: Surface) -> None:
        line = _SyncLine(building, kwargs)
        super().__init__(line.first)
        self._self_line = line
        self._self_begin = building.begin
        self._self_job = Job(self._self_line, surface, Delivery(streamed=True, holdable=True), kwargs)

    def __enter__(self) -> Any:
        acting = self._self_begin(self._self_job.delivery)
        if acting is None:
            return self._self_line.call(self._self_job.kwargs)
        with _dropped_unless_entered(self._self_line):
            return run(self._self_job, acting)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        entered = self._self_line.entered
        return None if entered is None else entered.__exit__(kind, error, trace)


class AsyncManager(PROXY):  # type: ignore[misc]
    """Stands for a manager of an asynchronous client."""

    def __init__(self, building: Building, kwargs: Mapping[str, Any], surface: Surface) -> None:
        line = _AsyncLine(building, kwargs)
        super().__init__(line.first)
        self._self_line = line
        self._self_begin = building.begin
        delivery = Delivery(streamed=True, holdable=True, asynchronous=True)
        self._self_job = Job(self._self_line, surface, delivery, kwargs)

    async def __aenter__(self) -> Any:
        acting = self._self_begin(self._self_job.delivery)
        if acting is None:
            return await self._self_line.call(self._self_job.kwargs)
        with _dropped_unless_entered(self._self_line):
            return await arun(self._self_job, acting)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        entered = self._self_line.entered
        return None if entered is None else await entered.__aexit__(kind, error, trace)


@contextmanager
def _dropped_unless_entered(line: _Line) -> Iterator[None]:
    """An exception on entering leaves no manager behind that was built and waits."""
    try:
        yield
    finally:
        line.drop()


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one is other or (one.keys() == other.keys() and all(one[key] is other[key] for key in one))


def _let_go(manager: Any) -> None:
    """Close the coroutine that an asynchronous manager was built with."""
    for value in vars(unlayered(manager)).values():
        if inspect.iscoroutine(value):
            value.close()
