"""Absence and coverage: how a tool says what it looked at, and that nothing was there.

Rules
-----
- An absence is an object with ``af_absent`` exactly true and a non-empty ``checked``; a coverage ledger one with
  ``af_coverage`` exactly true and a non-empty ``checked``. Anything else is no envelope: a look-alike proves nothing.
- ``looked_for`` quotes the arguments of the call. It grounds nothing, so the reader of results leaves it out.
- Extra keys are the tool's own words about the world and are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.messages import Json

ABSENT: Final = "af_absent"
COVERAGE: Final = "af_coverage"
LOOKED_FOR: Final = "looked_for"
_LISTS: Final = ("checked", "not_checked", "cannot_cover")


@dataclass(frozen=True, slots=True)
class Absence:
    """A recognised absence. ``extra`` holds the keys that are not of the envelope."""

    checked: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    cannot_cover: tuple[str, ...] = ()
    looked_for: Json = None
    try_instead: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Coverage:
    """A recognised coverage ledger around a result."""

    checked: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    cannot_cover: tuple[str, ...] = ()
    result: Json = None


def absent(
    *,
    checked: Iterable[str],
    not_checked: Iterable[str] = (),
    cannot_cover: Iterable[str] = (),
    looked_for: Json = None,
    try_instead: str | None = None,
    **extra: Json,
) -> dict[str, Json]:
    """The envelope a tool returns for "I looked and there is nothing"; give it back as the tool's result (a JSON object).

    ``checked`` names what was searched, ``not_checked`` what was left out, ``cannot_cover`` what the tool can never see.
    Raises ConfigurationError when ``checked`` is empty: an absence that looked nowhere says nothing.
    """
    envelope: dict[str, Json] = {ABSENT: True, **_ledger("absent", checked, not_checked, cannot_cover)}
    if looked_for is not None:
        envelope[LOOKED_FOR] = looked_for
    if try_instead is not None:
        envelope["try_instead"] = try_instead
    for key in (ABSENT, COVERAGE):
        if key in extra:
            raise ConfigurationError(
                f"absent() was given {key!r} as an extra key; leave it out, it is the envelope's mark"
            )
    return {**envelope, **extra}


def coverage(
    result: Json,
    *,
    checked: Iterable[str],
    not_checked: Iterable[str] = (),
    cannot_cover: Iterable[str] = (),
) -> dict[str, Json]:
    """The envelope a tool returns around a result to say what it covers. Raises ConfigurationError for an empty ``checked``."""
    return {COVERAGE: True, **_ledger("coverage", checked, not_checked, cannot_cover), "result": result}


def read_absence(content: Json) -> Absence | None:
    """The absence a tool's result is, given as an object or as its JSON text; None for everything else."""
    found = _object_marked(content, ABSENT)
    if found is None:
        return None
    lists = _lists_of(found)
    if lists is None:
        return None
    try_instead = found.get("try_instead")
    known = {ABSENT, LOOKED_FOR, "try_instead", *_LISTS}
    return Absence(
        *lists,
        looked_for=found.get(LOOKED_FOR),
        try_instead=try_instead if isinstance(try_instead, str) else None,
        extra={key: value for key, value in found.items() if key not in known},
    )


def read_coverage(content: Json) -> Coverage | None:
    """The coverage ledger a tool's result is; None for everything else."""
    found = _object_marked(content, COVERAGE)
    if found is None:
        return None
    lists = _lists_of(found)
    return None if lists is None else Coverage(*lists, result=found.get("result"))


def _ledger(
    name: str, checked: Iterable[str], not_checked: Iterable[str], cannot_cover: Iterable[str]
) -> dict[str, Json]:
    ledger: dict[str, Json] = {}
    for key, given in zip(_LISTS, (checked, not_checked, cannot_cover), strict=True):
        if isinstance(given, str):
            raise ConfigurationError(
                f"{name}({key}={given!r}) is one text; write a list of names, as in {key}=[{given!r}]"
            )
        names = [str(item) for item in given]
        if names or key == "checked":
            ledger[key] = list(names)
    if not ledger["checked"]:
        raise ConfigurationError(f"{name}(checked=[]) says nothing; name at least one thing that was looked at")
    return ledger


def _object_marked(content: Json, mark: str) -> dict[str, Json] | None:
    if isinstance(content, str):
        if mark not in content:
            return None
        try:
            content = json.loads(content)
        except (ValueError, RecursionError):
            return None
    if isinstance(content, dict) and content.get(mark) is True:
        return content
    return None


def _lists_of(found: Mapping[str, Json]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None:
    lists: list[tuple[str, ...]] = []
    for key in _LISTS:
        given = found.get(key, [])
        if not isinstance(given, list):
            return None
        lists.append(tuple(str(item) for item in given))
    if not lists[0]:
        return None
    return lists[0], lists[1], lists[2]
