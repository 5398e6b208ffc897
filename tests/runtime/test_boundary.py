"""The guard: our faults are swallowed, counted and said once; nobody else's are."""

from __future__ import annotations

import asyncio
import logging

import pytest

from otel_footprint import boundary


def test_a_fault_is_swallowed_counted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []
    stop = boundary.listen(heard.append)
    before = boundary.fault_counts().get("test.place", 0)
    with caplog.at_level(logging.WARNING, logger="otel_footprint"):
        for _ in range(3):
            with boundary.guard("test.place"):
                raise ValueError("the user's secret words")
    stop()
    assert boundary.fault_counts()["test.place"] == before + 3
    assert heard == ["test.place"] * 3
    assert len(caplog.records) == 1
    assert "test.place" in caplog.text
    assert "ValueError" in caplog.text
    assert "test_boundary.py:" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_the_program_passes(error: type[BaseException]) -> None:
    with pytest.raises(error), boundary.guard("test.pass"):
        raise error


def test_a_listener_that_fails_costs_nothing() -> None:
    def bad(place: str) -> None:
        raise RuntimeError(place)

    stop = boundary.listen(bad)
    with boundary.guard("test.listener"):
        raise ValueError
    stop()
    assert boundary.fault_counts()["test.listener"] >= 1
