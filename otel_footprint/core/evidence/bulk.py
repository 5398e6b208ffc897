"""Typed values of a very long result, looked for one by one: nothing is read but what could be the value asked for.

Rules
-----
- Numbers of JSON fields are kept as sorted arrays, one for each field, and asked through the field's readings.
- Of JSON with few strings that need reading those are read, all of them, and only plain forms are looked for in the text.
- Else dates, times and amounts in strings or text are found by the few literal spellings that they can have (``anchors``);
  only the leaf or line around a hit is read as typed values, and decides. A leaf of JSON is read as one, also in a list.
- At most ``MAX_HITS`` places are read for one question; with more the answer is no, and ``take_bounded`` says so.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import filterfalse
from typing import Final, Literal, TypeAlias

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.anchors import Anchor, Anchors, Day, days_of, minutes_of
from otel_footprint.core.evidence.haystack import Haystack
from otel_footprint.core.evidence.pieces import gathered
from otel_footprint.core.evidence.reader import QUOTE_INSIDE, read
from otel_footprint.core.evidence.typed.fields import field_of
from otel_footprint.core.evidence.typed_index import HasYear, Line, carries, lines_of_sort, unit_may_lack
from otel_footprint.core.messages import Json

MAX_HITS: Final = 300
_FEW: Final = 4
_WINDOW: Final = 160
_YEARS_READ: Final = 500_000
_EPOCH_SCALES: Final = (1, 10**3, 10**6, 10**9)
_YEAR_LENGTH: Final = 31_556_952
_FIRST_EPOCH: Final = 10**8
_DAY: Final = 86_400
_ZONES: Final = 14 * 3_600
_SLACK: Final = 1e-12
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?=-\d\d)")
_LOCAL_MOMENT: Final = re.compile(
    r"20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?", re.ASCII
)
"""A date-time without a zone, on a day that every month has."""
_OPENS_LEAF: Final = ("[", ",", "{")
"""What a string of JSON stands behind that is no field's."""
_DAY_KEYS: Final = frozenset({"date", "day", "yearless", "yearless on", "weekday", "month"})
_TIME_KEYS: Final = frozenset(
    {"time", "second", "time, no zone", "second, no zone", "whole minute", "whole minute, no zone"}
)

Sort: TypeAlias = Literal["whole", "decimal", "fraction"]
_Kind: TypeAlias = "tuple[str | None, Sort, bool]"
"""The numbers of a field that read alike: its name, their sort, whether they are negative."""
Found: TypeAlias = "tuple[str | None, float] | int | Literal['strings']"
"""A number and its field, a place in the folded text, or one of the strings that were read."""


class Bulk:
    """One long result (or text)."""

    def __init__(self, haystack: Haystack, *, result: bool) -> None:
        self._haystack = haystack
        self._result = result
        self._numbers: dict[_Kind, array[float]] | None = None
        self._strings: typed.LeafIndex | None = None  # of all strings that needed reading
        self._anchors = Anchors(haystack)
        self._years: set[int] | None = None
        self._by_minute: dict[int, list[tuple[str, float]]] | None = None
        self._bounded = False
        self._few = _FEW
        self._max_hits = MAX_HITS
        self._is_whole_json = False

    @property
    def years(self) -> set[int]:
        """The years its dates name (those of its beginning)."""
        if self._years is None:
            self._years = years_in(self._haystack.folded)
        return self._years

    def match(self, asked: typed.Typed, has_year: HasYear) -> bool:
        """Whether it carries the asked value in another spelling."""
        return any(True for _ in self._carrying(asked, has_year))

    def _carrying(self, asked: typed.Typed, has_year: HasYear) -> Iterator[Found]:
        """Where it carries the asked value; what comes first is cheapest to find."""
        numbers = self._arrays()
        if asked.wants:
            yield from self._number(asked, has_year)
        if self._strings is None:
            yield from self._string(asked, self._anchors.of(asked), has_year)
        else:
            if carries(self._strings, asked, has_year):
                yield "strings"
            yield from self._string(asked, self._plain(asked, numbers), has_year)
        if asked.asked:
            yield from self._epoch(asked)

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
        found = self._gather()
        if found.strings is not None:
            self._strings = typed.LeafIndex(found.strings)
        return found.numbers

    def _gather(self) -> typed.Gathered:
        """What the text may carry; without strings where it is no whole JSON."""
        found = typed.Gathered()
        if self._result:
            whole = self._haystack.take_gathered() or gathered(self._haystack.text)
            if whole is not None:
                self._is_whole_json = True
                return whole
            found.add(read(self._haystack.text).values, None)
        found.strings = None
        return found

    def _plain(self, asked: typed.Typed, numbers: dict[_Kind, array[float]]) -> Iterator[Anchor]:
        """The anchors of plain forms, and of numbers that read as something else than a number."""
        yield from self._anchors.of_plain(asked)
        spelled: list[int] = []
        if asked.kind == "phone":
            yield Anchor("".join(filter(str.isdigit, asked.text))[-4:])
        for year, month, day in days_of(asked):
            if year is not None and day is not None:
                spelled.append(year * 10_000 + month * 100 + day)
        for number in spelled:
            if any(
                _holds(sizes, number)
                for (_, sort, negative), sizes in numbers.items()
                if sort == "whole" and not negative
            ):
                yield Anchor(str(number))

    def _number(self, asked: typed.Typed, has_year: HasYear) -> Iterator[Found]:
        for (key, sort, negative), sizes in self._arrays().items():
            for line in lines_of_sort(key, sort) or ():
                for sign in (1, -1) if negative else (1,):
                    for size in _within(sizes, line, sign, asked, self._few):
                        number = -size if negative else size
                        leaf: Json = int(number) if sort == "whole" else number
                        if carries(typed.LeafIndex([(key, leaf)]), asked, has_year):
                            yield key, number

    def _epoch(self, asked: typed.Typed) -> Iterator[Found]:
        for minute in minutes_of(asked):
            for field, seconds in self._moments().get(minute, ())[: self._few]:
                if carries(typed.LeafIndex([(field, int(seconds))]), asked, lambda _: True):
                    yield field, seconds
        days = list(days_of(asked))
        for (key, sort, negative), sizes in self._arrays().items() if days else ():
            if sort != "whole" or negative or key is None or not field_of(key).moment:
                continue
            for year, month, day in days:
                length = _DAY if day is not None else 31 * _DAY
                for one in (year,) if year is not None else _years_of(sizes):
                    start = _day_start((one, month, day))
                    for scale in _EPOCH_SCALES:
                        first = bisect_left(sizes, (start - _ZONES) * scale)
                        last = bisect_left(sizes, (start + length + _ZONES) * scale)
                        for size in list(dict.fromkeys(sizes[first:last]))[:MAX_HITS]:
                            if carries(typed.LeafIndex([(key, int(size))]), asked, lambda _: True):
                                yield key, size

    def _moments(self) -> dict[int, list[tuple[str, float]]]:
        """The numbers that may be epoch seconds, by their minute of the day."""
        if self._by_minute is None:
            self._by_minute = {}
            for (key, sort, negative), sizes in self._arrays().items():
                if sort == "whole" and not negative and key is not None and field_of(key).moment:
                    for size in sizes[bisect_left(sizes, _FIRST_EPOCH) :]:
                        self._by_minute.setdefault(int(_seconds(size) // 60) % 1440, []).append((key, size))
        return self._by_minute

    # --- strings

    def _string(self, asked: typed.Typed, anchors: Iterable[Anchor], has_year: HasYear) -> Iterator[Found]:
        folded = self._haystack.folded
        seen: set[tuple[int, int]] = set()
        known: dict[tuple[str | None, str, int], bool] = {}
        telling = _telling_part(asked)
        for needle, fits in anchors:
            at = self._haystack.find(needle)
            while at >= 0:
                end = at + len(needle)
                if fits is not None and not fits(folded, at, end):
                    at = folded.find(needle, end)
                    continue
                start, end, key = self._around(at, end)
                if (start, end) not in seen:
                    seen.add((start, end))
                    if len(seen) > self._max_hits:
                        self._bounded = True
                        return
                    piece = self._slice(start, end)
                    alike = piece
                    if telling is not None and key is not None and _LOCAL_MOMENT.fullmatch(piece) is not None:
                        alike = piece[telling]
                    carried = known.get((key, alike, len(piece)))
                    if carried is None:
                        index = typed.LeafIndex([(key, piece)]) if key is not None else typed.LeafIndex((), piece)
                        carried = known[key, alike, len(piece)] = carries(index, asked, has_year)
                    if carried:
                        yield at
                        end = max(end, self._next(at))
                at = folded.find(needle, max(end, at + 1))

    def _next(self, place: int) -> int:
        """From where on it is worth looking on after a value was found in a place."""
        return place + 1

    def _around(self, start: int, end: int) -> tuple[int, int, str | None]:
        """The leaf or the stretch of line around a hit, and the name of its field where that stands before it.

        The name of a leaf without a field is empty; a stretch of line has none.
        """
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
        elif before.endswith(_OPENS_LEAF) and folded[left - 1 : left] + folded[right : right + 1] == '""':
            key = "" if self._is_json(right) else None
        return left, right, key

    def _is_json(self, place: int) -> bool:
        """Whether the folded text is JSON as far as a place."""
        return self._is_whole_json or (self._result and place < self._haystack.json_end)

    def _slice(self, start: int, end: int) -> str:
        text = self._haystack.text
        if len(text) == len(self._haystack.folded):
            return text[start:end]
        return self._haystack.folded[start:end].replace(QUOTE_INSIDE, '"')


def _telling_part(asked: typed.Typed) -> slice | None:
    """The part of a local date-time that alone decides whether it carries a date, or a time of day; None for other values."""
    names = {key[0] if isinstance(key, tuple) else key for key in asked.asked}
    if asked.wants or not names:
        return None
    if names <= _DAY_KEYS:
        return slice(0, 10)
    return slice(11, None) if names <= _TIME_KEYS else None


def years_in(folded: str) -> set[int]:
    """The years of the ISO dates in the beginning of a text."""
    return {int(year) for year in _YEAR.findall(folded, 0, _YEARS_READ)}


def _by_sort(key: str | None, numbers: array[float]) -> Iterator[tuple[_Kind, array[float]]]:
    """The numbers of a field that read alike, each group sorted by size."""
    ordered = sorted(numbers)
    first = bisect_left(ordered, 0.0)
    for negative, sizes in ((True, [-number for number in reversed(ordered[:first])]), (False, ordered[first:])):
        whole = list(filter(float.is_integer, sizes))
        if whole:
            yield (key, "whole", negative), array("d", whole)
        if len(whole) < len(sizes):
            broken = list(filterfalse(float.is_integer, sizes))
            one = bisect_left(broken, 1.0)
            if one:
                yield (key, "fraction", negative), array("d", broken[:one])
            if one < len(broken):
                yield (key, "decimal", negative), array("d", broken[one:])


def _within(sizes: array[float], line: Line, sign: int, asked: typed.Typed, few: int) -> Iterator[float]:
    """The first few sizes, each once, that a reading of the field may put into what is asked for."""
    if not line.factor:
        return
    for unit, low, high in asked.wants:
        if unit != line.unit or (unit is None and not unit_may_lack(asked, line.kind)):
            continue
        ends = sorted((float((low - line.shift) / line.factor) * sign, float((high - line.shift) / line.factor) * sign))
        slack = abs(ends[1]) * _SLACK
        place, last = bisect_left(sizes, ends[0] - slack), bisect_left(sizes, ends[1] + slack * 2 + 1e-12)
        for _ in range(few):
            if place >= last:
                break
            yield sizes[place]
            place = bisect_right(sizes, sizes[place], place, last)


def _holds(sizes: array[float], number: int) -> bool:
    place = bisect_left(sizes, number)
    return place < len(sizes) and sizes[place] == number


def _years_of(sizes: array[float]) -> range:
    """The years that epoch numbers may lie in: those of the smallest and the largest, and between."""
    first = bisect_left(sizes, _FIRST_EPOCH)
    years = [1970 + int(_seconds(size) // _YEAR_LENGTH) for size in (*sizes[first : first + 1], *sizes[-1:])]
    return range(max(years[0] - 1, 1970), min(years[-1] + 2, 2100)) if first < len(sizes) else range(0)


def _seconds(size: float) -> float:
    while size >= 10**10:
        size /= 1000
    return size


def _day_start(day: Day) -> int:
    year, month, number = day
    shifted = (month + 9) % 12
    years = (year or 0) - shifted // 10
    days = 365 * years + years // 4 - years // 100 + years // 400 + (shifted * 306 + 5) // 10 + (number or 1) - 1
    return (days - 719_468) * _DAY
