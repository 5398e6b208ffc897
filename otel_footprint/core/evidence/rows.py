"""The rows of tool results: what belongs together under a name, with its numbers, for arithmetic.

Rules
-----
- A row is an object of a list, a named object (it has an id, number, code or name), or a value of an object keyed by name.
  An object without a name of its own belongs to the row around it (``prices.economy`` of a flight).
- A number keeps its field. It is money when its field says so (price, fee, total, balance …) or when it has cents; seats,
  miles, counts and ids are not.
- Float noise is taken off: ``121.20000000000005`` is 121.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from otel_footprint.core.evidence.normal import fold
from otel_footprint.core.messages import Json

MAX_NUMBERS: Final = 20_000
"""Numbers of one result that arithmetic looks at."""
_MANY: Final = 4
_SENSIBLE: Final = 10**21
_PLAINLY_WRITTEN: Final = 20
MAX_CLOCKS: Final = 30
"""Clock times of one row that durations are made of."""
_REMEMBERED_FIELDS: Final = 4_096
_REMEMBERED_WORDS: Final = 2_048

_NAMING: Final = re.compile(
    r"(?:^|[_\-. ])(?:ids?|no|number|code|names?|title|sku|key|ref|reference|symbol|ticker|iata|label|player|team)$|[a-z]Id$",
    re.IGNORECASE,
)
_MONEY: Final = re.compile(
    r"price|fee|cost|amount|total|balance|fare|charge|refund|payment|paid|due|tax|tip|discount|salary|revenue|budget|credit"
    r"|usd|eur|gbp|dollar|subtotal|deposit|spend|spent|bill|premium|savings",
    re.IGNORECASE,
)
_COUNTING: Final = re.compile(
    r"bag|seat|mile|count|quantity|qty|number|items|pieces|_id$|year|day|hour|minute|points", re.IGNORECASE
)
_CLOCK: Final = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)[T ])?(\d\d?):(\d\d)(?::(\d\d))?(?:\s*([+]\d))?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
)


class Cell(NamedTuple):
    """One number of a row. ``money`` says whether it is an amount."""

    field: str
    number: Decimal
    money: bool


_NO_LISTS: Final[Mapping[str, int]] = MappingProxyType({})
_NO_WORDS: Final[Set[str]] = frozenset()


class Table:
    """What the rows of one list or map have in common: only that they are in it."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Row:
    """One row: its names (folded), numbers and list lengths by field.

    ``table`` is the same for rows that stand in one list or map; ``owner`` is the row around it; ``tags`` are its short
    words (a kind, a state), by which rows form groups; ``timed`` are texts that may be times. What most rows have none of
    is not made for them.
    """

    table: Table
    owner: Row | None = None
    names: set[str] = field(default_factory=set)
    cells: list[Cell] = field(default_factory=list)
    lists: Mapping[str, int] = field(default_factory=lambda: _NO_LISTS)
    timed: Sequence[str] = ()
    tags: Set[str] = _NO_WORDS

    @property
    def clocks(self) -> list[int]:
        """The first clock times in it, in minutes."""
        found = (minutes for one in self.timed if (minutes := clock_minutes(one)) is not None)
        return list(islice(found, MAX_CLOCKS))

    @property
    def kin(self) -> set[str]:
        """Its own names and those of the rows around it."""
        found = set(self.names)
        above = self.owner
        while above is not None:
            found |= above.names
            above = above.owner
        return found


def clean(number: float | int | Decimal) -> Decimal | None:
    """A number without float noise; None for what is no finite number of sensible size."""
    if type(number) is int and -_SENSIBLE < number < _SENSIBLE:
        return Decimal(number)
    if type(number) is float:
        written = repr(number)
        if len(written) <= _PLAINLY_WRITTEN and written[-1].isdigit() and "e" not in written:
            exact = Decimal(written)
            return exact if len(written) - written.index(".") <= 7 else round(exact, 6)
    exact = number if isinstance(number, Decimal) else Decimal(repr(number))
    if not exact.is_finite() or abs(exact.adjusted()) > 20:
        return None
    written = str(exact)
    point = written.find(".")
    if (point < 0 or len(written) - point <= 7) and "E" not in written:
        return exact
    exponent = exact.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -6:
        exact = round(exact, 6)
    return exact


def rows_of(values: tuple[Json, ...]) -> list[Row]:
    """The rows of a result's JSON values, in order."""
    reader = _Reader()
    for value in values:
        reader.walk(value)
        if reader.numbers > MAX_NUMBERS:
            break
    return [row for row in reader.rows if row.cells or row.lists or (row.timed and row.clocks)]


_Step: TypeAlias = "tuple[Json, Row | None, Row | None, str, Table, str | None]"
"""A value to walk: the row its leaves belong to, the row around it, the field so far, its table, its key in a map."""


class _Reader:
    """Walks values with a stack, since results may nest deeply."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.numbers = 0

    def walk(self, value: Json) -> None:
        stack: list[_Step] = [(value, None, None, "", Table(), None)]
        while stack and self.numbers <= MAX_NUMBERS:
            item, row, owner, path, table, called = stack.pop()
            if isinstance(item, dict):
                if row is None and called is None and _is_flat(item):
                    self._record(item, owner, table)
                    continue
                stack.extend(reversed(list(self._object(item, row, owner, path, table, called))))
            elif isinstance(item, list):
                inner = Table()
                if row is not None:
                    if isinstance(row.lists, dict):
                        row.lists[path] = len(item)
                    else:
                        row.lists = {path: len(item)}
                if len(item) >= _MANY and self._records(item, row or owner, inner):
                    continue
                for one in reversed(item):
                    if isinstance(one, (dict, list)):
                        stack.append((one, None, row or owner, "", inner, None))
                    else:
                        stack.append((one, row, owner, path, inner, None))
            else:
                self._leaf(item, row, path)

    def _records(self, items: list[Json], owner: Row | None, table: Table) -> bool:
        """Read a list of objects with the same fields that hold scalars only, field by field; False where it is no such list."""
        if set(map(type, items)) != {dict} or len(set(map(tuple, items))) > 1:  # type: ignore[arg-type]
            return False
        fields: tuple[str, ...] = tuple(items[0])  # type: ignore[arg-type]
        leaves: list[Json] = list(chain.from_iterable(map(dict.values, items)))  # type: ignore[arg-type]
        kinds = set(map(type, leaves))
        if dict in kinds or list in kinds or self.numbers + len(leaves) > MAX_NUMBERS:
            return False
        rows = [Row(table, owner) for _ in items]
        for place, key in enumerate(fields):
            naming, money = _is_naming(key), _says_money(key)
            for row, inner in zip(rows, leaves[place :: len(fields)], strict=True):
                if type(inner) is str:
                    if naming and 1 < len(inner) <= 80:
                        row.names.add(fold(inner).strip("# "))
                    _read_words(inner, row)
                elif naming and type(inner) is int:
                    row.names.add(str(inner))
                elif type(inner) is float or type(inner) is int:
                    number = clean(abs(inner))
                    if number:
                        self.numbers += 1
                        row.cells.append(Cell(key, number, _has_cents(inner, number) if money is None else money))
        self.rows += rows
        return True

    def _record(self, item: dict[str, Json], owner: Row | None, table: Table) -> None:
        """Read an object that is a row of its own and holds scalars only: most are."""
        row = Row(table, owner)
        self.rows.append(row)
        named = [key for key in item if _is_naming(key)]
        for key in named:
            inner = item[key]
            if type(inner) is str:
                if 1 < len(inner) <= 80:
                    row.names.add(fold(inner).strip("# "))
            elif type(inner) is int:
                row.names.add(str(inner))
        for key, inner in item.items():
            if type(inner) is str:
                _read_words(inner, row)
            elif type(inner) is float or (type(inner) is int and key not in named):
                self._number(inner, row, key)
                if self.numbers > MAX_NUMBERS:
                    return

    def _object(
        self, item: dict[str, Json], around: Row | None, owner: Row | None, path: str, table: Table, called: str | None
    ) -> Iterator[_Step]:
        named = called is not None or any(
            isinstance(inner, (str, int)) and _is_naming(key) for key, inner in item.items()
        )
        if around is None or named:
            row = Row(table, owner=around or owner)
            self.rows.append(row)
            if called is not None:
                row.names.add(fold(called))
            prefix = ""
        else:
            row, prefix = around, f"{path}." if path else ""
        children = [inner for inner in item.values() if isinstance(inner, dict)]
        is_map = len(children) > 1 and len(children) == len(item) and len({frozenset(child) for child in children}) <= 3
        inner_table = Table() if is_map else table
        for key, inner in item.items():
            if isinstance(inner, str) and 1 < len(inner) <= 80 and _is_naming(key):
                row.names.add(fold(inner).strip("# "))
            elif isinstance(inner, int) and not isinstance(inner, bool) and _is_naming(key):
                row.names.add(str(inner))
                continue
            yield inner, row, row, f"{prefix}{key}", inner_table, key if is_map else None

    def _leaf(self, item: Json, row: Row | None, path: str) -> None:
        if row is None:
            row = Row(Table())
            self.rows.append(row)
        if isinstance(item, str):
            _read_words(item, row)
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            self._number(item, row, path)

    def _number(self, item: int | float, row: Row, path: str) -> None:
        number = clean(abs(item))
        if number:
            self.numbers += 1
            row.cells.append(Cell(path, number, is_money(path, number)))


def _read_words(item: str, row: Row) -> None:
    if len(item) > 40:
        return
    if ":" in item:
        if isinstance(row.timed, list):
            row.timed.append(item)
        else:
            row.timed = [*row.timed, item] if row.timed else (item,)
    elif 2 < len(item) <= 24 and (
        item.isalpha() or (("_" in item or " " in item) and item.replace("_", "").replace(" ", "").isalpha())
    ):
        if isinstance(row.tags, set):
            row.tags.add(fold(item))
        else:
            row.tags = {*row.tags, fold(item)} if row.tags else _tag(item)


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _tag(item: str) -> frozenset[str]:
    """A word as the tags of a row: a word that is a kind or a state is that of many."""
    return frozenset((fold(item),))


def _has_cents(given: int | float, number: Decimal) -> bool:
    return type(given) is float and number.as_tuple().exponent == -2


def _is_flat(item: dict[str, Json]) -> bool:
    kinds = set(map(type, item.values()))
    return dict not in kinds and list not in kinds


@lru_cache(maxsize=_REMEMBERED_FIELDS)
def _is_naming(field_name: str) -> bool:
    """Whether a field says what the row is called."""
    return _NAMING.search(field_name) is not None


def is_money(field_name: str, number: Decimal) -> bool:
    """Whether a number of that field is an amount of money."""
    said = _says_money(field_name)
    return number.as_tuple().exponent == -2 if said is None else said


@lru_cache(maxsize=_REMEMBERED_FIELDS)
def _says_money(field_name: str) -> bool | None:
    """Whether all numbers of a field are money, or none; None where those with cents are."""
    if _COUNTING.search(field_name):
        return False
    return True if _MONEY.search(field_name) else None


def clock_minutes(spelled: str) -> int | None:
    """A time of day, or a date with one, in minutes (from the epoch's day when there is a date); None for other text."""
    match = _CLOCK.fullmatch(spelled.strip())
    if match is None:
        return None
    year, month, day, hour, minute, _, plus = match.groups()
    minutes = int(hour) * 60 + int(minute) + (1440 * int(plus[1:]) if plus else 0)
    if year is not None:
        minutes += 1440 * _day_number(int(year), int(month), int(day))
    return minutes


def _day_number(year: int, month: int, day: int) -> int:
    """Days since 1 March of year 0 in the Gregorian calendar; months past twelve simply count on."""
    shifted = (month + 9) % 12
    year -= shifted // 10
    return 365 * year + year // 4 - year // 100 + year // 400 + (shifted * 306 + 5) // 10 + day - 1
