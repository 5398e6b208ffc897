"""Dates that an answer only proposes to search by: an offer says nothing about the world.

Rules
-----
- A clause offers when the model says what it can or could do, or asks whether it should, with a verb of searching
  ("I can search flights from May 10 through May 18", "Would you like me to check between …").
- Only the two ends of a range of dates in such a clause are proposals. A single date there mostly is the person's, so it is
  judged like any other; so are amounts and identifiers, and what the model says it did ("I searched from …").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

Span = tuple[int, int]

_LONGEST: Final = 240
_CLAUSE: Final = re.compile(r"[.?!:;]\s|\n")
_OFFER: Final = re.compile(
    r"\b(?:I[’']?d|I[’']?ll|I (?:can|could|would|will|may|might|am able)|(?:shall|should|can|could|may) I|(?:like|want|prefer|ask|allow) me to)\b"
    r"[^\n]{0,160}\b(?:search|check|look|try|explore|widen|expand|extend|broaden|scan)\b",
    re.IGNORECASE,
)
_OPENS: Final = re.compile(r"\b(?:from|between)\s{1,3}\W{0,4}$", re.IGNORECASE)
_JOINS: Final = re.compile(r"\W{0,6}(?:through|thru|to|until|till|and|[–—-])\W{0,6}", re.IGNORECASE)


def proposed(text: str, dates: Iterable[Span]) -> set[Span]:
    """Those of the spans of dates that are ends of a range in an offer to search."""
    found: set[Span] = set()
    ordered: Sequence[Span] = sorted(dates)
    for left, right in pairwise(ordered):
        if right[0] - left[1] > 16 or _JOINS.fullmatch(text, left[1], right[0]) is None:
            continue
        if _OPENS.search(text[max(0, left[0] - 16) : left[0]]) is None:
            continue
        before = text[max(0, left[0] - _LONGEST) : left[0]]
        breaks = [match.end() for match in _CLAUSE.finditer(before)]
        if _OFFER.search(before, breaks[-1] if breaks else 0) is not None:
            found |= {left, right}
    return found
