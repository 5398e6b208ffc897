"""Find the typed values in prose: an answer, or a tool result that is text.

Rules
-----
- Reading goes from one run of digits to the next. What is tried there is decided by the characters around it, dates
  and times before hexadecimal ids, phone numbers and amounts; the first that fits takes its text.
- Digits that continue a word, an address, a path or a version are no typed value.
- Every pattern is anchored and bounded: the work is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

from otel_footprint.core.evidence.typed.amounts import amount, amounts, fraction
from otel_footprint.core.evidence.typed.calendar_words import MONTHS
from otel_footprint.core.evidence.typed.dates import (
    day_first,
    is_name,
    left_word,
    month_first,
    numeric_date,
    year_first,
)
from otel_footprint.core.evidence.typed.durations import iso_duration
from otel_footprint.core.evidence.typed.hexes import hex_id
from otel_footprint.core.evidence.typed.money_units import CODES
from otel_footprint.core.evidence.typed.number_words import worded_numbers
from otel_footprint.core.evidence.typed.numerals import Numeral
from otel_footprint.core.evidence.typed.phones import phone
from otel_footprint.core.evidence.typed.plain import PAD
from otel_footprint.core.evidence.typed.plain import plain as plain_of
from otel_footprint.core.evidence.typed.surroundings import Lead, Tail, read_tail
from otel_footprint.core.evidence.typed.times import DAY_CLOCK, clock, in_utc, iso_instant
from otel_footprint.core.evidence.typed.value import Typed, asking, placed

_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_REST: Final = re.compile(r"[\w.:/+-]*(?<![.:,+/-])")
_HEX_NEIGHBOURS: Final = frozenset("abcdefABCDEFxX:-.")
_ANY_LENGTH: Final = range(1, 1 << 30)
_HEX_LENGTHS: Final[dict[str, Container[int]]] = {
    **dict.fromkeys("abcdefABCDEFxX", _ANY_LENGTH),
    ":": (2,),
    "-": (2, 8),
    ".": (4,),
}
"""How long the digits are with which a hexadecimal id may begin, by what follows them."""
_NEAR: Final = 8
_BETWEEN: Final = re.compile(r",?[ \u00a0]{0,3}(?:at|@)?[ \u00a0]{0,3}")
_DATE_JOINTS: Final = frozenset("-/._")
_JOINED: Final = frozenset("/@\\_=#")


def find(text: str) -> tuple[Typed, ...]:
    """The typed values of ``text``, non-overlapping, in order of their start. Linear in the length of the text."""
    plain = plain_of(text)
    found: list[Typed] = []
    day_clock = ":" in plain and DAY_CLOCK.search(plain) is not None
    done = 0
    for run in _DIGITS.finditer(plain):
        start, end = run.span()
        if start < done:
            continue
        values, done = _at(plain, start, end, done, day_clock)
        found += values
    for position in range(len(found) - 1):
        day, at = found[position], found[position + 1]
        if day.kind == "date" and at.kind == "time" and at.start - day.end <= _NEAR:
            moved = in_utc(day, at)
            if moved and _BETWEEN.fullmatch(plain, day.end, at.start):
                found[position] = asking(day, day.asked | moved)
    if text is not plain:
        found = [value if value.text == text[value.start : value.end] else _retold(value, text) for value in found]
    return tuple(_with_words(plain, text, found))


def _retold(value: Typed, text: str) -> Typed:
    parts = tuple(_retold(part, text) for part in value.parts)
    return placed(value, value.start, value.end, text[value.start : value.end], parts, weak=value.weak)


def _at(plain: str, start: int, end: int, done: int, day_clock: bool) -> tuple[list[Typed], int]:
    """The values at one run of digits, none beginning before ``done``, and where reading goes on."""
    values = _read(plain, start, end, done, day_clock)
    if values is None:
        return [], _past(plain, end)
    if not values:
        return [], end
    if values[0].start < done:
        return [], max(end, done)
    return values, max(end, values[-1].end)


def _read(plain: str, start: int, end: int, done: int, day_clock: bool) -> list[Typed] | None:
    """The values at a run of digits; None where the token they belong to is to be passed over."""
    previous = plain[start - 1] if start else ""
    following = plain[end : end + 1]
    length = end - start
    if previous.isalpha() or (previous in _JOINED and previous):
        return _in_word(plain, start, done, previous, following)
    values: list[Typed] | None = None
    if length <= 3 and (following == "/" or (following in (" ", PAD) and plain[end + 2 : end + 3] == "/")):
        value = fraction(plain, start)
        if value is not None:
            return [value]
    if (following in _DATE_JOINTS or length == 8) and previous not in ("-", ".", ":"):
        if length >= 4:
            values = iso_instant(plain, start)
            if values:
                return values
        values = numeric_date(plain, start, end)
        if values:
            return values
    if length <= 2 or length == 4:
        begin, word = left_word(plain, start)
        month = MONTHS.get(word)
        if month is not None and begin >= done:
            values = month_first(plain, start, end, begin, month, is_name(plain[begin : begin + len(word)]))
            if values:
                return values
        if length == 4 and following in (" ", ",", PAD):
            values = year_first(plain, start)
            if values:
                return values
        if length <= 2 and previous != ":":
            values = clock(plain, start, end, day_clock=day_clock)
            if values:
                return values
            values = day_first(plain, start, end)
            if values:
                return values
    if previous in _HEX_NEIGHBOURS or (following and length in _HEX_LENGTHS.get(following, ())):
        value = hex_id(plain, start, done)
        if value is not None:
            return [value]
    value = phone(plain, start, end)
    if value is not None:
        return [value]
    if previous == "." and start > 1 and plain[start - 2].isalnum():
        return None
    if previous == ":" and start > 1 and plain[start - 2].isdigit():
        return None
    if previous == "+" and start > 1 and plain[start - 2].isdigit():
        return []  # 90+6: what is added to a number is no value of its own
    if previous == "-" and start > 1 and plain[start - 2].isalnum():
        return None
    if following == ":" and plain[end + 1 : end + 2].isdigit():
        return None
    found, _ = amounts(plain, start)
    return found or None


def _in_word(plain: str, start: int, done: int, previous: str, following: str) -> list[Typed] | None:
    """Digits glued to a letter or a joint: a hexadecimal id, a duration, an amount behind a glued code, else no value."""
    if previous in _HEX_NEIGHBOURS:
        value = hex_id(plain, start, done)
        if value is not None:
            return [value]
    if previous == "P" or previous == "T":
        value = iso_duration(plain, start)
        if value is not None:
            return [value]
    if previous == "@":  # 1080p@30fps
        found, _ = amounts(plain, start)
        if found and found[0].kind == "quantity":
            return found
    if previous.isupper():
        begin, _ = left_word(plain, start)
        if plain[begin:start] in CODES and begin >= done:
            found, _ = amounts(plain, start)
            return found or None
    return None


def _past(plain: str, end: int) -> int:
    match = _REST.match(plain, end)
    return end if match is None else max(end, match.end())


def _with_words(plain: str, text: str, found: list[Typed]) -> list[Typed]:
    """``found`` with the numbers in words between them."""
    words = worded_numbers(plain)
    if not words:
        return found
    merged: list[Typed] = []
    position = 0
    end = 0
    for start, stop, number in words:
        while position < len(found) and found[position].start < stop:
            end = max(end, found[position].end)
            merged.append(found[position])
            position += 1
        if start < end:
            continue
        tail = read_tail(plain, stop)
        if tail.identifier or (position < len(found) and tail.end > found[position].start):
            tail = Tail(stop)
        if number == 1 and not tail.readings and not tail.currency and not tail.power:
            continue  # a pronoun
        value = amount(plain, start, Numeral(stop, number, 0), lead=Lead(start), tail=tail, weak=True)
        merged.append(placed(value, value.start, value.end, text[value.start : value.end], value.parts, weak=True))
        end = value.end
    merged += found[position:]
    return merged
