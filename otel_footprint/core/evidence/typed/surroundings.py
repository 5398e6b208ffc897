"""What stands around a number: sign, currency and hedge before it; scale, unit, currency and percent sign behind it.

Rules
-----
- What is glued to a number and is no unit makes it part of an identifier ("5G", "767b12").
- A quote mark behind a number is an inch or foot only where no quote is open before it.
- A unit by time ("meters per second", "MB per hour", "requests per second") is one unit.
"""
# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import re
from typing import Final, NamedTuple

from otel_footprint.core.evidence.typed.dates import left_word
from otel_footprint.core.evidence.typed.money_units import (
    CENTS,
    CODES,
    GLUED_SCALES,
    NOT_AFTER,
    PREFIXED,
    SCALES,
    SYMBOLS,
    WORDS,
)
from otel_footprint.core.evidence.typed.plain import PAD
from otel_footprint.core.evidence.typed.precision import Hedge
from otel_footprint.core.evidence.typed.units import FIRST_WORDS, GLUED_ONLY, Reading, by_time, unit_readings


class Tail(NamedTuple):
    """What is written behind a number."""

    end: int
    power: int = 0
    readings: tuple[Reading, ...] = ()
    currency: str | None = None
    cents: bool = False
    identifier: bool = False


SIGNS: Final = "".join(SYMBOLS)
_BEHIND: Final = re.compile(
    rf"(?P<blank>[ \u00a0]{{0,16}})(?P<dash>-?)"
    rf"(?P<word>(?:\u00b0[ \u00a0]?)?[A-Za-z\u00b5\u03a9]{{1,24}}(?![A-Za-z])(?:[23](?![\w.])|[\u00b2\u00b3])?(?:/[A-Za-z]{{1,12}}(?![A-Za-z])(?:2(?!\w)|[\u00b2\u00b3])?)?|[%\u2030\u00b0\u2103\u2109\"'{SIGNS}])"
)
_NEXT_WORD: Final = re.compile(r"[ \u00a0-]([A-Za-z]{1,24})(?![A-Za-z])")
_MARKS: Final = frozenset("\"'%\u00b0")
QUOTES: Final = frozenset("\"'")
_COMPOSED: Final = frozenset("d h hr hrs m min ft ' lb lbs".split())
"""Units that a smaller one may follow without a blank (2h15m, 5'10)."""
_PER: Final = re.compile(r"[ \u00a0]{1,4}(?:per|an|a)[ \u00a0]{1,4}([A-Za-z]{1,7})\b", re.IGNORECASE)
_NO_TAIL: Final = frozenset("\n\r\t.,;:!?)]}|>=+*#@&~<([{\\")


def read_tail(plain: str, end: int, *, symbol: bool = False, scaled: bool = False) -> Tail:
    """What is written behind the number that ends at ``end``; ``symbol`` says that a currency stands before it."""
    following = plain[end : end + 1]
    if not following or following in _NO_TAIL:
        return Tail(end)
    match = _BEHIND.match(plain, end)
    if match is None:
        return Tail(end, identifier=following == "_" or following.isalpha())
    word = match["word"]
    stop = match.end()
    glued = not match["blank"] and not match["dash"]
    after = plain[stop : stop + 1]
    if (
        glued
        and (after.isalnum() or after == "_")
        and word not in SYMBOLS
        and not (after.isdigit() and word in _COMPOSED)
    ):
        return Tail(end, identifier=word not in _MARKS)
    if word in SYMBOLS:
        # "100 $50": a symbol behind a blank, with a number behind it, belongs to that one
        if match["dash"] or plain[stop : stop + 1].isdigit():
            return Tail(end)
        currency = SYMBOLS[word]
        return Tail(stop, currency=currency, cents=currency in CENTS)
    if "/" in word and unit_readings(word) is None:  # $15/month, 5 GB/day: what it is paid or used for
        word = word[: word.index("/")]
        stop = match.start("word") + len(word)
    lower = word.lower()
    if not scaled:
        power = SCALES.get(lower)
        if power is None and (glued or (symbol and not match["dash"])):
            power = GLUED_SCALES.get(word)
            if power is not None and word in ("m", "b") and not symbol:
                power = None
        if power is not None:
            rest = read_tail(plain, stop, symbol=symbol, scaled=True)
            if rest.identifier:
                return Tail(end, identifier=True)
            return rest._replace(power=power)
    if symbol:
        # "$5 USD", "$5 dollars": said twice; "$5/month", "$5 min" are not units of the amount
        if word in CODES:
            return Tail(stop, currency=word)
        return Tail(end, identifier=glued)
    if word in CODES and not match["dash"]:
        return Tail(stop, currency=word)
    readings = unit_readings(word)
    if (readings is None and word in FIRST_WORDS) or lower in FIRST_WORDS:
        second = _NEXT_WORD.match(plain, stop)
        if second is not None:
            both = unit_readings(f"{lower}-{second[1]}") or unit_readings(f"{lower}-{second[1].lower()}")
            if both is not None:
                readings, stop = both, second.end()
    if (
        readings is not None
        and not glued
        and (word in GLUED_ONLY or (word in QUOTES or (match["dash"] and len(word) == 1)))
    ):
        readings = None
    if (
        readings is not None
        and (
            (match["dash"] and match["blank"])  # "5 -s": an option, a dash
            or (word in QUOTES and plain.count(word, max(0, end - 200), end) % 2)
            or (glued and len(word) == 1 and after == "-" and plain[stop + 1 : stop + 2].isalnum())
        )
    ):
        readings = None
    per = _PER.match(plain, stop) if plain[stop : stop + 1] in (" ", PAD) else None
    if per is not None:
        rate = by_time(lower, readings, per[1].lower())
        if rate is not None:
            return Tail(per.end(), readings=rate)
    money = WORDS.get(lower) if not match["dash"] and lower not in NOT_AFTER else None
    if money is not None and readings is None:
        return Tail(stop, currency=money, cents=money in CENTS)
    if readings is not None:
        return Tail(stop, readings=readings, currency=money)
    if scaled:
        return Tail(end)
    return Tail(end, identifier=glued)


# ---------------------------------------------------------------- before the number


class Lead(NamedTuple):
    """What is written before a number."""

    start: int
    negative: bool = False
    currency: str | None = None
    hedge: Hedge | None = None


_HEDGES: Final[dict[str, Hedge]] = {
    "about": "about",
    "around": "about",
    "approximately": "about",
    "approx": "about",
    "roughly": "about",
    "circa": "about",
    "ca": "about",
    "between": "range",
    "nearly": "under",
    "almost": "under",
    "over": "over",
    "above": "over",
    "exceeding": "over",
    "under": "under",
    "below": "under",
}
_THAN: Final[dict[str, Hedge]] = {
    "more": "over",
    "greater": "over",
    "higher": "over",
    "less": "under",
    "fewer": "under",
    "lower": "under",
}


def read_lead(plain: str, start: int) -> Lead:
    """The sign, currency and hedge before the number at ``start``."""
    begin = start
    negative = False
    previous = plain[start - 1 : start]
    if not previous or previous == "\n":
        return Lead(start)
    currency: str | None = None
    if previous == "-" or previous == "+":
        before = plain[start - 2 : start - 1] if start > 1 else ""
        if (previous == "-" and not (before.isalnum() or before in (")", "_", ".", "/"))) or (
            previous == "-" and before in SYMBOLS
        ):
            negative = True
        if negative or (previous == "+" and not before.isalnum()):
            begin = start - 1
            previous = plain[begin - 1 : begin] if begin else ""
    at = begin
    blanks = 0
    while previous in (" ", "\u00a0") and at and blanks < 8 and previous:
        at -= 1
        blanks += 1
        previous = plain[at - 1 : at] if at else ""
    if previous and previous in SYMBOLS and SYMBOLS[previous] not in CENTS:
        # "5$ 10": the symbol behind a number belongs to that number
        before = plain[at - 2 : at - 1] if at > 1 else ""
        if not (blanks and before.isdigit()):
            begin = at - 1
            currency = SYMBOLS[previous]
            if currency == "$" and before.isalpha():
                word_at, letters = left_word(plain, begin)
                if letters.upper() in PREFIXED and plain[word_at:begin].isupper():
                    currency, begin = PREFIXED[letters.upper()], word_at
            previous = plain[begin - 1 : begin] if begin else ""
            if previous == "-" and not negative and not (begin > 1 and plain[begin - 2].isalnum()):
                negative, begin = True, begin - 1
    hedge: Hedge | None = None
    if plain[begin - 1 : begin] == "~":
        hedge = "about"
    else:
        word_at, word = left_word(plain, begin)
        if word:
            if currency is None and len(word) <= 4 and plain[word_at : word_at + len(word)].upper() in CODES:
                code = plain[word_at : word_at + len(word)]
                if code.isupper() and "," not in plain[word_at:begin] and "." not in plain[word_at:begin]:
                    currency, begin = code, word_at
                    word_at, word = left_word(plain, begin)
            elif currency is None and word == "rs":
                currency, begin = "INR", word_at
            if word == "than":
                hedge = _THAN.get(left_word(plain, word_at)[1])
            elif word == "to":
                hedge = "range" if left_word(plain, word_at)[1] == "up" else None
            else:
                hedge = _HEDGES.get(word)
            if hedge is not None and "," in plain[word_at:begin]:
                hedge = None
    return Lead(begin, negative, currency, hedge)
