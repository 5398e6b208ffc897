"""The literal spellings by which a typed value is looked for in a long text.

Rules
-----
- An anchor is a beginning, or a telling part, of spellings that a value may have. What stands around a hit is read and
  decides; an anchor only has to hit them all, and seldom anything else. ``fits`` leaves out hits that cannot be it.
- Spellings of which a text shows no trace (month names, slashes, am and pm, commas between digits) are not looked for.
- Where all strings that need reading were read, only ISO dates, clock times and hexadecimal digits are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.haystack import Haystack
from otel_footprint.core.evidence.reader import QUOTE_INSIDE

Day = tuple["int | None", int, "int | None"]
"""A day or a month: its year where one was stated, the month, the day."""

_FACTORS: Final = tuple(
    map(Decimal, ("1", "1000", "0.001", "1000000", "0.000001", "100", "0.01", "60", "24", "1024", "3600"))
)
_DIVISORS: Final = (1024, 60, 24, 3600)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Each begins with a literal, which is what makes searching megabytes for it fast.
_NAMED: Final = {
    name: re.compile(
        rf"{name}(?:(?<![a-z0-9]{name})|(?<=[0-9]{name})(?<![a-z0-9][0-9]{name})|(?<=[0-9][0-9]{name})(?<![a-z0-9][0-9][0-9]{name}))"
    )
    for name in _MONTHS
}
_SLASHED: Final = (re.compile(r"/(?<=\d/)\d"),)
_DOTTED: Final = (re.compile(r"\.(?<=\d\.)\d\d?\.\d"),)
_DASHED: Final = (re.compile(r"-(?<=\d-)\d\d?-(?:19|20)\d\d"),)
_HALVES: Final = tuple(
    re.compile(rf"{half}\b(?:(?<=\d{half})|(?<=\d {half}))") for half in ("am", "pm", r"a\.m", r"p\.m")
)
_NUMERAL: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WITH_UNIT: Final = re.compile(rf"[\d.,]*[ \-\u00a0]{{0,2}}[^\W\d_]|[\d.,]*\s?[%\"'°″′µ{QUOTE_INSIDE}]")
_BESIDE: Final = 40
_ZONES: Final = tuple(
    sorted({60 * hours for hours in range(-12, 15)} | {-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765})
)
"""Offsets from UTC, in minutes, that clocks have somewhere."""

Fits = Callable[[str, int, int], bool]


class Anchor(NamedTuple):
    """What is looked for; ``fits`` is asked about a hit in the text, by its half-open span."""

    needle: str
    fits: Fits | None = None


class Anchors:
    """The anchors of values in one text."""

    def __init__(self, haystack: Haystack) -> None:
        self._haystack = haystack
        self._traits: dict[str, bool] = {}

    def of_plain(self, asked: typed.Typed) -> Iterator[Anchor]:
        """Those by which the plain forms are found that nobody read."""
        for year, month, day in days_of(asked):
            before = "" if year is None else f"{year}" if day is None else f"{year % 100:02d}"
            yield Anchor(f"{before}-{month:02d}" if day is None else f"{before}-{month:02d}-{day:02d}")
        for minute in minutes_of(asked):
            hour, past = divmod(minute % 1440, 60)
            yield Anchor(f"{hour:02d}:{past:02d}")
        yield from _hex_anchors(asked)

    def of(self, asked: typed.Typed) -> Iterator[Anchor]:
        """All of them."""
        for day in days_of(asked):
            yield from self._day_anchors(*day)
        for minute in minutes_of(asked):
            yield from self._minute_anchors(minute)
        if asked.wants:
            bare = asked.kind in ("money", "number") or any(want.unit is None for want in asked.wants)
            fits = None if bare else _has_unit
            if asked.kind == "percent" and asked.number is not None:
                yield Anchor(format((asked.number / 100).normalize(), "f"))
            groups = self._haystack.groups_digits
            for spelled in _number_anchors(asked):
                if groups or "," not in spelled:
                    yield Anchor(spelled, fits)
        if asked.kind == "phone":
            digits = "".join(char for char in asked.text if char.isdigit())
            yield Anchor(digits[-4:])
        yield from _hex_anchors(asked)

    def _day_anchors(self, year: int | None, month: int, day: int | None) -> Iterator[Anchor]:
        if day is None:
            if year is not None:
                yield from self._month_anchors(year, month)
            return
        yield Anchor(f"-{month:02d}-{day:02d}")
        if year is not None:
            yield Anchor(f"{year}{month:02d}{day:02d}")
        orders = ((month, day), (day, month))
        if self._shows("slashed", _SLASHED):
            for one, other in orders:
                yield from map(
                    Anchor, dict.fromkeys((f"{one}/{other}", f"{one:02d}/{other:02d}", f"{one}/{other:02d}"))
                )
        if self._shows("dotted", _DOTTED):
            for one, other in orders:
                yield from map(Anchor, dict.fromkeys((f"{one}.{other}.", f"{one:02d}.{other:02d}.")))
        if self._shows("dashed", _DASHED):
            for one, other in orders:
                yield from map(Anchor, dict.fromkeys((f"{one}-{other}-", f"{one:02d}-{other:02d}-")))
        if self._names(month):
            number = re.compile(rf"(?<!\d)0?{day}(?!\d)")
            yield Anchor(_MONTHS[month - 1], _beside(number))

    def _month_anchors(self, year: int, month: int) -> Iterator[Anchor]:
        yield Anchor(f"{year}-{month:02d}")
        yield Anchor(f"{year}{month:02d}")
        number = re.compile(rf"(?<!\d)0?{month}(?!\d)")
        if self._shows("slashed", _SLASHED):
            yield Anchor(f"/{year}", _beside(number))
            yield Anchor(f"{year}/{month:02d}")
        if self._shows("dotted", _DOTTED):
            yield Anchor(f".{year}", _beside(number))
        if self._shows("dashed", _DASHED):
            yield Anchor(f"-{year}", _beside(number))
        if self._names(month):
            yield Anchor(_MONTHS[month - 1], _beside(re.compile(str(year))))

    def _minute_anchors(self, minute: int) -> Iterator[Anchor]:
        hour, past = divmod(minute % 1440, 60)
        yield Anchor(f"{hour}:{past:02d}")
        if self._shows("halves", _HALVES):
            short = hour % 12 or 12
            yield Anchor(f"{short}:{past:02d}")
            if not past:
                half = "a" if hour < 12 else "p"
                yield from map(Anchor, (f"{short} {half}", f"{short}{half}"))

    def _names(self, month: int) -> bool:
        name = _MONTHS[month - 1]
        return self._shows(name, (_NAMED[name],))

    def _shows(self, trait: str, signs: tuple[re.Pattern[str], ...]) -> bool:
        known = self._traits.get(trait)
        if known is None:
            known = self._traits[trait] = any(one.search(self._haystack.folded) for one in signs)
        return known


def _beside(sign: re.Pattern[str]) -> Fits:
    return lambda text, start, end: sign.search(text, max(0, start - _BESIDE), end + _BESIDE) is not None


def _has_unit(text: str, start: int, end: int) -> bool:
    """Whether a number that begins there may have a unit behind it."""
    if start and (text[start - 1].isalnum() or text[start - 1] in "_." or text[start - 1 : start + 1] == ",0"):
        return False
    return _WITH_UNIT.match(text, end) is not None


def days_of(asked: typed.Typed) -> Iterator[Day]:
    """The days (or months) that would satisfy the asked value, each once."""
    found: dict[Day, None] = {}
    for key in asked.asked:
        if not isinstance(key, tuple) or not isinstance(key[0], str):
            continue
        name, *numbers = key
        if name == "date" or name.startswith("instant"):
            found[numbers[0], numbers[1], numbers[2]] = None
        elif name in ("yearless", "day"):
            found[None, numbers[0], numbers[1]] = None
        elif name == "month":
            found[numbers[0], numbers[1], None] = None
    days = {(month, day) for year, month, day in found if year is not None}
    return (one for one in found if one[0] is not None or (one[1], one[2]) not in days)


def minutes_of(asked: typed.Typed) -> Iterator[int]:
    """The minutes of the day that would satisfy the asked value, each once; of a time with a zone those of every zone."""
    if asked.kind != "time":
        return
    seen: dict[int, None] = {}
    for key in asked.asked:
        if isinstance(key, tuple) and len(key) > 1 and isinstance(key[1], int):
            if isinstance(key[0], str) and key[0].startswith("utc"):
                seen.update(dict.fromkeys((key[1] + zone) % 1440 for zone in _ZONES))
            else:
                seen[key[1]] = None
    yield from seen


def _hex_anchors(asked: typed.Typed) -> Iterator[Anchor]:
    if asked.kind in ("uuid", "mac", "hex"):
        plain = re.sub(r"[^0-9a-f]", "", asked.text.lower().removeprefix("0x"))
        spelled = (plain, plain[:8], f"{plain[:2]}:{plain[2:4]}", f"{plain[:2]}-{plain[2:4]}")
        yield from map(Anchor, dict.fromkeys(spelled))


def _number_anchors(asked: typed.Typed) -> Iterator[str]:
    """Beginnings of the spellings that a number may have in text, in its own unit and in units a step away."""
    match = _NUMERAL.search(asked.text)
    if match is None:
        return
    number = Decimal(match.group().replace(",", ""))
    seen: dict[str, None] = {}
    measured = asked.kind in ("quantity", "duration")
    scales = [number * factor for factor in (_FACTORS if measured else _FACTORS[:1])]
    if measured:
        scales += [scaled for divisor in _DIVISORS if (scaled := number / divisor) == round(scaled, 4)]
    for scaled in scales:
        spelled = format(scaled.normalize(), "f")
        seen[spelled] = None
        if scaled >= 1000:
            seen[f"{int(scaled):,}" + "".join(spelled.partition(".")[1:])] = None
    for unit, low, _ in asked.wants:
        if unit is None and low != number:
            decimals = match.group().partition(".")[2]
            seen[format(low.quantize(Decimal(1).scaleb(-len(decimals)), rounding="ROUND_FLOOR"), "f")] = None
    yield from seen
