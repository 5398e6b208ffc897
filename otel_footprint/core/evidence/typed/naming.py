"""Walk JSON leaves with names that say all that is said about them: field, parent, and a unit stated beside them.

Rules
-----
- A field whose own name says nothing ("0", "economy") is named with the field it is in ("prices economy").
- A number with a unit or currency in a field beside it ("value": 5, "unit": "GB") has that unit behind its name.
- Every key is a leaf of its own, without a name.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from otel_footprint.core.evidence.typed.fields import UNIT, says_something
from otel_footprint.core.messages import Json

_UNIT_FIELDS: Final = (
    "unit",
    "units",
    "currency",
    "currency_code",
    "currencyCode",
    "uom",
    "unit_of_measure",
    "unitOfMeasure",
    "unitCode",
    "unitText",
    "priceCurrency",
)
_UNIT_NAMES: Final = frozenset(_UNIT_FIELDS)
_LONGEST_UNIT: Final = 20
_LONGEST_NAME: Final = 80


def named_leaves(value: Json) -> Iterator[tuple[str | None, Json]]:
    """The leaves of a JSON value, in order, each with its name; items of a list have the name of the list."""
    stack: list[tuple[str | None, Json]] = [(None, value)]
    while stack:
        name, item = stack.pop()
        if isinstance(item, dict):
            unit = "" if _UNIT_NAMES.isdisjoint(item) else _unit_of(item)
            for child, inner in reversed(item.items()):
                if len(child) <= _LONGEST_NAME:
                    stack.append((_name(name, child, unit if unit and isinstance(inner, (int, float)) else ""), inner))
                else:  # a text, not a name
                    stack.append((None, inner))
                stack.append((None, child))
        elif isinstance(item, list):
            stack.extend((name, inner) for inner in reversed(item))
        else:
            yield name, item


def gather_numbers(value: Json, name: str | None, by_field: dict[str | None, array[float]]) -> None:
    """Add the numbers among the named leaves to those of their fields; those beyond 1e300 are left out.

    For megabytes: ``name`` is that of the list the value is an item of.
    """
    stack: list[tuple[str | None, Json]] = [(name if name is None or len(name) <= _LONGEST_NAME else None, value)]
    while stack:
        name, item = stack.pop()
        if type(item) is dict:
            unit = "" if _UNIT_NAMES.isdisjoint(item) else _unit_of(item)
            for child, inner in item.items():
                kind = type(inner)
                if kind is float or kind is int:
                    own = _name(name, child, unit) if len(child) <= _LONGEST_NAME else None
                    _gather(inner, own, by_field)  # type: ignore[arg-type]
                elif kind is dict or kind is list:
                    stack.append((_name(name, child, "") if len(child) <= _LONGEST_NAME else None, inner))
        elif type(item) is list:
            for inner in item:
                kind = type(inner)
                if kind is float or kind is int:
                    _gather(inner, name, by_field)  # type: ignore[arg-type]
                elif kind is dict or kind is list:
                    stack.append((name, inner))
        elif type(item) is float or type(item) is int:
            _gather(item, name, by_field)


def _gather(number: float, name: str | None, by_field: dict[str | None, array[float]]) -> None:
    if -1e300 < number < 1e300:
        sizes = by_field.get(name)
        if sizes is None:
            sizes = by_field[name] = array("d")
        sizes.append(number)


def _unit_of(item: dict[str, Json]) -> str:
    for field in _UNIT_FIELDS:
        unit = item.get(field)
        if isinstance(unit, str) and 0 < len(unit) <= _LONGEST_UNIT:
            return UNIT + unit
    return ""


@lru_cache(maxsize=4096)
def _name(parent: str | None, child: str, unit: str) -> str:
    if parent is None or says_something(child):
        return child + unit
    return f"{parent.partition(UNIT)[0]} {child}{unit}"
