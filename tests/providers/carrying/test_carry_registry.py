"""The registry keeps facts by span: once, bounded, from many threads and from finalisers."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.call import ProviderEdit
from otel_footprint.providers.carrying import Carried, CarryRegistry

EDIT = ProviderEdit("clear", "clear_tool_uses_20250919", 2)


def test_facts_are_given_once():
    registry = CarryRegistry()
    entry = registry.begin(1, 2)
    entry.previous_response_id, entry.server_thread = "resp_1", "conv_1"
    entry.edits, entry.error_result_ids = (EDIT, EDIT), frozenset({"a", "b"})
    assert registry.pop(1, 2) == Carried("resp_1", "conv_1", (EDIT, EDIT), frozenset({"a", "b"}))
    assert registry.pop(1, 2) is None


def test_a_call_that_carries_nothing_is_none():
    registry = CarryRegistry()
    assert registry.begin(1, 2) is not None
    assert registry.pop(1, 2) is None


def test_an_invalid_span_keeps_nothing():
    registry = CarryRegistry()
    assert registry.begin(0, 0) is None
    assert registry.begin(0, 5) is None
    assert registry.begin(5, 0) is None
    assert len(registry) == 0


def test_the_first_request_owns_the_span():
    registry = CarryRegistry()
    first = registry.begin(1, 2)
    assert first is not None
    assert registry.begin(1, 2) is None
    registry.pop(1, 2)
    assert registry.begin(1, 2) is not None


def test_late_edits_are_asked_for_when_the_call_is_complete():
    registry = CarryRegistry()
    entry = registry.begin(1, 2)
    entry.late = lambda: (EDIT,)
    assert registry.pop(1, 2) == Carried(edits=(EDIT,))


@given(st.integers(1, 5), st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=60))
def test_it_never_holds_more_than_its_limit_and_drops_the_oldest(limit, steps):
    registry = CarryRegistry(limit)
    model: dict[int, str] = {}
    for number, (span_id, put) in enumerate(steps):
        if put:
            entry = registry.begin(7, span_id)
            assert (entry is None) == (span_id in model)
            if entry is not None:
                entry.previous_response_id = model[span_id] = f"resp_{number}"
            while len(model) > limit:
                del model[next(iter(model))]
        else:
            expected = model.pop(span_id, None)
            carried = registry.pop(7, span_id)
            assert (carried.previous_response_id if carried else None) == expected
        assert len(registry) == len(model)


def test_many_threads():
    registry = CarryRegistry()
    found = []

    def work(trace_id):
        for span_id in range(1, 200):
            registry.begin(trace_id, span_id).previous_response_id = f"{trace_id}-{span_id}"
            found.append(registry.pop(trace_id, span_id).previous_response_id == f"{trace_id}-{span_id}")

    threads = [threading.Thread(target=work, args=(trace_id,)) for trace_id in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4 * 199
