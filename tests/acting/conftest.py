"""A process in which calls are acted on, for one test; a fault of ours that was swallowed fails the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import otel_footprint
from otel_footprint import boundary
from otel_footprint.testing.sink import Sink


@pytest.fixture
def act(observe: Callable[..., Sink]) -> Iterator[Callable[..., Sink]]:
    """``observe``, and in the end no span is open and no fault of ours was swallowed."""
    sinks: list[Sink] = []
    before = boundary.fault_counts()

    def start(**settings: Any) -> Sink:
        sink = observe(**settings)
        sinks.append(sink)
        return sink

    yield start
    otel_footprint.uninstrument()
    for sink in sinks:
        assert sink.open_spans == ()
    assert boundary.fault_counts() == before, "a fault of ours was swallowed"


@pytest.fixture
def faulty(observe: Callable[..., Sink]) -> Callable[..., Sink]:
    """The same where faults are expected."""
    return observe
