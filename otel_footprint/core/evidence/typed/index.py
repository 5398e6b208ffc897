"""Ask the leaves of a tool result for typed values without reading each of them as one.

Rules
-----
- What decides is ``of_leaf``: a leaf is read when a question is asked that it may answer, and its values are compared
  exactly. So the answer is that of an index of all values.
- Which leaves may answer is kept small: numbers by their traces, plain ISO dates, times and ids by first occurrence. A
  leaf that is neither (prose, ranges, phone numbers …) is read at once, every distinct one once.
- Numbers are sorted when the first number is asked for.
- Every distinct leaf counts once, so that what repeats a thousand times is looked at once.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Final, TypeAlias

from otel_footprint.core.evidence.typed.dates import is_day
from otel_footprint.core.evidence.typed.fields import Field, field_of
from otel_footprint.core.evidence.typed.leaf import of_leaf
from otel_footprint.core.evidence.typed.money_units import CODES
from otel_footprint.core.evidence.typed.number_words import NUMBER_WORDS
from otel_footprint.core.evidence.typed.precision import FRACTION
from otel_footprint.core.evidence.typed.runs import RUNS, trace, traces_of
from otel_footprint.core.evidence.typed.scan import find
from otel_footprint.core.evidence.typed.value import Interval, Typed
from otel_footprint.core.evidence.typed.zones import offsets

Leaf: TypeAlias = "tuple[str | None, object]"

_DIGIT: Final = re.compile(r"\d")
_ISO: Final = re.compile(
    r"((?:1[6-9]|20|21)\d\d)-(\d\d)-(\d\d)(?:[T ](\d\d):([0-5]\d)(?::[0-5]\d(?:[.,]\d{1,9})?)?[ ]?(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_CLOCK: Final = re.compile(r"(\d\d):([0-5]\d)(?::[0-5]\d)?", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z_#]{0,40}[-+]?\d{1,40}(?:\.\d{1,40})?(?:[ ]?[A-Za-z%]{1,12})?", re.ASCII)
_GLUED_CODE: Final = re.compile(r"([A-Z]{2,4})\d", re.ASCII)
_OTHERWISE: Final = re.compile(
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d[ ]?[ap]m|^p|0x|[0-9a-f]{12}|\dh\d|thousand|million|billion|hundred",
    re.IGNORECASE,
)
"""Short strings that may be a date, a time, a duration or a hexadecimal id after all."""
_FRACTION: Final = re.compile(r"[.,]\d{1,9}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ZONE_STEP: Final = 15
"""Minutes: two zones are a multiple of this apart, and at most ``_ZONE_REACH`` from UTC."""
_ZONE_REACH: Final = 14 * 60
_DAY: Final = 1440
_LOCAL_TIMES: Final = frozenset(
    {"time", "second", "time, no zone", "second, no zone", "whole minute", "whole minute, no zone"}
)


class LeafIndex:
    """The leaves of one result, and the text behind them, ready to be asked. ``years`` are the years its dates name."""

    def __init__(self, leaves: Iterable[Leaf], tail: str = "") -> None:
        self.years: set[int] = set()
        self._leaves: list[Leaf] = []
        self._by_key: dict[Hashable, Typed] = {}
        self._by_unit: dict[str | None, list[tuple[Decimal, Typed]]] = {}
        self._by_day: dict[tuple[int, int], dict[int, int]] = {}
        self._by_minute: dict[int, dict[str, int]] = {}
        self._zoned: set[int] = set()
        self._by_utc_day: dict[date, int] = {}
        self._by_moment: dict[int, list[int]] = {}
        self._by_hex: dict[str, int] = {}
        self._epochs: list[tuple[float, int]] = []
        self._traces = array("d")
        self._where = array("L")
        self._sorted = True
        seen: set[Leaf] = set()
        for leaf in leaves:
            self._add(leaf, seen)
        if tail.strip():
            for value in find(tail):
                self._keep(value)
        for bucket in self._by_unit.values():
            bucket.sort(key=itemgetter(0))
        self._epochs.sort()

    # --- reading

    def take(self, values: Iterable[Typed]) -> None:
        """Take in more values, as a text states them."""
        for value in values:
            for part in (value, *value.parts):
                for key in part.carried:
                    self._by_key.setdefault(key, part)
                self.years.update(_years(part))
                for offer in part.offers:
                    insort(self._by_unit.setdefault(offer.unit, []), (offer.number, part), key=itemgetter(0))

    def _add(self, leaf: Leaf, seen: set[Leaf]) -> None:
        key, value = leaf
        if isinstance(value, str):
            if _DIGIT.search(value) is None:
                if len(value) > 12 and leaf not in seen and NUMBER_WORDS.search(value.lower()) is not None:
                    seen.add(leaf)
                    self._read(leaf)
                return
            if leaf in seen:
                return
            seen.add(leaf)
            if len(value) > 40 or not self._add_short(key, value, leaf):
                self._read(leaf)
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and leaf not in seen:
            seen.add(leaf)  # 1 and 1.0 are equal as members of a set, and carry the same
            self._add_number(key, value, leaf)

    def _place(self, leaf: Leaf) -> int:
        self._leaves.append(leaf)
        return len(self._leaves) - 1

    def _add_number(self, key: str | None, value: int | float, leaf: Leaf) -> None:
        written = repr(value)
        if len(written) > 80 or written[-1].isalpha():
            return
        place = self._place(leaf)
        field = field_of(key) if key else None
        if (field is not None and (field.phone or (field.moment and abs(value) >= 10**8))) or (
            len(written) == 8 and written[:2] in ("19", "20")
        ):
            for one in of_leaf(key, value):
                if one.kind == "datetime":
                    seconds = float(value)
                    while seconds >= 10**10:
                        seconds /= 1000
                    self._epochs.append((seconds, place))
                    self.years.update(_years(one))
                elif one.kind in ("date", "phone"):
                    self._keep(one)
        self._trace(written.lstrip("-").partition("e")[0], place)

    def _trace(self, written: str, place: int) -> None:
        self._traces.append(trace(written))
        self._where.append(place)
        self._sorted = False

    def _add_short(self, key: str | None, value: str, leaf: Leaf) -> bool:
        """Keep a string of one known form by its first occurrence; False where it must be read."""
        field = field_of(key) if key else None
        if field is not None and (field.phone or field.duration or (field.moment and value.isdigit())):
            return False
        match = _ISO.fullmatch(value)
        if match is not None:
            return self._add_moment(key, match, leaf)
        match = _CLOCK.fullmatch(value)
        if match is not None:
            if int(match[1]) > 23:
                return False
            minute = int(match[1]) * 60 + int(match[2])
            zone = "" if field is None or field.zone is None else str(field.zone)
            if zone:
                self._zoned.add(minute)
            self._by_minute.setdefault(minute, {}).setdefault(value + zone, self._place(leaf))
            return True
        if _UUID.fullmatch(value) is not None:
            self._by_hex.setdefault(value.replace("-", "").lower(), self._place(leaf))
            return True
        return _PLAIN.fullmatch(value) is not None and self._add_plain(value, leaf)

    def _add_plain(self, value: str, leaf: Leaf) -> bool:
        """Keep an identifier, or a number with at most one word behind it."""
        code = _GLUED_CODE.match(value)
        if (code is not None and code[1] in CODES) or _OTHERWISE.search(value) is not None:
            return False
        digits = sum(map(str.isdigit, value))
        if "+" in value or digits > 15 or (digits in (8, 12, 14) and value.isdigit()):
            return False
        run = RUNS.search(value)
        if run is not None:
            self._trace(run[0], self._place(leaf))
        return True

    def _add_moment(self, key: str | None, match: re.Match[str], leaf: Leaf) -> bool:
        year, month, day = int(match[1]), int(match[2]), int(match[3])
        if not is_day(year, month, day) or (match[4] is not None and int(match[4]) > 23):
            return False
        place = self._place(leaf)
        self._by_day.setdefault((month, day), {}).setdefault(year, place)
        self.years.add(year)
        if match[4] is not None:
            minute = int(match[4]) * 60 + int(match[5])
            field = field_of(key) if key else None
            zone = "" if field is None or field.zone is None else str(field.zone)
            at = _FRACTION.sub("", match[0][11:]) + zone
            if zone or match[6] is not None:
                self._zoned.add(minute)
                for offset in _offsets(match[6], field):
                    there = date(year, month, day) + timedelta(days=(minute - offset) // _DAY)
                    self._by_utc_day.setdefault(there, place)
            self._by_minute.setdefault(minute, {}).setdefault(at, place)
            self._by_moment.setdefault(date(year, month, day).toordinal() * _DAY + minute, []).append(place)
        return True

    def _read(self, leaf: Leaf) -> None:
        for value in of_leaf(*leaf):
            self._keep(value)

    def _keep(self, value: Typed) -> None:
        for part in (value, *value.parts):
            for key in part.carried:
                self._by_key.setdefault(key, part)
            self.years.update(_years(part))
            for offer in part.offers:
                self._by_unit.setdefault(offer.unit, []).append((offer.number, part))

    # --- asking

    def carrier(self, key: Hashable) -> Typed | None:
        """A value that carries the key."""
        found = self._by_key.get(key)
        if found is not None:
            return found
        for place in self._places(key):
            for value in of_leaf(*self._leaves[place]):
                for part in (value, *value.parts):
                    if key in part.carried:
                        return part
        return None

    def within(self, interval: Interval) -> Iterator[Typed]:
        """The values that offer a number within the interval, under its unit."""
        unit, low, high = interval
        bucket = self._by_unit.get(unit)
        if bucket:
            place = bisect_left(bucket, low, key=itemgetter(0))
            while place < len(bucket) and bucket[place][0] <= high:
                yield bucket[place][1]
                place += 1
        if not self._traces:
            return
        if not self._sorted:
            order = sorted(range(len(self._traces)), key=self._traces.__getitem__)
            self._traces = array("d", (self._traces[place] for place in order))
            self._where = array("L", (self._where[place] for place in order))
            self._sorted = True
        for least, most in traces_of(interval):
            position = bisect_left(self._traces, least)
            while position < len(self._traces) and self._traces[position] <= most:
                key, value = self._leaves[self._where[position]]
                position += 1
                if not isinstance(value, str) and not _may_offer(key, value, unit, low, high):
                    continue
                for typed in of_leaf(key, value):
                    for part in (typed, *typed.parts):
                        if any(offer.unit == unit and low <= offer.number <= high for offer in part.offers):
                            yield part

    def _places(self, key: Hashable) -> Iterator[int]:
        """The leaves that may carry a key."""
        if not isinstance(key, tuple):
            return
        name, *rest = key
        if name == "hex":
            place = self._by_hex.get(rest[0])
            if place is not None:
                yield place
        elif name in ("date", "day", "weekday"):
            month, day = rest[-2:]
            of_day = self._by_day.get((month, day), {})
            yield from of_day.values() if name != "date" else (of_day[year] for year in rest[:1] if year in of_day)
            for year in rest[:1] if name == "date" else sorted(self.years):
                if is_day(year, month, day):
                    yield from self._between(_seconds(year, month, day), 86_400)
        elif name in ("utc date", "utc day"):
            month, day = rest[-2:]
            for there, place in self._by_utc_day.items():
                if (there.month, there.day) == (month, day) and (name == "utc day" or there.year == rest[0]):
                    yield place
            for year in rest[:1] if name == "utc date" else sorted(self.years):
                if is_day(year, month, day):
                    yield from self._between(_seconds(year, month, day), _DAY * 60)
        elif name == "month":
            year, month = rest
            for (other, _), of_day in self._by_day.items():
                if other == month and year in of_day:
                    yield of_day[year]
            yield from self._between(_seconds(year, month, 1), 31 * 86_400)
        elif name in _LOCAL_TIMES:
            yield from self._at_minute(rest[0])
        elif isinstance(name, str) and name.startswith("utc"):
            for minute in sorted(self._zoned):
                if minute % _ZONE_STEP == rest[0] % _ZONE_STEP:
                    yield from self._by_minute[minute].values()
            yield from self._epochs_at(rest[0])
        elif isinstance(name, str) and name.startswith("instant"):
            year, month, day, minute = rest[:4]
            moment = date(year, month, day).toordinal() * _DAY + minute
            reach = _ZONE_REACH if "utc" in name else 0
            for shifted in range(moment - reach, moment + reach + 1, _ZONE_STEP):
                yield from self._by_moment.get(shifted, ())
            yield from self._between(_seconds(year, month, day) + minute * 60, 60)

    def _at_minute(self, minute: int) -> Iterator[int]:
        yield from self._by_minute.get(minute, {}).values()
        yield from self._epochs_at(minute)

    def _epochs_at(self, minute: int) -> Iterator[int]:
        for seconds, place in self._epochs:
            if int(seconds // 60) % _DAY == minute:
                yield place

    def _between(self, start: float, length: int) -> Iterator[int]:
        position = bisect_left(self._epochs, start, key=itemgetter(0))
        while position < len(self._epochs) and self._epochs[position][0] < start + length:
            yield self._epochs[position][1]
            position += 1


def _offsets(written: str | None, field: Field | None) -> tuple[int, ...]:
    if written is None:
        return (field.zone if field is not None else None) or ()
    return (0,) if written[0] not in "+-" else offsets(written) or ()


def _may_offer(key: str | None, value: object, unit: str | None, low: Decimal, high: Decimal) -> bool:
    """Whether a bare number may offer one within the interval: told from the field's name and its size."""
    field = field_of(key) if key else None
    if field is None or not (
        field.units or field.money or field.cents or field.ratio or field.percent or field.measures
    ):
        if unit == FRACTION:
            return True
        return unit is None and float(low) * 0.999999 <= abs(float(str(value))) <= float(high) * 1.000001
    return True


def _years(value: Typed) -> Iterator[int]:
    for key in value.carried:
        if isinstance(key, tuple) and key[0] in ("date", "month"):
            yield key[1]


@lru_cache(maxsize=1024)
def _seconds(year: int, month: int, day: int) -> float:
    return (datetime(year, month, day, tzinfo=timezone.utc) - _EPOCH) / timedelta(seconds=1)
