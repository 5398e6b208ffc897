"""Where an answer names a row, and which rows a place of it is about.

Rules
-----
- Names are compared word by word, the longest first. Letters must be spelled as in the row (``Love`` is no "love");
  identifiers may differ in case. Short words, words in small letters and plain numbers name nothing by themselves.
- Names beside each other that share a row ("Los Angeles Lakers") are one mention of it.
- A sentence ends at a full stop before a capital letter, at a line break or at a semicolon; never inside a name.
- A list item, or a ``label: value`` line, that names nothing is about what the line above it names: a heading, or the
  nearest item that is less indented. A row of a markdown table is about what its first cell names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from otel_footprint.core.evidence.misplaced_rows import Row, Tables
from otel_footprint.core.evidence.misplaced_tables import Words

_END: Final = re.compile(r"[.!?\n;](?:(?<=[\n;])|[\"'”’)\]]*(?=\s+[\"'“‘(\[*_]*[A-Z\d]))")
"""It begins with the few characters that may end one, which makes the search fast."""
_ITEM: Final = re.compile(r"([ \t]*)(?:[-*•+–]|\d{1,2}[.)])[ \t]+")
_LABELLED: Final = re.compile(r"[ \t]*[*_]{0,3}[^\W\d_][\w /()\-]{1,40}?[*_]{0,3}:")


class Mention(NamedTuple):
    """One place where the answer names rows: those of that name, in whatever tables."""

    start: int
    end: int
    rows: tuple[Row, ...]


class Sentence(NamedTuple):
    """A half-open span of the answer with what it names, or what the line above names when ``inherited``."""

    start: int
    end: int
    mentions: tuple[Mention, ...]
    inherited: bool = False


def mentions_of(text: str, words: Words, tables: Sequence[Tables]) -> list[Mention]:
    """Every mention in a text with these words, in order, none inside another."""
    keys = words.keys
    longest_from: dict[str, int] = {}
    for one in tables:
        for word in words.present & one.longest.keys():
            longest_from[word] = max(longest_from.get(word, 0), one.longest[word])
    found: list[Mention] = []
    end = 0
    for at in words.places(longest_from):
        if at < end:
            continue
        for length in range(min(longest_from[keys[at]], len(keys) - at), 0, -1):
            name = tuple(keys[at : at + length])
            rows = tuple([row for one in tables for row in one.names.get(name, ())])
            if rows:
                found.append(Mention(*words.span(at, at + length - 1), rows))
                end = at + length
                break
    return _merged(text, found)


def _merged(text: str, found: Sequence[Mention]) -> list[Mention]:
    merged: list[Mention] = []
    for mention in found:
        if merged and not text[merged[-1].end : mention.start].strip(" ,"):
            shared = tuple(row for row in merged[-1].rows if row in mention.rows)
            if shared:
                merged[-1] = Mention(merged[-1].start, mention.end, shared)
                continue
        merged.append(mention)
    return merged


class Sentences:
    """The sentences of an answer, in order."""

    def __init__(self, text: str, mentions: Sequence[Mention]) -> None:
        self._text = text
        starts = [mention.start for mention in mentions]
        self._cuts = [0]
        for match in _END.finditer(text):
            place = bisect_right(starts, match.start()) - 1
            if place < 0 or match.start() >= mentions[place].end:
                self._cuts.append(match.end())
        self._cuts.append(len(text))
        self._sentences = list(self._read(mentions))

    def at(self, place: int) -> Sentence:
        """The sentence that holds a place."""
        return self._sentences[max(0, min(bisect_right(self._cuts, place), len(self._sentences)) - 1)]

    def _read(self, mentions: Sequence[Mention]) -> Iterator[Sentence]:
        text = self._text
        above: list[tuple[int, tuple[Mention, ...]]] = []  # indent (-1: a heading) and what it names
        inherited: tuple[Mention, ...] = ()
        place = 0
        for start, end in pairwise(self._cuts):
            first = place
            while place < len(mentions) and mentions[place].start < end:
                place += 1
            inside = tuple(mentions[first:place])
            if start == 0 or text[start - 1] == "\n":
                inherited = self._line(start, end, inside, above)
                if inside and text.startswith("|", start) and text[start : inside[0].start].count("|") == 1:
                    inside = inside[:1]
            yield Sentence(start, end, inside or inherited, inherited=not inside and bool(inherited))

    def _line(
        self, start: int, end: int, inside: tuple[Mention, ...], above: list[tuple[int, tuple[Mention, ...]]]
    ) -> tuple[Mention, ...]:
        """What a line inherits; ``above`` is brought up to date for the lines that follow."""
        text = self._text
        bare = text[start:end].strip()
        if not bare:
            return ()
        item = _ITEM.match(text, start, end)
        if item is None:
            if inside or not above or _LABELLED.match(text, start, end) is None:
                above[:] = [(-1, inside)] if bare[0] == "#" or bare[-1] in ":*_" or len(bare) < 60 else []
                return ()
            return above[-1][1]
        depth = len(item[1])
        while above and above[-1][0] >= depth:
            above.pop()
        found = above[-1][1] if above else ()
        above.append((depth, inside or found))
        return () if inside else found
