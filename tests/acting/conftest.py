"""A process in which calls are acted on, for one test; a fault of ours that was swallowed fails the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import otel_footprint
from otel_footprint import boundary
from otel_footprint.testing.sink import Sink


@pytest.fixture
def act() -> Iterator[Callable[..., Sink]]:
    """``act(sampler=…, **settings)`` instruments this process into a new sink, until the test ends."""
    sinks: list[Sink] = []
    before = boundary.fault_counts()

    def start(*, sampler: Any = None, **settings: Any) -> Sink:
        sink = Sink(sampler=sampler)
        sinks.append(sink)
        otel_footprint.instrument(
            tracer_provider=sink.tracer_provider,
            meter_provider=sink.meter_provider,
            logger_provider=sink.logger_provider,
            **settings,
        )
        return sink

    yield start
    otel_footprint.uninstrument()
    for sink in sinks:
        assert sink.open_spans == ()
        sink.close()
    assert boundary.fault_counts() == before, "a fault of ours was swallowed"


@pytest.fixture
def faulty(observe: Callable[..., Sink]) -> Callable[..., Sink]:
    """The same where faults are expected."""
    return observe
