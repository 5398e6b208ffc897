"""Units of measure as data: spelling, base unit, factor.

Rules
-----
- A row is (base unit, factors, spellings). Two factors are two readings: 10 GB is decimal or binary, 10 Mb bits or,
  written carelessly, bytes.
- A spelling is looked up as written, then in lower case. Those in ``GLUED_ONLY`` are words or labels of their own when a
  blank stands before them ("5 in total", "plan 3 B") and units only without one.
- Temperatures also have an offset and live in ``SHIFTED``.
"""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple


class Reading(NamedTuple):
    """One reading of a unit: value in base = (number + shift) * factor."""

    base: str
    factor: Decimal
    shift: Decimal = Decimal(0)


_KI: Final = 1024
_ROWS: Final[tuple[tuple[str, tuple[str | int, ...], str], ...]] = (
    # information, in bytes
    ("B", (1,), "B byte bytes octet octets"),
    ("B", (1000, _KI), "kB KB kb kbyte kbytes kilobyte kilobytes"),
    ("B", (10**6, _KI**2), "MB mb mbyte mbytes megabyte megabytes meg megs"),
    ("B", (10**9, _KI**3), "GB gb gbyte gbytes gigabyte gigabytes gig gigs"),
    ("B", (10**12, _KI**4), "TB tb tbyte tbytes terabyte terabytes"),
    ("B", (10**15, _KI**5), "PB pb petabyte petabytes"),
    ("B", (_KI,), "KiB kib Ki kibibyte kibibytes"),
    ("B", (_KI**2,), "MiB mib Mi mebibyte mebibytes"),
    ("B", (_KI**3,), "GiB gib Gi gibibyte gibibytes"),
    ("B", (_KI**4,), "TiB tib Ti tebibyte tebibytes"),
    ("B", (_KI**5,), "PiB pib Pi pebibyte pebibytes"),
    ("B", ("0.125",), "bit bits"),
    ("B", (125, 1000), "Kb Kbit kbit kilobit kilobits"),
    ("B", (125_000, 10**6), "Mb Mbit mbit megabit megabits"),
    ("B", (125_000_000, 10**9), "Gb Gbit gbit gigabit gigabits"),
    ("B", (125_000_000_000, 10**12), "Tb Tbit tbit terabit terabits"),
    # information by time, in bits per second
    ("bit/s", (1,), "bps bit/s bits/s b/s"),
    ("bit/s", (1000,), "kbps Kbps kbit/s kb/s Kb/s kbits/s"),
    ("bit/s", (10**6,), "Mbps mbps Mbit/s mbit/s Mb/s Mbits/s"),
    ("bit/s", (10**9,), "Gbps gbps Gbit/s gbit/s Gb/s Gbits/s"),
    ("bit/s", (10**12,), "Tbps tbps Tbit/s Tb/s"),
    ("bit/s", (8,), "Bps B/s bytes/s byte/s"),
    ("bit/s", (8000, 8 * _KI), "kB/s KB/s KBps kBps"),
    ("bit/s", (8 * 10**6, 8 * _KI**2), "MB/s mb/s MBps"),
    ("bit/s", (8 * 10**9, 8 * _KI**3), "GB/s gb/s GBps"),
    ("bit/s", (8 * _KI,), "KiB/s KiBps"),
    ("bit/s", (8 * _KI**2,), "MiB/s MiBps"),
    ("bit/s", (8 * _KI**3,), "GiB/s GiBps"),
    # time, in seconds; months and years have no fixed length
    ("s", ("1e-9",), "ns nanosecond nanoseconds nanos"),
    ("s", ("1e-6",), "\u00b5s us microsecond microseconds micros"),
    ("s", ("1e-3",), "ms msec msecs millisecond milliseconds millis milli"),
    ("s", (1,), "s sec secs second seconds"),
    ("s", (60,), "min mins minute minutes"),
    ("s", (3600,), "h hr hrs hour hours"),
    ("s", (86_400,), "d day days"),
    ("s", (604_800,), "wk wks week weeks"),
    ("month", (1,), "month months mo mos"),
    ("month", (12,), "year years yr yrs"),
    ("business-day", (1,), "business-day business-days working-day working-days"),
    # length, in metres
    ("m", ("1e-9",), "nm nanometer nanometers nanometre nanometres"),
    ("m", ("1e-6",), "\u00b5m um micron microns micrometer micrometers micrometre micrometres"),
    ("m", ("1e-3",), "mm millimeter millimeters millimetre millimetres"),
    ("m", ("1e-2",), "cm centimeter centimeters centimetre centimetres"),
    ("m", ("0.1",), "dm decimeter decimeters decimetre decimetres"),
    ("m", (1,), "m meter meters metre metres mtr mtrs"),
    ("m", (1000,), "km kms kilometer kilometers kilometre kilometres"),
    ("m", ("0.0254",), 'in inch inches "'),
    ("m", ("0.3048",), "ft foot feet '"),
    ("m", ("0.9144",), "yd yds yard yards"),
    ("m", ("1609.344",), "mi mile miles"),
    ("m", (1852,), "nmi nautical-mile nautical-miles"),
    # area, in square metres
    ("m2", ("1e-4",), "cm2 cm\u00b2 sq-cm"),
    ("m2", (1,), "m2 m\u00b2 sqm sq-m square-meter square-meters square-metre square-metres"),
    ("m2", (10**6,), "km2 km\u00b2 sq-km square-kilometer square-kilometers square-kilometre square-kilometres"),
    ("m2", (10_000,), "ha hectare hectares"),
    ("m2", ("0.09290304",), "sqft ft2 ft\u00b2 sq-ft square-foot square-feet"),
    ("m2", ("4046.8564224",), "acre acres"),
    ("m2", ("2589988.110336",), "sq-mi square-mile square-miles mi2 mi\u00b2"),
    # mass, in grams
    ("g", ("1e-6",), "\u00b5g ug mcg microgram micrograms"),
    ("g", ("1e-3",), "mg milligram milligrams"),
    ("g", (1,), "g gr gram grams gramme grammes"),
    ("g", (1000,), "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes"),
    ("g", (10**6,), "t tonne tonnes metric-ton metric-tons"),
    ("g", ("907184.74", 10**6), "ton tons"),
    ("g", ("453.59237",), "lb lbs pound pounds"),
    ("g", ("28.349523125",), "oz ounce ounces"),
    ("g", ("6350.29318",), "stone stones"),
    # volume, in litres
    ("l", ("1e-3",), "ml mL milliliter milliliters millilitre millilitres cc cm3 cm\u00b3"),
    ("l", ("0.01",), "cl cL centiliter centiliters centilitre centilitres"),
    ("l", ("0.1",), "dl dL deciliter deciliters decilitre decilitres"),
    ("l", (1,), "l L liter liters litre litres"),
    ("l", (1000,), "m3 m\u00b3 cubic-meter cubic-meters cubic-metre cubic-metres"),
    ("l", ("3.785411784", "4.54609"), "gal gallon gallons"),
    ("l", ("0.946352946",), "qt quart quarts"),
    ("l", ("0.473176473", "0.56826125"), "pt pint pints"),
    ("l", ("0.2365882365", "0.25"), "cup cups"),
    ("l", ("0.0295735295625",), "fl-oz fluid-ounce fluid-ounces floz"),
    ("l", ("0.01478676478125", "0.015"), "tbsp tablespoon tablespoons"),
    ("l", ("0.00492892159375", "0.005"), "tsp teaspoon teaspoons"),
    ("l", ("28.316846592",), "ft3 ft\u00b3 cubic-foot cubic-feet cu-ft"),
    ("l", ("0.016387064",), "cubic-inch cubic-inches cu-in"),
    # speed, in metres per second
    ("m/s", (1,), "m/s mps"),
    ("m/s", ("0.2777777777777777777777777778",), "km/h kph kmh kmph km/hr"),
    ("m/s", ("0.44704",), "mph mi/h"),
    ("m/s", ("0.5144444444444444444444444444",), "knot knots kn kt kts"),
    ("m/s", ("0.3048",), "ft/s fps"),
    # pressure, in pascals
    ("Pa", (1,), "Pa pascal pascals"),
    ("Pa", (100,), "hPa hpa mbar millibar millibars"),
    ("Pa", (1000,), "kPa"),
    ("Pa", (10**6,), "MPa"),
    ("Pa", (100_000,), "bar bars"),
    ("Pa", ("6894.757293168",), "psi PSI"),
    ("Pa", (101_325,), "atm"),
    ("Pa", ("133.322387415",), "mmHg"),
    ("Pa", ("3386.389",), "inHg"),
    # energy, in joules
    ("J", (1,), "J joule joules"),
    ("J", (1000,), "kJ kilojoule kilojoules"),
    ("J", (3600,), "Wh"),
    ("J", (3_600_000,), "kWh kilowatt-hour kilowatt-hours"),
    ("J", (3_600_000_000,), "MWh"),
    ("J", ("4.184", 4184), "cal Cal calorie calories"),
    ("J", (4184,), "kcal kilocalorie kilocalories"),
    ("J", ("1055.06",), "BTU btu"),
    # power, in watts
    ("W", ("1e-3",), "mW milliwatt milliwatts"),
    ("W", (1,), "W watt watts"),
    ("W", (1000,), "kW kilowatt kilowatts"),
    ("W", (10**6,), "MW megawatt megawatts"),
    ("W", (10**9,), "GW gigawatt gigawatts"),
    ("W", ("745.69987158227", "735.49875"), "hp horsepower"),
    # electricity
    ("V", ("1e-3",), "mV"),
    ("V", (1,), "V volt volts"),
    ("V", (1000,), "kV"),
    ("A", ("1e-3",), "mA milliamp milliamps"),
    ("A", (1,), "A amp amps ampere amperes"),
    ("Ah", ("1e-3",), "mAh mah milliamp-hours"),
    ("Ah", (1,), "Ah amp-hours"),
    ("ohm", (1,), "\u03a9 ohm ohms"),
    ("ohm", (1000,), "k\u03a9 kohm"),
    # frequency and rates
    ("Hz", (1,), "Hz hz hertz"),
    ("Hz", (1000,), "kHz khz KHz kilohertz"),
    ("Hz", (10**6,), "MHz mhz megahertz"),
    ("Hz", (10**9,), "GHz ghz gigahertz"),
    ("rpm", (1,), "rpm RPM"),
    ("bpm", (1,), "bpm BPM"),
    ("frames/s", (1,), "fps FPS"),
    ("IOPS", (1,), "IOPS iops io/s IO/s"),
    ("IOPS", (1000,), "KIOPS kIOPS kiops"),
    ("IOPS", (10**6,), "MIOPS"),
    ("1/s", (1,), "qps QPS rps RPS tps TPS req/s requests/s ops/s queries/s"),
    # light, sound, screens, shares
    ("px", (1,), "px pixel pixels"),
    ("px", (10**6,), "MP megapixel megapixels"),
    ("ppi", (1,), "ppi PPI dpi DPI"),
    ("lm", (1,), "lm lumen lumens"),
    ("lx", (1,), "lx lux"),
    ("nit", (1,), "nit nits cd/m2 cd/m\u00b2"),
    ("dB", (1,), "dB db decibel decibels"),
    ("dBm", (1,), "dBm"),
    ("deg", (1,), "\u00b0 deg degree degrees"),
    ("%", (1,), "% percent per-cent pct percentage-point percentage-points pp"),
    ("%", ("0.1",), "\u2030 permille"),
    ("%", ("0.01",), "basis-point basis-points bp bps"),
    ("ppm", (1,), "ppm"),
    ("mmol/L", (1,), "mmol/L mmol/l"),
    ("mg/dL", (1,), "mg/dL mg/dl"),
    ("g/l", (1,), "g/L g/l"),
    ("km/l", (1,), "km/l km/L"),
    ("mpg", (1,), "mpg MPG"),
)

_FAHRENHEIT: Final = Decimal(5) / Decimal(9)
SHIFTED: Final[dict[str, Reading]] = {
    spelling: reading
    for spellings, reading in (
        (
            "\u00b0C degC celsius \u2103 degrees-celsius degrees-C \u00b0-C degree-celsius deg-C",
            Reading("degC", Decimal(1)),
        ),
        (
            "\u00b0F degF fahrenheit \u2109 degrees-fahrenheit degrees-F \u00b0-F degree-fahrenheit deg-F",
            Reading("degC", _FAHRENHEIT, Decimal(-32)),
        ),
        ("K kelvin kelvins \u00b0K", Reading("degC", Decimal(1), Decimal("-273.15"))),
    )
    for spelling in spellings.split()
}

GLUED_ONLY: Final = frozenset(
    "in A B K C F t x m d l h gr bar cal kilo kilos stone stones Mi Ki Gi Ti Pi Cal deg bp pp pt mo kn kt Bps gig meg foot".split()
) - frozenset({"m", "d", "h", "l", "foot"})
"""Words and labels in their own right behind a blank."""

FIRST_WORDS: Final = frozenset(
    "sq square cubic cu fl fluid metric nautical business working percentage per basis degrees degree deg \u00b0 kilowatt amp milliamp".split()
)
"""Words that make a unit together with the next one, written with a hyphen in the table."""

TIME_BASES: Final = frozenset({"s", "month", "business-day"})


OTHER_WAY: Final = "'"
"""Behind a base: the second way of reading units that have two."""


def _table() -> dict[str, tuple[Reading, ...]]:
    table: dict[str, list[Reading]] = {}
    doubtful = {base for base, factors, _ in _ROWS if len(factors) > 1}
    for base, factors, spellings in _ROWS:
        for spelling in spellings.split():
            # Readings only meet in the same way of reading: 34 GB is no 32 GB, although 34 * 10**9 is about 32 * 1024**3.
            ways = (*factors, *factors)[:2] if base in doubtful else factors
            for way, factor in zip((base, base + OTHER_WAY), ways, strict=False):
                table.setdefault(spelling, []).append(Reading(way, Decimal(factor)))
    for spelling, reading in SHIFTED.items():
        table.setdefault(spelling, []).append(reading)
    return {spelling: tuple(readings) for spelling, readings in table.items()}


UNITS: Final[dict[str, tuple[Reading, ...]]] = _table()
_LOWER: Final[dict[str, tuple[Reading, ...]]] = {
    spelling.lower(): UNITS[spelling] for spelling in UNITS if len(spelling) > 3 and spelling.lower() not in UNITS
}


def unit_readings(spelling: str) -> tuple[Reading, ...] | None:
    """The readings of a unit as spelled; longer words in any case ("Hours", "MINUTES")."""
    readings = UNITS.get(spelling)
    if readings is None and len(spelling) > 2:
        lower = spelling.lower()
        readings = _LOWER.get(lower)
        if readings is None and len(spelling) > 3:
            readings = UNITS.get(lower)
    return readings


_SECONDS: Final[dict[str, str]] = {
    "s": "1",
    "sec": "1",
    "second": "1",
    "min": "60",
    "minute": "60",
    "h": "3600",
    "hr": "3600",
    "hour": "3600",
}
_EVENTS: Final[dict[tuple[str, str], Reading]] = {
    **{
        (event + plural, "1"): Reading("1/s", Decimal(1))
        for event in ("request", "operation", "transaction", "event", "message")
        for plural in ("", "s")
    },
    ("query", "1"): Reading("1/s", Decimal(1)),
    ("queries", "1"): Reading("1/s", Decimal(1)),
    ("frame", "1"): Reading("frames/s", Decimal(1)),
    ("frames", "1"): Reading("frames/s", Decimal(1)),
    ("revolutions", "60"): Reading("rpm", Decimal(1)),
    ("rotations", "60"): Reading("rpm", Decimal(1)),
    ("beats", "60"): Reading("bpm", Decimal(1)),
}
_RATES: Final[dict[str, tuple[str, int]]] = {"m": ("m/s", 1), "B": ("bit/s", 8), "B'": ("bit/s'", 8)}


def by_time(word: str, readings: tuple[Reading, ...] | None, period: str) -> tuple[Reading, ...] | None:
    """The unit of ``word`` per ``period``: speeds, data rates and counted events; None for what is none of these."""
    seconds = _SECONDS.get(period)
    if seconds is None:
        return None
    event = _EVENTS.get((word, seconds))
    if event is not None:
        return (event,)
    rates = [
        Reading(_RATES[reading.base][0], reading.factor * _RATES[reading.base][1] / Decimal(seconds))
        for reading in readings or ()
        if reading.base in _RATES
    ]
    return tuple(rates) or None
