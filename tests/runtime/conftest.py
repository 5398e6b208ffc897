"""A process that is instrumented for one test, and what arrived at its sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import otel_footprint
from otel_footprint.testing.sink import Sink


@pytest.fixture
def observe() -> Iterator[Callable[..., Sink]]:
    """``observe(sampler=…, **settings)`` instruments this process into a new sink, until the test ends."""
    sinks: list[Sink] = []

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
        sink.close()


@pytest.fixture
def sink(observe: Callable[..., Sink]) -> Sink:
    """The sink of a process instrumented with the defaults."""
    return observe()
