"""A real SDK, and a check that nothing of ours was swallowed unseen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otel_footprint import boundary
from tests.telemetry.telemetry_cases import Pipeline


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.fixture
def swallowed() -> list[str]:
    """The places of swallowed faults so far. A test that provokes one asserts it here and clears the list."""
    return []


@pytest.fixture(autouse=True)
def _no_swallowed_fault(swallowed: list[str]) -> Iterator[None]:
    """A fault that the boundary swallows would leave a test green and the telemetry empty."""
    stop = boundary.listen(swallowed.append)
    yield
    stop()
    assert swallowed == []
