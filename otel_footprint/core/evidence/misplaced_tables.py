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
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Final

from otel_footprint.core.evidence.misplaced_lines import Grid, grids, number
from otel_footprint.core.evidence.misplaced_rows import Row, Table, Tables, is_naming, spelled_of
from otel_footprint.core.evidence.misplaced_shapes import all_text, counts_up, kind_of, lines_in, of_one_shape
from otel_footprint.core.evidence.reader import Reading
from otel_footprint.core.messages import Json

MAX_TEXT: Final = 65_536
MAX_CELLS: Final = 30_000
MAX_NAME: Final = 60
MAX_WORDS: Final = 8
_MIN_WORD: Final = 3

_VALUE: Final = re.compile(r"(?:.*[_. ])?(?:value|val|text|content|detail|details|description)s?", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.\-_][^\W_]+)*")
_WHOLE: Final = itemgetter(0)
_CELLS: Final = frozenset({str, int, float})
_OBJECTS: Final = frozenset({dict})
_PROPER: Final = re.compile(r"[^\W\d_][^\d]*", re.UNICODE)


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
    found = Tables([reader.outside])
    for table in reader.tables:
        if any(row.is_empty for row in table.rows):
            table.rows = [row for row in table.rows if not row.is_empty]
        found.rows += table.rows
        if _named(table):
            _index_names(table, found)
    return found


def _cells_of(record: Mapping[str, Json]) -> dict[str, Json]:
    """The scalars of an object that are cells: null, true and false are none."""
    return {key: cell for key, cell in record.items() if cell is not None and cell is not True and cell is not False}


def key_of(word: str) -> str:
    """How one word of a name is compared: letters alone as they stand, anything else in any case; a possessive ending belongs
    to none."""
    if word[-1] == "s":
        word = word.removesuffix(_ending(word))
    return word if word.isalpha() else word.lower().replace("\u2019", "'")


def _ending(word: str) -> str:
    """The possessive ending of a word."""
    return word[-2:] if word[-2:] in ("'s", "\u2019s") else ""


def keys_of(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [word if word.isalpha() else key_of(word) for word in _WORD.findall(text)]


class Words:
    """The words of a text: ``keys`` in order, as they are compared, and where each stands."""

    __slots__ = ("_matches", "keys", "present")

    def __init__(self, text: str) -> None:
        self._matches = list(_WORD.finditer(text))
        self.keys = [word if word.isalpha() else key_of(word) for word in map(_WHOLE, self._matches)]
        self.present = frozenset(self.keys)

    def places(self, wanted: Iterable[str]) -> list[int]:
        """The numbers of the words that are among some, each of which is present, in order."""
        found: list[int] = []
        keys = self.keys
        for key in wanted:
            at = -1
            for _ in range(keys.count(key)):
                at = keys.index(key, at + 1)
                found.append(at)
        return sorted(found)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where the words from one to another stand, without a possessive ending."""
        return self._matches[first].start(), self._matches[last].end() - len(_ending(self._matches[last][0]))


@lru_cache(maxsize=4096)
def _is_value(field: str) -> bool:
    return _VALUE.fullmatch(field) is not None


def _index_names(table: Table, found: Tables) -> None:
    counts: dict[tuple[str, ...], list[Row]] = {}
    for row in table.rows:
        for name in row.names:
            if name.isalpha() and name.isascii():
                if len(name) < _MIN_WORD or name.islower():
                    continue
                said: tuple[str, ...] = (name,)
            else:
                said = tuple(keys_of(name))
                if not said or len(said) > MAX_WORDS or (len(said) == 1 and not _telling(said[0])):
                    continue
            rows = counts.get(said)
            if rows is None:
                counts[said] = [row]
            elif rows[-1] is not row:  # two names of a row may be one by their words
                rows.append(row)
    names, longest = found.names, found.longest
    for words, rows in counts.items():
        if len(rows) <= 2 or len(rows) * 2 <= len(table.rows):
            names[words] = (*names[words], *rows) if words in names else tuple(rows)
            word = words[0]
            if word not in longest or longest[word] < len(words):
                longest[word] = len(words)


def _telling(word: str) -> bool:
    """Whether one word is enough of a name to be recognised."""
    if word.isdigit():
        return len(word) > _MIN_WORD
    return len(word) >= _MIN_WORD and not (word.isalpha() and word.islower())


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
                    stack += reversed(list(self._object(item, row, path)))
            elif isinstance(item, list):
                stack += reversed(list(self._list(item, row, path)))
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

    def _records(self, items: Sequence[Json], around: Row | None) -> bool:
        """Read a list of objects of scalars, if it is one: most lists of objects are."""
        records: Sequence[dict[str, Json]] = items  # type: ignore[assignment]
        leaves = list(chain.from_iterable(map(dict.values, records)))
        kinds = set(map(type, leaves))
        if dict in kinds or list in kinds or self.cells + len(leaves) > MAX_CELLS:
            return False
        if not kinds <= _CELLS:
            records = [_cells_of(record) for record in records]
        table = self._table()
        fields = table.fields
        rows = table.rows
        for record in records:
            row = Row(table, around)
            rows.append(row)
            if record:
                row.item = record
                self.cells += len(record)
                if fields.keys() != record.keys():
                    fields.update(dict.fromkeys(record))
                for key in filter(is_naming, record):
                    cell = record[key]
                    spelled = spelled_of(cell)
                    if _is_name(spelled, cell):
                        row.names.append(spelled)
        return True

    def _object(self, item: Mapping[str, Json], row: Row | None, path: str) -> Iterator[tuple[Json, Row | None, str]]:
        if self._columns(item, row):
            return
        read = self._split(item, row)
        keyed = of_one_shape(item)
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
        kinds = set(map(type, item))
        if kinds == _OBJECTS and self._records(item, row):
            return
        lines = lines_in(item)
        if lines and all_text(lines[0]):
            self._grid([str(cell) for cell in lines[0]], lines[1:], row)
            return
        table = self._table() if dict in kinds else None
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
        if not counts_up(keys):
            # Objects keyed by name look the same; columns are of one kind each, and one of them holds the names.
            kinds = [{kind_of(cell) for cell in column.values()} - {"none"} for _, column in columns]
            if {"text"} not in kinds or any(len(kind) > 1 for kind in kinds):
                return False
        table = self._table()
        rows = {key: self._row(table, around) for key in keys}
        if not counts_up(keys):
            for key, row in rows.items():
                row.names.append(key)
        for name, column in columns:
            for key, cell in column.items():
                self._cell(rows[key], name, cell)
        return True

    def _split(self, item: Mapping[str, Json], around: Row | None) -> frozenset[str]:
        """Read a header beside lists of lists (``{"columns": […], "data": [[…], …]}``); the keys of what was read."""
        grids = {key: lines for key, inner in item.items() if isinstance(inner, list) and (lines := lines_in(inner))}
        for key, lines in grids.items():
            for name, inner in item.items():
                if isinstance(inner, list) and len(inner) == len(lines[0]) and all_text(inner):
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
        if is_naming(path) and _is_name(spelled, cell):
            row.names.append(spelled)


def _is_name(spelled: str, cell: Json) -> bool:
    """Whether the cell of a field that names the row is a name."""
    if len(spelled) > 3:
        return len(spelled) <= MAX_NAME
    return len(spelled) > 1 and isinstance(cell, str) and number(spelled) is None


def _named(table: Table) -> bool:
    """Complete the rows' names; whether there is anything to call a row by."""
    rows = table.rows
    if all(is_naming(name) or _is_value(name) for name in table.fields):
        return False
    if len(rows) > 1:
        texts = [row.texts() for row in rows]
        for name in [name for name, text in texts[0].items() if text[:1].isupper() and _proper(text)]:
            values = [found.get(name, "") for found in texts]
            if len(set(values)) == len(rows) and all(map(_proper, values)):
                for row, value in zip(rows, values, strict=True):
                    row.names.append(value)
    for row in rows:
        row.names = list(dict.fromkeys(filter(None, row.names)))
    return any(row.names for row in rows)


def _proper(value: str) -> bool:
    if not 2 < len(value) <= 40 or not value[0].isupper():
        return False
    return value.isalpha() or (value.count(" ") < 4 and _PROPER.fullmatch(value) is not None)
