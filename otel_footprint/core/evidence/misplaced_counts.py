"""The small numbers of an answer with the word that says what each counts: "six assists", "18-point", "7-of-14 shooting".

Rules
-----
- A number is one to three digits, a number in words, "a", "an", "no" or "a pair of"; its word is the one directly after it
  (one hyphen may join them), else the label in front of it (``Points: 12``, "a rating of 4.5") or its column's header.
- Two numbers joined by ``of``, ``for`` or a hyphen are two slots of one word: "7-of-14 shooting", "(4-7 FG", "(32-18)".
- Words are compared without a plural ending. Ordinals, dates, times, money, versions and list numbers are no counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from otel_footprint.core.evidence.misplaced_lines import is_rule
from otel_footprint.core.evidence.typed.number_words import worded_numbers

# What must not stand before a number is looked for behind its first digit: digits alone are what is searched for, and fast.
_DIGITS: Final = re.compile(r"(\d(?<![\w.,:/$€£¥#%+\-]\d)\d{0,2}(?:\.\d{1,3})?)(?![\w:/]|[.,]\d)")
_PAIR: Final = re.compile(
    r"(\d(?<![\w.,:/$€£¥#%+\-]\d)\d{0,2}) ?(?:- ?)?(of|for|-)(?: ?-)? ?(\d{1,3})(?![\w:/%]|[.,]\d|\s?-\s?\d)"
)
_ARTICLE: Final = re.compile(r"(?<![\w\-])(a pair of|a couple of|pair of|an?|no)(?= [a-z])")
_ARTICLES: Final = {"a": 1, "an": 1, "no": 0, "a pair of": 2, "a couple of": 2, "pair of": 2}
_WORDS_AFTER: Final = re.compile(
    r"(?: ?(-) ?| )?([^\W\d_]{2,24}|\d[A-Za-z]{1,3}|%)(?: ([^\W\d_]{2,24}))?(?: ([^\W\d_]{2,24}))?"
)
_LEADING: Final = (("from",), ("of",), ("in",), ("on",), ("at",))
"""Words that tell what is counted only with those after them."""
_LABEL_BEFORE: Final = re.compile(r"([^\W\d_][\w /()\-]{1,40}?)[*_`]{0,3}\s?[:=][*_`]{0,3}\s?$")


_SAID_BEFORE: Final = re.compile(r"([^\W\d_]{3,24}) (?:of|is|was|are|were) (?:just |only |about )?$")
_DIGIT: Final = re.compile(r"[0-9]")
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
_CELL: Final = re.compile(r"[ \t*_`]*(\d{1,3}(?:\.\d{1,3})?)[ \t*_`]*")


@dataclass(frozen=True, slots=True)
class Count:
    """One small number. ``words`` are the words that say what it counts, the telling one first, in lower case singular.

    ``slot`` is its place in a pair (0 for a number alone); ``glue`` what joins it to its word or its pair; ``worded`` says
    """

    start: int
    end: int
    number: Decimal
    words: tuple[str, ...]
    slot: int = 0
    glue: str = ""
    worded: bool = False
    article: bool = False
    names: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """What counts of one kind have in common (both numbers of a pair have the same)."""
        if not self.slot:
            return self.words[:1] or ("", *self.names)
        return (self.glue, *(self.words if self.words[:1] in _LEADING else self.words[:1]))


def counts_of(text: str) -> list[Count]:
    """The counts of an answer that have a word, in order; none where it only says "a", "an" or "no"."""
    found: list[Count] = []
    taken: set[int] = set()
    for match in _PAIR.finditer(text):
        glue = match[2]
        closing = re.match(r" ?\)", text[match.end() : match.end() + 2]) is not None
        words = () if closing else _after(text, match.end()).words
        if not words and not (closing and text[max(0, match.start() - 2) : match.start()].strip() == "("):
            taken.update(range(match.start(1), match.end(3)))
            continue
        for slot, group in ((1, 1), (2, 3)):
            taken.update(range(match.start(group), match.end(group)))
            found.append(Count(match.start(group), match.end(group), Decimal(match[group]), words, slot, glue))
    numbers = list(_numbers(text))
    if found or numbers or "|" in text:  # "a" and "an" count only beside other counts
        numbers += _articles(text)
    for start, end, number, worded, article in numbers:
        if start in taken:
            continue
        words, glue, word_end = _after(text, end)
        names: tuple[str, ...] = ()
        if not article:
            label = _LABEL_BEFORE.search(text, max(0, start - 48), start) or _SAID_BEFORE.search(
                text, max(0, start - 48), start
            )
            names = _names(label[1]) if label else ()
        if words or names:
            # "a" alone says nothing to who reads the report.
            found.append(Count(start, word_end if article else end, number, words, 0, glue, worded, article, names))
    found.extend(_columns(text))
    found.sort(key=lambda count: count.start)
    return found


def says_numbers(text: str) -> bool:
    """Whether there is a number in a text, in digits or in words."""
    return _DIGIT.search(text) is not None or bool(worded_numbers(text))


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


def _articles(text: str) -> Iterator[tuple[int, int, Decimal, bool, bool]]:
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
            header = [_names(cell) for cell in before.strip().strip("|").split("|")]
        elif header:
            at = start + len(line) - len(line.lstrip().removeprefix("|"))
            for names, cell in zip(header, text[at : start + len(line)].split("|"), strict=False):
                match = _CELL.fullmatch(cell)
                if match is not None and names:
                    yield Count(at + match.start(1), at + match.end(1), Decimal(match[1]), (), names=names)
                at += len(cell) + 1
        before = line
        start += len(line) + 1


class _After(NamedTuple):
    words: tuple[str, ...]
    glue: str
    end: int


def _after(text: str, end: int) -> _After:
    """The words behind a number, what joins the first of them to it, and where that one ends."""
    match = _WORDS_AFTER.match(text, end)
    if match is None:
        return _After((), "", end)
    words = [singular(word.lower()) for word in match.groups()[1:] if word]
    return _After(tuple("percent" if word == "%" else word for word in words), match[1] or "", match.end(2))


def _names(label: str) -> tuple[str, ...]:
    return tuple(singular(word) for word in reversed(_LETTERS.findall(label.lower())))
