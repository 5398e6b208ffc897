"""The typed value: a date, a time, an amount … that one side states and the other may carry in another spelling.

Rules
-----
- Both sides use the same type. ``asked`` and ``wants`` say what an answer's value would be satisfied by; ``carried`` and
  ``offers`` say what a tool result's value can satisfy. The two sides are not the same set: a date without a year asks
  for any year, and a date with a year is satisfied by one without; but two different years never meet.
- A value with ``parts`` may be carried in parts by several fields or texts: then all of them must be.
- Exact things (dates, times, phone numbers, hexadecimal ids) agree when ``asked & carried`` is not empty: a hash lookup.
- Numbers agree when an ``Interval`` of ``wants`` holds a number of ``offers`` under the same unit: a bisection.
- A spelling with two readings has the keys of both: ambiguity goes in the answer's favour.
"""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    "date",
    "time",
    "datetime",
    "duration",
    "money",
    "percent",
    "quantity",
    "number",
    "phone",
    "uuid",
    "mac",
    "hex",
]
"""``quantity`` is a number with a unit of measure; ``number`` one without (plain, scientific, scaled by k/M/bn, in words).
``duration`` is a quantity of time, in seconds."""


class Interval(NamedTuple):
    """The closed range of numbers, in ``unit``, that a stated number may stand for at its own precision.

    ``unit`` None means: a carried number whose unit nobody stated.
    """

    unit: str | None
    low: Decimal
    high: Decimal


class Offer(NamedTuple):
    """One number a carried value can stand for, in ``unit`` (None: nobody stated one)."""

    unit: str | None
    number: Decimal


class Typed(NamedTuple):
    """One typed value.

    ``start`` and ``end`` are half-open code point offsets in the scanned text (0 and the length of its text for a JSON
    leaf). ``number`` is the primary reading: of money in whole currency units, of percent in percent, of quantities in
    the base unit (bytes, seconds, metres, grams …), and ``decimals`` how many decimal places were written (negative
    where a k/M/bn or a unit scales them away: -6 means millions); both None for what is no number. ``unit`` is the base
    unit or the ISO currency code ("USD" for a bare ``$``, the symbol for others that several currencies share).

    ``weak`` says that the spelling alone does not make the text data: a plain number, a number in words, ``10/12``.
    ``hedged`` says that a word beside the number calls it rounded ("about $1,200"). ``parts`` of a date-time are its date
    and its time: a carrier may keep them in two fields.
    """

    kind: Kind
    start: int
    end: int
    text: str
    asked: frozenset[Hashable] = frozenset()
    carried: frozenset[Hashable] = frozenset()
    number: Decimal | None = None
    decimals: int | None = None
    unit: str | None = None
    wants: tuple[Interval, ...] = ()
    offers: tuple[Offer, ...] = ()
    weak: bool = False
    hedged: bool = False
    parts: tuple[Typed, ...] = ()


def placed(value: Typed, start: int, end: int, text: str, parts: tuple[Typed, ...], *, weak: bool) -> Typed:
    """The same value at another place."""
    return value._replace(start=start, end=end, text=text, parts=parts, weak=weak)


def asking(value: Typed, asked: frozenset[Hashable]) -> Typed:
    """The same value, satisfied by other keys."""
    return Typed(value.kind, value.start, value.end, value.text, asked, value.carried, weak=value.weak)


def agrees(answer: Typed, carried: Typed) -> bool:
    """Whether ``carried`` is the value ``answer`` states, perhaps in another spelling (never because they look alike)."""
    if not answer.asked.isdisjoint(carried.carried):
        return True
    for unit, low, high in answer.wants:
        for offer in carried.offers:
            if offer.unit == unit and low <= offer.number <= high:
                return True
    return False
