"""A Redis server for each test that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis_server import RedisServer, program

import otel_footprint
from otel_footprint import boundary
from otel_footprint.testing.sink import Sink


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    pytest.importorskip("redis", reason="the Redis client is not installed")
    path = program()
    if path is None:
        pytest.skip("no redis-server on this machine, and no package that ships one")
    server = RedisServer(path, tmp_path)
    yield server
    server.kill()


@pytest.fixture
def shared() -> Iterator[Callable[..., Sink]]:
    """``shared(store=…, **settings)`` instruments this process into a new sink, until the test ends."""
    sinks: list[Sink] = []

    def start(**settings: Any) -> Sink:
        sink = Sink()
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
def faults() -> Callable[[], dict[str, int]]:
    """The faults since the test began, by place."""
    before = boundary.fault_counts()
    return lambda: {
        place: count - before.get(place, 0)
        for place, count in boundary.fault_counts().items()
        if count != before.get(place, 0)
    }
