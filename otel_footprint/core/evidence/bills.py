"""Prices times counts of rows: line totals, and what the lines of a list come to when no row states it.

Rules
-----
- A line is a row with one unit price and one count beside it; a price inside a part of the row that is no list (the product
  of a cart line) is the row's own too. A row with several prices, or several counts, is no line.
- A field is told by its words: one that says total, tax, discount or balance holds no unit price, a stock no count.
- A line total is one price times its own count. A bill is the sum over all lines of one list, or over the named ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from otel_footprint.core.evidence.families import Result, spelled
from otel_footprint.core.evidence.rows import Row, Table

MAX_LINES: Final = 200
"""Lines of which single totals are tried."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PRICE: Final = frozenset(
    {"price", "cost", "fee", "fare", "rate", "charge", "amount", "each", "msrp", "usd", "eur", "gbp"}
)
_NO_PRICE: Final = frozenset(
    {
        "total",
        "subtotal",
        "sum",
        "balance",
        "tax",
        "vat",
        "discount",
        "paid",
        "refund",
        "due",
        "tip",
        "shipping",
        "credit",
        "percent",
        "percentage",
        "exchange",
        "old",
        "previous",
        "original",
    }
)
_COUNT: Final = frozenset(
    {
        "qty",
        "quantity",
        "quantities",
        "count",
        "counts",
        "units",
        "pieces",
        "pcs",
        "copies",
        "nights",
        "hours",
        "tickets",
        "passengers",
        "guests",
    }
)
_NO_COUNT: Final = frozenset(
    {"stock", "available", "left", "remaining", "reserved", "minimum", "min", "maximum", "max", "review", "reviews"}
)


@dataclass(frozen=True, slots=True)
class Line:
    """One row that prices a number of things."""

    row: Row
    table: Table
    price: Decimal
    count: Decimal

    @property
    def total(self) -> Decimal:
        return self.price * self.count

    @property
    def inputs(self) -> tuple[str, ...]:
        return spelled(self.price), spelled(self.count)


def lines_of(rows: Sequence[Row]) -> list[Line]:
    """The rows that price a number of things, in order."""
    found: list[Line] = []
    for row in rows:
        if not row.cells:
            continue
        prices = _prices(row)
        if len(prices) != 1:
            continue
        counts, table = _counts(row), row.table
        above = row.owner
        if not counts and above is not None and row.table is above.table and not _prices(above):
            counts = _counts(above)
        if len(counts) == 1:
            found.append(Line(row, table, prices[0], counts[0]))
    return found


def line_totals(lines: Sequence[Line]) -> Iterator[Result]:
    """Each price times its own count."""
    seen: set[Decimal] = set()
    for line in lines[:MAX_LINES]:
        if line.count != 1 and line.total not in seen:
            seen.add(line.total)
            yield line.total, line.inputs


def bills(lines: Sequence[Line]) -> Iterator[Result]:
    """What the lines of each list come to."""
    tables: dict[Table, list[Line]] = {}
    for line in lines:
        tables.setdefault(line.table, []).append(line)
    for listed in tables.values():
        if len(listed) > 1:
            total = sum((line.total for line in listed), Decimal(0))
            yield total, tuple(one for line in listed[:8] for one in line.inputs)


def _prices(row: Row) -> list[Decimal]:
    return [cell.number for cell in row.cells if _sort(cell.field) == "price"]


def _counts(row: Row) -> list[Decimal]:
    return [cell.number for cell in row.cells if not cell.money and _sort(cell.field) == "count"]


@lru_cache(maxsize=1_024)
def _sort(field: str) -> Literal["price", "count"] | None:
    """What a field's words say its number is."""
    words = {word.lower() for word in _WORD.findall(field.rpartition(".")[2])}
    if words & _PRICE and not words & _NO_PRICE:
        return "price"
    return "count" if words & _COUNT and not words & _NO_COUNT else None
