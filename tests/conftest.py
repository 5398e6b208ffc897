"""Fixtures that every test may use: where the real data is, and a process that is instrumented for one test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from otel_footprint.testing.sink import Sink

ROOT = Path(__file__).resolve().parent.parent


def shared_data_folder() -> Path:
    """The folder of real conversations, beside the checkout unless the environment names another."""
    return Path(os.environ.get("OTEL_FOOTPRINT_SHARED_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data, or a visible skip where it is not there."""
    folder = shared_data_folder()
    if not folder.is_dir():
        pytest.skip(f"real data is not here: {folder} (set OTEL_FOOTPRINT_SHARED_DATA)")
    return folder


@pytest.fixture
def observe() -> Iterator[Callable[..., Sink]]:
    """``observe(sampler=…, **settings)`` instruments this process into a new sink, until the test ends."""
    import otel_footprint
    from otel_footprint.testing.sink import Sink

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
