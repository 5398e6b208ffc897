"""A plan runs to its end under any client."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from opentelemetry.context import attach, create_key, detach, get_value, set_value

from otel_footprint import acting_driving

KEY = create_key("test")


async def without_waiting() -> int:
    return threading.get_ident()


async def waiting() -> int:
    await asyncio.sleep(0)
    return threading.get_ident()


async def reading_the_context() -> object:
    await asyncio.sleep(0)
    return get_value(KEY)


async def raising() -> None:
    await asyncio.sleep(0)
    raise KeyError("of the strategy")


def test_what_never_suspends_runs_where_it_was_asked() -> None:
    assert acting_driving.run(without_waiting()) == threading.get_ident()


def test_what_may_suspend_runs_on_a_helper_thread() -> None:
    assert acting_driving.run(waiting()) != threading.get_ident()


async def test_also_where_an_event_loop_is_running() -> None:
    assert acting_driving.run(waiting()) != threading.get_ident()
    assert acting_driving.run(without_waiting()) == threading.get_ident()


def test_the_helper_sees_the_context() -> None:
    token = attach(set_value(KEY, "here"))
    try:
        assert acting_driving.run(reading_the_context()) == "here"
    finally:
        detach(token)


def test_an_exception_comes_out_where_it_was_asked() -> None:
    with pytest.raises(KeyError, match="of the strategy"):
        acting_driving.run(raising())


def test_a_finished_awaitable_does_not_suspend_who_awaits_it() -> None:
    async def plan() -> Any:
        return await acting_driving.Finished(waiting())

    assert acting_driving.run(plan(), by_hand=True) != threading.get_ident()


def test_one_that_suspends_against_expectation_is_an_error_and_not_a_hang() -> None:
    class Suspends:
        def __await__(self) -> Any:
            yield

    async def plan() -> None:
        await Suspends()

    with pytest.raises(RuntimeError, match="not expected to suspend"):
        acting_driving.run(plan(), by_hand=True)


async def test_under_an_event_loop_a_plan_that_pays_does_not_block_it() -> None:
    assert await acting_driving.arun(threading.get_ident, blocks=True) != threading.get_ident()
    assert await acting_driving.arun(threading.get_ident, blocks=False) == threading.get_ident()
    assert await acting_driving.arun(waiting, blocks=True) == threading.get_ident()
    assert await acting_driving.arun(lambda: waiting(), blocks=True) == threading.get_ident()
