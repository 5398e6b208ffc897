"""Runs a strategy's plan to its end under any client: plain or asynchronous, with an event loop or without one.

Rules
-----
- Under a synchronous client an awaitable is run to its end before the call goes on: by hand where it cannot suspend, else in
  an event loop of its own on a helper thread, which sees the same context variables (OpenTelemetry's Context is one).
- Under an asynchronous client a plain plan runs in place; one that pays for a model call runs on a worker thread, so that
  waiting for the model does not hold up the event loop.
- An exception of the strategy comes out where it was asked.
"""

from __future__ import annotations

import asyncio
import contextvars
import dis
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import CodeType
from typing import Any, Final, Generic, TypeVar, cast

from opentelemetry.context import Context

from otel_footprint.providers.acting_calls import attached

T = TypeVar("T")

_SUSPENDING: Final = frozenset({"GET_AWAITABLE", "GET_ANEXT"})
"""Instructions of which code that awaits, iterates or enters asynchronously has one, in every version of Python."""


def run(awaitable: Awaitable[T], *, by_hand: bool = False) -> T:
    """The result of an awaitable, for a caller that cannot wait. ``by_hand``: it is known never to suspend."""
    if inspect.iscoroutine(awaitable) and (by_hand or not _may_suspend(awaitable.cr_code)):
        return cast("T", _step(awaitable))
    return _on_helper(awaitable)


def _step(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    coroutine.close()
    raise RuntimeError("a plan that was not expected to suspend did")


@cache
def _may_suspend(code: CodeType) -> bool:
    """Whether the code awaits anything at all."""
    return any(instruction.opname in _SUSPENDING for instruction in dis.get_instructions(code))


def _on_helper(awaitable: Awaitable[T]) -> T:
    async def awaited() -> T:
        return await awaitable

    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="otel-footprint-plan") as helper:
        return helper.submit(context.run, asyncio.run, awaited()).result()


class Finished(Generic[T]):
    """An awaitable that never suspends: whoever awaits it blocks until the one inside is done."""

    def __init__(self, awaitable: Awaitable[T]) -> None:
        self._awaitable = awaitable

    def __await__(self) -> Generator[None, None, T]:
        return run(self._awaitable)
        yield  # what makes this a generator


async def inside(context: Context, awaitable: Awaitable[T]) -> T:
    """The result of an awaitable, with this OpenTelemetry Context attached meanwhile."""
    with attached(context):
        return await awaitable


async def elsewhere(context: Context, function: Callable[..., Any], *args: Any) -> Any:
    """The result of a plain function that may wait, or of the awaitable it gives, without holding up an event loop."""

    def call() -> Any:
        with attached(context):
            return function(*args)

    result = await asyncio.to_thread(call) if _in_asyncio() else call()
    return await inside(context, result) if inspect.isawaitable(result) else result


async def arun(plan: Callable[[], Any], *, blocks: bool) -> Any:
    """The result of a plan under an event loop. ``blocks``: a plain one may wait for a model."""
    if blocks and not inspect.iscoroutinefunction(plan) and _in_asyncio():
        result = await asyncio.to_thread(plan)
    else:
        result = plan()
    return await result if inspect.isawaitable(result) else result


def _in_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # another library's loop, such as trio's
        return False
    return True


def cancelling() -> Callable[[], bool]:
    """Tells whether the task that asks for the plan is being cancelled; for asyncio, from Python 3.11 on."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return lambda: False
    asked = getattr(task, "cancelling", None)
    return (lambda: asked() > 0) if callable(asked) else (lambda: False)
