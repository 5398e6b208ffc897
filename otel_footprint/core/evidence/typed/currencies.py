"""Which currency an amount asks for and which it offers.

Rules
-----
- A code meets itself, and a symbol that may mean it. Two symbols that are the same meet. Two different codes never do.
- An amount of a field that names no currency meets any.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.typed.money_units import SHARED
from otel_footprint.core.evidence.typed.units import Reading

UNSTATED: Final = "money"
"""Unit of an amount whose field says that it is money, but not of which currency."""

_CENT: Final = Decimal("0.01")
_ONE: Final = Decimal(1)


@lru_cache(maxsize=512)
def currency_readings(currency: str, *, asked: bool, cents: bool = False) -> tuple[Reading, ...]:
    """The units under which an amount in ``currency`` (an ISO code, a shared symbol, or ``UNSTATED``) is compared."""
    factor = _CENT if cents else _ONE
    if currency == UNSTATED:
        keys = [UNSTATED]
    elif currency in SHARED:
        keys = [currency, UNSTATED] if asked else [currency, currency + "?"]
    else:
        sharing = [symbol for symbol, codes in SHARED.items() if currency in codes]
        keys = [currency, *(symbol + "?" for symbol in sharing), UNSTATED] if asked else [currency, *sharing]
    return tuple(Reading(key, factor) for key in keys)
