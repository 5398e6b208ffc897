"""Numbers with what stands around them: currency, percent, unit of measure, scale, range, hedge.

Rules
-----
- What is glued to a number and is no unit makes it an identifier: it is no amount ("5G", "767b12").
- A unit, currency or percent sign behind a range belongs to both its ends ("5-10 kg", "$100-200").
- Times and lengths in several units are one value ("2 hours 15 minutes", 5'10"); its parts are kept beside it.
"""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple

from otel_footprint.core.evidence.typed.currencies import currency_readings
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
from otel_footprint.core.evidence.typed.numerals import Numeral, read_numeral
from otel_footprint.core.evidence.typed.precision import Hedge, offers_of, spread, step_of, wants_of
from otel_footprint.core.evidence.typed.units import FIRST_WORDS, GLUED_ONLY, TIME_BASES, Reading, unit_readings
from otel_footprint.core.evidence.typed.value import Interval, Kind, Offer, Typed


class Tail(NamedTuple):
    """What is written behind a number."""

    end: int
    power: int = 0
    readings: tuple[Reading, ...] = ()
    currency: str | None = None
    cents: bool = False
    identifier: bool = False


_SIGNS: Final = "".join(SYMBOLS)
_BEHIND: Final = re.compile(
    rf"(?P<blank>[ \u00a0]{{0,16}})(?P<dash>-?)"
    rf"(?P<word>(?:\u00b0[ \u00a0]?)?[A-Za-z\u00b5\u03a9]{{1,24}}(?![A-Za-z])(?:[23](?![\w.])|[\u00b2\u00b3])?(?:/[A-Za-z]{{1,12}}(?![A-Za-z])(?:2(?!\w)|[\u00b2\u00b3])?)?|[%\u2030\u00b0\u2103\u2109\"'{_SIGNS}])"
)
_NEXT_WORD: Final = re.compile(r"[ \u00a0-]([A-Za-z]{1,24})(?![A-Za-z])")
_MARKS: Final = frozenset("\"'%\u00b0")
_QUOTES: Final = frozenset("\"'")
_COMPOSED: Final = frozenset("d h hr hrs m min ft ' lb lbs".split())
"""Units that a smaller one may follow without a blank (2h15m, 5'10)."""
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
    lower = word.lower()
    if not scaled:
        power = SCALES.get(lower)
        if power is None and (glued or (symbol and not match["dash"])):
            power = GLUED_SCALES.get(word)
            if power is not None and word == "m" and not symbol:
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
        return Tail(end, identifier=glued and "/" not in word)
    if word in CODES and not match["dash"]:
        return Tail(stop, currency=word)
    readings = unit_readings(word)
    if (readings is None and word in FIRST_WORDS) or lower in FIRST_WORDS:
        second = _NEXT_WORD.match(plain, stop)
        if second is not None:
            both = unit_readings(f"{lower}-{second[1]}") or unit_readings(f"{lower}-{second[1].lower()}")
            if both is not None:
                readings, stop = both, second.end()
    if readings is None and "/" in word:
        slash = word.index("/")
        readings = unit_readings(word[:slash])
        stop = match.start("word") + slash
        lower = lower[:slash]
    if (
        readings is not None
        and not glued
        and (word in GLUED_ONLY or (word in _QUOTES or (match["dash"] and len(word) == 1)))
    ):
        readings = None
    if readings is not None and match["dash"] and match["blank"]:
        readings = None  # "5 -s": an option, a dash
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
    "nearly": "about",
    "almost": "about",
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
            else:
                hedge = _HEDGES.get(word)
            if hedge is not None and "," in plain[word_at:begin]:
                hedge = None
    return Lead(begin, negative, currency, hedge)


# ---------------------------------------------------------------- values


def amount(plain: str, start: int, numeral: Numeral, *, lead: Lead, tail: Tail, weak: bool = False) -> Typed:
    """The value of one number with its context."""
    end = max(numeral.end, tail.end)
    number = numeral.number.scaleb(tail.power) if tail.power else numeral.number
    decimals = numeral.decimals - tail.power
    other = numeral.other.scaleb(tail.power) if numeral.other is not None and tail.power else numeral.other
    currency = tail.currency if tail.currency and (lead.currency is None or tail.currency in CODES) else lead.currency
    if lead.negative:
        number = -number
    begin = lead.start
    text = plain[begin:end]
    if currency is not None and not tail.readings:
        return _money(text, begin, end, number, decimals, currency, tail.cents, lead.hedge, other)
    readings = tail.readings
    if not readings:
        return Typed(
            "number",
            begin,
            end,
            text,
            number=number,
            decimals=decimals,
            wants=wants_of(number, decimals, (), hedge=lead.hedge, other=other),
            offers=offers_of(number, (), other),
            weak=weak or not (tail.power or numeral.exponent),
            hedged=lead.hedge is not None,
        )
    base = readings[0].base
    kind: Kind = "percent" if base == "%" else "duration" if base in TIME_BASES else "quantity"
    value = Typed(
        kind,
        begin,
        end,
        text,
        number=(number + readings[0].shift) * readings[0].factor,
        decimals=decimals - readings[0].factor.adjusted(),
        unit=base,
        wants=wants_of(number, decimals, readings, hedge=lead.hedge, other=other),
        offers=offers_of(number, readings, other),
        weak=weak or plain[end - 1] in _QUOTES or base == "deg",
        hedged=lead.hedge is not None,
    )
    if currency is not None:  # "pounds": of money or of weight
        money = _money(text, begin, end, number, decimals, currency, False, lead.hedge, other)
        return Typed(
            value.kind,
            begin,
            end,
            text,
            number=value.number,
            decimals=value.decimals,
            unit=base,
            wants=value.wants + money.wants,
            offers=value.offers + money.offers,
            weak=weak,
            hedged=value.hedged,
        )
    return value


def _money(
    text: str,
    start: int,
    end: int,
    number: Decimal,
    decimals: int,
    currency: str,
    cents: bool,
    hedge: Hedge | None,
    other: Decimal | None,
) -> Typed:
    code = "$" if currency == "\u00a2" else "GBP" if currency == "pence" else currency
    asked = currency_readings(code, asked=True, cents=cents)
    carried = currency_readings(code, asked=False, cents=cents)
    return Typed(
        "money",
        start,
        end,
        text,
        number=number.scaleb(-2) if cents else number,
        decimals=decimals + 2 if cents else decimals,
        unit="USD" if code == "$" else code,
        wants=wants_of(number, decimals, asked, hedge=hedge, money=True, other=other),
        offers=offers_of(number, carried, other),
        hedged=hedge is not None,
    )


_DECADE: Final = re.compile(r"(?:1[5-9]|20)\d0")
_RANGE: Final = re.compile(
    r"[ \u00a0]{0,3}(?:-|to|through|and|or|/)[ \u00a0]{0,3}(?P<sign>[-+]?)(?P<symbol>["
    + re.escape(_SIGNS)
    + r"]?)(?=\d)"
)
_JOIN: Final = re.compile(r",?[ \u00a0]{0,4}(?:and[ \u00a0]{1,2})?(?=\d)")


def amounts(plain: str, start: int) -> tuple[list[Typed], int]:
    """The amounts that start with the digits at ``start``, and where reading goes on."""
    numeral = read_numeral(plain, start)
    if numeral is None:
        return [], _past_token(plain, start)
    lead = read_lead(plain, start)
    tail = read_tail(plain, numeral.end, symbol=lead.currency is not None)
    if tail.identifier:
        return [], _past_token(plain, numeral.end)
    if tail.readings and plain[tail.end - 1] in _QUOTES and plain[lead.start - 1 : lead.start] == plain[tail.end - 1]:
        tail = Tail(numeral.end)  # a number in quotes
    if tail.end == numeral.end + 1 and plain[numeral.end] == "s" and _DECADE.fullmatch(plain, start, numeral.end):
        return [], tail.end
    if (not tail.readings and tail.currency is None and not tail.power) or lead.currency is not None:
        ranged = _ranged(plain, start, numeral, lead, tail)
        if ranged is not None:
            return ranged
    value = amount(plain, start, numeral, lead=lead, tail=tail)
    if value.unit in ("s", "month", "m", "g") and value.kind != "money" and not lead.negative:
        value = _composite(plain, value, numeral, tail)
    if plain[value.end : value.end + 1].isalnum() and plain[value.end - 1].isalnum():
        return [], _past_token(plain, value.end)
    return [value], value.end


def _ranged(plain: str, start: int, first: Numeral, lead: Lead, tail: Tail) -> tuple[list[Typed], int] | None:
    """Both ends of a range whose unit is written once."""
    match = _RANGE.match(plain, tail.end)
    if match is None:
        return None
    second_at = match.end()
    second = read_numeral(plain, second_at)
    if second is None:
        return None
    symbol = lead.currency is not None or bool(match["symbol"])
    behind = read_tail(plain, second.end, symbol=symbol)
    if behind.identifier:
        return None
    dash = match[0].strip(" \u00a0").startswith("-")
    if lead.currency is not None and not match["symbol"]:
        # "$100-200", "$1 to 2 million": only a dash or a scale makes the second number money of the first
        if not dash and not behind.power:
            return None
    elif match["symbol"] or not (behind.readings or behind.currency or behind.power):
        return None
    near = tail._replace(
        end=first.end,
        power=tail.power or behind.power,
        readings=behind.readings,
        currency=tail.currency or behind.currency,
        cents=behind.cents,
    )
    far_lead = Lead(second_at, bool(match["sign"] == "-"), lead.currency, lead.hedge)
    one = amount(plain, start, first, lead=lead, tail=near)
    other = amount(plain, second_at, second, lead=far_lead, tail=behind)
    return [one, other], other.end


def _composite(plain: str, value: Typed, numeral: Numeral, tail: Tail) -> Typed:
    """``2 hours 15 minutes`` as one value where smaller units of the same kind follow."""
    parts = [value]
    total, end, factor = value.number, value.end, tail.readings[0].factor
    decimals = value.decimals
    while total is not None and numeral.decimals == 0 and len(parts) < 6:
        match = _JOIN.match(plain, end)
        if match is None:
            break
        following = read_numeral(plain, match.end())
        if following is None:
            break
        behind = read_tail(plain, following.end)
        readings = [each for each in behind.readings if each.base == value.unit and each.factor < factor]
        if not readings:
            readings, behind = _smaller(plain, following.end, value.unit, factor, match[0])
        if not readings or behind.power or following.number * readings[0].factor >= factor:
            break
        part = amount(
            plain, match.end(), following, lead=Lead(match.end()), tail=behind._replace(readings=(readings[0],))
        )
        parts.append(part)
        total += following.number * readings[0].factor
        numeral, factor, end = following, readings[0].factor, behind.end
        decimals = following.decimals - factor.adjusted()
    if len(parts) == 1 or total is None:
        return value
    unit = value.unit
    low, high = spread(total, step_of(numeral.decimals) * factor, None)
    return Typed(
        value.kind,
        value.start,
        end,
        plain[value.start : end],
        number=total,
        decimals=decimals,
        unit=unit,
        wants=(Interval(unit, low, high),),
        offers=(Offer(unit, total),),
        weak=False,
        hedged=value.hedged,
        parts=tuple(parts),
    )


_SMALLER: Final = re.compile(r"[ \u00a0]{0,2}(?P<unit>m|in)\b\.?")


def _smaller(plain: str, end: int, unit: str | None, factor: Decimal, join: str) -> tuple[list[Reading], Tail]:
    """Short units that only mean something behind a larger one: 2h 15m, 5 ft 10 in; and the bare minutes of 2h15."""
    match = _SMALLER.match(plain, end)
    if match is not None:
        if match["unit"] == "m" and unit == "s" and factor > 60:
            return [Reading("s", Decimal(60))], Tail(match.end())
        if match["unit"] == "in" and unit == "m" and factor == Decimal("0.3048"):
            return [Reading("m", Decimal("0.0254"))], Tail(match.end())
    elif unit == "s" and factor == 3600 and not join and not plain[end : end + 1].isalnum():
        return [Reading("s", Decimal(60))], Tail(end)
    return [], Tail(end)


_TOKEN: Final = re.compile(r"[\w]*(?:[.:/@-](?=\w)[\w]+){0,40}")


def _past_token(plain: str, start: int) -> int:
    match = _TOKEN.match(plain, start)
    return match.end() if match is not None and match.end() > start else start + 1
