"""Equations that an answer writes out (``$105 + $102 = $207``): read, and checked.

Rules
-----
- An equation stands in one line: numbers with exactly one sign between two of them, words and units allowed beside, then
  ``=`` (or "equals"), then the value.
- Or the value comes first and what it is made of stands in brackets behind it: ``$207 ($105 + $102)``.
- It accounts for its value only when it gives it. One that does not is a wrong sum, and no other derivation is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation
from itertools import pairwise
from typing import Final

MAX_LEFT: Final = 240
MAX_BREAKDOWN: Final = 120

_EQUALS: Final = re.compile(r"=(?!=)|\bequals\b|\bcomes to\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![A-WYZa-wyz_\d])")
_AFTER: Final = re.compile(r"[\s*_`~≈:(]{0,6}(?:(?:USD|US|EUR|GBP)\s?)?[-−–]?\s?[$€£¥]?\s?[-−–]?(\d[\d,]*(?:\.\d+)?)")
_SIGN: Final = re.compile(r"[+×÷*]|(?<![A-Za-z])[x](?![A-Za-z])|(?<=\s)[-−–/](?=\s|[$€£\d])|(?<=\d)[-−–/](?=[\d$])")
_BREAKDOWN: Final = re.compile(rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?)[ *_]{{0,3}}\(([^()\n=]{{3,{MAX_BREAKDOWN}}})\)")
_STOP: Final = re.compile(r"[=;→]|\n|(?<!\d)[:](?!\d)|[.!?](?=\s+[A-Z])")


@dataclass(frozen=True, slots=True)
class Equation:
    """One equation: the place of its value, what its left side gives, and the numbers there with their places."""

    at: int
    stated: Decimal
    result: Decimal
    operands: tuple[tuple[int, Decimal], ...]

    @property
    def holds(self) -> bool:
        """Whether the left side gives the stated value, at the value's own precision."""
        exponent = self.stated.as_tuple().exponent
        return isinstance(exponent, int) and abs(round(self.result, -exponent)) == abs(self.stated)


def equations(text: str) -> Iterator[Equation]:
    """The equations written out in a text, in order."""
    for match in _EQUALS.finditer(text):
        after = _AFTER.match(text, match.end())
        if after is None:
            continue
        left = _left_side(text, match.start())
        read = _evaluate(text, left, match.start())
        if read is not None:
            result, operands = read
            yield Equation(after.start(1), _number(after.group(1)), result, operands)
    for match in _BREAKDOWN.finditer(text):
        read = _evaluate(text, match.start(2), match.end(2))
        if read is not None:
            result, operands = read
            yield Equation(match.start(1), _number(match.group(1)), result, operands)


def _left_side(text: str, end: int) -> int:
    start = max(0, end - MAX_LEFT)
    for stop in _STOP.finditer(text, start, end):
        start = stop.end()
    return start


def _evaluate(text: str, start: int, end: int) -> tuple[Decimal, tuple[tuple[int, Decimal], ...]] | None:
    numbers = list(_NUMBER.finditer(text, start, end))
    if not 2 <= len(numbers) <= 24:
        return None
    operands = [(match.start(), _number(match.group())) for match in numbers]
    signs: list[str] = []
    for before, following in pairwise(numbers):
        between = _SIGN.findall(text, before.end(), following.start())
        if len(between) != 1:
            return None
        signs.append(between[0])
    try:
        return _calculate([number for _, number in operands], signs), tuple(operands)
    except (DivisionByZero, InvalidOperation):
        return None


def _calculate(numbers: list[Decimal], signs: list[str]) -> Decimal:
    terms = [numbers[0]]
    for sign, number in zip(signs, numbers[1:], strict=True):
        if sign in "*×x":
            terms[-1] *= number
        elif sign in "/÷":
            terms[-1] /= number
        elif sign == "+":
            terms.append(number)
        else:
            terms.append(-number)
    return sum(terms, Decimal(0))


def _number(spelled: str) -> Decimal:
    return Decimal(spelled.replace(",", ""))
