"""The small numbers of an answer with the word that says what each counts: "six assists", "18-point", "7-of-14 shooting".

Rules
-----
- A number is one to three digits, a number in words, "a", "an", "no" or "a pair of"; its word is the one directly after it
  (one hyphen may join them), or the label in front of it (``Points: 12``), or the header of its column.
- Two numbers joined by ``of``, ``for`` or a hyphen are two slots of one word: "7-of-14 shooting", "(4-7 FG", "(32-18)".
- Words are compared without a plural ending. Ordinals, dates, times, money, versions and list numbers are no counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from otel_footprint.core.evidence.misplaced_lines import is_rule
from otel_footprint.core.evidence.typed.number_words import worded_numbers

_DIGITS: Final = re.compile(r"(?<![\w.,:/$€£¥#%+\-])(\d{1,3}(?:\.\d{1,3})?)(?![\w:/]|[.,]\d)")
_PAIR: Final = re.compile(
    r"(?<![\w.,:/$€£¥#%+\-])(\d{1,3}) ?(?:- ?)?(of|for|-)(?: ?-)? ?(\d{1,3})(?![\w:/%]|[.,]\d|\s?-\s?\d)"
)
_ARTICLE: Final = re.compile(r"(?<![\w\-])(a pair of|a couple of|pair of|an?|no)(?= [a-z])")
_ARTICLES: Final = {"a": 1, "an": 1, "no": 0, "a pair of": 2, "a couple of": 2, "pair of": 2}
_WORDS_AFTER: Final = re.compile(
    r"(?: ?(-) ?| )?([^\W\d_]{2,24}|\d[A-Za-z]{1,3}|%)(?: ([^\W\d_]{2,24}))?(?: ([^\W\d_]{2,24}))?"
)
_LEADING: Final = (("from",), ("of",), ("in",), ("on",), ("at",))
"""Words that tell what is counted only with those after them."""
_LABEL_BEFORE: Final = re.compile(r"([^\W\d_][\w /()\-]{1,40}?)[*_`]{0,3}\s?[:=][*_`]{0,3}\s?$")


_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
_CELL: Final = re.compile(r"[ \t*_`]*(\d{1,3}(?:\.\d{1,3})?)[ \t*_`]*")


@dataclass(frozen=True, slots=True)
class Count:
    """One small number. ``words`` are the words that say what it counts, the telling one first, in lower case singular.

    ``slot`` is its place in a pair (0 for a number alone); ``glue`` what joins it to its word or its pair; ``worded`` says
    that it is not written in digits, ``article`` that it is "a", "an" or the like.
    """

    start: int
    end: int
    number: Decimal
    words: tuple[str, ...]
    slot: int = 0
    glue: str = ""
    worded: bool = False
    article: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """What counts of one kind have in common (both numbers of a pair have the same)."""
        if not self.slot:
            return self.words[:1]
        return (self.glue, *(self.words if self.words[:1] in _LEADING else self.words[:1]))


def counts_of(text: str) -> list[Count]:
    """The counts of an answer that have a word, in order."""
    found: list[Count] = []
    taken: set[int] = set()
    for match in _PAIR.finditer(text):
        glue = match[2]
        closing = re.match(r" ?\)", text[match.end() : match.end() + 2]) is not None
        words = () if closing else _after(text, match.end())[0]
        if not words and not (closing and text[max(0, match.start() - 2) : match.start()].strip() == "("):
            taken.update(range(match.start(1), match.end(3)))
            continue
        for slot, group in ((1, 1), (2, 3)):
            taken.update(range(match.start(group), match.end(group)))
            found.append(Count(match.start(group), match.end(group), Decimal(match[group]), words, slot, glue))
    for start, end, number, worded, article in _numbers(text):
        if start in taken:
            continue
        words, glue = _after(text, end)
        if not words and not article:
            label = _LABEL_BEFORE.search(text, max(0, start - 48), start)
            words = tuple(singular(word) for word in reversed(_LETTERS.findall(label[1].lower()))) if label else ()
        if words:
            found.append(Count(start, end, number, words, 0, glue, worded, article))
    found.extend(_columns(text))
    found.sort(key=lambda count: count.start)
    return found


def singular(word: str) -> str:
    """A word without a plural ending, for comparison only."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-3] + "y" if word.endswith("ies") else word[:-1]
    return word


def _numbers(text: str) -> Iterator[tuple[int, int, Decimal, bool, bool]]:
    for match in _DIGITS.finditer(text):
        yield match.start(1), match.end(1), Decimal(match[1]), False, False
    for worded in worded_numbers(text):
        yield worded.start, worded.end, worded.number, True, False
    for match in _ARTICLE.finditer(text):
        yield match.start(1), match.end(1), Decimal(_ARTICLES[match[1]]), True, True


def _columns(text: str) -> Iterator[Count]:
    """The small numbers of markdown tables, each with the words of its column's header."""
    header: list[tuple[str, ...]] = []
    before = ""
    start = 0
    for line in text.split("\n") if "|" in text else ():
        if "|" not in line:
            header = []
        elif is_rule(line):
            header = [
                tuple(singular(word) for word in reversed(_LETTERS.findall(cell.lower())))
                for cell in before.strip().strip("|").split("|")
            ]
        elif header:
            at = start + len(line) - len(line.lstrip().removeprefix("|"))
            for words, cell in zip(header, text[at : start + len(line)].split("|"), strict=False):
                match = _CELL.fullmatch(cell)
                if match is not None and words:
                    yield Count(at + match.start(1), at + match.end(1), Decimal(match[1]), words)
                at += len(cell) + 1
        before = line
        start += len(line) + 1


def _after(text: str, end: int) -> tuple[tuple[str, ...], str]:
    match = _WORDS_AFTER.match(text, end)
    if match is None:
        return (), ""
    words = [singular(word.lower()) for word in match.groups()[1:] if word]
    return tuple("percent" if word == "%" else word for word in words), match[1] or ""
