"""Compare an answer with a carrier, and with every answer that differs from it by one digit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from otel_footprint.core.evidence.typed import Typed, agrees, find, of_leaf

RUNS = re.compile(r"\d+", re.ASCII)
Carrier: TypeAlias = "str | tuple[str | None, object]"
"""Text of a tool result, or a leaf with the name of its field."""


def carried(carrier: Carrier) -> tuple[Typed, ...]:
    return find(carrier) if isinstance(carrier, str) else of_leaf(*carrier)


def only(answer: str, kind: str | None = None) -> Typed:
    """The one value of an answer (of a kind)."""
    values = [value for value in find(answer) if kind is None or value.kind == kind]
    assert len(values) == 1, values
    return values[0]


def grounds(carrier: Carrier, answer: str) -> bool:
    """Whether every value of the answer is carried; an answer without one never is."""
    values = find(answer)
    offers = carried(carrier)
    return bool(values) and all(_held(value, offers) for value in values)


def _held(value: Typed, offers: tuple[Typed, ...]) -> bool:
    if any(agrees(value, offer) for offer in offers):
        return True
    return bool(value.parts) and all(_held(part, offers) for part in value.parts)


def mirrors(answer: str) -> Iterator[str]:
    """The answer with one digit changed, in every way."""
    for place, char in enumerate(answer):
        if char.isascii() and char.isdigit():
            for digit in "0123456789":
                if digit != char:
                    yield answer[:place] + digit + answer[place + 1 :]


def wrongly_grounded(carrier: Carrier, answer: str, free: str = "") -> list[str]:
    """The mirrors of the answer that the carrier grounds all the same.

    ``free`` is the part of the answer that the carrier says nothing about (the year of a date without one). In an answer
    with several values, a mirror whose number is one that the carrier states elsewhere is no wrong number.
    """
    stated = (
        {int(run) for run in RUNS.findall(carrier)} if isinstance(carrier, str) and len(find(answer)) > 1 else set()
    )
    wrong = []
    for mirror in mirrors(answer):
        place = next(place for place, char in enumerate(mirror) if char != answer[place])
        if free and answer.find(free) <= place < answer.find(free) + len(free):
            continue
        run = next(match for match in RUNS.finditer(mirror) if match.start() <= place < match.end())
        values = find(mirror)
        covered = any(value.start <= place < value.end for value in values)
        if covered and int(run[0]) not in stated and grounds(carrier, mirror):
            wrong.append(mirror)
    return wrong
