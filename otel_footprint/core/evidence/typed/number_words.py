"""Numbers in words: "three", "twenty-five", "two hundred and fifty"."""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple

_SMALL: Final[dict[str, int]] = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen".split()
    )
}
_TENS: Final[dict[str, int]] = {
    word: number * 10 for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_LARGE: Final[dict[str, int]] = {"thousand": 1000, "million": 10**6, "billion": 10**9}


def _by_letter(words: Iterable[str]) -> str:
    """A pattern of words, longer ones first, by first letter: what begins with none of these is passed over fast."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        rests.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{letter}(?:{'|'.join(found)})" for letter, found in rests.items())


_WORD: Final = _by_letter([*_SMALL, *_TENS])
NUMBER_WORDS: Final = re.compile(
    rf"(?:{_WORD})(?:(?:[ \u00a0-]|[ \u00a0]and[ \u00a0])(?:{_WORD}|hundred|{'|'.join(_LARGE)})\b){{0,8}}(?![\w-])"
)
"""A run of number words in lower case. It has no word boundary in front, which would cost the scan its speed."""

_SPLIT: Final = re.compile(r"[ \u00a0-]+")


class Worded(NamedTuple):
    """A number in words: its span and value."""

    start: int
    end: int
    number: Decimal


def worded_numbers(plain: str) -> list[Worded]:
    """The numbers in words, in order. A run that is no one number ("one two") is left out."""
    found: list[Worded] = []
    lower = plain.lower()
    if len(lower) != len(plain):  # letters whose small form is longer
        lower = plain
    for match in NUMBER_WORDS.finditer(lower):
        start = match.start()
        if start and (lower[start - 1].isalnum() or lower[start - 1] in "_-"):
            continue
        number = _value(_SPLIT.split(match[0]))
        if number is not None:
            found.append(Worded(match.start(), match.end(), Decimal(number)))
    return found


def _value(words: list[str]) -> int | None:
    total = group = 0
    last = 0  # size of the place filled last: 1 units, 10 tens, 100 hundreds
    for word in words:
        if word == "and":
            continue
        if word in _SMALL:
            if last == 1 or (last == 10 and not 0 < _SMALL[word] < 10):
                return None
            group += _SMALL[word]
            last = 1
        elif word in _TENS:
            if last in (1, 10):
                return None
            group += _TENS[word]
            last = 10
        elif word == "hundred":
            if not 0 < group < 100:
                return None
            group *= 100
            last = 100
        else:
            if group == 0 or (total and total < group * _LARGE[word]):
                return None
            total += group * _LARGE[word]
            group, last = 0, 1000
    return total + group
