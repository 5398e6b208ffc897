"""Typed values of a very long result, looked for one by one: nothing is read but what could be the value asked for.

Rules
-----
- Numbers of JSON fields are kept as sorted arrays, one for each field, and asked through the field's readings.
- Dates, times and amounts in strings or text are found by the few literal spellings that they can have (anchors); only the
  leaf or line around a hit is read as typed values, and decides. Spellings of which a text shows no trace (month names,
  slashes, am and pm) are not looked for.
- At most ``MAX_HITS`` places are read for one question; with more the answer is no, and ``take_bounded`` says so.
- A clock time that is carried with another offset is not found here.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.haystack import Haystack
from otel_footprint.core.evidence.pieces import values_of
from otel_footprint.core.evidence.reader import read
from otel_footprint.core.evidence.typed_index import HasYear, Line, carries, lines_of_sort, unit_may_lack
from otel_footprint.core.messages import Json

MAX_HITS: Final = 300
_FEW: Final = 4
_WINDOW: Final = 160
_YEARS_READ: Final = 500_000
_EPOCH_SCALES: Final = (1, 10**3, 10**6, 10**9)
_DAY: Final = 86_400
_ZONES: Final = 14 * 3_600
_SLACK: Final = 1e-12
_FACTORS: Final = tuple(
    map(Decimal, ("1", "1000", "0.001", "1000000", "0.000001", "100", "0.01", "60", "24", "1024", "3600"))
)
_MONTHS: Final = (
    ("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may",), ("jun", "june"), ("jul", "july"),
    ("aug", "august"), ("sep", "sept", "september"), ("oct", "october"), ("nov", "november"), ("dec", "december"),
)  # fmt: skip
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?=-\d\d)")
# Each begins with a literal, which is what makes searching megabytes for it fast.
_SLASHED: Final = (re.compile(r"/(?<=\d/)\d"),)
_DOTTED: Final = (re.compile(r"\.(?<=\d\.)\d\d?\.\d"),)
_HALVES: Final = tuple(
    re.compile(rf"{half}\b(?:(?<=\d{half})|(?<=\d {half}))") for half in ("am", "pm", r"a\.m", r"p\.m")
)
_MOMENT: Final = re.compile(r"time|date|_at$|stamp|created|updated|epoch|^ts$|start|end|since|until", re.IGNORECASE)
_NUMERAL: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")

Sort: TypeAlias = Literal["whole", "decimal", "fraction"]
_Kind: TypeAlias = "tuple[str | None, Sort, bool]"
"""The numbers of a field that read alike: its name, their sort, whether they are negative."""


class Bulk:
    """One long result (or text)."""

    def __init__(self, haystack: Haystack, *, result: bool) -> None:
        self._haystack = haystack
        self._result = result
        self._numbers: dict[_Kind, array[float]] | None = None
        self._traits: dict[str, bool] = {}
        self._years: set[int] | None = None
        self._bounded = False

    @property
    def years(self) -> set[int]:
        """The years its dates name (those of its beginning)."""
        if self._years is None:
            self._years = {int(year) for year in _YEAR.findall(self._haystack.folded, 0, _YEARS_READ)}
        return self._years

    def match(self, asked: typed.Typed, has_year: HasYear) -> bool:
        """Whether it carries the asked value in another spelling."""
        if asked.wants and self._number(asked, has_year):
            return True
        return self._string(asked, has_year) or (bool(asked.asked) and self._epoch(asked))

    def take_bounded(self) -> bool:
        """Whether a question since the last time met more places than may be read."""
        bounded, self._bounded = self._bounded, False
        return bounded

    # --- numbers

    def _arrays(self) -> dict[_Kind, array[float]]:
        if self._numbers is None:
            by_field = self._by_field()
            self._numbers = {kind: sizes for key, found in by_field.items() for kind, sizes in _by_sort(key, found)}
        return self._numbers

    def _by_field(self) -> dict[str | None, array[float]]:
        if not self._result:
            return {}
        try:
            return _gathered(values_of(self._haystack.text))
        except (ValueError, RecursionError):
            return _gathered((None, value) for value in read(self._haystack.text).values)

    def _number(self, asked: typed.Typed, has_year: HasYear) -> bool:
        for (key, sort, negative), sizes in self._arrays().items():
            for line in lines_of_sort(key, sort) or ():
                for sign in (1, -1) if negative else (1,):
                    for size in _within(sizes, line, sign, asked):
                        number = -size if negative else size
                        leaf: Json = int(number) if sort == "whole" else number
                        if carries(typed.LeafIndex([(key, leaf)]), asked, has_year):
                            return True
        return False

    def _epoch(self, asked: typed.Typed) -> bool:
        days = [_day_start(day) for day in _days(asked) if day[0] is not None]
        if not days:
            return False
        for (key, sort, negative), sizes in self._arrays().items():
            if sort != "whole" or negative or key is None or not _MOMENT.search(key):
                continue
            for start in days:
                for scale in _EPOCH_SCALES:
                    place = bisect_left(sizes, (start - _ZONES) * scale)
                    while place < len(sizes) and sizes[place] < (start + _DAY + _ZONES) * scale:
                        index = typed.LeafIndex([(key, int(sizes[place]))])
                        if carries(index, asked, lambda _: True):
                            return True
                        place += 1
        return False

    # --- strings

    def _string(self, asked: typed.Typed, has_year: HasYear) -> bool:
        folded = self._haystack.folded
        seen: set[tuple[int, int]] = set()
        for anchor in self._anchors(asked):
            at = self._haystack.find(anchor)
            while at >= 0:
                start, end, key = self._around(at, at + len(anchor))
                if (start, end) not in seen:
                    seen.add((start, end))
                    if len(seen) > MAX_HITS:
                        self._bounded = True
                        return False
                    piece = self._slice(start, end)
                    index = typed.LeafIndex([(key, piece)]) if key is not None else typed.LeafIndex((), piece)
                    if carries(index, asked, has_year):
                        return True
                at = folded.find(anchor, max(end, at + 1))
        return False

    def _around(self, start: int, end: int) -> tuple[int, int, str | None]:
        """The leaf or the stretch of line around a hit, and the name of its field where that stands before it."""
        folded = self._haystack.folded
        floor, ceiling = max(0, start - _WINDOW), min(len(folded), end + _WINDOW)
        left = max(folded.rfind('"', floor, start), folded.rfind("\n", floor, start)) + 1 or floor
        stops = [place for mark in ('"', "\n") if (place := folded.find(mark, end, ceiling)) >= 0]
        right = min(stops, default=ceiling)
        key = None
        before = folded[max(0, left - 84) : max(0, left - 1)].rstrip()
        if folded[left - 1 : left] == '"' and before.endswith(":"):
            named = before[:-1].rstrip()
            if named.endswith('"'):
                key = named[named.rfind('"', 0, -1) + 1 : -1]
        return left, right, key

    def _slice(self, start: int, end: int) -> str:
        text = self._haystack.text
        if len(text) == len(self._haystack.folded):
            return text[start:end]
        return self._haystack.folded[start:end]

    def _anchors(self, asked: typed.Typed) -> Iterator[str]:
        for day in _days(asked):
            yield from self._day_anchors(*day)
        for minute in _minutes(asked):
            yield from self._minute_anchors(minute)
        if asked.wants:
            yield from _number_anchors(asked)
        if asked.kind == "phone":
            digits = "".join(char for char in asked.text if char.isdigit())
            yield digits[-4:]
        elif asked.kind in ("uuid", "mac", "hex"):
            plain = re.sub(r"[^0-9a-f]", "", asked.text.lower().removeprefix("0x"))
            yield from dict.fromkeys((plain, plain[:8], f"{plain[:2]}:{plain[2:4]}", f"{plain[:2]}-{plain[2:4]}"))

    def _day_anchors(self, year: int | None, month: int, day: int | None) -> Iterator[str]:
        names = [name for name in _MONTHS[month - 1] if self._shows(name, name)]
        if day is None:
            if year is not None:
                yield f"{year}-{month:02d}"
                yield from (f"{name} {year}" for name in names)
            return
        yield f"-{month:02d}-{day:02d}"
        if year is not None:
            yield f"{year}{month:02d}{day:02d}"
        if self._shows("slashed", _SLASHED):
            yield from dict.fromkeys(
                (f"{month}/{day}", f"{day}/{month}", f"{month:02d}/{day:02d}", f"{day:02d}/{month:02d}")
            )
        if self._shows("dotted", _DOTTED):
            yield from dict.fromkeys((f"{day}.{month}.", f"{day:02d}.{month:02d}."))
        suffix = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        for name in names:
            yield from (f"{name} {day}", f"{name}. {day}", f"{name} {day:02d}", f"{day} {name}", f"{day}-{name}")
            yield from (f"{day}{suffix} {name}", f"{day}{suffix} of {name}")

    def _minute_anchors(self, minute: int) -> Iterator[str]:
        hour, past = divmod(minute % 1440, 60)
        yield f"{hour}:{past:02d}"
        if self._shows("halves", _HALVES):
            short = hour % 12 or 12
            yield f"{short}:{past:02d}"
            if not past:
                half = "a" if hour < 12 else "p"
                yield from (f"{short} {half}", f"{short}{half}")

    def _shows(self, trait: str, sign: str | tuple[re.Pattern[str], ...]) -> bool:
        known = self._traits.get(trait)
        if known is None:
            folded = self._haystack.folded
            known = sign in folded if isinstance(sign, str) else any(one.search(folded) for one in sign)
            self._traits[trait] = known
        return known


def _gathered(values: Iterable[tuple[str | None, Json]]) -> dict[str | None, array[float]]:
    by_field: dict[str | None, array[float]] = {}
    for name, value in values:
        typed.gather_numbers(value, name, by_field)
    return by_field


def _by_sort(key: str | None, numbers: array[float]) -> Iterator[tuple[_Kind, array[float]]]:
    """The numbers of a field that read alike, each group sorted by size."""
    ordered = sorted(numbers)
    first = bisect_left(ordered, 0.0)
    for negative, sizes in ((True, [-number for number in reversed(ordered[:first])]), (False, ordered[first:])):
        whole = [size for size in sizes if size.is_integer()]
        if whole:
            yield (key, "whole", negative), array("d", whole)
        if len(whole) < len(sizes):
            broken = [size for size in sizes if not size.is_integer()]
            one = bisect_left(broken, 1.0)
            for sort, part in (("fraction", broken[:one]), ("decimal", broken[one:])):
                if part:
                    yield (key, sort, negative), array("d", part)


def _within(sizes: array[float], line: Line, sign: int, asked: typed.Typed) -> Iterator[float]:
    """The first few sizes that a reading of the field may put into what is asked for."""
    if not line.factor:
        return
    for unit, low, high in asked.wants:
        if unit != line.unit or (unit is None and not unit_may_lack(asked, line.kind)):
            continue
        ends = sorted((float((low - line.shift) / line.factor) * sign, float((high - line.shift) / line.factor) * sign))
        slack = abs(ends[1]) * _SLACK
        place = bisect_left(sizes, ends[0] - slack)
        yield from sizes[place : min(place + _FEW, bisect_left(sizes, ends[1] + slack * 2 + 1e-12))]


def _days(asked: typed.Typed) -> Iterator[tuple[int | None, int, int | None]]:
    """The days (or months) that would satisfy the asked value, each once."""
    found: dict[tuple[int | None, int, int | None], None] = {}
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


def _minutes(asked: typed.Typed) -> Iterator[int]:
    """The minutes of the day that would satisfy the asked value, each once."""
    if asked.kind != "time":
        return
    seen: set[int] = set()
    for key in asked.asked:
        if isinstance(key, tuple) and len(key) > 1 and isinstance(key[1], int) and key[1] not in seen:
            seen.add(key[1])
            yield key[1]


def _number_anchors(asked: typed.Typed) -> Iterator[str]:
    """Beginnings of the spellings that a number may have in text, in its own unit and in units a step away."""
    match = _NUMERAL.search(asked.text)
    if match is None:
        return
    number = Decimal(match.group().replace(",", ""))
    seen: dict[str, None] = {}
    for factor in _FACTORS if asked.kind in ("quantity", "duration") else _FACTORS[:1]:
        scaled = number * factor
        spelled = format(scaled.normalize(), "f")
        seen[spelled] = None
        if scaled >= 1000:
            seen[f"{int(scaled):,}" + "".join(spelled.partition(".")[1:])] = None
    for unit, low, _ in asked.wants:
        if unit is None and low != number:
            decimals = match.group().partition(".")[2]
            seen[format(low.quantize(Decimal(1).scaleb(-len(decimals)), rounding="ROUND_FLOOR"), "f")] = None
    yield from seen


def _day_start(day: tuple[int | None, int, int | None]) -> int:
    year, month, number = day
    shifted = (month + 9) % 12
    years = (year or 0) - shifted // 10
    days = 365 * years + years // 4 - years // 100 + years // 400 + (shifted * 306 + 5) // 10 + (number or 1) - 1
    return (days - 719_468) * _DAY
