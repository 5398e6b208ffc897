"""Tables written as text: CSV and the like, and markdown tables.

Rules
-----
- A markdown table is a line with bars, a line of dashes and bars, and the lines with bars after them.
- Delimited lines (comma, tab, semicolon, bar) are a table where the first line is a header, short names and no number,
  and two or more lines of as many cells follow, the first of them with a number. Quotes keep a delimiter in a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,10})?")
_RULE: Final = re.compile(r"[ \t|:\-]*")
_DELIMITERS: Final = (",", "\t", ";", "|")
_MAX_HEADER: Final = 40


class Grid(NamedTuple):
    """One table: the names of its columns, and the cells of each line."""

    header: list[str]
    lines: list[list[str]]


def number(spelled: str) -> Decimal | None:
    """The number a cell is, None for text."""
    if spelled.isdecimal() and spelled.isascii() and len(spelled) <= 15:
        return Decimal(spelled)
    if not spelled[-1:].isdecimal() or _NUMBER.fullmatch(spelled) is None:
        return None
    return Decimal(spelled.replace(",", ""))


def grids(text: str) -> Iterator[Grid | str]:
    """The tables of a text, and the lines that are in none."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        found = (_markdown(lines, at) or _delimited(lines, at)) if at + 1 < len(lines) else None
        if found is None:
            yield lines[at]
            at += 1
        else:
            yield found
            at += len(found.lines) + (2 if is_rule(lines[at + 1]) else 1)


def is_rule(line: str) -> bool:
    """Whether a line is the one under the header of a markdown table."""
    return "|" in line and "-" in line and _RULE.fullmatch(line) is not None


def split_line(line: str) -> list[str]:
    """The cells of a line of a markdown table, without decoration."""
    return [cell.strip().strip("*_`").strip() for cell in line.strip().strip("|").split("|")]


def _markdown(lines: Sequence[str], at: int) -> Grid | None:
    if "|" not in lines[at] or not is_rule(lines[at + 1]):
        return None
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return Grid(split_line(lines[at]), [split_line(line) for line in lines[at + 2 : end]])


def _delimited(lines: Sequence[str], at: int) -> Grid | None:
    for mark in _DELIMITERS:
        if mark not in lines[at] or mark not in lines[at + 1]:
            continue
        header = _cells(lines[at], mark)
        if len(header) < 2 or any(not name or len(name) > _MAX_HEADER or number(name) is not None for name in header):
            continue
        if all(number(cell) is None for cell in _cells(lines[at + 1], mark)):
            continue
        body: list[list[str]] = []
        for place in range(at + 1, len(lines)):
            cells = _cells(lines[place], mark)
            if len(cells) != len(header):
                break
            body.append(cells)
        if len(body) > 1:
            return Grid(header, body)
    return None


def _cells(line: str, mark: str) -> list[str]:
    if '"' not in line:
        return [cell.strip() for cell in line.split(mark)]
    cells, inside, start = [], False, 0
    for place, char in enumerate(line):
        if char == '"':
            inside = not inside
        elif char == mark and not inside:
            cells.append(line[start:place])
            start = place + 1
    cells.append(line[start:])
    return [cell.strip().strip('"').replace('""', '"') for cell in cells]
