"""Say whether a regular expression may backtrack without bound, so that a declared shape cannot make judging slow.

Rules
-----
- Refused: a repeat inside a repeat (``(a+)+``) and alternatives inside a repeat (``(a|a)*``), unless each round of the outer
  one begins or ends with a character that the inner one cannot eat (``(?:-[a-z0-9]+)*``); three or more unbounded repeats in
  a row that can eat the same characters; back references.
- The parse tree of the standard library is read; a pattern of which it cannot be had is refused.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Final

if sys.version_info >= (3, 11):
    from re import _parser as _sre_parse
else:  # pragma: no cover - the same parser under its older name
    import sre_parse as _sre_parse

_UNBOUNDED: Final = 64
_MAX_ROW: Final = 2
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_CHARS: Final = frozenset(map(chr, range(128))) | {"\u00e9", "\u0663", "\u2028"}
"""ASCII, and one letter, digit and blank that stand for the rest of Unicode."""


def runaway_part(source: str, flags: int) -> str | None:
    """What in the pattern can backtrack without bound, in words; None when nothing can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree: Any = _sre_parse.parse(source, flags & ~re.DEBUG)
    except (re.error, RecursionError, OverflowError):
        return "a pattern that cannot be read"
    return _sequence(list(tree), flags, repeated=False)


def _sequence(items: Sequence[Any], flags: int, *, repeated: bool) -> str | None:
    row: list[frozenset[str]] = []  # what the unbounded repeats since the last firm boundary can eat
    for operator, argument in items:
        name = str(operator)
        if name in _REPEATS:
            low, high, body = argument
            varies = low != high
            if repeated and varies:
                return "a repeat inside a repeat"
            many = high is _sre_parse.MAXREPEAT or int(high) > 1
            fault = _body(list(body), flags, repeated=repeated or many)
            if fault is not None:
                return fault
            if varies and (high is _sre_parse.MAXREPEAT or int(high) > _UNBOUNDED):
                eaten = _eaten(list(body), flags)
                row = [one for one in row if one & eaten] + [eaten]
                if len(row) > _MAX_ROW:
                    return "three unbounded repeats that eat the same characters"
            continue
        fault = _inner(name, argument, flags, repeated=repeated)
        if fault is not None:
            return fault
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            eaten = _eaten([(operator, argument)], flags)
            row = [one for one in row if one & eaten]
    return None


def _body(items: Sequence[Any], flags: int, *, repeated: bool) -> str | None:
    """The body of a repeat: free inside when a firm boundary parts its rounds."""
    while len(items) == 1 and str(items[0][0]) in ("SUBPATTERN", "ATOMIC_GROUP"):
        argument = items[0][1]
        inner: Any = argument[-1] if isinstance(argument, tuple) else argument
        items = list(inner)
    if repeated and len(items) > 1:
        for boundary, rest in ((items[0], items[1:]), (items[-1], items[:-1])):
            if str(boundary[0]) in ("LITERAL", "IN"):
                inside = _eaten(rest, flags)
                if not (_eaten([boundary], flags) & inside):
                    return _ambiguous_branch(rest, flags) or _sequence(rest, flags, repeated=False)
    return _sequence(items, flags, repeated=repeated)


def _ambiguous_branch(items: Sequence[Any], flags: int) -> str | None:
    """A choice, within a round, of which two branches can eat the same or both nothing."""
    for operator, argument in items:
        if str(operator) == "BRANCH":
            branches = [_eaten(list(branch), flags) for branch in argument[1]]
            seen: set[str] = set()
            for eaten in branches:
                if eaten & seen or (not eaten and branches.count(eaten) > 1):
                    return "alternatives inside a repeat"
                seen |= eaten
        elif str(operator) == "SUBPATTERN":
            fault = _ambiguous_branch(list(argument[-1]), flags)
            if fault is not None:
                return fault
    return None


def _inner(name: str, argument: Any, flags: int, *, repeated: bool) -> str | None:
    if name == "SUBPATTERN":
        return _sequence(list(argument[-1]), flags, repeated=repeated)
    if name == "ATOMIC_GROUP":
        return _sequence(list(argument), flags, repeated=repeated)
    if name == "BRANCH":
        if repeated:
            return "alternatives inside a repeat"
        faults = (_sequence(list(branch), flags, repeated=repeated) for branch in argument[1])
        return next((fault for fault in faults if fault is not None), None)
    if name in ("ASSERT", "ASSERT_NOT"):
        return _sequence(list(argument[1]), flags, repeated=repeated)
    if name.startswith("GROUPREF"):
        return "a back reference"
    return None


def _eaten(items: Sequence[Any], flags: int) -> frozenset[str]:
    """The characters that some item can eat; all of them where that is not plain."""
    found: set[str] = set()
    for operator, argument in items:
        name = str(operator)
        if name == "LITERAL":
            found |= _both_cases(chr(argument), flags)
        elif name == "NOT_LITERAL":
            found |= _CHARS - {chr(argument)}
        elif name == "IN":
            found |= _set(argument, flags)
        elif name in _REPEATS:
            found |= _eaten(list(argument[2]), flags)
        elif name == "SUBPATTERN":
            found |= _eaten(list(argument[-1]), flags)
        elif name == "ATOMIC_GROUP":
            found |= _eaten(list(argument), flags)
        elif name == "BRANCH":
            for branch in argument[1]:
                found |= _eaten(list(branch), flags)
        elif name not in ("AT", "ASSERT", "ASSERT_NOT"):
            return _CHARS
    return frozenset(found)


def _set(parts: Sequence[Any], flags: int) -> set[str]:
    found: set[str] = set()
    negated = False
    for operator, argument in parts:
        name = str(operator)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            found |= _both_cases(chr(argument), flags)
        elif name == "RANGE":
            low, high = argument
            for char in _CHARS:
                if low <= ord(char) <= high:
                    found |= _both_cases(char, flags)
        elif name == "CATEGORY":
            found |= {char for char in _CHARS if _CATEGORIES[str(argument)].match(char)}
    return set(_CHARS - found) if negated else found


_CATEGORIES: Final = {
    f"CATEGORY_{negation}{name}": re.compile(spelled.upper() if negation else spelled)
    for name, spelled in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w"))
    for negation in ("", "NOT_")
}


def _both_cases(char: str, flags: int) -> set[str]:
    return {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
