"""Which lists and objects of JSON are tables by their shape.

Rules
-----
- Lists of scalars of one length are the lines of a table; a line that is all text may be its header.
- Objects of one shape in one object are rows keyed by name; keys that count up are only the index of rows. A longer number than
  any index has is a key like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from otel_footprint.core.evidence.misplaced_lines import number
from otel_footprint.core.messages import Json

_MAX_DIGITS: Final = 9
"""Digits of the largest index; Python converts no number of any length."""


def lines_in(item: Sequence[Json]) -> list[list[Json]]:
    """The lines of a list of lists of scalars, all of one length of two or more; empty for anything else."""
    lines = [inner for inner in item if isinstance(inner, list)]
    if len(lines) < 2 or len(lines) < len(item) or len(lines[0]) < 2:
        return []
    if any(len(line) != len(lines[0]) for line in lines) or any(
        isinstance(cell, (dict, list)) for line in lines for cell in line
    ):
        return []
    return lines


def all_text(item: Sequence[Json]) -> bool:
    """Whether a list of two or more holds nothing but text."""
    return len(item) > 1 and all(isinstance(cell, str) for cell in item)


def kind_of(cell: Json) -> str:
    """``text`` or ``number`` for a cell, ``none`` for what is no cell of a table."""
    if cell is None or isinstance(cell, (bool, dict, list)):
        return "none"
    return "number" if not isinstance(cell, str) or number(cell.strip()) is not None else "text"


def counts_up(keys: Iterable[str]) -> bool:
    """Whether the keys are an index: 0, 1, 2 … (or from 1), in any order."""
    names = [key.lstrip("0") or "0" if key.isascii() and key.isdigit() else "" for key in keys]
    if not names or not all(0 < len(name) <= _MAX_DIGITS for name in names):
        return False
    numbers = sorted(map(int, names))
    return numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1


def of_one_shape(item: Mapping[str, Json]) -> frozenset[str]:
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
