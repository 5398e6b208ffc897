"""What arrived at the sink of a process that is instrumented for one test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from otel_footprint.testing.sink import Sink


@pytest.fixture
def sink(observe: Callable[..., Sink]) -> Sink:
    """The sink of a process instrumented with the defaults."""
    return observe()
