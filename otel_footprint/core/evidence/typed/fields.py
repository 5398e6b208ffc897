"""What the name of a field says about its value: "duration_ms", "size_bytes", "created_at", "price", "discount_percent".

Rules
-----
- A name is split into words at underscores, hyphens, blanks and capitals; the last words say most.
- Behind ``UNIT`` stands the unit that a field beside it states; of lower-case currency codes (as payment services write
  them) amounts may be cents.
- A unit is taken from the end of the name ("speed_kmh", "latencyMs", "temp_c"), not from its middle ("min_price" is no
  time, "in_stock" no length).
"""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.typed.money_units import CODES, SYMBOLS
from otel_footprint.core.evidence.typed.units import Reading, unit_readings
from otel_footprint.core.evidence.typed.zones import ZONES

UNIT: Final = "\x1f"
"""In a name: what follows is the unit that another field states for this one."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[\u00b5\u00b0%]")

_MONEY: Final = frozenset(
    "price prices cost costs amount amounts subtotal fee fees balance balances paid payment payments refund refunds charge charges"
    " fare fares salary salaries revenue revenues income budget spend spending tax taxes tip deposit msrp wage wages rent premium"
    " discount savings owed usd eur gbp dollars euros money profit loss turnover earnings invoice bill".split()
)
_MONEY_BY_ITSELF: Final = frozenset("total totals sum due credit debit funds worth sales".split())
"""Money at the end of a name or before a qualifier: "grand_total", "total_due", not "total_items"."""
_QUALIFIERS: Final = frozenset(
    "due now after before paid in with without incl excl including excluding new old original current to on remaining all".split()
)
_NOT_MONEY: Final = frozenset(
    "count counts number id ids type types method methods name code status percent pct rate ratio quantity qty date time at items"
    " passengers seats bags orders results pages rows users tokens points history options".split()
)
_RATIO: Final = frozenset(
    "percent percentage pct rate ratio share fraction probability prob confidence accuracy utilization utilisation usage humidity"
    " score precision recall f1 proportion completion progress coverage margin growth change discount tax chance efficiency yield"
    " possession".split()
)
_PERCENT: Final = frozenset({"percent", "percentage", "pct", "perc", "%"})
_TIME: Final = frozenset(
    "time timestamp ts at date datetime created updated modified expires expiry expiration deadline start end started ended"
    " begin since until last first published birthday dob sunrise sunset dt epoch iat exp nbf when on departure arrival due"
    " seen sent received closed opened scheduled utc".split()
)
_DURATION: Final = frozenset("duration elapsed runtime length uptime latency age ttl timeout wait delay took".split())
_PHONE: Final = frozenset("phone phones tel telephone mobile cell fax".split())
_UNIT_WORDS: Final[dict[str, str]] = {
    "c": "\u00b0C",
    "f": "\u00b0F",
    "celsius": "celsius",
    "fahrenheit": "fahrenheit",
    "kmh": "km/h",
    "ms": "ms",
    "secs": "s",
    "mins": "min",
}
_NO_UNITS: Final = frozenset(
    "day hour week month year mile inch liter litre gram meter metre byte bit ounce gallon degree ton volt watt amp knot pixel acre"
    " feet stones cups quart pint tablespoon teaspoon a m k x t d h l in min mi at on pt us gr bar stone second minute cup foot yard pound mo deg hr kt kn meg gig cal mp pp db lm".split()
)
"""Units by spelling that in a field name are more often something else."""


_MEASURE_ROWS: Final[tuple[tuple[str, str], ...]] = (
    (
        "duration elapsed runtime uptime latency age timeout wait delay interval period warranty battery lifetime"
        " validity nights stay term time",
        "s month",
    ),
    ("seconds minutes hours days weeks", "s"),
    ("months years experience", "month"),
    ("business", "business-day"),
    ("weight mass load payload", "g"),
    (
        "distance length height width depth altitude elevation radius diameter visibility range thickness size screen",
        "m",
    ),
    ("display diagonal wheel", "m"),
    ("area surface", "m2"),
    ("volume capacity", "l B Ah g"),
    ("storage memory ram disk size bytes file ssd hdd quota used free available", "B"),
    ("speed velocity wind gust", "m/s"),
    ("speed bandwidth throughput rate bitrate download upload", "bit/s"),
    ("clock frequency refresh cpu", "Hz"),
    ("temp temperature feels dew min max high low", "degC"),
    ("pressure", "Pa"),
    ("power wattage consumption", "W"),
    ("energy calories", "J"),
    ("voltage", "V"),
    ("current", "A"),
    ("battery", "Ah"),
    ("camera resolution megapixels", "px"),
    ("ppi density", "ppi"),
    ("brightness", "nit"),
    ("direction angle bearing azimuth deg degrees", "deg"),
    ("iops", "IOPS"),
    ("qps rps tps requests", "1/s"),
    ("rain precipitation snow", "m"),
    (
        "possession humidity clouds cloudiness pop percent percentage pct rate ratio share fraction probability prob confidence"
        " accuracy utilization utilisation usage proportion completion progress coverage margin growth change discount tax chance"
        " efficiency yield",
        "%",
    ),
)


def _measured_in() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for words, bases in _MEASURE_ROWS:
        for word in words.split():
            table[word] = (*table.get(word, ()), *bases.split())
    return table


_MEASURED_IN: Final = _measured_in()


@dataclass(frozen=True, slots=True)
class Field:
    """What a field's name says.

    ``units`` are the readings of the unit it names, ``measures`` the base units that what it names could be measured in,
    ``zone`` the offsets of a zone in the name.
    """

    money: bool = False
    currency: str | None = None
    cents: bool = False
    ratio: bool = False
    percent: bool = False
    moment: bool = False
    duration: bool = False
    phone: bool = False
    units: tuple[Reading, ...] = ()
    measures: tuple[str, ...] = ()
    zone: tuple[int, ...] | None = None


NO_FIELD: Final = Field()
_LONGEST: Final = 200


def field_of(key: str) -> Field:
    """What the name ``key`` says. A very long one is no name and says nothing."""
    return NO_FIELD if len(key) > _LONGEST else _field_of(key)


@lru_cache(maxsize=4096)
def _field_of(key: str) -> Field:
    key, _, stated = key.partition(UNIT)
    words = _WORDS.findall(key)
    while len(words) > 1 and words[-1].isdigit():  # the number of a row or an item
        words.pop()
    if not words:
        return NO_FIELD
    lower = [word.lower() for word in words]
    last = lower[-1]
    named = frozenset(lower)
    units = _stated_unit(stated) or _units(words, lower)
    currency = next((word.upper() for word in words if word.upper() in CODES and len(word) == 3), None)
    small = {"unit", "amount"} <= named
    if stated.upper() in CODES:
        currency = stated.upper()
        small = small or stated.islower()
    elif stated in SYMBOLS:
        currency = SYMBOLS[stated]
    return Field(
        money=not units and (currency is not None or _is_money(lower)),
        currency=currency,
        cents=small or last in ("cents", "cent", "pence") or "cents" in named,
        ratio=not named.isdisjoint(_RATIO),
        percent=not named.isdisjoint(_PERCENT) or "%" in key,
        moment=not named.isdisjoint(_TIME) or key.endswith(("time", "date", "At", "Ts")),
        duration=not named.isdisjoint(_DURATION),
        phone=not named.isdisjoint(_PHONE),
        units=units,
        measures=() if units else tuple(dict.fromkeys(base for word in lower for base in _MEASURED_IN.get(word, ()))),
        zone=ZONES.get(last.upper()) if len(words) > 1 and len(last) >= 2 else None,
    )


def says_something(key: str) -> bool:
    """Whether the name by itself says what its value is."""
    return field_of(key) != NO_FIELD


def _is_money(lower: list[str]) -> bool:
    """Whether the words before "for" or "per" name an amount."""
    stop = next((place for place, word in enumerate(lower) if place and word in ("for", "per")), len(lower))
    head = lower[:stop]
    if head[-1] in _NOT_MONEY:
        return False
    if not _MONEY.isdisjoint(head):
        return True
    return any(
        word in _MONEY_BY_ITSELF and (place + 1 == len(head) or head[place + 1] in _QUALIFIERS)
        for place, word in enumerate(head)
    )


def _stated_unit(stated: str) -> tuple[Reading, ...]:
    if not stated:
        return ()
    written = stated.strip().strip("()[]")
    return unit_readings(_UNIT_WORDS.get(written.lower(), written)) or unit_readings(written.lower()) or ()


def _units(words: list[str], lower: list[str]) -> tuple[Reading, ...]:
    if len(words) > 2 and lower[-2] in ("per", "p") and lower[-1] in ("second", "sec", "s", "hour", "h"):
        per = "/s" if lower[-1].startswith("s") else "/h"
        for joined in (words[-3] + per, lower[-3] + per):
            readings = unit_readings(joined)
            if readings is not None:
                return readings
    if len(words) > 2 and lower[-2] == "per":
        return ()
    last = lower[-1]
    written = _UNIT_WORDS.get(last)
    if written is not None:
        if len(last) == 1 and (
            len(words) < 2 or not lower[-2].startswith(("temp", "deg", "feel", "dew", "min", "max", "avg"))
        ):
            return ()
        return unit_readings(written) or ()
    if last in _NO_UNITS:
        if last in ("s", "h", "m", "min", "minute", "second", "hr", "d", "l") and len(words) > 1:
            # "delay_s", "distance_m", "duration_min": only behind a word that says what is measured
            return _measured(lower[-2], last)
        return ()
    if last == "s" and len(words) > 1:
        return _measured(lower[-2], last)
    if last == "g" and len(words) == 1:
        return ()
    return unit_readings(words[-1]) or unit_readings(last) or ()


_MEASURES: Final[dict[str, frozenset[str]]] = {
    "s": _DURATION | {"time", "interval", "window"},
    "m": frozenset("distance length height width depth altitude elevation radius visibility dist".split()),
    "l": frozenset("volume capacity tank".split()),
}


def _measured(before: str, unit: str) -> tuple[Reading, ...]:
    wanted = _MEASURES["m" if unit == "m" else "l" if unit == "l" else "s"]
    return (unit_readings(unit) or ()) if before in wanted else ()
