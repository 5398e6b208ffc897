"""Phone numbers: digits with or without country code, however they are grouped."""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import re
from typing import Final

from otel_footprint.core.evidence.typed.dates import Keys
from otel_footprint.core.evidence.typed.value import Typed

_LONG_CODES: Final = frozenset(
    "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98".split()
)
"""Country codes of two digits; 1 and 7 have one, all others three."""

_INTERNATIONAL: Final = re.compile(r"\+\d{1,15}(?:[ \u00a0.-]{0,2}\(?(?<!\d)\d{1,12}\)?){0,7}(?![\w-])")
_AREA: Final = re.compile(r"\((\d{2,5})\)[ \u00a0-]?\d{2,4}(?:[ \u00a0.-]\d{2,4}){1,3}(?![\w-])")
_GROUPS: Final = re.compile(r"(?:1[ \u00a0.-])?\d{3}([ \u00a0.-])\d{3}\1\d{4}(?![\w-]|[.,]\d)")

_TRUNK: Final = re.compile(
    r"0[1-9]\d{0,3}(?:(?:[ \u00a0/-]\d{2}){4}|[ \u00a0/-]\d{3,8}(?:[ \u00a0-]\d{2,4}){0,2})(?![\w-]|[.,/:]\d|[ \u00a0]\d)"
)
"""With the zero that national numbers begin with: ``020 7946 0123``, ``01 99 00 12 34``."""


def phone_keys(written: str) -> Keys:
    """What a phone number asks for and carries: with a country code itself, and its national number where none is stated."""
    digits = "".join(char for char in written if char.isdigit())
    opening = written.lstrip()
    if opening.startswith("+"):
        bare = digits
    elif opening.startswith("00"):
        bare = digits[2:]
    elif len(digits) == 11 and digits[0] == "1":
        bare = digits
    else:
        national = digits.removeprefix("0")
        return (
            frozenset({("phone", digits), ("any country", national)}),
            frozenset({("phone", digits), ("any country", national), ("no country", national)}),
        )
    length = 1 if bare[:1] in ("1", "7") else 2 if bare[:2] in _LONG_CODES else 3
    national = bare[length:].removeprefix("0")
    whole = ("phone", bare[:length] + national)
    return frozenset({whole, ("no country", national)}), frozenset({whole, ("any country", national)})


def phone(plain: str, start: int, end: int) -> Typed | None:
    """A phone number at the run of digits ``start:end``."""
    previous = plain[start - 1 : start] if start else ""
    if previous == "+":
        match = _INTERNATIONAL.match(plain, start - 1)
        if (
            match is not None
            and 8 <= sum(map(str.isdigit, match[0])) <= 15
            and not plain[start - 2 : start - 1].isalnum()
        ):
            return _phone(plain, match.start(), match.end())
    if previous == "(":
        match = _AREA.match(plain, start - 1)
        if match is not None and 7 <= sum(map(str.isdigit, match[0])) <= 12:
            return _phone(plain, match.start(), match.end())
    if plain[start] == "0" and 2 <= end - start <= 5 and previous not in ("-", ".", "/", ":", ",", "$"):
        match = _TRUNK.match(plain, start)
        if (
            match is not None
            and 9 <= sum(map(str.isdigit, match[0])) <= 12
            and not plain[max(0, start - 2) : start].strip().isdigit()
        ):
            return _phone(plain, start, match.end())
    if end - start in (1, 3):
        match = _GROUPS.match(plain, start)
        if match is not None and previous not in ("-", ".", "/"):
            return _phone(plain, start, match.end())
    return None


def _phone(plain: str, start: int, end: int) -> Typed:
    asked, carried = phone_keys(plain[start:end])
    return Typed("phone", start, end, plain[start:end], asked, carried)
