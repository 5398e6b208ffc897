"""Look for a token in a text without indexing it: a substring search at memory speed, then a look at the hit's edges.

Rules
-----
- A text is folded once, when first asked. A question carries the few literal spellings (needles) under which its form can
  stand; every hit of a needle is widened to its token, and only the token's own forms decide. So a hit never counts
  because it is a substring.
- Where a spelling first stands in a long text is remembered, by its beginning for a decimal number: so that what is not there
  is not looked for again in another spelling that begins alike.
- ``segment``: the form stands between delimiters inside a longer identifier (``7504069`` in ``gift_card_7504069``).
- ``tail``: it ends a longer run of digits; only asked for where the answer says that it is a tail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final

from otel_footprint.core.evidence.normal import MAX_TOKEN, SEPARATORS, fold, forms_of, groups_digits, scientific
from otel_footprint.core.evidence.reader import flat, folded_json, reads_as_it_stands
from otel_footprint.core.evidence.typed import Gathered

_LONG: Final = 16_384
_REMEMBERED: Final = 2_048
_DELIMITERS: Final = frozenset("_-/:.@")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_GROUPED: Final = re.compile(r",[0-9]{3}(?<=[0-9],[0-9]{3})(?![0-9])")
"""A comma between digits; it begins with a literal, which makes searching megabytes for it fast."""
_SCIENTIFIC: Final = re.compile(r"\.(?<=[0-9]\.)[0-9]+e[-+]?[0-9]")
_DECIMAL: Final = re.compile(r"[0-9][0-9,]*\.[0-9]+")
_MANTISSA: Final = re.compile(r"[0-9]\.[0-9]+")
_MIN_BEGINNING: Final = 5


class Grade(IntEnum):
    """How a text carries a form, best last."""

    NONE = 0
    TAIL = 1
    SEGMENT = 2
    TOKEN = 3


class Question:
    """One form that is looked for, with its needles.

    ``tail`` admits the end of a longer number; ``literal`` is a spelling of several tokens, compared as it stands.
    """

    __slots__ = ("forms", "literal", "needles", "rounding", "tail")

    def __init__(self, spelled: str, *, rounding: bool, tail: bool = False, literal: bool = False) -> None:
        exact = scientific(spelled) if rounding and "e" in spelled else None
        self.forms = frozenset((spelled,) if exact is None else (spelled, exact))
        self.rounding = rounding
        self.tail = tail
        self.literal = literal or not SEPARATORS.isdisjoint(spelled)
        if "0" <= spelled[:1] <= "9":
            self.needles = tuple(
                dict.fromkeys([needle for one in sorted(self.forms) for needle in _needles(one, rounding)])
            )
        else:
            self.needles = (spelled,)


def _needles(spelled: str, rounding: bool) -> Iterator[str]:
    yield spelled
    if not _NUMBER.fullmatch(spelled):
        return
    whole, dot, decimals = spelled.partition(".")
    if len(whole) > 3:
        yield f"{int(whole):,}" + dot + decimals
    if rounding:
        digits = (whole + decimals).strip("0")
        if len(digits) == 1:
            yield f"{digits}e"
            yield f"{digits}.0"
        elif digits:
            yield f"{digits[0]}.{digits[1:]}"


class Haystack:
    """One text that may carry values. ``result`` says to read it as a tool result, else as plain words."""

    __slots__ = ("_first", "_folded", "_gathered", "_grades", "_groups", "_json_end", "_raw", "_result", "_scientific")

    def __init__(self, text: str, *, result: bool) -> None:
        self._raw = text
        self._result = result
        self._folded: str | None = None
        self._json_end: int | None = None if result else 0
        self._grades: dict[tuple[frozenset[str], bool], Grade] = {}
        self._first: dict[str, int] = {}
        self._groups: bool | None = None
        self._scientific: bool | None = None
        self._gathered: Gathered | None = None

    @classmethod
    def of_folded(cls, folded: str) -> Haystack:
        """A haystack of text that is folded already."""
        made = cls(folded, result=False)
        made._folded = folded
        return made

    @property
    def text(self) -> str:
        """The text as given."""
        return self._raw

    @property
    def folded(self) -> str:
        """The text in which tokens are looked for."""
        if self._folded is None:
            if self._result and not reads_as_it_stands(self._raw):
                self._read()
            else:
                self._folded = fold(self._raw)
        assert self._folded is not None
        return self._folded

    @property
    def json_end(self) -> int:
        """How far the folded text is JSON. Parsing it is put off until a comma between digits makes it matter."""
        if self._json_end is None:
            self._read()
        assert self._json_end is not None
        return self._json_end

    def _read(self) -> None:
        read = flat(self._raw)
        self._folded, self._json_end = read.text if read.folded else fold(read.text), read.json_end
        self._gathered = read.gathered

    def read_as_json(self) -> None:
        """Fold the text as what it is known to be: one list or object, whole, and nothing else."""
        if self._folded is None:
            self._folded = folded_json(self._raw)
            self._json_end = len(self._folded)

    def take_gathered(self) -> Gathered | None:
        """What reading the text brought up, given away once."""
        found, self._gathered = self._gathered, None
        return found

    def find(self, needle: str) -> int:
        """Where the folded text first holds a spelling; -1 where it does not."""
        folded = self.folded
        if len(folded) < _LONG:
            return folded.find(needle)
        beginning = beginning_of(needle)
        first = self._first.get(beginning)
        if first is None:
            first = folded.find(beginning)
            if len(self._first) < _REMEMBERED:
                self._first[beginning] = first
        if first < 0 or len(beginning) == len(needle):
            return first
        return folded.find(needle, first)

    def spells_so(self, needle: str) -> bool:
        """Whether a text spells any number in the way of a needle that is another spelling of the form."""
        if len(self._raw) < _LONG:
            return True
        if "," in needle:
            return self.groups_digits
        if _MANTISSA.fullmatch(needle) is not None:
            if self._scientific is None:
                self._scientific = _SCIENTIFIC.search(self.folded) is not None
            return self._scientific
        return True

    @property
    def groups_digits(self) -> bool:
        """Whether any number of it may be spelled with commas."""
        if self._groups is None:
            self._groups = _GROUPED.search(self.folded) is not None
        return self._groups

    def grade(self, question: Question) -> Grade:
        """How well the text carries the question's form. A long text remembers what it was asked."""
        if len(self._raw) < _LONG:
            return self._search(question)
        key = (question.forms, question.tail)
        known = self._grades.get(key)
        if known is None:
            known = self._search(question)
            if len(self._grades) < _REMEMBERED:
                self._grades[key] = known
        return known

    def _search(self, question: Question) -> Grade:
        folded = self._folded if self._folded is not None else self.folded
        short = len(self._raw) < _LONG
        best = Grade.NONE
        for place, needle in enumerate(question.needles):
            if short:
                start = folded.find(needle)
            elif place and not self.spells_so(needle):
                continue
            else:
                start = self.find(needle)
            if start < 0:
                continue
            alone = needle in question.forms and "," not in needle
            quotes = None
            while start >= 0:
                end = start + len(needle)
                if alone and _stands_alone(folded, start, end):
                    return Grade.TOKEN  # as most hits do
                if quotes is None:
                    quotes = _Quotes(folded)
                found = self._grade_hit(folded, start, end, question, quotes)
                if found is Grade.TOKEN:
                    return found
                best = max(best, found)
                start = folded.find(needle, start + 1)
        return best

    def _grade_hit(self, folded: str, start: int, end: int, question: Question, quotes: _Quotes) -> Grade:
        before = folded[start - 1] if start else " "
        after = folded[end] if end < len(folded) else " "
        if question.literal:
            return Grade.NONE if before.isalnum() or after.isalnum() else Grade.TOKEN
        if before.isalnum() and before != "x":
            if question.tail and before.isdigit() and not after.isalnum() and folded[start:end] in question.forms:
                return Grade.TAIL
            return Grade.NONE
        if after.isalnum() and after not in "0e":
            return Grade.NONE
        left, right = token_at(folded, start, end)
        if right - left > MAX_TOKEN:
            return Grade.NONE
        token = folded[left:right]
        if "," in token and left < self.json_end and not quotes.inside(left):
            # Outside of strings a comma of JSON separates, whatever stands around it.
            spelled = {found for part in token.split(",") for found in forms_of(part, rounding=question.rounding)}
            return Grade.TOKEN if not spelled.isdisjoint(question.forms) else Grade.NONE
        for spelled_form in forms_of(token, rounding=question.rounding):
            if spelled_form in question.forms:
                return Grade.TOKEN
        if folded[start:end] not in question.forms or (left == start and right == end):
            return Grade.NONE
        edge_before = start == left or before in _DELIMITERS
        edge_after = end == right or after in _DELIMITERS
        if not (edge_before and edge_after) or _inside_number(folded, start, end):
            return Grade.NONE
        return Grade.SEGMENT


def _stands_alone(folded: str, start: int, end: int) -> bool:
    """Whether a hit without a comma is a token by itself."""
    if start and folded[start - 1] not in SEPARATORS:
        return False
    after = folded[end : end + 1]
    return not after or after in SEPARATORS or (after == "," and not folded[end + 1 : end + 2].isdigit())


def beginning_of(needle: str) -> str:
    """What is looked for to see whether a spelling may be there: of a longer decimal number what is before its decimals."""
    if len(needle) > _MIN_BEGINNING and _DECIMAL.fullmatch(needle) is not None:
        return needle[: max(_MIN_BEGINNING, needle.index(".") + 1)]
    return needle


def _inside_number(folded: str, start: int, end: int) -> bool:
    """Whether the dot beside a hit is a decimal point: ``50`` is no segment of ``12.50``."""
    left = start > 1 and folded[start - 1] == "." and folded[start - 2].isdigit() and folded[start].isdigit()
    right = end + 1 < len(folded) and folded[end] == "." and folded[end + 1].isdigit() and folded[end - 1].isdigit()
    return left or right


def token_at(folded: str, start: int, end: int) -> tuple[int, int]:
    """The half-open span of the token around a hit; wider than MAX_TOKEN where it is no token to look at."""
    left, right = start, end
    floor, ceiling = max(0, start - MAX_TOKEN - 1), min(len(folded), end + MAX_TOKEN + 1)
    while left > floor:
        char = folded[left - 1]
        if char in SEPARATORS or (char == "," and not groups_digits(folded, left - 1)):
            break
        left -= 1
    while right < ceiling:
        char = folded[right]
        if char in SEPARATORS or (char == "," and not groups_digits(folded, right)):
            break
        right += 1
    return left, right


class _Quotes:
    """Says whether a place in JSON is inside a string, for places asked in rising order."""

    __slots__ = ("_at", "_count", "_folded")

    def __init__(self, folded: str) -> None:
        self._folded = folded
        self._at = 0
        self._count = 0

    def inside(self, place: int) -> bool:
        if place < self._at:
            self._at = self._count = 0
        self._count += self._folded.count('"', self._at, place)
        self._at = place
        return self._count % 2 == 1
