"""Say whether a regular expression may backtrack without bound.

Rules
-----
- Refused: a repeat without a small bound whose body can itself repeat or holds alternatives that start alike
  (``(a+)+``, ``(a|a)*``, ``(\\w*,?)*``), and two unbounded repeats side by side of which both can eat the same character
  three times over (polynomial of a high degree). Back references are refused too.
- The parse tree of the standard library is read; where it cannot be had the pattern is refused.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any, Final

if sys.version_info >= (3, 11):
    from re import _parser as _sre_parse
else:  # pragma: no cover - the same parser under its older name
    import sre_parse as _sre_parse

_SMALL: Final = 3
_MANY_UNBOUNDED: Final = 4
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT"})


def runaway_part(source: str, flags: int) -> str | None:
    """What in the pattern can backtrack without bound, in words; None when nothing can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _sre_parse.parse(source, flags & ~re.DEBUG)
    except (re.error, RecursionError, OverflowError):
        return "a pattern that cannot be read"
    walk = _Walk()
    fault = walk.sequence(tree, repeated=False)
    if fault is None and walk.unbounded >= _MANY_UNBOUNDED:
        return f"{walk.unbounded} unbounded repeats"
    return fault


class _Walk:
    """One pass over the parse tree; counts the unbounded repeats that are not inside each other."""

    def __init__(self) -> None:
        self.unbounded = 0

    def sequence(self, items: Any, *, repeated: bool) -> str | None:
        for operator, argument in items:
            fault = self._one(str(operator), argument, repeated)
            if fault is not None:
                return fault
        return None

    def _one(self, operator: str, argument: Any, repeated: bool) -> str | None:
        if operator in _REPEATS:
            low, high, body = argument
            varies = high != low
            wide = high is _sre_parse.MAXREPEAT or int(high) > _SMALL
            if repeated and varies:
                return "a repeat inside a repeat"
            if varies and (high is _sre_parse.MAXREPEAT or int(high) > 64):
                self.unbounded += 1
            return self.sequence(body, repeated=repeated or wide)
        if operator == "SUBPATTERN":
            return self.sequence(argument[-1], repeated=repeated)
        if operator == "ATOMIC_GROUP":
            return self.sequence(argument, repeated=repeated)
        if operator == "BRANCH":
            if repeated:
                return "alternatives inside a repeat"
            for branch in argument[1]:
                fault = self.sequence(branch, repeated=repeated)
                if fault is not None:
                    return fault
            return None
        if operator in ("ASSERT", "ASSERT_NOT"):
            return self.sequence(argument[1], repeated=repeated)
        if operator in ("GROUPREF", "GROUPREF_EXISTS", "GROUPREF_IGNORE"):
            return "a back reference"
        return None
