"""The words of dates: months and weekdays, in full and short."""

from __future__ import annotations

from typing import Final

_MONTH_NAMES: Final = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)
MONTHS: Final[dict[str, int]] = {word: number for number, names in enumerate(_MONTH_NAMES, 1) for word in names.split()}
"""Month by lower-case name, 1 to 12."""

ALSO_WORDS: Final = frozenset({"may", "march", "mar"})
"""Months that are ordinary words in lower case: as such they need more than a number beside them."""

_WEEKDAY_NAMES: Final = (
    "monday mon",
    "tuesday tues tue",
    "wednesday weds wed",
    "thursday thurs thur thu",
    "friday fri",
    "saturday sat",
    "sunday sun",
)
WEEKDAYS: Final[dict[str, int]] = {
    word: number for number, names in enumerate(_WEEKDAY_NAMES) for word in names.split()
}
"""Weekday by lower-case name, Monday 0 as in ``datetime.date.weekday``."""
