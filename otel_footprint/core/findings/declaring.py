"""Reads what the model wrote into the reserved argument. Nothing is coerced.

Rules
-----
- A field that is not what it should be is dropped and counted as malformed; it is never given a default. What was not
  declared is absent, which is no verdict.
- ``basis`` is required inside the argument: without it the rest still counts, and the lack is one malformed field.
- Text is cut at ``TEXT_LIMIT`` characters; a name (an id, a subject, a predicate) that is longer is malformed, since a name
  that was cut is another name. Numbers that JSON does not have (NaN, infinities) are malformed.
- Bounded: entries past ``PREVIOUS_LIMIT`` and assertions past ``ASSERTIONS_LIMIT`` are malformed, each counted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from otel_footprint.core.findings.rows import BASES, EXPECTATIONS, TEXT_LIMIT, Assertion, Basis, Expect, Scalar
from otel_footprint.core.findings.standing import STANDINGS, Standing
from otel_footprint.core.messages import Json

PREVIOUS_LIMIT: Final = 64
ASSERTIONS_LIMIT: Final = 32
RAW_LIMIT: Final = 1_000_000
_NAME_LIMIT: Final = TEXT_LIMIT

_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True, slots=True)
class DeclaredStanding:
    """What the model says an earlier result is; ``tool_call_id`` is as it was written."""

    tool_call_id: str
    standing: Standing
    sought: str | None = None
    settles: str | None = None
    line: str | None = None
    assertions: tuple[Assertion, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """One reserved argument, read. ``malformed`` counts the fields that were dropped."""

    basis: Basis | None = None
    expect: Expect | None = None
    proposition: str | None = None
    predicts: str | None = None
    previous: tuple[DeclaredStanding, ...] = ()
    malformed: int = 0
    cut: bool = False


def read_texts(raw: Sequence[str]) -> Declared | None:
    """The declaration in the raw values that were taken out of one object; the last one where there are several.

    None where there are none. Each further one, and one that is no JSON, counts as malformed.
    """
    if not raw:
        return None
    extra = len(raw) - 1
    try:
        value = json.loads(raw[-1]) if len(raw[-1]) <= RAW_LIMIT else None
    except (ValueError, RecursionError):
        value = None
    return read_value(value, malformed=extra)


def read_value(value: Json, *, malformed: int = 0) -> Declared:
    """The declaration that a value of the reserved argument makes."""
    reading = _Reading(malformed)
    if not isinstance(value, dict):
        return Declared(malformed=malformed + 1)
    basis = reading.word(value, "basis", BASES)
    if basis is None and "basis" not in value:
        reading.malformed += 1
    expect = reading.word(value, "expect", EXPECTATIONS)
    proposition = reading.text(value, "proposition")
    predicts = reading.text(value, "predicts")
    cut = reading.took_cut()
    previous = tuple(
        found
        for entry in reading.items(value, "previous", PREVIOUS_LIMIT)
        if (found := _standing(reading, entry)) is not None
    )
    return Declared(basis, expect, proposition, predicts, previous, reading.malformed, cut)


def read_standing(entry: Json) -> tuple[DeclaredStanding | None, int]:
    """One entry of ``previous``, and how many of its fields are malformed; None where it says nothing about a result."""
    reading = _Reading(0)
    return _standing(reading, entry), reading.malformed


def _standing(reading: _Reading, entry: Json) -> DeclaredStanding | None:
    if not isinstance(entry, dict):
        reading.malformed += 1
        return None
    id_ = reading.name(entry, "toolCallId")
    standing = reading.word(entry, "standing", STANDINGS)
    if standing is None and "standing" not in entry:
        reading.malformed += 1
    if id_ is None or standing is None:
        return None
    sought, settles, line = (reading.text(entry, key) for key in ("sought", "settles", "line"))
    assertions = tuple(
        found
        for item in reading.items(entry, "assertions", ASSERTIONS_LIMIT)
        if (found := _assertion(reading, item)) is not None
    )
    if standing == "noise" and assertions:
        reading.malformed += 1
        assertions = ()
    return DeclaredStanding(id_, standing, sought, settles, line, assertions, reading.took_cut())


def _assertion(reading: _Reading, item: Json) -> Assertion | None:
    subject = item.get("subject") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(subject, dict) or "value" not in item:
        reading.malformed += 1
        return None
    kind, id_ = reading.name(subject, "kind"), reading.name(subject, "id")
    predicate = reading.name(item, "predicate")
    value = item["value"]
    if isinstance(value, (list, dict)) or (isinstance(value, float) and not math.isfinite(value)):
        reading.malformed += 1
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**TEXT_LIMIT:
        reading.malformed += 1
        return None
    if kind is None or id_ is None or predicate is None:
        return None
    scalar: Scalar = reading.shortened(value) if isinstance(value, str) else value
    return Assertion(kind, id_, predicate, scalar)


class _Reading:
    """Counts what was dropped, and remembers whether a text was cut."""

    def __init__(self, malformed: int) -> None:
        self.malformed = malformed
        self._cut = False

    def took_cut(self) -> bool:
        """Whether a text was cut since this was asked last."""
        cut, self._cut = self._cut, False
        return cut

    def word(self, given: dict[str, Any], key: str, allowed: Sequence[_Word]) -> _Word | None:
        """The word of a closed set; None where there is none, or another one (counted)."""
        if key not in given:
            return None
        found = next((word for word in allowed if word == given[key] and isinstance(given[key], str)), None)
        self.malformed += found is None
        return found

    def text(self, given: dict[str, Any], key: str) -> str | None:
        """A text, cut; None where there is none, or what is there is no text (counted)."""
        value = given.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.malformed += 1
            return None
        return self.shortened(value)

    def shortened(self, text: str) -> str:
        """The text, cut at the limit."""
        if len(text) > TEXT_LIMIT:
            self._cut = True
            return text[:TEXT_LIMIT]
        return text

    def name(self, given: dict[str, Any], key: str) -> str | None:
        """A name, whole; None (counted) for anything else."""
        value = given.get(key)
        if isinstance(value, str) and 0 < len(value) <= _NAME_LIMIT:
            return value
        self.malformed += 1
        return None

    def items(self, given: dict[str, Any], key: str, limit: int) -> list[Any]:
        """A list's items up to the limit; each one past it counts, and so does what is no list."""
        value = given.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.malformed += 1
            return []
        self.malformed += max(0, len(value) - limit)
        return value[:limit]
