"""Gather from megabytes of JSON what may carry a typed value: its numbers by field, and the strings that need reading.

Rules
-----
- Rows with the same fields are taken column by column, so that most of the work is done on columns.
- Strings of one plain form (an ISO date-time, a clock time, an identifier, hexadecimal digits) are left out: they carry
  nothing, or what a search for their few spellings finds. So are strings without digits and number words.
- With more than ``max_chars`` characters of strings that need reading these are given up (``strings`` is None).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Final

from otel_footprint.core.evidence.typed.fields import field_of
from otel_footprint.core.evidence.typed.money_units import CODES
from otel_footprint.core.evidence.typed.naming import LONGEST_NAME, UNIT_NAMES, name_of, unit_of
from otel_footprint.core.evidence.typed.number_words import NUMBER_WORDS
from otel_footprint.core.messages import Json

MAX_CHARS: Final = 30_000
_LARGEST: Final = 1e300
_SAMPLE: Final = 64
_MOMENTS: Final = (
    r"(?:1[6-9]|20|21)\d\d-\d\d-\d\d(?:[T ]\d\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?[ ]?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?)?"
    r"|\d\d:[0-5]\d(?::[0-5]\d)?"
)
_NO_IDENTIFIERS: Final = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "p",
    "rs",
    "ca",
    "approx",
]


def _spelled(words: Iterable[str]) -> str:
    """A pattern of words in small letters, capitalised and in capitals; by first letter, so that most are told by that."""
    by_letter: dict[str, dict[str, None]] = {}
    for word in words:
        for one in (word, word.capitalize(), word.upper()):
            by_letter.setdefault(one[0], {})[one[1:]] = None
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())


_IDENTIFIERS: Final = (
    rf"(?=[A-Za-z#])(?!(?=[A-Z]{{2,4}}\d)(?:{'|'.join(sorted(CODES))})\d)(?!{_spelled(_NO_IDENTIFIERS)})"
    r"(?:[a-z]{3,8}[._][0-9a-f]{0,40}?[a-f][0-9a-f]{4,40}|[A-Za-z#][A-Za-z_]{0,30}[-_]?\d{4,15})"
)
_HEXES: Final = (
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|(?=[0-9]{0,63}[a-f])[0-9a-f]{16,64}"
)
PLAIN: Final = rf"{_MOMENTS}|{_IDENTIFIERS}|{_HEXES}"
_LINE_TO_READ: Final = re.compile(rf"\n(?!(?:{PLAIN}|[^0-9\n]{{0,12}})\n)", re.ASCII)
"""It begins with a literal, which makes searching many lines for it fast."""
_DIGIT: Final = re.compile(r"\d")
_ASCII_DIGIT: Final = re.compile(r"[0-9]")


class Gathered:
    """What one text carries so far.

    ``strings`` are the strings that need reading, with the names of their fields (keys have none), in order; None when they
    are too many. ``quoted`` counts all strings, keys too.
    """

    def __init__(self, max_chars: int = MAX_CHARS) -> None:
        self.numbers: dict[str | None, array[float]] = {}
        self.strings: dict[tuple[str | None, str], None] | None = {}
        self.quoted = 0
        self._chars = 0
        self._max_chars = max_chars

    def add(self, values: Iterable[Json], name: str | None) -> None:
        """Add JSON values; ``name`` is that of the list they are items of."""
        stack: list[tuple[str | None, Iterable[Json]]] = [(name, values)]
        while stack:
            name, items = stack.pop()
            tables, rest = _by_fields(list(items))
            if rest:
                stack += ((name, inner) for inner in self._column(rest, name))
            if tables:
                self._read_strings(set(chain.from_iterable(tables)), None)
            for fields, alike in tables.items():
                self.quoted += len(fields) * len(alike)
                for unit, rows in _by_unit(fields, alike).items():
                    cells = list(chain.from_iterable(map(dict.values, rows)))
                    for place, child in enumerate(fields):
                        short = len(child) <= LONGEST_NAME
                        own = name_of(name, child, unit) if short else None
                        for inner in self._column(cells[place :: len(fields)], own):
                            stack.append((name_of(name, child, "") if short else None, inner))

    def _column(self, column: Sequence[Json], name: str | None) -> list[Iterable[Json]]:
        """Add what a field holds; returns what is to be looked into."""
        kinds = set(map(type, column))
        numbers = kinds & {int, float}
        if numbers:
            found: Sequence[float] = column if kinds == numbers else [one for one in column if type(one) in numbers]  # type: ignore[assignment,misc]
            sizes = self.numbers.get(name)
            if sizes is None:
                sizes = self.numbers[name] = array("d")
            sizes.extend(found if _are_usual(found) else [one for one in found if -_LARGEST < one < _LARGEST])
        if str in kinds:
            texts: Sequence[str] = column if len(kinds) == 1 else [one for one in column if type(one) is str]  # type: ignore[assignment]
            self.quoted += len(texts)
            self._read_strings(texts if _seem_distinct(texts) else set(texts), name)
        deeper: list[Iterable[Json]] = []
        if dict in kinds:
            deeper.append([one for one in column if type(one) is dict])
        if list in kinds:
            deeper.append(chain.from_iterable(one for one in column if type(one) is list))
        return deeper

    def _read_strings(self, strings: Collection[str], name: str | None) -> None:
        if self.strings is None:
            return
        for one in dict.fromkeys(_needing_reading(strings, name)):
            if (name, one) in self.strings:
                continue
            if _DIGIT.search(one) is None and (len(one) <= 12 or NUMBER_WORDS.search(one.lower()) is None):
                continue
            self.strings[name, one] = None
            self._chars += len(one)
            if self._chars > self._max_chars:
                self.strings = None
                return


def _seem_distinct(texts: Sequence[str]) -> bool:
    """Whether a sample of them has no two alike: then they are read faster in their order than in that of a set."""
    return len(texts) > _SAMPLE and len(set(texts[:_SAMPLE])) == _SAMPLE


def _are_usual(numbers: Sequence[float]) -> bool:
    """Whether none of them is too large, infinite or no number: told at the speed of memory."""
    if not -_LARGEST < min(numbers) <= max(numbers) < _LARGEST:
        return False
    total = sum(numbers)
    return -_LARGEST < total < _LARGEST  # it is no number when one of them is none


def _by_fields(items: list[Json]) -> tuple[dict[tuple[str, ...], list[dict[str, Json]]], list[Json]]:
    """The objects by their fields, and what is no object."""
    tables: dict[tuple[str, ...], list[dict[str, Json]]] = {}
    rest: list[Json] = []
    if len(items) > 1 and set(map(type, items)) == {dict}:
        shapes = set(map(tuple, items))  # type: ignore[arg-type]
        if len(shapes) == 1:
            tables[shapes.pop()] = items  # type: ignore[assignment,index]
            return tables, rest
    for item in items:
        if type(item) is dict:
            fields = tuple(item)
            alike = tables.get(fields)
            if alike is None:
                tables[fields] = [item]
            else:
                alike.append(item)
        else:
            rest.append(item)
    return tables, rest


def _by_unit(fields: tuple[str, ...], rows: list[dict[str, Json]]) -> dict[str, list[dict[str, Json]]]:
    if UNIT_NAMES.isdisjoint(fields):
        return {"": rows}
    found: dict[str, list[dict[str, Json]]] = {}
    for row in rows:
        found.setdefault(unit_of(row), []).append(row)
    return found


def _needing_reading(strings: Collection[str], name: str | None) -> Iterable[str]:
    field = field_of(name) if name else None
    if field is not None and (field.phone or field.duration):
        return strings
    joined = "\n" + "\n".join(strings) + "\n"
    if joined.count("\n") == len(strings) + 1:
        starts = [match.end() for match in _LINE_TO_READ.finditer(joined)]
        found = [joined[at : joined.find("\n", at)] for at in starts if at < len(joined)]
        return found if joined.isascii() else [*found, *filter(_has_other_digits, strings)]
    return [
        one for one in strings if "\n" in one or _LINE_TO_READ.match(f"\n{one}\n") is not None or _has_other_digits(one)
    ]


def _has_other_digits(one: str) -> bool:
    """Whether it holds digits, and none of ASCII."""
    return not one.isascii() and _DIGIT.search(one) is not None and _ASCII_DIGIT.search(one) is None
