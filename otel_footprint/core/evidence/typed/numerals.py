"""Read one number written in digits: grouping, decimal point or comma, exponent.

Rules
-----
- ``1,234`` is a thousand and some, ``1.234`` one and some; each keeps the other reading as ``other``.
- ``12,5`` is a decimal comma, ``1.234,56`` and ``1'234.56`` and no-break-space groups are read whole.
- ``1.2.3`` (a version, an address) and ``1,2,3`` (a list) are not one number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple


class Numeral(NamedTuple):
    """A number as written: its end in the text, value, decimal places, and the other reading of its separator."""

    end: int
    number: Decimal
    decimals: int
    other: Decimal | None = None
    exponent: bool = False


VULGAR: Final[dict[str, Decimal]] = {
    "\u00bd": Decimal("0.5"),
    "\u00bc": Decimal("0.25"),
    "\u00be": Decimal("0.75"),
    "\u2153": Decimal("0.3333"),
    "\u2154": Decimal("0.6667"),
    "\u215b": Decimal("0.125"),
}
"""Fractions that are one character, behind a whole number."""

_PLAIN: Final = re.compile(r"(\d{1,40})(?:\.(\d{1,40}))?(?!\d|[,.'\u00a0]\d)")
"""Most numbers; what follows must not continue the number."""

_GROUPED: Final = re.compile(
    r"(?P<int>\d{1,3}(?:,\d{3}){1,12}|\d{1,3}(?:,\d{2}){1,12},\d{3}|\d{1,3}(?:['\u00a0]\d{3}){1,12})"
    r"(?!\d)(?:\.(?P<frac>\d{1,40}))?(?!\d)"
)
_EUROPEAN: Final = re.compile(
    r"(?P<int>\d{1,3}(?:\.\d{3}){1,12}|\d{1,3}(?:[ \u00a0']\d{3}){1,12}|\d{1,40}),(?P<frac>\d{1,40})(?![\d])"
)
_EUROPEAN_WHOLE: Final = re.compile(r"\d{1,3}(?:\.\d{3}){2,12}(?![\d.,])")
_LONE: Final = re.compile(r"\d{1,40}(?!\d)")
_EXPONENT: Final = re.compile(
    r"[eE]([+-]?\d{1,3})(?![\w.])|[ \u00a0]{0,8}[\u00d7x*][ \u00a0]{0,8}10(?:\^|\*\*|\u00a0{1,2})\(?([+-]?\d{1,3})\)?(?![\w])"
    r"|[ \u00a0]{0,8}\u00d7[ \u00a0]{0,8}10([\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207a\u207b]{1,4})"
)
_SUPERSCRIPTS: Final = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b", "0123456789+-"
)
_DROP: Final = str.maketrans("", "", ",.' \u00a0")


def read_numeral(plain: str, start: int) -> Numeral | None:
    """The number that starts at ``start`` (a digit with no digit before it); None where the digits are no one number."""
    match = _PLAIN.match(plain, start)
    if match is not None:
        whole, fraction = match.groups()
        end = match.end()
        if fraction is None:
            vulgar = VULGAR.get(plain[end : end + 1])
            if vulgar is not None:
                number = Decimal(whole) + vulgar
                return Numeral(end + 1, number, max(0, -int(number.as_tuple().exponent)))
            return _with_exponent(plain, Numeral(end, Decimal(whole), 0))
        other = None
        if len(fraction) == 3 and len(whole) < 4 and whole[0] != "0":
            other = Decimal(whole + fraction)
        return _with_exponent(plain, Numeral(end, Decimal(match[0]), len(fraction), other))
    return _grouped(plain, start)


def _grouped(plain: str, start: int) -> Numeral | None:
    match = _GROUPED.match(plain, start)
    if match is not None and not _continues(plain, match.end()):
        whole = match["int"].translate(_DROP)
        fraction = match["frac"]
        if fraction:
            return _with_exponent(plain, Numeral(match.end(), Decimal(f"{whole}.{fraction}"), len(fraction)))
        if match["int"].count(",") != 1:
            return Numeral(match.end(), Decimal(whole), 0)
        small = Decimal(match["int"].replace(",", "."))
        if match["int"][0] == "0":
            return Numeral(match.end(), small, 3)
        return Numeral(match.end(), Decimal(whole), 0, small)
    match = _EUROPEAN.match(plain, start)
    if match is not None and not _continues(plain, match.end()):
        whole = match["int"].translate(_DROP)
        fraction = match["frac"]
        if len(whole) > 3 and len(fraction) > 2 and match["int"].isdigit():
            return None  # two numbers of a list without blanks
        return _with_exponent(plain, Numeral(match.end(), Decimal(f"{whole}.{fraction}"), len(fraction)))
    match = _EUROPEAN_WHOLE.match(plain, start)
    if match is not None:
        return Numeral(match.end(), Decimal(match[0].translate(_DROP)), 0)
    match = _LONE.match(plain, start)
    if match is not None and plain[match.end() : match.end() + 1] in ("'", "\u00a0"):
        return Numeral(match.end(), Decimal(match[0]), 0)
    return None


def _continues(plain: str, end: int) -> bool:
    return plain[end : end + 1] in (",", ".", "'") and plain[end + 1 : end + 2].isdigit()


def _with_exponent(plain: str, numeral: Numeral) -> Numeral:
    following = plain[numeral.end : numeral.end + 1]
    if following not in ("e", "E", " ", "\u00a0", "\u00d7", "x", "*") or not following:
        return numeral
    match = _EXPONENT.match(plain, numeral.end)
    if match is None:
        return numeral
    written = match[1] or match[2] or match[3].translate(_SUPERSCRIPTS)
    if written in ("+", "-") or abs(int(written)) > 99:
        return numeral
    power = int(written)
    return Numeral(match.end(), numeral.number.scaleb(power), numeral.decimals - power, exponent=True)
