"""Amounts: a number with its currency, percent sign or unit of measure, alone, in a range or in several units.

Rules
-----
- A unit, currency or percent sign behind a range belongs to all its numbers ("5-10 kg", "$100-200", "15 x 7 x 2 cm").
- Times and lengths in several units are one value ("2 hours 15 minutes", 5'10"); its parts are kept beside it.
- ``3/4 cup`` and ``1 1/2 hours`` are one number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from otel_footprint.core.evidence.typed.currencies import currency_readings
from otel_footprint.core.evidence.typed.money_units import CODES, SYMBOLS
from otel_footprint.core.evidence.typed.numerals import Numeral, read_numeral
from otel_footprint.core.evidence.typed.precision import Hedge, offers_of, spread, step_of, wants_of
from otel_footprint.core.evidence.typed.surroundings import QUOTES, SIGNS, Lead, Tail, read_lead, read_tail
from otel_footprint.core.evidence.typed.units import TIME_BASES, Reading
from otel_footprint.core.evidence.typed.value import Interval, Kind, Offer, Typed


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
            weak=weak or not (tail.power or numeral.exponent) or _is_label(plain, numeral, tail),
            hedged=lead.hedge not in (None, "range"),
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
        weak=weak or plain[end - 1] in QUOTES or base == "deg" or text[-1] == "A",
        hedged=lead.hedge not in (None, "range"),
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


def _is_label(plain: str, numeral: Numeral, tail: Tail) -> bool:
    """``4K``, ``7B``: small numbers with a capital are as often names of classes."""
    return (
        tail.end == numeral.end + 1 and numeral.decimals == 0 and numeral.number < 100 and plain[numeral.end] in "KBT"
    )


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
        hedged=hedge not in (None, "range"),
    )


_DECADE: Final = re.compile(r"(?:1[5-9]|20)\d0")
_RANGE: Final = re.compile(
    r"[ \u00a0]{0,3}(?P<by>-|to|through|and|or|/|x|\u00d7)[ \u00a0]{0,3}(?P<sign>[-+]?)(?P<symbol>["
    + re.escape(SIGNS)
    + r"]?)(?=\d)"
)
_MOST_MEMBERS: Final = 5
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
    if tail.readings and plain[tail.end - 1] in QUOTES and plain[lead.start - 1 : lead.start] == plain[tail.end - 1]:
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
    """All numbers of a range or list of dimensions whose unit is written once, behind the last."""
    members = [(start, first, False)]  # where it begins, the number, whether it is negative
    joints: set[str] = set()
    end = tail.end
    while True:
        match = _RANGE.match(plain, end)
        if match is None or len(members) == _MOST_MEMBERS:
            return None
        at = match.end()
        numeral = read_numeral(plain, at)
        if numeral is None:
            return None
        if match["by"] == "-" and len(match[0]) > 1 and not members[-1][1].number < numeral.number < 10**6:
            return None  # two numbers with a dash between them, no range
        joints.add(match["by"])
        begin = at - len(match["sign"]) - len(match["symbol"])
        members.append((begin, numeral, match["sign"] == "-"))
        symbol = lead.currency is not None or bool(match["symbol"])
        behind = read_tail(plain, numeral.end, symbol=symbol)
        if behind.identifier:
            return None
        if lead.currency is not None:
            # "$100-200", "$1 to 2 million", "$100 to $200": else the second number is another amount
            if match["symbol"]:
                if SYMBOLS[match["symbol"]] != lead.currency or match["by"] not in ("-", "to", "through"):
                    return None
            elif match["by"] != "-" and not behind.power:
                return None
            break
        if match["symbol"]:
            return None
        if behind.readings or behind.currency or behind.power:
            break
        end = behind.end
    if not _joined_by(joints, members, behind, plain):
        return None
    symbolised = bool(match["symbol"])
    near = tail._replace(
        power=tail.power or (0 if symbolised else behind.power),
        readings=behind.readings,
        currency=tail.currency or behind.currency,
        cents=behind.cents,
    )
    if joints.isdisjoint(("x", "\u00d7", "/", "or")):
        lead = lead._replace(hedge=lead.hedge or "range")
    values: list[Typed] = []
    for place, (at, numeral, negative) in enumerate(members):
        leading = lead if place == 0 else Lead(at, negative, lead.currency, lead.hedge)
        trailing = behind if place == len(members) - 1 else near._replace(end=tail.end if place == 0 else numeral.end)
        values.append(amount(plain, at, numeral, lead=leading, tail=trailing))
    return values, values[-1].end


def _joined_by(joints: set[str], members: list[tuple[int, Numeral, bool]], behind: Tail, plain: str) -> bool:
    """Whether the joints make the unit behind the last number the unit of all."""
    if plain[behind.end - 1] in QUOTES:
        return False
    if not joints.isdisjoint(("x", "\u00d7")):
        # "15 x 7 cm" are dimensions; "2 x 500 ml" and "3 x 5 m" are counts of something
        counted = len(members) == 2 and members[0][1].decimals == 0 and members[0][1].number < 10
        return bool(behind.readings) and behind.readings[0].base in ("m", "px") and not counted
    return True


_FRACTION: Final = re.compile(r"(?:(\d{1,3})[ \u00a0])?(\d{1,2})/(2|3|4|5|6|8|10|12|16)(?![\d/.,]\d|\d|/)")


def fraction(plain: str, start: int) -> Typed | None:
    """``3/4 cup``, ``1 1/2 hours``: a fraction with a unit behind it."""
    match = _FRACTION.match(plain, start)
    if match is None:
        return None
    above, below = int(match[2]), int(match[3])
    if not 0 < above < below:
        return None
    tail = read_tail(plain, match.end())
    if not tail.readings or plain[tail.end - 1] in QUOTES:
        return None
    number = Decimal(match[1] or 0) + (Decimal(above) / below).quantize(Decimal("0.0001"))
    exact = number.normalize()
    decimals = max(0, -int(exact.as_tuple().exponent))
    return amount(plain, start, Numeral(match.end(), exact, decimals), lead=read_lead(plain, start), tail=tail)


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
