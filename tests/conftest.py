"""Fixtures that every test may use: where the real data is, and a process that is instrumented for one test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from otel_footprint.testing.sink import Sink

ROOT = Path(__file__).resolve().parent.parent

# A slow machine is no failure. By "fuzz" examples are new ones, also where CI asks for the same ones at every run.
settings.register_profile("patient", deadline=None)
settings.register_profile("fuzz", settings.get_profile("default"), deadline=None)
settings.load_profile("patient")


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
