"""Reads what a result says about nothing: a declared absence, gaps of its coverage, or an emptiness that nobody explained.

Rules
-----
- An absence and a coverage ledger are recognised strictly (see ``absence``). Their gaps are what was not checked and what
  cannot be covered.
- A result is empty when it is no text, an empty list, object or null, or an object that holds at least one empty list and
  otherwise only empty values, zero counts and false (``{"results": [], "total": 0}``). A coverage ledger is looked into:
  what it wraps may be empty, and then its ledger explains it.
- An error is not empty: it says something else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypeAlias

from otel_footprint.core.absence import read_absence, read_coverage
from otel_footprint.core.messages import Json

_EMPTY_TEXTS: Final = frozenset({"", "[]", "{}", "null", "none", '""', "()", "[[]]"})
_READ_CHARS: Final = 4096
"""Characters up to which a text is read as JSON for this: a rowset without rows is no longer."""


@dataclass(frozen=True, slots=True)
class DeclaredAbsent:
    """The tool looked, and there is nothing. ``gaps`` counts what it says it did not or cannot check."""

    gaps: int


@dataclass(frozen=True, slots=True)
class CoverageGap:
    """The tool says what it did not or cannot check."""

    gaps: int


@dataclass(frozen=True, slots=True)
class EmptyUndeclared:
    """Nothing came back, and nothing says what was looked at."""


Emptiness: TypeAlias = DeclaredAbsent | CoverageGap | EmptyUndeclared


def read_emptiness(content: Json, *, is_error: bool = False) -> Emptiness | None:
    """What the result says about nothing; None where it holds something, or is an error."""
    if is_error:
        return None
    absence = read_absence(content)
    if absence is not None:
        return DeclaredAbsent(len(absence.not_checked) + len(absence.cannot_cover))
    covered = read_coverage(content)
    if covered is not None:
        gaps = len(covered.not_checked) + len(covered.cannot_cover)
        return CoverageGap(gaps) if gaps else None
    return EmptyUndeclared() if is_empty(content) else None


def is_empty(content: Json) -> bool:
    """Whether a result holds nothing."""
    if isinstance(content, str):
        text = content.strip()
        if text.lower() in _EMPTY_TEXTS:
            return True
        if len(text) > _READ_CHARS or text[:1] != "{" or "[]" not in text.replace(" ", ""):
            return False
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return False
    if isinstance(content, dict):
        return not content or (
            any(value == [] for value in content.values()) and all(_says_nothing(value) for value in content.values())
        )
    if isinstance(content, list):
        return all(_is_empty_block(item) for item in content)
    return content is None


def _says_nothing(value: Json) -> bool:
    return value is None or value is False or value in (0, "", [], {})


def _is_empty_block(item: Json) -> bool:
    """Whether a block of a result's content holds nothing: a provider's text or JSON block."""
    if not isinstance(item, dict):
        return item == []
    if item.get("type", "text") not in ("text", "json", "input_text", "output_text"):
        return False
    if "text" in item:
        return isinstance(item["text"], str) and is_empty(item["text"])
    return "json" in item and is_empty(item["json"])
