"""Times of day and date-times: their keys, and the spellings that start at a run of digits.

Rules
-----
- A time asks for its minute, or for its second where one is stated; ``07:00`` carries ``07:00:00``, not ``07:00:30``.
- Without am/pm and without a leading zero, an hour up to 12 is read both ways, unless a leading zero or an hour past 12
  in the same text shows that its times are those of a 24 hour clock.
- Where both sides state a zone, both are converted to UTC, and a date with them that is another day there. Where one side
  states none, the zone is ignored.
- ``+1`` and "next day" behind a time belong to it and may be missing on either side; ``+2`` and more may not.
- A date-time with its ``T`` is one value whose parts are its date and its time; in prose date and time are two values.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.typed.dates import Day, Keys, day_keys, is_day, merged
from otel_footprint.core.evidence.typed.value import Typed
from otel_footprint.core.evidence.typed.zones import offsets, read_zone

_DAY_MINUTES: Final = 1440


@lru_cache(maxsize=4096)
def time_keys(minute: int, second: int | None, zone: tuple[int, ...] | None, later: int = 0) -> Keys:
    """The keys of a time ``minute`` minutes after midnight; ``later`` is the number of days of a ``+n`` behind it."""
    local = (minute, later) if later > 1 else (minute,)
    asked: set[Hashable] = set()
    carried: set[Hashable] = {("time", *local)}
    if second is None:
        asked.add(("time", *local) if zone is None else ("time, no zone", *local))
        carried |= (
            {("whole minute", *local)}
            if zone is not None
            else {("whole minute", *local), ("whole minute, no zone", *local)}
        )
    else:
        asked.add(("second", *local, second) if zone is None else ("second, no zone", *local, second))
        if second == 0:
            asked.add(("whole minute", *local) if zone is None else ("whole minute, no zone", *local))
        carried.add(("second", *local, second))
        if zone is None:
            carried.add(("second, no zone", *local, second))
    if zone is None:
        carried.add(("time, no zone", *local))
        return frozenset(asked), frozenset(carried)
    for offset in zone:
        utc = (minute - offset) % _DAY_MINUTES
        carried.add(("utc", utc))
        if second is None:
            asked.add(("utc", utc))
            carried.add(("utc whole minute", utc))
        else:
            asked.add(("utc second", utc, second))
            carried.add(("utc second", utc, second))
            if second == 0:
                asked.add(("utc whole minute", utc))
    return frozenset(asked), frozenset(carried)


@lru_cache(maxsize=4096)
def instant_keys(
    year: int, month: int, day: int, minute: int, second: int | None, zone: tuple[int, ...] | None
) -> Keys:
    """The keys of a date with a time, as one value. It carries its date and its time by themselves, too."""
    asked: set[Hashable] = set()
    carried: set[Hashable] = set()
    if zone is not None:
        for offset in zone:
            there = date(year, month, day) + timedelta(days=(minute - offset) // _DAY_MINUTES)
            carried |= {("utc date", there.year, there.month, there.day), ("utc day", there.month, there.day)}
    shifted: list[tuple[tuple[int, int, int], int, int | None]] = [((year, month, day), minute, None)]
    if zone is not None:
        for offset in zone:
            days, utc = divmod(minute - offset, _DAY_MINUTES)
            moved = date(year, month, day) + timedelta(days=days)
            shifted.append(((moved.year, moved.month, moved.day), utc, offset))
    for on, at, moved_by in shifted:
        # The first is the local reading, which meets only what states no zone; the others are in UTC.
        frame = "local" if moved_by is None else "utc"
        strict = frame if zone is None or moved_by is not None else "local, no zone"
        asked.add((f"instant {strict}", *on, at) if second is None else (f"instant {strict} second", *on, at, second))
        carried.add((f"instant {frame}", *on, at))
        carried.add(
            (f"instant {frame} minute", *on, at) if second is None else (f"instant {frame} second", *on, at, second)
        )
        if second == 0:
            asked.add((f"instant {strict} minute", *on, at))
        if zone is None:
            carried.add(("instant local, no zone", *on, at))
            carried.add(
                ("instant local, no zone minute", *on, at)
                if second is None
                else ("instant local, no zone second", *on, at, second)
            )
    carried |= day_keys(Day(year, month, day))[1] | time_keys(minute, second, zone)[1]
    return frozenset(asked), frozenset(carried)


def in_utc(day: Typed, at: Typed) -> frozenset[Hashable]:
    """What a date asks for besides, because the time with a zone behind it is on another day in UTC."""
    locals_ = [key[1] for key in at.asked if isinstance(key, tuple) and key[0] in ("time, no zone", "second, no zone")]
    there = [key[1] for key in at.asked if isinstance(key, tuple) and key[0] in ("utc", "utc second")]
    asked: set[Hashable] = set()
    for minute in locals_:
        for utc in there:
            offset = (minute - utc + 720) % _DAY_MINUTES - 720
            days = (minute - offset) // _DAY_MINUTES
            if not days:
                continue
            for key in day.asked:
                if not isinstance(key, tuple):
                    continue
                if key[0] == "date":
                    moved = date(*key[1:]) + timedelta(days=days)
                    asked.add(("utc date", moved.year, moved.month, moved.day))
                elif key[0] == "day":
                    moved = date(2024, *key[1:]) + timedelta(days=days)
                    asked.add(("utc day", moved.month, moved.day))
    return frozenset(asked)


# ---------------------------------------------------------------- spellings

_HALF: Final = r"[ \u00a0]{0,3}([AaPp])(?:\.[ ]?[Mm]\.?|[Mm])(?![A-Za-z\d_])"
_CLOCK: Final = re.compile(rf"(\d{{1,2}}):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{{1,9}})?)?(?![\d:]|\.\d)(?:{_HALF})?")
_HOUR: Final = re.compile(rf"(\d{{1,2}}){_HALF}")
_DOTTED: Final = re.compile(rf"(\d{{1,2}})\.([0-5]\d){_HALF}")
_HOURS: Final = re.compile(rf"(\d{{1,2}})[ \u00a0]{{0,2}}(?:-|to)[ \u00a0]{{0,2}}\d{{1,2}}(?::[0-5]\d)?{_HALF}")
_TWELVE: Final = re.compile(r"12(?::00)?[ \u00a0]{1,3}(noon|midnight)\b", re.IGNORECASE)
_LATER: Final = re.compile(
    r"[ \u00a0]{0,3}\(?(?:\+[ ]?([1-9])(?![\d:.])(?:[ \u00a0-]?days?\b|d\b)?|(?:the )?(next|following) day\b)\)?",
    re.IGNORECASE,
)
_ISO: Final = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)[Tt](\d\d):?([0-5]\d)(?::?([0-5]\d)(?:[.,]\d{1,9})?)?"
    r"(Z|z|[+-]\d\d(?::?\d\d)?)?(?![\w:]|\.\d|-\d)"
)


DAY_CLOCK: Final = re.compile(
    r":[0-5]\d(?<=(?:0\d|1[3-9]|2[0-3]):\d\d)(?<![\d:.]\d\d:\d\d)(?![\d]|[ \u00a0]{0,3}[AaPp]\.?[Mm])"
)
"""A time that only a 24 hour clock shows: then all times of the text are read on one. Looked for by its colon, which is fast."""


def clock(plain: str, start: int, end: int, *, day_clock: bool = False) -> list[Typed] | None:
    """A time of day at ``start``, where the run of digits ends at ``end``; ``day_clock`` says that hours go to 23."""
    if end - start > 2:
        return None
    following = plain[end : end + 1]
    if plain.startswith("12", start):
        match = _TWELVE.match(plain, start)
        if match is not None:
            return _time(plain, start, match.end(), "12", 0, None, "p" if match[1].lower() == "noon" else "a", False)
    if following == ":":
        match = _CLOCK.match(plain, start)
        if match is None:
            return None
        return _time(plain, start, match.end(), match[1], int(match[2]), match[3], match[4], day_clock)
    match = _HOUR.match(plain, start)
    if match is not None:
        return _time(plain, start, match.end(), match[1], 0, None, match[2], day_clock)
    if following == ".":
        match = _DOTTED.match(plain, start)
        if match is not None:
            return _time(plain, start, match.end(), match[1], int(match[2]), None, match[3], day_clock)
    if following in ("-", " ", "\u00a0", "t"):
        match = _HOURS.match(plain, start)  # the first hour of "7-9 AM"
        if match is not None:
            return _time(plain, start, end, match[1], 0, None, None, False)
    return None


def _time(
    plain: str,
    start: int,
    end: int,
    hour_text: str,
    minute: int,
    second_text: str | None,
    half: str | None,
    day_clock: bool,
) -> list[Typed] | None:
    hour = int(hour_text)
    if half is not None and half in "Aa" and hour > 12:
        return [Typed("time", start, end, plain[start:end])]  # there is no such time
    if hour > 24 or (hour == 24 and (minute or second_text not in (None, "00"))):
        return None
    if half is not None and hour <= 12:
        hours = [hour % 12 + (12 if half in "Pp" else 0)]
    elif half is None and 1 <= hour <= 12 and hour_text[0] != "0" and second_text is None and not day_clock:
        hours = [hour, (hour + 12) % 24]
    else:
        hours = [hour % 24]
    later = 0
    match = _LATER.match(plain, end) if plain[end : end + 1] in ("+", " ", "\u00a0", "(") else None
    zone, stop = (
        (None, end) if match is not None and match[1] else read_zone(plain, end, seconds=second_text is not None)
    )
    if zone is not None:
        end = stop
        match = _LATER.match(plain, end)
    if match is not None and ("(" in match[0]) == match[0].endswith(")"):
        end = match.end()
        later = int(match[1]) if match[1] else 1
    second = None if second_text is None else int(second_text)
    asked, carried = merged(time_keys(each * 60 + minute, second, zone, later) for each in hours)
    return [Typed("time", start, end, plain[start:end], asked, carried)]


def iso_instant(plain: str, start: int) -> list[Typed] | None:
    """``2024-05-20T07:00:00Z`` and its compact form ``20240520T070000Z``."""
    match = _ISO.match(plain, start)
    if match is None:
        return None
    year, month, day, hour, minute = (int(each) for each in match.groups()[:5])
    if hour > 24 or not is_day(year, month, day):
        return [Typed("datetime", start, match.end(), match[0])]  # there is no such moment
    second = None if match[6] is None else int(match[6])
    zone: tuple[int, ...] | None = None
    if match[7] is not None:
        zone = (0,) if match[7] in "Zz" else offsets(match[7])
    return [instant(plain[start : match.end()], start, year, month, day, hour % 24 * 60 + minute, second, zone)]


def instant(
    text: str,
    start: int,
    year: int,
    month: int,
    day: int,
    minute: int,
    second: int | None,
    zone: tuple[int, ...] | None,
) -> Typed:
    """The date-time as one value, with its date and its time as parts."""
    asked, carried = instant_keys(year, month, day, minute, second, zone)
    on = day_keys(Day(year, month, day))
    at = time_keys(minute, second, zone)
    split = start + max(text.find("T"), text.find("t"), text.find(" "), 0)
    end = start + len(text)
    parts = (
        Typed("date", start, split, text[: split - start], *on),
        Typed("time", min(split + 1, end), end, text[split + 1 - start :], *at),
    )
    return Typed("datetime", start, end, text, asked, carried, parts=parts)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def epoch(text: str, seconds: int) -> Typed:
    """The date-time of an epoch, in UTC. ``seconds`` must be within the years that ``datetime`` knows."""
    at = _EPOCH + timedelta(seconds=seconds)
    return instant(text, 0, at.year, at.month, at.day, at.hour * 60 + at.minute, at.second, (0,))
