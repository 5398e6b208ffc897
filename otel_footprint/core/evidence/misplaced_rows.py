"""The rows of tables, as the advisory on misplaced values looks at them: names, cells by field, numbers by field.

Rules
-----
- A row that is one object of scalars is not taken apart before somebody asks for its cells: most are only known by name.
- Cells are kept as they are spelled, without blanks around them. The numbers of a table are indexed when first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.misplaced_lines import number
from otel_footprint.core.messages import Json

_NAMING: Final = re.compile(
    r"(?:^|[_\-. ])(?:ids?|no|number|code|names?|title|sku|key|ref|reference|symbol|ticker|iata|label)$|[a-z](?:Id|Name)$",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
class Table:
    """Rows that stand beside each other. ``fields`` are the fields any of them has, in order of appearance."""

    rows: list[Row] = field(default_factory=list)
    fields: dict[str, None] = field(default_factory=dict)
    _index: dict[str, dict[Decimal, list[Row]]] | None = None

    @property
    def index(self) -> Mapping[str, Mapping[Decimal, Sequence[Row]]]:
        """For each field that holds numbers, the rows by number."""
        if self._index is None:
            self._index = {}
            for row in self.rows:
                for name, cells in row.cells.items():
                    for spelled in cells:
                        found = number(spelled)
                        if found is not None:
                            self._index.setdefault(name, {}).setdefault(found, []).append(row)
        return self._index


@dataclass(slots=True, eq=False)
class Row:
    """One row: what it is called (``names``), its scalars by field, and the row around its table.

    ``carried`` is its text as evidence, made when a value first asks. ``item`` is the object of scalars that is the whole
    row, until its cells are asked for: of most rows they never are.
    """

    table: Table
    around: Row | None = None
    names: list[str] = field(default_factory=list)
    item: Mapping[str, Json] | None = None
    carried: object = None
    _cells: dict[str, list[str]] = field(default_factory=dict)
    _spelled: frozenset[str] | None = None

    @property
    def cells(self) -> dict[str, list[str]]:
        """Its scalars as they are spelled, by field."""
        if self.item is not None:
            self._cells = {key: [spelled_of(cell)] for key, cell in self.item.items()}
            self.item = None
        return self._cells

    @property
    def is_empty(self) -> bool:
        """Whether it has no cells."""
        return self.item is None and not self._cells

    def texts(self) -> dict[str, str]:
        """What the first cell of each field says; those of an object without its numbers."""
        if self.item is None:
            return {name: cells[0] for name, cells in self._cells.items()}
        return {name: cell.strip() for name, cell in self.item.items() if type(cell) is str}

    @property
    def spelled(self) -> frozenset[str]:
        """Its cells in small letters."""
        if self._spelled is None:
            self._spelled = frozenset([cell.lower() for cells in self.cells.values() for cell in cells])
        return self._spelled

    @property
    def label(self) -> str:
        """What to call it: the longest of what its naming fields say, one of capitalised words first; else its key."""
        called = [cell for name, cells in self.cells.items() if is_naming(name) for cell in cells if cell in self.names]
        return max(called, key=lambda name: (name[0].isupper(), len(name)), default=next(iter(self.names), ""))


@dataclass(slots=True)
class Tables:
    """What one text's tables hold. ``rows`` are those of all of them, also of tables that name no row, and one row for what
    stands in no table; ``names`` are the rows by the words of their names, ``longest`` how many words a name that starts
    with a word has at most.
    """

    rows: list[Row]
    names: dict[tuple[str, ...], tuple[Row, ...]] = field(default_factory=dict)
    longest: dict[str, int] = field(default_factory=dict)


@lru_cache(maxsize=4096)
def is_naming(field: str) -> bool:
    """Whether a field says what the row is called."""
    return _NAMING.search(field) is not None


def spelled_of(cell: Json) -> str:
    """How a scalar that is a cell is spelled."""
    return cell.strip() if type(cell) is str else str(cell)
