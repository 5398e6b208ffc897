"""Streams held back: read to their end, and played back as the SDK's own stream object would give them.

Rules
-----
- A replay is the stream it stands for: ``isinstance``, attributes, context manager, ``close``, iteration, helper methods.
  Only the time differs, and what the SDK's object tells about "so far" (a snapshot) is what it knows at the end.
- A stream that broke breaks again, with the same exception, after what came before it.
- Closing a replay ends it; the SDK's stream, which is at its end, is closed too.
- Reading forward is one thing: a helper that waits for the end takes what iteration has not taken.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final

from otel_footprint.providers.carrying_seam import PROXY

TO_THE_END: Final = frozenset(
    {"until_done", "get_final_completion", "get_final_response", "get_final_message", "get_final_text"}
)
"""Helper methods that read the stream to its end first. The SDK's object is there already and answers at once."""

TEXTS: Final = "text_stream"
"""Anthropic's iterator over the text alone."""


class Rest:
    """What is left to play: the events, then the exception the stream broke with."""

    def __init__(self, events: Sequence[Any], error: BaseException | None = None) -> None:
        self._events = iter(events)
        self._error = error

    def take(self) -> tuple[Any, ...]:
        """The next event alone; nothing at the end. Raises what the stream broke with, once."""
        for event in self._events:
            return (event,)
        error, self._error = self._error, None
        if error is not None:
            raise error
        return ()

    def finish(self) -> None:
        """Play to the end."""
        while self.take():
            pass

    def drop(self) -> None:
        """Play no more."""
        self._events = iter(())
        self._error = None


class Replay(PROXY):  # type: ignore[misc]
    """A stream of a synchronous client, played back."""

    def __init__(self, stream: Any, rest: Rest) -> None:
        super().__init__(stream)
        self._self_rest = rest

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        for event in self._self_rest.take():
            return event
        raise StopIteration

    def __enter__(self) -> Replay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _close_here(self)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        match name:
            case "close":
                return lambda: _close_here(self)
            case _ if name in TO_THE_END:
                return _after(self._self_rest.finish, found)
            case _ if name == TEXTS:
                return self._self_texts()
            case "send":
                return lambda _value: next(self)
            case _:
                return found

    def _self_texts(self) -> Iterator[str]:
        for event in self:
            yield from texts_of(event)


class AsyncReplay(PROXY):  # type: ignore[misc]
    """A stream of an asynchronous client, played back."""

    def __init__(self, stream: Any, rest: Rest) -> None:
        super().__init__(stream)
        self._self_rest = rest

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        for event in self._self_rest.take():
            return event
        raise StopAsyncIteration

    async def __aenter__(self) -> AsyncReplay:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._self_close()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        match name:
            case "close" | "aclose":
                # Which of them waits is the SDK's choice: a botocore-like stream closes at once.
                return self._self_close if name == "aclose" or inspect.iscoroutinefunction(found) else self._self_stop
            case _ if name in TO_THE_END:
                return _awaited(self._self_rest.finish, found)
            case _ if name == TEXTS:
                return self._self_texts()
            case _:
                return found

    def _self_stop(self) -> Any:
        self._self_rest.drop()
        return self.__wrapped__.close()

    async def _self_close(self) -> None:
        self._self_rest.drop()
        close = getattr(self.__wrapped__, "aclose", None) or getattr(self.__wrapped__, "close", None)
        closing = close() if close is not None else None
        if inspect.isawaitable(closing):
            await closing

    async def _self_texts(self) -> AsyncIterator[str]:
        async for event in self:
            for text in texts_of(event):
                yield text


def _close_here(replay: Replay) -> None:
    replay._self_rest.drop()
    close = getattr(replay.__wrapped__, "close", None)
    if close is not None:
        close()


def _after(finish: Callable[[], None], method: Callable[..., Any]) -> Callable[..., Any]:
    def waiting(*args: Any, **kwargs: Any) -> Any:
        finish()
        return method(*args, **kwargs)

    return waiting


def _awaited(finish: Callable[[], None], method: Callable[..., Any]) -> Callable[..., Any]:
    async def waiting(*args: Any, **kwargs: Any) -> Any:
        finish()
        return await method(*args, **kwargs)

    return waiting


def texts_of(event: Any) -> Iterator[str]:
    delta = getattr(event, "delta", None) if getattr(event, "type", None) == "content_block_delta" else None
    if getattr(delta, "type", None) == "text_delta":
        yield delta.text  # type: ignore[union-attr]
