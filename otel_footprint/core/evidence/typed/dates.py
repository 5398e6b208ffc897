"""Calendar dates: their keys, and the spellings that start at a run of digits.

Rules
-----
- A full date asks for itself, or for its day and month where the carrier states no year (keys that start with
  ``yearless``: a caller that knows the other texts may insist that one of them states the year). A date without a year
  asks for its day and month of any year. Two different years never meet.
- A weekday beside a date is part of it: a full date with the wrong weekday is satisfied by nothing; one without a year
  only by a date that falls on it.
- Slashes, dots and dashes between numbers are read day first and month first. ``10/12`` may also be a fraction: weak.
- In a range or list ("May 19-23, 2024") every day is a date of its own; the year at the end belongs to all of them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from otel_footprint.core.evidence.typed.calendar_words import ALSO_WORDS, MONTHS, WEEKDAYS
from otel_footprint.core.evidence.typed.value import Typed

Keys: TypeAlias = tuple[frozenset[Hashable], frozenset[Hashable]]
"""What is asked, what is carried."""

NO_KEYS: Final[Keys] = (frozenset(), frozenset())
_MONTH_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Day(NamedTuple):
    """A calendar day as stated: ``year`` None where none is given, ``day`` None for a month of a year."""

    year: int | None
    month: int
    day: int | None


def is_day(year: int | None, month: int, day: int) -> bool:
    """Whether the calendar has this day (29 February where the year is not given)."""
    if not (1 <= month <= 12 and 1 <= day <= _MONTH_DAYS[month - 1]):
        return False
    if year is None:
        return True
    if not 1000 <= year <= 2999:
        return False
    return not (month == 2 and day == 29 and (year % 4 != 0 or (year % 100 == 0 and year % 400 != 0)))


@lru_cache(maxsize=4096)
def day_keys(day: Day, weekday: int | None = None) -> Keys:
    """The keys of one reading of a date; ``weekday`` (Monday 0) is the one stated beside it."""
    year, month, number = day
    if number is None:
        return frozenset({("month", year, month)}), frozenset({("month", year, month)})
    if year is None:
        carried: set[Hashable] = {("day", month, number), ("yearless", month, number)}
        if weekday is None:
            return frozenset({("day", month, number)}), frozenset(carried)
        # A carrier without a weekday is no contradiction, whichever side lacks it.
        asked: set[Hashable] = {("weekday", weekday, month, number), ("yearless", month, number)}
        carried = {("day", month, number), ("weekday", weekday, month, number), ("yearless on", weekday, month, number)}
        return frozenset(asked), frozenset(carried)
    falls_on = date(year, month, number).weekday()
    if weekday is not None and weekday != falls_on:
        return NO_KEYS
    return (
        frozenset(
            {("date", year, month, number), ("yearless", month, number), ("yearless on", falls_on, month, number)}
        ),
        frozenset(
            {
                ("date", year, month, number),
                ("day", month, number),
                ("weekday", falls_on, month, number),
                ("month", year, month),
            }
        ),
    )


def merged(readings: Iterable[Keys]) -> Keys:
    """The keys of a spelling that may be read in several ways."""
    asked: frozenset[Hashable] = frozenset()
    carried: frozenset[Hashable] = frozenset()
    for one, other in readings:
        asked |= one
        carried |= other
    return asked, carried


def dated(
    plain: str, start: int, end: int, days: Iterable[Day], *, weak: bool = False, doubtful: bool = False
) -> Typed | None:
    """The value for the readings that the calendar has, with the weekday written beside the span.

    Where the calendar has none: a value that nothing satisfies, or None if the spelling may be something else
    (``doubtful``, ``weak``).
    """
    real = [day for day in days if day.day is None or is_day(day.year, day.month, day.day)]
    if not real:
        return None if weak or doubtful else impossible(plain, start, end)
    weekday, start, end = _weekday(plain, start, end)
    keys = [day_keys(day, weekday) for day in real]
    asked, carried = keys[0] if len(keys) == 1 else merged(keys)
    return Typed("date", start, end, plain[start:end], asked, carried, weak=weak)


def impossible(plain: str, start: int, end: int) -> Typed:
    """What is spelled like a date and is none: satisfied by nothing, so that no part of it is taken for a date."""
    return Typed("date", start, end, plain[start:end])


# ---------------------------------------------------------------- the words around

_WEEKDAY_AFTER: Final = re.compile(r",?[ \u00a0]{0,4}\(?([A-Z][A-Za-z]{2,8})\)?(?![A-Za-z])")


def _weekday(plain: str, start: int, end: int) -> tuple[int | None, int, int]:
    """The weekday stated directly before or after ``start:end`` and the span that includes it."""
    begin, word = left_word(plain, start)
    found = WEEKDAYS.get(word)
    if found is not None:
        return found, begin, end
    if plain[end : end + 1] in ("(", ",", " ", "\u00a0"):
        match = _WEEKDAY_AFTER.match(plain, end)
        if match is not None and (found := WEEKDAYS.get(match[1].lower())) is not None:
            opened, closed = "(" in match[0], match[0].endswith(")")
            # "May 20, Sunday May 26": a weekday that is followed by a date of its own belongs to that one
            alone = "," in match[0] and not closed and not _DATE_FOLLOWS.match(plain, match.end())
            if (opened and closed) or (not opened and alone):
                return found, start, match.end()
    return None, start, end


_DATE_FOLLOWS: Final = re.compile(r"[.,]?[ \u00a0]{0,4}(?:\d|the |(?:" + "|".join(MONTHS) + r")\b)", re.IGNORECASE)


def left_word(plain: str, start: int) -> tuple[int, str]:
    """The word before ``start`` in lower case, past blanks and a comma or full stop; with where it begins."""
    before = plain[max(0, start - 6) : start]
    last = start - 1 - len(before) + len(before.rstrip(" \u00a0.,"))
    stop = max(0, last - 14)
    first = plain.rfind(" ", stop, last + 1)
    if first < 0 or not plain[first + 1 : last + 1].isalpha():
        first = last
        while first >= stop and plain[first].isalpha():
            first -= 1
    if first == last or (first >= 0 and (plain[first].isdigit() or plain[first] == "_")):
        return start, ""
    return first + 1, plain[first + 1 : last + 1].lower()


# ---------------------------------------------------------------- numbers only

_YEAR: Final = r"(?:1[6-9]|20|21)\d\d"
_YMD: Final = re.compile(rf"({_YEAR})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?!\w|[.:]\d|-\w)")
_COMPACT: Final = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?![\w.:-])")
_DMY: Final = re.compile(rf"(\d{{1,2}})([-/._])(\d{{1,2}})\2({_YEAR}|\d\d)(?!\w|[.:/]\d|-\w)")
_MD: Final = re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/.%]|[-:]\d)")
_RANGE_DAY: Final = re.compile(r"(?:/|[ \u00a0]{0,2}-[ \u00a0]{0,2})(\d{1,2})(?![\w/.:%-]|,\d)")


def numeric_date(plain: str, start: int, end: int) -> list[Typed] | None:
    """A date in numbers at ``start``, where the run of digits ends at ``end``."""
    length = end - start
    following = plain[end : end + 1]
    if length == 4 and following in ("-", "/", "."):
        match = _YMD.match(plain, start)
        if match is None:
            return None
        year, month, day = int(match[1]), int(match[3]), int(match[4])
        days = [Day(year, month, day)] if match[2] == "-" else [Day(year, month, day), Day(year, day, month)]
        first = dated(plain, start, match.end(), days, doubtful=match[2] != "-")
        if first is None:
            return None
        return [first, *_last_days(plain, first.end, year, month, day)]
    if length <= 2 and following in ("-", "/", ".", "_"):
        match = _DMY.match(plain, start)
        if match is not None:
            one, other = int(match[1]), int(match[3])
            if match[2] == "." and len(match[4]) == 2:
                return None  # 1.10.24 is rather a version
            weak = len(match[4]) == 2 and match[2] == "-"
            days = _either_way(one, other, match[4])
            return _only(dated(plain, start, match.end(), days, weak=weak, doubtful=True))
        if following == "/":
            match = _MD.match(plain, start)
            if match is not None:
                one, other = int(match[1]), int(match[2])
                return _only(
                    dated(plain, start, match.end(), [Day(None, one, other), Day(None, other, one)], weak=True)
                )
    if length == 8:
        match = _COMPACT.match(plain, start)
        if match is not None:
            return _only(
                dated(plain, start, match.end(), [Day(int(match[1]), int(match[2]), int(match[3]))], weak=True)
            )
    return None


def _either_way(one: int, other: int, year: str) -> list[Day]:
    years = [int(year)] if len(year) == 4 else [2000 + int(year), 1900 + int(year)]
    return [Day(each, month, day) for each in years for month, day in ((one, other), (other, one))]


def _last_days(plain: str, end: int, year: int, month: int, day: int) -> list[Typed]:
    """The further day of ``2024-05-19/20``."""
    match = _RANGE_DAY.match(plain, end)
    if match is None:
        return []
    last = int(match[1])
    if last < day:  # over the end of the month
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return _only(dated(plain, match.start(1), match.end(1), [Day(year, month, last)] if last != day else ())) or []


def _only(value: Typed | None) -> list[Typed] | None:
    return None if value is None else [value]


# ---------------------------------------------------------------- with the name of the month

_YEAR_TAIL: Final = re.compile(
    rf"(?:[ \u00a0]{{0,2}},)?(?:[ \u00a0]{{1,6}}|(?<=,)|-|[ \u00a0]{{0,2}}\()(?:of )?({_YEAR})(?![\d:%]|[.,]\d|-\d)\)?"
)
_SHORT_YEAR_TAIL: Final = re.compile(r",?[ \u00a0]{0,2}'(\d\d)(?![\w:%]|[.,]\d)")
_JOINED_YEAR_TAIL: Final = re.compile(r"-(\d\d)(?![\w:%-]|[.,]\d)")
_ORDINAL: Final = re.compile(r"[ \u00a0]{0,2}(?:st|nd|rd|th)(?![A-Za-z\d])", re.IGNORECASE)
_MORE: Final = re.compile(
    r"[ \u00a0]{0,3}(?P<by>-|to|through|thru|until|till|and|or|,[ ]?and|,[ ]?or|,|&|/)[ \u00a0]{0,3}(?:the )?(?P<day>\d{1,2})"
    r"(?P<th>st|nd|rd|th)?(?![\w:%$/]|[.,-]\d)",
    re.IGNORECASE,
)
_TIGHT: Final = re.compile(
    r"-\d{1,2}(?![\w:%$/]|[.,-]\d)|,?[ \u00a0](?:and )?\d{1,2}(?=,[ \u00a0](?:and |or )?\d{1,2}\b)"
)
_ENDS_LIST: Final = re.compile(
    r"[ \u00a0]{0,3}(?:$|[.,;:!?)\]|\n\"'-]|(?:and|or|to|through|in|at|on|for|from|is|are|was|were|with|but|so|if|which|will|of|by|as)\b)",
    re.IGNORECASE,
)
_AFTER_DAY: Final = re.compile(r"(?:st|nd|rd|th)?(?![A-Za-z_\d:%$]|[./]\d|,\d(?!\d\d\d))", re.IGNORECASE)


def month_first(plain: str, start: int, end: int, word_start: int, month: int, sure: bool) -> list[Typed] | None:
    """``May 20``, ``May 20th, 2024``, ``May 19-23``, ``May 2024``: the name is at ``word_start``, the digits at ``start``."""
    if end - start == 4:
        if re.fullmatch(_YEAR, plain[start:end]) is None or plain[end : end + 1] in (":", "%"):
            return None
        return _only(dated(plain, word_start, end, [Day(int(plain[start:end]), month, None)]))
    if end - start > 2:
        return None
    match = _AFTER_DAY.match(plain, end)
    if match is None:
        return None
    ordinal = match.end() > end
    spans = [(word_start, match.end(), int(plain[start:end]))]
    spans += _further_days(plain, match.end(), spans[0][2])
    year, tail = _year_after(plain, spans[-1][1])
    if not (sure or ordinal or year is not None):
        return None
    return _listed(plain, spans, month, year, tail)


_DAY_FIRST: Final = re.compile(
    r"(?P<th>st|nd|rd|th)?(?:[ \u00a0]{1,4}(?:of |day of )?|-|(?<=\d))(?P<month>[A-Za-z]{3,9})\.?(?![A-Za-z\d_])",
    re.IGNORECASE,
)
_CONTINUES: Final = re.compile(r"-(?!(?:\d\d|1[6-9]\d\d|2[01]\d\d)(?![\w-]))[A-Za-z\d]")
_DAYS_FIRST: Final = re.compile(
    r"(?:st|nd|rd|th)?[ \u00a0]{0,3}(?:-|to|through|and|or|&|/)[ \u00a0]{0,3}(?:the )?(?P<day>\d{1,2})", re.IGNORECASE
)


def day_first(plain: str, start: int, end: int) -> list[Typed] | None:
    """``20 May 2024``, ``the 20th of May``, ``20-May-24``, ``19-23 May``."""
    if end - start > 2:
        return None
    spans = [(start, end, int(plain[start:end]))]
    match = _DAY_FIRST.match(plain, end)
    if match is None:
        more = _DAYS_FIRST.match(plain, end)
        if more is None or int(more["day"]) <= spans[0][2]:
            return None
        match = _DAY_FIRST.match(plain, more.end())
        if match is None:
            return None
        spans = [(start, end, spans[0][2]), (more.start("day"), more.end(), int(more["day"]))]
    word = match["month"]
    month = MONTHS.get(word.lower())
    if month is None or _CONTINUES.match(plain, match.end()):
        return None
    spans[-1] = (spans[-1][0], match.end(), spans[-1][2])
    year, tail = _year_after(plain, match.end(), joined=plain[match.start("month") - 1] == "-")
    if year is None and match["th"] is None and not is_name(word):
        return None
    if plain[match.end() - 1] == "." and year is None:
        spans[-1] = (spans[-1][0], match.end() - 1, spans[-1][2])
    return _listed(plain, spans, month, year, tail)


_YEAR_FIRST: Final = re.compile(
    rf"({_YEAR}),?[ \u00a0]{{1,4}}(?P<month>[A-Za-z]{{3,9}})\.?(?![A-Za-z_])(?:[ \u00a0]{{1,4}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%]|[.,/-]\d))?"
)


def year_first(plain: str, start: int) -> list[Typed] | None:
    """``2021, September 01`` and ``2016 August``."""
    match = _YEAR_FIRST.match(plain, start)
    if match is None or match["month"].islower():
        return None
    month = MONTHS.get(match["month"].lower())
    if month is None:
        return None
    year = int(match[1])
    if match["day"] is None:
        return _only(dated(plain, start, match.end("month"), [Day(year, month, None)]))
    return _only(dated(plain, start, match.end(), [Day(year, month, int(match["day"]))]))


def is_name(word: str) -> bool:
    """Whether the spelling of a month's word is a name: "may" and "march" in lower case are verbs."""
    return word.lower() not in ALSO_WORDS or not word.islower()


def _further_days(plain: str, end: int, day: int) -> list[tuple[int, int, int]]:
    spans: list[tuple[int, int, int]] = []
    while len(spans) < 31:
        match = _MORE.match(plain, end)
        if match is None:
            break
        following = int(match["day"])
        if following <= day or following > 31:
            if _TIGHT.match(plain, end) and following != day:
                spans.append((match.start("day"), match.end(), following))
            break
        stop = match.end()
        if match["th"] is None and _YEAR_TAIL.match(plain, stop) is None and _ENDS_LIST.match(plain, stop) is None:
            break
        spans.append((match.start("day"), stop, following))
        end, day = stop, following
    return spans


def _year_after(plain: str, end: int, *, joined: bool = False) -> tuple[int | None, int]:
    """The year behind a date; ``joined`` by hyphens (20-May-24) it may have two digits only."""
    match = _YEAR_TAIL.match(plain, end)
    if match is not None:
        stop = match.end()
        if match[0].endswith(")") and "(" not in match[0]:
            stop -= 1
        return int(match[1]), stop
    match = (_JOINED_YEAR_TAIL if joined else _SHORT_YEAR_TAIL).match(plain, end)
    if match is not None:
        return 2000 + int(match[1]), match.end()
    return None, end


def _listed(
    plain: str, spans: list[tuple[int, int, int]], month: int, year: int | None, tail: int
) -> list[Typed] | None:
    values: list[Typed] = []
    for position, (start, end, day) in enumerate(spans):
        stop = tail if position == len(spans) - 1 else end
        if position and day < spans[position - 1][2]:  # "May 30-2": over the end of the month
            year, month = (year, month + 1) if month < 12 else (None if year is None else year + 1, 1)
        value = dated(plain, start, stop, [Day(year, month, day)])
        if value is None:
            return values or None
        values.append(value)
    if len(values) > 1 and values[-1].end > tail:
        values[-1] = values[-1]._replace(end=tail, text=plain[values[-1].start : tail])
    return values
