"""Read the typed values of one JSON leaf, with what its field name says about it.

Rules
-----
- A leaf without a digit carries nothing (number words are looked for in longer strings only).
- A number is read under the unit, currency or ratio its field names, and also as a bare number: the token as it stands.
- In a field named like a moment a number may be an epoch in seconds, milliseconds, microseconds or nanoseconds.
- ``10:30`` by itself is a time of a 24 hour clock; data is not written otherwise.
- A string that is one date-time with a blank in the middle is one; any other string is prose and scanned as such.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from otel_footprint.core.evidence.typed.currencies import UNSTATED, currency_readings
from otel_footprint.core.evidence.typed.dates import is_day
from otel_footprint.core.evidence.typed.durations import duration_of
from otel_footprint.core.evidence.typed.fields import NO_FIELD, Field, field_of
from otel_footprint.core.evidence.typed.phones import phone_keys
from otel_footprint.core.evidence.typed.precision import offers_of, wants_of
from otel_footprint.core.evidence.typed.scan import find
from otel_footprint.core.evidence.typed.times import clock, epoch, instant, time_keys
from otel_footprint.core.evidence.typed.units import TIME_BASES, Reading
from otel_footprint.core.evidence.typed.value import Kind, Typed, placed
from otel_footprint.core.evidence.typed.zones import offsets

_DIGIT: Final = re.compile(r"\d")
_WORDY: Final = re.compile(r"[A-Za-z]+[ -][A-Za-z]")
_NUMBER: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_MOMENT: Final = re.compile(
    r"(\d{4})[-/](\d\d)[-/](\d\d)[ ](\d\d):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?[ ]?(Z|UTC|GMT|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
_TWO_DIGIT_HOUR: Final = re.compile(r"\d\d:\d\d", re.ASCII)
_SPAN: Final = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_EPOCHS: Final = ((10**8, 10**10, 1), (10**11, 10**13, 10**3), (10**14, 10**16, 10**6), (10**17, 10**19, 10**9))
_MAGNITUDES: Final = 60
"""Powers of ten beyond which nothing is a number that anyone states."""
_PERCENT: Final = (Reading("%", Decimal(1)),)
_RATIO: Final = (Reading("%", Decimal(100)),)


def of_leaf(key: str | None, value: object) -> tuple[Typed, ...]:
    """The typed values a leaf carries; none for containers, booleans and null. ``key`` is the name of its field."""
    if type(value) is str:
        if _DIGIT.search(value) is None:
            if len(value) > 12 and _WORDY.search(value) is not None:
                return find(value)
            return ()
        return _of_string(field_of(key) if key else NO_FIELD, value)
    if isinstance(value, bool):
        return ()
    if isinstance(value, int):
        if value.bit_length() > 256:
            return ()
        return _of_number(field_of(key) if key else NO_FIELD, str(value), Decimal(value))
    if isinstance(value, float):
        text = repr(value)
        if text[-1].isalpha():  # nan, inf
            return ()
        return _of_number(field_of(key) if key else NO_FIELD, text, Decimal(text))
    if isinstance(value, Decimal) and value.is_finite():
        return _of_number(field_of(key) if key else NO_FIELD, str(value), value)
    return ()


def _of_number(field: Field, text: str, number: Decimal) -> tuple[Typed, ...]:
    if abs(number.adjusted()) > _MAGNITUDES:
        return ()
    exponent = number.as_tuple().exponent
    decimals = max(0, -exponent) if isinstance(exponent, int) else 0
    if decimals == 1 and text.endswith(".0"):
        number, decimals = number.to_integral_value(), 0
    found = [_number(field, text, number, decimals)]
    if field.moment and decimals <= 9:
        for low, high, scale in _EPOCHS:
            if low <= number < high:
                found.append(epoch(text, int(number) // scale))
                break
    if field.phone and decimals == 0:
        found.append(Typed("phone", 0, len(text), text, *phone_keys(text)))
    if decimals == 0 and len(text) == 8 and text[:2] in ("19", "20"):
        found += [each for each in find(text) if each.kind == "date"]
    return tuple(found)


def _number(field: Field, text: str, number: Decimal, decimals: int) -> Typed:
    kind: Kind = "number"
    readings: tuple[Reading, ...] = ()
    unit: str | None = None
    if field.units:
        readings = field.units
        unit = readings[0].base
        kind = "percent" if unit == "%" else "duration" if unit in TIME_BASES else "quantity"
        if unit == "%" and abs(number) <= 1:
            readings += _RATIO
    elif field.percent:
        kind, unit, readings = "percent", "%", _PERCENT
        if abs(number) <= 1:
            readings = _PERCENT + _RATIO
    elif field.money or field.cents:
        kind, unit = "money", field.currency or UNSTATED
        readings = currency_readings(unit, asked=False, cents=field.cents)
        if field.cents:
            readings += currency_readings(unit, asked=False)
    bare = offers_of(number, (), measures=field.measures)
    if field.ratio and abs(number) <= 1 and decimals:
        bare += offers_of(number, _RATIO)[1:]
    if not readings:
        return Typed(
            "number",
            0,
            len(text),
            text,
            number=number,
            decimals=decimals,
            wants=wants_of(number, decimals, ()),
            offers=bare,
            weak=True,
        )
    factor = readings[0].factor
    offers = offers_of(number, readings)
    return Typed(
        kind,
        0,
        len(text),
        text,
        number=(number + readings[0].shift) * factor,
        decimals=decimals - factor.adjusted(),
        unit=unit,
        wants=wants_of(number, decimals, readings, money=kind == "money"),
        offers=offers if field.units or field.currency else offers + bare,
        weak=True,
    )


def _of_string(field: Field, value: str) -> tuple[Typed, ...]:
    text = value.strip()
    if len(text) <= 40:
        if _NUMBER.fullmatch(text) is not None:
            return _placed(_of_number(field, text, Decimal(text)), value)
        match = _MOMENT.fullmatch(text)
        if match is not None:
            year, month, day, hour, minute = (int(each) for each in match.groups()[:5])
            if hour < 24 and is_day(year, month, day):
                second = None if match[6] is None else int(match[6])
                zone = field.zone
                if match[7] is not None:
                    zone = (0,) if match[7] in ("Z", "UTC", "GMT") else offsets(match[7])
                return _placed((instant(text, 0, year, month, day, hour * 60 + minute, second, zone),), value)
    if _TWO_DIGIT_HOUR.fullmatch(text) is not None:
        found = _placed(tuple(clock(text, 0, 2, day_clock=True) or ()), value)
    else:
        found = find(value)
    if field.zone is not None:
        found = tuple(_zoned(each, field.zone) if each.kind == "time" else each for each in found)
    if field.duration and len(found) == 1 and found[0].kind == "time":
        match = _SPAN.fullmatch(text)
        if match is not None:
            first, second, third = (int(each or 0) for each in match.groups())
            seconds = Decimal(first * 3600 + second * 60 + third)
            found += (duration_of(seconds, value, 0, len(value)),)
            if match[3] is None:
                found += (duration_of(Decimal(first * 60 + second), value, 0, len(value)),)
    if field.phone and 7 <= sum(char.isdigit() for char in value) <= 15:
        found += (Typed("phone", 0, len(value), value, *phone_keys(value)),)
    return found


def _placed(values: tuple[Typed, ...], value: str) -> tuple[Typed, ...]:
    """The values with spans and text of the whole leaf."""
    if not values or values[0].text == value:
        return values
    return tuple(placed(each, 0, len(value), value, each.parts, weak=each.weak) for each in values)


def _zoned(value: Typed, zone: tuple[int, ...]) -> Typed:
    """A time without a zone, in the zone that the name of its field states."""
    local = [key for key in value.carried if isinstance(key, tuple) and key[0] == "time, no zone"]
    if not local:
        return value
    extra: frozenset[object] = frozenset()
    for key in local:
        minute = key[1]
        seconds = [
            other[-1]
            for other in value.carried
            if isinstance(other, tuple) and other[0] == "second" and other[1] == minute
        ]
        extra |= time_keys(minute, seconds[0] if seconds else None, zone)[1]
    dropped = {key for key in value.carried if isinstance(key, tuple) and str(key[0]).endswith("no zone")}
    return value._replace(carried=frozenset((value.carried | extra) - dropped))
