"""What a written number may stand for: its own precision, its unit's readings, and a word that calls it rounded.

Rules
-----
- A number stands for all that rounds to it at the precision written, where its unit or its digits make a coincidence
  unlikely: two significant digits with a unit, three with decimals or four without where the carrier states no unit, any
  with k/M/bn. Otherwise it stands for itself.
- A number with a unit meets a carried number without one only where that has three digits, or where its field names the
  kind of thing ("weight", "duration"): a small number stands everywhere. A carried number with another unit it never meets.
- Money without decimals stands for itself: whole amounts are prices, not roundings, unless a word says so ("about").
- After such a word trailing zeros count as rounded away; a round number (one or two digits and zeros) stands for a
  twentieth around it. "Over" and "under" look one way.
- The ends of a range and what follows "up to" are rounded at the precision written, however few digits that is.
- The sign is not compared (refunds, discounts and decreases lose theirs in prose), except of temperatures.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from otel_footprint.core.evidence.typed.units import OTHER_WAY, Reading
from otel_footprint.core.evidence.typed.value import Interval, Offer

Hedge: TypeAlias = Literal["about", "over", "under", "range"]
SIGNED: Final = frozenset({"degC"})
FRACTION: Final = "fraction"
"""Unit of the percentage that a bare number between 0 and 1 may be."""
AS_WRITTEN: Final = "as written"
"""Unit under which a number with a unit of its own meets one that is stated bare."""

_HALF: Final = Decimal("0.5")
_TWENTIETH: Final = Decimal("0.05")
_ONE: Final = Decimal(1)
_STEPS: Final = tuple(_ONE.scaleb(-decimals) for decimals in range(16))


def step_of(decimals: int) -> Decimal:
    """One unit in the last place written."""
    return _STEPS[decimals] if 0 <= decimals < len(_STEPS) else _ONE.scaleb(-decimals)


def spread(number: Decimal, step: Decimal, hedge: Hedge | None) -> tuple[Decimal, Decimal]:
    """The lowest and highest value that ``number`` (not negative) may be rounded from, ``step`` being its last place."""
    if hedge is None or hedge == "range":
        half = step * _HALF
        return number - half, number + half
    rounded = max(step, _last_place(number))
    if number >= rounded * 100:
        rounded = min(rounded, number * _TWENTIETH)
    else:  # a round number: one or two digits and zeros
        rounded = max(step, number * _TWENTIETH)
    if hedge == "over":
        return number, number + rounded
    if hedge == "under":
        return number - rounded, number
    return number - rounded * _HALF, number + rounded * _HALF


def _last_place(number: Decimal) -> Decimal:
    """The place of the last digit that is not zero: 100 of 1,200."""
    exponent = number.normalize().as_tuple().exponent
    return _ONE.scaleb(exponent) if isinstance(exponent, int) else _ONE


def significant(number: Decimal, step: Decimal) -> int:
    """How many significant digits were written."""
    return max(1, (number / step).adjusted() + 1) if number else 1


def wants_of(
    number: Decimal,
    decimals: int,
    readings: Sequence[Reading],
    *,
    hedge: Hedge | None = None,
    money: bool = False,
    other: Decimal | None = None,
) -> tuple[Interval, ...]:
    """The intervals that satisfy a stated number, per reading of its unit and for carriers that state none."""
    size = abs(number)
    step = step_of(decimals)
    digits = 0 if money else significant(size, step)  # of money only the decimals count
    scaled = decimals < 0 or hedge is not None
    loose = scaled or (decimals >= 2 if money else digits >= 2)
    bare_loose = scaled or (decimals >= 2 if money else digits >= (3 if decimals > 0 else 4))
    low, high = spread(size, step, hedge)
    wants: list[Interval] = []
    for base, factor, shift in readings:
        least, most = (low, high) if loose else (size, size)
        if base in SIGNED:
            least, most = low, high  # a zero that anyone may choose: no digits are significant
            if number < 0:
                least, most = -most, -least
            wants.append(Interval("?" + base, least, most))
            wants.append(Interval(base, (least + shift) * factor, (most + shift) * factor))
            continue
        wants.append(Interval(base, least * factor, most * factor))
        if not money and base[-1] != OTHER_WAY:
            wants.append(Interval("?" + base, least, most))
        if base == "%":
            wants.append(Interval(FRACTION, least, most))
        if other is not None:
            wants.append(Interval(base, other * factor, other * factor))
    if not readings:
        wants.append(Interval(AS_WRITTEN, size, size))
    if money or not readings or decimals < 0 or digits >= 3:
        wants.append(Interval(None, low, high) if bare_loose else Interval(None, size, size))
        if other is not None:
            wants.append(Interval(None, other, other))
    return tuple(wants)


def offers_of(
    number: Decimal, readings: Sequence[Reading], other: Decimal | None = None, measures: Sequence[str] = ()
) -> tuple[Offer, ...]:
    """The numbers a carried number can stand for. ``measures`` are the bases its field hints at without naming a unit."""
    size = abs(number)
    if readings:
        offers = [Offer(AS_WRITTEN, size)]
        for base, factor, shift in readings:
            offers.append(Offer(base, (number + shift) * factor if base in SIGNED else size * factor))
            if other is not None:
                offers.append(Offer(base, other * factor))
        return tuple(offers)
    offers = [Offer(None, size)]
    if other is not None:
        offers.append(Offer(None, other))
    if 0 < size < 1:
        offers.append(Offer(FRACTION, size * 100))
    for base in measures:
        offers.append(Offer("?" + base, number if base in SIGNED else size))
    return tuple(offers)
