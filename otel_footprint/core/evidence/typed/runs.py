"""Runs of digits reduced to their significant digits: what any grouping, decimal sign, scale or decimal unit leaves alone.

Rules
-----
- The trace of a number is its significant digits as a fraction in [0.1, 1): 1,234.50, 1.2345k and 12345e-1 have the same.
- A wanted interval has the traces of all numbers that could lie in it under any decimal shift, for each unit of its base
  that is no decimal multiple of another. So a number whose trace is not among them cannot be the wanted one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.typed.units import UNITS
from otel_footprint.core.evidence.typed.value import Interval

RUNS: Final = re.compile(r"(?<![A-Za-z_\d])\d[\d.,']{0,60}", re.ASCII)
"""Digits with the signs that may stand inside a number. Digits behind a letter belong to a word."""

_SIGNS: Final = str.maketrans("", "", ".,'")
_SLACK: Final = 1e-9


def trace(written: str) -> float:
    """The trace of a number as written (digits and separators, no exponent); 0.0 of a zero."""
    digits = written.translate(_SIGNS).lstrip("0")
    return float("0." + digits[:17]) if digits else 0.0


@lru_cache(maxsize=256)
def _scales(base: str) -> tuple[tuple[float, float], ...]:
    """(factor, shift) of the units of a base, one for each decimal family."""
    families: dict[tuple[float, float], tuple[float, float]] = {}
    for readings in UNITS.values():
        for reading in readings:
            if reading.base == base:
                digits = float(reading.factor.scaleb(-reading.factor.adjusted()))
                families.setdefault((round(digits, 12), float(reading.shift)), (digits, float(reading.shift)))
    return tuple(families.values()) or ((1.0, 0.0),)


def traces_of(interval: Interval) -> Iterator[tuple[float, float]]:
    """The ranges of traces, both ends included, of the numbers that may lie in ``interval``."""
    unit = interval.unit
    for factor, shift in _scales(unit) if unit is not None and unit[0] != "?" else ((1.0, 0.0),):
        if shift or (unit == "degC" and factor != 1.0):
            real = [reading for reading in _shifted() if round(float(reading[1]), 6) == round(shift, 6)]
            for by, moved in real:
                yield from _ranges(float(interval.low / by - moved), float(interval.high / by - moved))
            continue
        yield from _ranges(float(interval.low) / factor, float(interval.high) / factor)


@lru_cache(maxsize=1)
def _shifted() -> tuple[tuple[Decimal, Decimal], ...]:
    return tuple(
        {(reading.factor, reading.shift) for readings in UNITS.values() for reading in readings if reading.shift}
    )


def _ranges(low: float, high: float) -> Iterator[tuple[float, float]]:
    if low < 0 < high:
        low, high = 0.0, max(-low, high)
    elif high <= 0:
        low, high = -high, -low
    if high == 0:
        yield 0.0, 0.0
        return
    low, high = low * (1 - _SLACK), high * (1 + _SLACK)
    if low <= 0 or high >= low * 10:
        yield 0.0, 1.0
        return
    while low >= 1.0:
        low, high = low / 10, high / 10
    while low < 0.1:
        low, high = low * 10, high * 10
    if high < 1.0:
        yield low, high
        return
    yield low, 1.0
    yield 0.1 * (1 - _SLACK), high / 10
