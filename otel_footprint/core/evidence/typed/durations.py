"""Durations in the ISO 8601 spelling (``PT2H15M``, ``P3D``)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from otel_footprint.core.evidence.typed.value import Interval, Offer, Typed

_ISO: Final = re.compile(
    r"P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?(?![\w.])"
)
_SECONDS: Final = (604_800, 86_400, 3600, 60, 1)


def iso_duration(plain: str, digit: int) -> Typed | None:
    """The duration whose first digit is at ``digit``."""
    start = digit - 2 if plain[digit - 2 : digit] == "PT" else digit - 1
    if start < 0 or (start > 0 and (plain[start - 1].isalnum() or plain[start - 1] in "_-")):
        return None
    match = _ISO.match(plain, start)
    if match is None or match[0] in ("P", "PT"):
        return None
    total = Decimal(0)
    for written, seconds in zip(match.groups(), _SECONDS, strict=True):
        if written is not None:
            total += Decimal(written) * seconds
    return duration_of(total, match[0], start, match.end())


def duration_of(seconds: Decimal, text: str, start: int, end: int) -> Typed:
    """An exact duration."""
    exponent = seconds.as_tuple().exponent
    return Typed(
        "duration",
        start,
        end,
        text,
        number=seconds,
        decimals=max(0, -exponent) if isinstance(exponent, int) else 0,
        unit="s",
        wants=(Interval("s", seconds, seconds),),
        offers=(Offer("s", seconds),),
    )
