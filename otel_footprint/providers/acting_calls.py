"""One acted call from its plan to what is handed out; the way is told in ``surface.py``.

Rules
-----
- There is one form for both kinds of client. Under a synchronous one nothing in it waits, so one ``send`` runs it through.
- The SDK's code runs outside of the guard and inside the acting's context, which is detached whatever happens.
- Exceptions of the SDK pass unmodified, but for those of a revision: the answer before it is handed out.
- Of the Director's exceptions only the two an application can ask for pass.
- A call is revised at most :data:`MOST_REVISIONS` times, whatever the Director says.
"""

from __future__ import annotations

import inspect
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from otel_footprint.boundary import guard
from otel_footprint.core.errors import UnsupportedValuesError, WindowUnmeasurableError
from otel_footprint.providers.held import AsyncReplay, Replay, Rest
from otel_footprint.providers.peeled import AsyncPeeled, Peeled
from otel_footprint.providers.surface import Acting, Delivery, Surface

MOST_REVISIONS: Final = 4


class Line(Protocol):
    """The SDK's method, from our side: call it, and find the answer in what it gives."""

    def call(self, kwargs: Mapping[str, Any]) -> Any:
        """Make the request: what the SDK gives, or an awaitable of it."""
        ...

    def answer(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The plain response in it, or an awaitable of it; None where it is not to be read."""
        ...

    def stream(self, kwargs: Mapping[str, Any], response: Any) -> Any:
        """The stream in it, or an awaitable of it."""
        ...

    def with_stream(self, kwargs: Mapping[str, Any], response: Any, stream: Any) -> Any:
        """What the SDK gave, with another stream in it."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """What stays the same from the first call to its last revision. ``kwargs`` are the application's own."""

    line: Line
    surface: Surface
    delivery: Delivery
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    acting: Acting
    kwargs: Mapping[str, Any]
    context: Context
    hold: bool


@dataclass(frozen=True, slots=True)
class _Made:
    """What the application would be given, and the plain response in it. ``open``: there is something to decide about it."""

    handed: Any
    plain: Any = None
    open: bool = True


def run(job: Job, acting: Acting) -> Any:
    """Make the call of a synchronous client."""
    return _through(arun(job, acting))


async def arun(job: Job, acting: Acting) -> Any:
    """Make the call."""
    plan = await _plan(job, acting)
    if plan is None:
        return await _waited(job.line.call(job.kwargs))
    made = await _make(job, plan)
    if not made.open:
        return made.handed
    for _ in range(MOST_REVISIONS):
        again = None
        with asked_errors_pass("acting.revision"):
            again = plan.acting.revision(made.plain)
        revised = None if again is None else await _revise(job, again)
        if revised is None:
            break
        plan, made = revised
    if made.plain is not None and not job.delivery.streamed:
        with guard("acting.take_out"):
            plan.acting.take_out(made.plain)
    with guard("acting.store"):
        if job.delivery.asynchronous:
            await plan.acting.astore()
        else:
            plan.acting.store()
    with asked_errors_pass("acting.finish"):
        plan.acting.finish(made.handed)
    return made.handed


async def _revise(job: Job, acting: Acting) -> tuple[_Plan, _Made] | None:
    """Ask again; None where that came to nothing."""
    plan = await _plan(job, acting)
    if plan is None:
        return None
    with Kept():
        made = await _make(job, plan)
        return (plan, made) if made.open else None
    return None


async def _plan(job: Job, acting: Acting) -> _Plan | None:
    with asked_errors_pass("acting.plan"):
        if job.delivery.asynchronous:
            await acting.aplan()
        else:
            acting.plan()
        hold = job.delivery.holdable and acting.hold
        return _Plan(acting, acting.kwargs, acting.context, hold)
    return None


async def _make(job: Job, plan: _Plan) -> _Made:
    with attached(plan.context), _Telling(plan.acting):
        response = await _waited(job.line.call(plan.kwargs))
        if plan.hold:
            return await _hold(job, plan, response)
    if job.delivery.streamed:
        return _Made(await _peeled(job, plan, response), open=False)
    plain = None
    with guard("acting.answer"):
        plain = await _waited(job.line.answer(plan.kwargs, response))
    return _Made(response, plain)


async def _hold(job: Job, plan: _Plan, response: Any) -> _Made:
    stream = await _waited(job.line.stream(plan.kwargs, response))
    events: list[Any] = []
    kept = Kept()
    with kept:
        if job.delivery.asynchronous:
            async for event in stream:
                events.append(event)
        else:
            for event in stream:
                events.append(event)
    rest = Rest(events, kept.error)
    replay: Any = AsyncReplay(stream, rest) if job.delivery.asynchronous else Replay(stream, rest)
    handed = job.line.with_stream(plan.kwargs, response, _without_ours(job, plan, replay))
    if kept.error is not None:
        _tell(plan.acting, kept.error)
        return _Made(handed, open=False)
    plain = None
    with guard("acting.merge"):
        plain = job.surface.merge(plan.kwargs, events)
    return _Made(handed, plain)


async def _peeled(job: Job, plan: _Plan, response: Any) -> Any:
    """What is handed out of a stream that is not held back. A body that the application reads by itself is left alone."""
    handed = response
    if job.delivery.holdable:
        with guard("acting.peeled"):
            if plan.acting.peels:
                stream = await _waited(job.line.stream(plan.kwargs, response))
                handed = job.line.with_stream(plan.kwargs, response, _without_ours(job, plan, stream))
    return handed


def _without_ours(job: Job, plan: _Plan, stream: Any) -> Any:
    peeler = None
    with guard("acting.peeled"):
        peeler = plan.acting.peeler()
    if peeler is None:
        return stream
    return AsyncPeeled(stream, peeler) if job.delivery.asynchronous else Peeled(stream, peeler)


def _through(work: Coroutine[Any, Any, Any]) -> Any:
    """Run what never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise RuntimeError("a call of a synchronous client waited for something")


async def _waited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


@contextmanager
def asked_errors_pass(place: str) -> Iterator[None]:
    """The guard, but for the two errors that an application can ask for."""
    asked: UnsupportedValuesError | WindowUnmeasurableError | None = None
    with guard(place, "the call goes on without us, and further ones are only counted"):
        try:
            yield
        except (UnsupportedValuesError, WindowUnmeasurableError) as error:
            asked = error
    if asked is not None:
        raise asked


@contextmanager
def attached(context: Context) -> Iterator[None]:
    """Make a context the current one for a while."""
    token = otel_context.attach(context)
    try:
        yield
    finally:
        otel_context.detach(token)


class Kept:
    """Keeps an exception of the SDK, to raise it later or to do without the answer. Cancellation and exits pass."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, (UnsupportedValuesError, WindowUnmeasurableError)) or not isinstance(error, Exception):
            return False
        self.error = error
        return True


class _Telling:
    """Tells the acting of an exception, and lets it pass."""

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            _tell(self._acting, error)


def _tell(acting: Acting, error: BaseException) -> None:
    with guard("acting.failed"):
        acting.failed(error)
