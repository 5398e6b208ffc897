"""A Redis server for each test that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis_server import RedisServer, program

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
def shared(observe: Callable[..., Sink]) -> Callable[..., Sink]:
    """``shared(store=…, **settings)`` instruments this process into a new sink, until the test ends."""
    return observe


@pytest.fixture
def faults() -> Callable[[], dict[str, int]]:
    """The faults since the test began, by place."""
    before = boundary.fault_counts()
    return lambda: {
        place: count - before.get(place, 0)
        for place, count in boundary.fault_counts().items()
        if count != before.get(place, 0)
    }
