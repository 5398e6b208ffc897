"""Walk JSON leaves with names that say all that is said about them: field, parent, and a unit stated beside them.

Rules
-----
- A field whose own name says nothing ("0", "economy") is named with the field it is in ("prices economy").
- A number with a unit or currency in a field beside it ("value": 5, "unit": "GB") has that unit behind its name.
- Every key is a leaf of its own, without a name.
"""

from __future__ import annotations

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
UNIT_NAMES: Final = frozenset(_UNIT_FIELDS)
_LONGEST_UNIT: Final = 20
LONGEST_NAME: Final = 80


def named_leaves(value: Json) -> Iterator[tuple[str | None, Json]]:
    """The leaves of a JSON value, in order, each with its name; items of a list have the name of the list."""
    stack: list[tuple[str | None, Json]] = [(None, value)]
    while stack:
        name, item = stack.pop()
        if isinstance(item, dict):
            unit = "" if UNIT_NAMES.isdisjoint(item) else unit_of(item)
            for child, inner in reversed(item.items()):
                if len(child) <= LONGEST_NAME:
                    stack.append(
                        (name_of(name, child, unit if unit and isinstance(inner, (int, float)) else ""), inner)
                    )
                else:  # a text, not a name
                    stack.append((None, inner))
                stack.append((None, child))
        elif isinstance(item, list):
            stack.extend((name, inner) for inner in reversed(item))
        else:
            yield name, item


def unit_of(item: dict[str, Json]) -> str:
    """The unit or currency that an object states in a field of its own, as it goes behind a name; or nothing."""
    for field in _UNIT_FIELDS:
        unit = item.get(field)
        if isinstance(unit, str) and 0 < len(unit) <= _LONGEST_UNIT:
            return UNIT + unit
    return ""


@lru_cache(maxsize=4096)
def name_of(parent: str | None, child: str, unit: str) -> str:
    """The name of a field in a field, with the unit that stands beside it."""
    if parent is None or says_something(child):
        return child + unit
    return f"{parent.partition(UNIT)[0]} {child}{unit}"
