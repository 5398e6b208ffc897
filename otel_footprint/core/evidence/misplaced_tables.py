"""The tables in a tool result: which fields belong together under which name, to see whose a value is.

Rules
-----
- A table is a list of objects, a list of lists or delimited lines under a header, a markdown table, objects of one shape
  keyed by name, or columns: lists of one length, or objects whose keys are the rows (``{"PTS": {"0": 12, "1": 8}}``).
- A row owns its scalars and those of objects in it; what stands in a table inside it belongs to that table's rows, which
  know the row around them.
- A row is named by its key, by fields that say so (name, id, code, number, title …), and by a field whose values are
  capitalised words, different in every row. A table in which no row has a name is left out, and so is a list of names and
  values (``{"name": "Weight", "value": "261 g"}``): those are fields, not things.
- Text of more than ``MAX_TEXT`` characters is not read, nor more than ``MAX_CELLS`` cells of one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.misplaced_lines import Grid, grids, number
from otel_footprint.core.evidence.reader import Reading
from otel_footprint.core.messages import Json

MAX_TEXT: Final = 65_536
MAX_CELLS: Final = 30_000
MAX_NAME: Final = 60
MAX_WORDS: Final = 8

_NAMING: Final = re.compile(
    r"(?:^|[_\-. ])(?:ids?|no|number|code|names?|title|sku|key|ref|reference|symbol|ticker|iata|label)$|[a-z](?:Id|Name)$",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"(?:.*[_. ])?(?:value|val|text|content|detail|details|description)s?", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.\-_][^\W_]+)*")
_PROPER: Final = re.compile(r"[^\W\d_][^\d]*", re.UNICODE)


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

    ``carried`` is its text as evidence, made when a value first asks.
    """

    table: Table
    around: Row | None = None
    names: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    carried: object = None
    _spelled: frozenset[str] | None = None

    @property
    def spelled(self) -> frozenset[str]:
        """Its cells in small letters."""
        if self._spelled is None:
            self._spelled = frozenset([cell.lower() for cells in self.cells.values() for cell in cells])
        return self._spelled

    @property
    def label(self) -> str:
        """What to call it: the longest of what its naming fields say, one of capitalised words first; else its key."""
        called = [
            cell for name, cells in self.cells.items() if _is_naming(name) for cell in cells if cell in self.names
        ]
        return max(called, key=lambda name: (name[0].isupper(), len(name)), default=next(iter(self.names), ""))


@dataclass(slots=True)
class Tables:
    """The tables of one text. ``rows`` are those of all of them, also of tables that name no row, and one row for what
    stands in no table; ``names`` are the rows by the words of their names, ``longest`` how many words a name that starts
    with a word has at most.
    """

    tables: list[Table]
    rows: list[Row]
    names: dict[tuple[str, ...], tuple[Row, ...]] = field(default_factory=dict)
    longest: dict[str, int] = field(default_factory=dict)


def may_hold_rows(text: str) -> bool:
    """Whether a text is worth reading for tables: objects, lists of lists, or lines with a delimiter."""
    return len(text) <= MAX_TEXT and (text.count("{") > 1 or text.count("[") > 1 or text.count("\n") > 1)


def tables_of(reading: Reading) -> Tables:
    """The tables in what a result holds."""
    reader = _Reader()
    for value in reading.values:
        reader.walk(value)
    if len(reading.tail) > 2:
        reader.lines(reading.tail)
    rows = [row for table in reader.tables for row in table.rows if row.cells]
    found = Tables([table for table in reader.tables if _named(table)], [reader.outside, *rows])
    for table in found.tables:
        _index_names(table, found)
    return found


def key_of(word: str) -> str:
    """How one word of a name is compared: letters alone as they stand, anything else in any case."""
    return word if word.isalpha() else word.lower().replace("\u2019", "'")


def _one_word(text: str) -> bool:
    return text.isalnum() and text.isascii()


def words_of(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text with their spans; a possessive ending belongs to none."""
    for match in _WORD.finditer(text):
        word = match.group()
        if word[-2:] in ("'s", "\u2019s"):
            word = word[:-2]
        yield match.start(), match.start() + len(word), key_of(word)


@lru_cache(maxsize=4096)
def _is_naming(field: str) -> bool:
    """Whether a field says what the row is called."""
    return _NAMING.search(field) is not None


@lru_cache(maxsize=4096)
def _is_value(field: str) -> bool:
    return _VALUE.fullmatch(field) is not None


def _index_names(table: Table, found: Tables) -> None:
    counts: dict[tuple[str, ...], dict[Row, None]] = {}
    for row in table.rows:
        for name in row.names:
            words = (key_of(name),) if _one_word(name) else tuple([word for _, _, word in words_of(name)])
            if words and len(words) <= MAX_WORDS and (len(words) > 1 or _telling(words[0])):
                counts.setdefault(words, {})[row] = None
    for words, rows in counts.items():
        if len(rows) <= 2 or len(rows) * 2 <= len(table.rows):
            found.names[words] = (*found.names.get(words, ()), *rows)
            found.longest[words[0]] = max(found.longest.get(words[0], 0), len(words))


def _telling(word: str) -> bool:
    """Whether one word is enough of a name to be recognised."""
    if word.isdigit():
        return len(word) > 3
    return len(word) > 2 and not (word.isalpha() and word.islower())


class _Reader:
    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.outside = Row(Table())
        self.cells = 0

    def walk(self, value: Json) -> None:
        stack: list[tuple[Json, Row | None, str]] = [(value, None, "")]
        while stack and self.cells < MAX_CELLS:
            item, row, path = stack.pop()
            if isinstance(item, dict):
                if not self._record(item, row or self.outside, path):
                    stack.extend(reversed(list(self._object(item, row, path))))
            elif isinstance(item, list):
                stack.extend(reversed(list(self._list(item, row, path))))
            else:
                self._cell(row or self.outside, path, item)

    def _record(self, item: Mapping[str, Json], row: Row, path: str) -> bool:
        """Read an object that holds scalars only, if it is one: most are."""
        kinds = set(map(type, item.values()))
        if dict in kinds or list in kinds:
            return False
        for key, inner in item.items():
            if self.cells >= MAX_CELLS:
                break
            if inner is not None and inner is not True and inner is not False:
                self._cell(row, f"{path}.{key}" if path else key, inner)
        return True

    def _object(self, item: Mapping[str, Json], row: Row | None, path: str) -> Iterator[tuple[Json, Row | None, str]]:
        if self._columns(item, row):
            return
        read = self._split(item, row)
        keyed = _of_one_shape(item)
        table = self._table() if keyed else None
        for key, inner in item.items():
            if table is not None and key in keyed:
                own = self._row(table, row)
                if not key.isdigit() or len(key) > 3:
                    own.names.append(key)
                yield inner, own, ""
            elif key not in read:
                yield inner, row, f"{path}.{key}" if path else key

    def _list(self, item: Sequence[Json], row: Row | None, path: str) -> Iterator[tuple[Json, Row | None, str]]:
        lines = _lines(item)
        if lines and _all_text(lines[0]):
            self._grid([str(cell) for cell in lines[0]], lines[1:], row)
            return
        table = self._table() if any(isinstance(inner, dict) for inner in item) else None
        for inner in item:
            if table is not None and isinstance(inner, dict):
                yield inner, self._row(table, row), ""
            else:
                yield inner, row, path

    def _columns(self, item: Mapping[str, Json], around: Row | None) -> bool:
        """Read an object of columns, if it is one."""
        columns: list[tuple[str, Mapping[str, Json]]] = []
        for name, inner in item.items():
            if isinstance(inner, dict):
                columns.append((name, inner))
            elif isinstance(inner, list):
                columns.append((name, {str(place): cell for place, cell in enumerate(inner)}))
            else:
                return False
        if len(columns) < 2 or len(columns[0][1]) < 2:
            return False
        keys = columns[0][1].keys()
        if any(column.keys() != keys for _, column in columns[1:]):
            return False
        if any(isinstance(cell, (dict, list)) for _, column in columns for cell in column.values()):
            return False
        if not _counts_up(keys):
            # Objects keyed by name look the same; columns are of one kind each, and one of them holds the names.
            kinds = [{_kind(cell) for cell in column.values()} - {"none"} for _, column in columns]
            if {"text"} not in kinds or any(len(kind) > 1 for kind in kinds):
                return False
        table = self._table()
        rows = {key: self._row(table, around) for key in keys}
        if not _counts_up(keys):
            for key, row in rows.items():
                row.names.append(key)
        for name, column in columns:
            for key, cell in column.items():
                self._cell(rows[key], name, cell)
        return True

    def _split(self, item: Mapping[str, Json], around: Row | None) -> frozenset[str]:
        """Read a header beside lists of lists (``{"columns": […], "data": [[…], …]}``); the keys of what was read."""
        grids = {key: lines for key, inner in item.items() if isinstance(inner, list) and (lines := _lines(inner))}
        for key, lines in grids.items():
            for name, inner in item.items():
                if isinstance(inner, list) and len(inner) == len(lines[0]) and _all_text(inner):
                    self._grid([str(cell) for cell in inner], lines, around)
                    return frozenset((key, name))
        return frozenset()

    def _grid(self, header: Sequence[str], lines: Iterable[Sequence[Json]], around: Row | None) -> None:
        table = self._table()
        for line in lines:
            if self.cells >= MAX_CELLS:
                return
            row = self._row(table, around)
            for name, cell in zip(header, line, strict=False):
                self._cell(row, name, cell)
            first = line[0] if line else None
            if isinstance(first, str) and number(first) is None and 1 < len(first) <= MAX_NAME:
                row.names.append(first)

    def lines(self, text: str) -> None:
        """Read the tables in a text that is no JSON."""
        for piece in grids(text):
            if isinstance(piece, Grid):
                self._grid(piece.header, piece.lines, None)
            else:
                self._cell(self.outside, "", piece)

    def _table(self) -> Table:
        table = Table()
        self.tables.append(table)
        return table

    def _row(self, table: Table, around: Row | None) -> Row:
        row = Row(table, around)
        table.rows.append(row)
        return row

    def _cell(self, row: Row, path: str, cell: Json) -> None:
        if isinstance(cell, str):
            spelled = cell.strip()
        elif cell is None or isinstance(cell, (bool, dict, list)):
            return
        else:
            spelled = str(cell)
        self.cells += 1
        cells = row.cells.get(path)
        if cells is None:
            row.cells[path] = [spelled]
            row.table.fields[path] = None
        else:
            cells.append(spelled)
        if (
            1 < len(spelled) <= MAX_NAME
            and _is_naming(path)
            and (len(spelled) > 3 or (isinstance(cell, str) and number(spelled) is None))
        ):
            row.names.append(spelled)


def _lines(item: Sequence[Json]) -> list[list[Json]]:
    """The lines of a list of lists of scalars, all of one length of two or more; empty for anything else."""
    lines = [inner for inner in item if isinstance(inner, list)]
    if len(lines) < 2 or len(lines) < len(item) or len(lines[0]) < 2:
        return []
    if any(len(line) != len(lines[0]) for line in lines) or any(
        isinstance(cell, (dict, list)) for line in lines for cell in line
    ):
        return []
    return lines


def _all_text(item: Sequence[Json]) -> bool:
    return len(item) > 1 and all(isinstance(cell, str) for cell in item)


def _kind(cell: Json) -> str:
    if cell is None or isinstance(cell, (bool, dict, list)):
        return "none"
    return "number" if not isinstance(cell, str) or number(cell.strip()) is not None else "text"


def _counts_up(keys: Iterable[str]) -> bool:
    """Whether the keys are an index: 0, 1, 2 … (or from 1), in any order."""
    names = sorted((key for key in keys if key.isascii() and key.isdigit()), key=int)
    total = sum(1 for _ in keys)
    return len(names) == total and int(names[0]) in (0, 1) and int(names[-1]) - int(names[0]) == total - 1


def _of_one_shape(item: Mapping[str, Json]) -> frozenset[str]:
    """The keys whose values are objects of one shape (two or more of them), which makes them rows keyed by name."""
    shapes: dict[str, frozenset[str]] = {
        key: frozenset(inner) for key, inner in item.items() if isinstance(inner, dict)
    }
    if len(shapes) < 2:
        return frozenset()
    counts: dict[str, int] = {}
    for shape in shapes.values():
        for name in shape:
            counts[name] = counts.get(name, 0) + 1
    common = {name for name, count in counts.items() if count > 1}
    alike = frozenset(key for key, shape in shapes.items() if shape and len(shape & common) * 2 > len(shape))
    return alike if len(alike) > 1 else frozenset()


def _named(table: Table) -> bool:
    """Complete the rows' names; whether there is anything to call a row by."""
    rows = table.rows = [row for row in table.rows if row.cells]
    if all(_is_naming(name) or _is_value(name) for name in table.fields):
        return False
    if len(rows) > 1:
        for name in table.fields:
            first = rows[0].cells.get(name)
            if first is None or not _proper(first[0]):
                continue
            values = [row.cells[name][0] for row in rows if name in row.cells]
            if len(values) == len(rows) and len(set(values)) == len(rows) and all(map(_proper, values)):
                for row, value in zip(rows, values, strict=True):
                    row.names.append(value)
    for row in rows:
        row.names = list(dict.fromkeys(name for name in row.names if name))
    return any(row.names for row in rows)


def _proper(value: str) -> bool:
    return 2 < len(value) <= 40 and value[0].isupper() and value.count(" ") < 4 and _PROPER.fullmatch(value) is not None
