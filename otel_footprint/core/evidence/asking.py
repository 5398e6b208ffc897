"""One candidate with the questions it is asked by, made once.

Rules
-----
- A candidate is asked by its form, by the number in it where a unit is glued on, by its typed value, by the bare number of
  an identifier that a person may give without its letters, and by its parts.
- A number with a leading zero is a spelling of its own. Only where the answer says that it is a tail ("ending in 1234") may
  a number be the end of a longer one.
"""

from __future__ import annotations

import re
from typing import Final

from otel_footprint.core.evidence.extract import Candidate, classify
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.options import Evidence

_ENDING: Final = re.compile(
    r"(?:end(?:s|ing)?\s+(?:in|with)|last\s+(?:four|4|digits)[^.\n]{0,20}|[*x•·.…]{2,}[\s\-]*)\W{0,6}$", re.IGNORECASE
)
_ENDING_CHARS: Final = 40
_PREFIXED: Final = re.compile(r"[a-z]{1,3}(\d{5,})")
_LEADING_ZERO: Final = re.compile(r"\D*0\d")
_PARTS: Final = re.compile(r"[_\-/:.@]+")
_LABEL: Final = re.compile(r"[a-z]{1,8}\d{0,2}|\d{1,2}")


class Asked:
    """One candidate with its questions, made once."""

    __slots__ = ("bare", "candidate", "forms", "number", "parts", "tail", "typed_only", "value", "whole")

    def __init__(self, candidate: Candidate, text: str, options: Evidence) -> None:
        rounding = options.decimal_rounding and not candidate.declared
        self.candidate = candidate
        value = candidate.value
        # A number with a leading zero is a spelling of its own, never another number's.
        # Nor is the end of a card number a number that another could round to.
        self.tail = candidate.shape == "number" and _says_tail(text, candidate)
        own = self.tail or (value is not None and value.number is not None and _LEADING_ZERO.match(value.text))
        self.value = None if own else value
        self.whole = Question(candidate.form, rounding=rounding, tail=self.tail, literal=candidate.literal)
        # "50%" is no bare 50: its spelling is compared as a typed value only.
        self.typed_only = candidate.shape == "percent"
        self.number = Question(candidate.number_form, rounding=rounding) if candidate.number_form else None
        # What it is asked by as it is spelled; empty for what only counts as a typed value.
        self.forms = () if self.typed_only else (self.whole,) if self.number is None else (self.whole, self.number)
        self.bare: Question | None = None
        self.parts: tuple[tuple[str, Question | None], ...] | None = None
        if candidate.shape == "identifier" and not candidate.declared:
            if not candidate.form.isalnum():
                self.parts = _parts(candidate.form, options)
            elif (prefixed := _PREFIXED.fullmatch(candidate.form)) is not None:  # a person calls W9502126 "9502126"
                self.bare = Question(prefixed[1], rounding=False)

    @property
    def needles(self) -> int:
        """How often a text is searched for it as it is spelled, about."""
        return len(self.whole.needles) + len(self.parts or ())


def _parts(spelled: str, options: Evidence) -> tuple[tuple[str, Question | None], ...] | None:
    """The parts of a joined value: each with its question, None for one that may be a coined label."""
    pieces = [piece for piece in _PARTS.split(spelled) if piece]
    if len(pieces) < 2:
        return None
    alternatives = "/" in spelled
    parts: list[tuple[str, Question | None]] = []
    for piece in pieces:
        if piece.isalpha():
            parts.append((piece, None))
            continue
        is_data = classify(piece, options.min_digits) is not None
        if not is_data and (alternatives or not _LABEL.fullmatch(piece)):
            is_data = any("0" <= char <= "9" for char in piece)
        parts.append((piece, Question(piece, rounding=False) if is_data else None))
    if not any(question for _, question in parts):
        return None
    return tuple(parts)


def _says_tail(text: str, candidate: Candidate) -> bool:
    return any(_ENDING.search(text[max(0, start - _ENDING_CHARS) : start]) for start, _ in candidate.spans)
