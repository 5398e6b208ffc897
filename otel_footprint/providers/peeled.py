"""Streams out of which something of ours is taken while the application reads them.

Rules
-----
- It is the stream it stands for: ``isinstance``, attributes, context manager, ``close``, iteration, helper methods.
- Events come when the SDK gives them, changed or held back by the peeler; a fault of the peeler hands out what the SDK gave.
- A helper that waits for the end reads through the peeler too, so that what was taken out is known; what it gives, and a
  snapshot, is a copy without it.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Final

from otel_footprint.boundary import guard
from otel_footprint.core.findings.peeling import peel_text
from otel_footprint.providers.carrying_seam import PROXY
from otel_footprint.providers.findings_form import EventPeeler
from otel_footprint.providers.held import TEXTS, TO_THE_END, texts_of

_SNAPSHOTS: Final = frozenset({"current_message_snapshot", "current_completion_snapshot"})


class _Flow:
    """The events on their way through the peeler."""

    def __init__(self, peeler: EventPeeler) -> None:
        self._peeler = peeler
        self.waiting: deque[Any] = deque()
        self.ended = False

    def feed(self, event: Any) -> None:
        """One event of the SDK has come."""
        seen: Iterable[Any] = (event,)
        with guard("findings.stream"):
            seen = tuple(self._peeler.feed(event))
        self.waiting.extend(seen)

    def end(self) -> None:
        """No more will come."""
        if not self.ended:
            self.ended = True
            with guard("findings.stream"):
                self.waiting.extend(self._peeler.close())

    def result(self, value: Any) -> Any:
        """What a helper gives, without it."""
        with guard("findings.stream"):
            if isinstance(value, str):
                return peel_text(value)[0] if value.lstrip().startswith("{") else value
            return self._peeler.result(value)
        return value


class Peeled(PROXY):  # type: ignore[misc]
    """A stream of a synchronous client."""

    def __init__(self, stream: Any, peeler: EventPeeler) -> None:
        super().__init__(stream)
        self._self_flow = _Flow(peeler)
        self._self_events: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        flow = self._self_flow
        while not flow.waiting and not flow.ended:
            if self._self_events is None:
                self._self_events = iter(self.__wrapped__)
            for event in self._self_events:
                flow.feed(event)
                break
            else:
                flow.end()
        if flow.waiting:
            return flow.waiting.popleft()
        raise StopIteration

    def __enter__(self) -> Peeled:
        enter = getattr(self.__wrapped__, "__enter__", None)
        if enter is not None:
            enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return self.__wrapped__.__exit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        match name:
            case _ if name in TO_THE_END:
                return self._self_after(found)
            case _ if name in _SNAPSHOTS:
                return self._self_flow.result(found)
            case _ if name == TEXTS:
                return (text for event in self for text in texts_of(event))
            case "send":
                return lambda _value: next(self)
            case _:
                return found

    def _self_after(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def waiting(*args: Any, **kwargs: Any) -> Any:
            for _ in self:
                pass
            found = method(*args, **kwargs)
            return self if found is self.__wrapped__ else self._self_flow.result(found)

        return waiting


class AsyncPeeled(PROXY):  # type: ignore[misc]
    """A stream of an asynchronous client."""

    def __init__(self, stream: Any, peeler: EventPeeler) -> None:
        super().__init__(stream)
        self._self_flow = _Flow(peeler)
        self._self_events: AsyncIterator[Any] | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        flow = self._self_flow
        while not flow.waiting and not flow.ended:
            if self._self_events is None:
                self._self_events = aiter(self.__wrapped__)
            async for event in self._self_events:
                flow.feed(event)
                break
            else:
                flow.end()
        if flow.waiting:
            return flow.waiting.popleft()
        raise StopAsyncIteration

    async def __aenter__(self) -> AsyncPeeled:
        enter = getattr(self.__wrapped__, "__aenter__", None)
        if enter is not None:
            await enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        return await self.__wrapped__.__aexit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        match name:
            case _ if name in TO_THE_END:
                return self._self_after(found)
            case _ if name in _SNAPSHOTS:
                return self._self_flow.result(found)
            case _ if name == TEXTS:
                return self._self_texts()
            case _:
                return found

    def _self_after(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def waiting(*args: Any, **kwargs: Any) -> Any:
            async for _ in self:
                pass
            found = method(*args, **kwargs)
            if inspect.isawaitable(found):
                found = await found
            return self if found is self.__wrapped__ else self._self_flow.result(found)

        return waiting

    async def _self_texts(self) -> AsyncIterator[str]:
        async for event in self:
            for text in texts_of(event):
                yield text
