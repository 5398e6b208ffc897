"""The circuit breaker: opens after failures in a row, lets one through after a pause, closes when that one is answered."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.core.state.breaker import FAILURES, FIRST_S, LONGEST_S, Breaker


def opened(now: float = 100.0) -> Breaker:
    breaker = Breaker()
    opens = [breaker.failed(now) for _ in range(FAILURES)]
    assert opens == [False] * (FAILURES - 1) + [True]
    return breaker


def test_it_opens_after_some_failures_in_a_row() -> None:
    breaker = Breaker()
    for _ in range(FAILURES - 1):
        breaker.failed(1.0)
    breaker.succeeded()
    breaker.failed(1.0)
    assert breaker.passes(1.0)
    assert not opened().passes(100.0)


def test_one_passes_after_the_pause_and_the_others_wait_for_it() -> None:
    breaker = opened()
    assert not breaker.passes(100.0 + FIRST_S / 2)
    assert breaker.passes(100.0 + FIRST_S)
    assert not breaker.passes(100.0 + FIRST_S)
    breaker.succeeded()
    assert breaker.passes(100.0 + FIRST_S)
    assert not breaker.is_open


def test_the_pause_grows_while_nobody_answers() -> None:
    breaker, now, pause = opened(), 100.0, FIRST_S
    for _ in range(12):
        now += pause
        assert breaker.passes(now)
        breaker.failed(now)
        pause = min(2 * pause, LONGEST_S)
        assert not breaker.passes(now + 0.99 * pause)
    assert pause == LONGEST_S


def test_one_that_never_came_back_is_given_up() -> None:
    breaker = opened()
    assert breaker.passes(101.0)
    assert not breaker.passes(101.5)
    assert breaker.passes(102.0)


def test_what_was_asked_before_it_opened_does_not_lengthen_the_pause() -> None:
    breaker = opened()
    breaker.failed(100.0)
    assert breaker.passes(100.0 + FIRST_S)


@given(st.lists(st.tuples(st.sampled_from(["ask", "good", "bad"]), st.floats(0, 5)), max_size=60))
def test_it_never_stays_shut_longer_than_the_longest_pause(steps: list[tuple[str, float]]) -> None:
    breaker, now = Breaker(), 0.0
    for what, later in steps:
        now += later
        if what == "ask":
            breaker.passes(now)
        elif what == "good":
            breaker.succeeded()
            assert breaker.passes(now)
        else:
            breaker.failed(now)
    assert breaker.passes(now + LONGEST_S)
