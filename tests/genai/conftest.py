"""Everything on, with the calls collected in a list, and everything off again after the test."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from genai_watch import Watch

from otel_footprint import boundary
from otel_footprint.genai.instrumentation import turn_off
from otel_footprint.testing.sink import Sink


@pytest.fixture
def make_watch() -> Iterator[Callable[..., Watch]]:
    made: list[Watch] = []
    before = boundary.fault_counts()

    def make(*, sampler: Any = None, others: Sequence[Any] = ()) -> Watch:
        made.append(Watch(Sink(sampler=sampler), others))
        return made[-1]

    # Every test collects, to have finalisers run; what was loaded before it need not be looked through again each time.
    gc.freeze()
    yield make
    gc.collect()
    turn_off()
    for watch in made:
        watch.sink.close()
    assert boundary.fault_counts() == before, "a fault of ours was swallowed"


@pytest.fixture
def watch(make_watch: Callable[..., Watch]) -> Watch:
    """Every SDK on."""
    return make_watch().on()
