"""Many texts as one: which of them may carry a form, and which carry a typed value, at the cost of one long text.

Rules
-----
- The folded texts are joined, a line each; what is found belongs to the text in whose stretch it stands.
- A few short texts make a pile, which is only asked for forms; a heap is much text, and asked for typed values too.
- A form is found by its needles, each text that holds one may carry it. Several words with a digit can only stand in a
  string that was read: where none of those holds them, the text is not searched.
- Typed values are found as in one long result (``bulk``): numbers in arrays for all of them, strings that need reading read
  once. A text that is no whole JSON, or has too many such strings, is asked by itself.
- What a text said does not change; a text that was dropped is passed over by the one who knows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.bulk import MAX_HITS, Bulk
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.haystack import Haystack, Question
from otel_footprint.core.evidence.normal import fold
from otel_footprint.core.evidence.pieces import AT_ONCE, gathered, tree_of
from otel_footprint.core.evidence.reader import QUOTE_INSIDE
from otel_footprint.core.evidence.typed.gather import MAX_CHARS
from otel_footprint.core.evidence.typed_index import HasYear, carries
from otel_footprint.core.messages import Json

_FEW: Final = 64
_HITS_OF_EACH: Final = 30
_CHARS_OF_EACH: Final = 300
_TREES: Final = 1_000_000
"""Characters whose trees are in memory together: few enough to be gone before the garbage collector takes them up."""
_PHRASE: Final = re.compile(r"(?=.*[0-9])(?=.* )[a-z0-9 .,:/+-]+")
_PHRASE_WORD: Final = re.compile(r"[a-z]{2,}")
_BARE_WORDS: Final = ("true", "false", "null", "nan", "infinity", "utc", "gmt")
"""Words that JSON holds outside of strings, and those of the strings with spaces that need no reading."""
_AS_IT_STANDS: Final = re.compile(r"[^\"\x00-\x1f]+")
"""What of a string stands in the folded text as it is: a quote or a line break in it may not."""


class Pile:
    """A few short texts read together: they are only asked which of them may carry a form."""

    __slots__ = ("_folded", "_starts")

    def __init__(self, texts: Sequence[Carried]) -> None:
        folded = [one.haystack.folded for one in texts]
        self._folded = "\n".join(folded)
        self._starts = _starts(folded)

    def places(self, question: Question) -> set[int]:
        """The places of the texts that may carry the form."""
        starts, folded = self._starts, self._folded
        found: set[int] = set()
        for needle in question.needles:
            found.update(_holding(needle, folded.find(needle), folded, starts))
        return found


def _holding(needle: str, at: int, folded: str, starts: Sequence[int]) -> Iterator[int]:
    """The places of the joined texts that hold a spelling, which first stands ``at`` (-1: in none), each once."""
    while at >= 0:
        place = bisect_right(starts, at)
        yield place - 1
        at = folded.find(needle, starts[place])


def _starts(folded: Sequence[str]) -> list[int]:
    """Where each of the joined texts begins, and where one after them would."""
    return [0, *accumulate([len(one) + 1 for one in folded])]


class Heap(Bulk):
    """Much text of many, read together: they are asked for typed values together as well."""

    def __init__(self, texts: Sequence[Carried]) -> None:
        self._texts = list(texts)
        self._by_itself: list[int] = []
        self._whole = self._read_together()
        self._leaves = self._whole.strings or {}
        folded = [one.haystack.folded for one in texts]
        super().__init__(Haystack.of_folded("\n".join(folded)), result=True)
        self._starts = _starts(folded)
        self._own: dict[int, typed.Gathered] = {}
        self._few = _FEW
        self._max_hits = MAX_HITS + _HITS_OF_EACH * len(texts)

    @property
    def size(self) -> int:
        """Characters of all of them."""
        return self._starts[-1]

    def places(self, question: Question) -> set[int]:
        """The places of the texts that may carry the form."""
        haystack, starts = self._haystack, self._starts
        found: set[int] = set()
        for number, needle in enumerate(question.needles):
            if (number and not haystack.spells_so(needle)) or self._lacks(needle):
                continue
            found.update(_holding(needle, haystack.find(needle), haystack.folded, starts))
        return found

    def carrying(self, asked: typed.Typed, has_year: HasYear) -> set[int]:
        """The places of the texts that carry the asked value in another spelling."""
        found: set[int] = set()
        self._arrays()
        for one in self._carrying(asked, has_year) if len(self._by_itself) < len(self._texts) else ():
            if isinstance(one, int):
                found.add(bisect_right(self._starts, one) - 1)
            elif one == "strings":
                found.update(self._with_string(asked, has_year))
            else:
                found.update(self._with_number(*one))
        found.difference_update(self._by_itself)
        found.update(place for place in self._by_itself if self._texts[place].match(asked, has_year))
        return found

    def take_bounded(self) -> bool:
        """Whether a question since the last time met more places than may be read, here or in a text asked by itself."""
        bounded = super().take_bounded()
        return sum(self._texts[place].take_bounded() for place in self._by_itself) > 0 or bounded

    def _lacks(self, needle: str) -> bool:
        """Whether the strings that were read tell that no text holds this spelling."""
        if _PHRASE.fullmatch(needle) is None:
            return False
        if all(any(word in bare for bare in _BARE_WORDS) for word in _PHRASE_WORD.findall(needle)):
            return False
        return self._phrases is not None and needle not in self._phrases

    @cached_property
    def _phrases(self) -> str | None:
        """The strings that were read, folded; None where some were not looked at: too many, or under a key that is repeated."""
        if self._by_itself or self._whole.strings is None:
            return None
        if self._haystack.folded.count('"') != 2 * self._whole.quoted:
            return None
        return "\n".join([fold(text) for _, text in self._leaves])

    def _with_number(self, key: str | None, number: float) -> list[int]:
        spelled = str(int(number)) if number.is_integer() else repr(number)
        places = self.places(Question(spelled, rounding=True))
        return [place for place in places if number in self._of(place).numbers.get(key, ())]

    def _with_string(self, asked: typed.Typed, has_year: HasYear) -> list[int]:
        found: set[int] = set()
        for leaf in self._leaves:
            if carries(typed.LeafIndex([leaf]), asked, has_year):
                stretches = _AS_IT_STANDS.findall(fold(leaf[1]))
                found |= {
                    place
                    for place in self.places(Question(max(stretches, key=len), rounding=False))
                    if leaf in (self._of(place).strings or ())
                }
        return sorted(found)

    def _of(self, place: int) -> typed.Gathered:
        """What one text carries by itself: read when a value turned up that it may have."""
        if len(self._texts) == 1:
            return self._whole
        own = self._own.get(place)
        if own is None:
            own = self._own[place] = gathered(self._texts[place].text) or typed.Gathered()
        return own

    def _read_together(self) -> typed.Gathered:
        """What the texts carry, those of them that are whole JSON: their rows are read as those of one list."""
        together = typed.Gathered(max_chars=MAX_CHARS + _CHARS_OF_EACH * len(self._texts))
        trees: list[Json] = []
        size = 0
        for place, text in enumerate(self._texts):
            tree = _tree(text)
            if tree is None:
                self._by_itself.append(place)
                continue
            text.haystack.read_as_json()
            trees.append(tree)
            size += len(text.text)
            if size > _TREES:
                together.add(trees, None)
                trees, size = [], 0
        together.add(trees, None)
        return together

    def _gather(self) -> typed.Gathered:
        if self._whole.strings is None:  # too much of it: each text is asked by itself
            self._by_itself = list(range(len(self._texts)))
            self._whole = typed.Gathered()
        return self._whole

    def _is_json(self, place: int) -> bool:
        return True  # another text is asked by itself

    def _slice(self, start: int, end: int) -> str:
        place = bisect_right(self._starts, start) - 1
        first, text = self._starts[place], self._texts[place].text
        if len(text) == self._starts[place + 1] - first - 1:
            return text[start - first : end - first]
        return self._haystack.folded[start:end].replace(QUOTE_INSIDE, '"').upper()

    def _next(self, place: int) -> int:
        return self._starts[bisect_right(self._starts, place)]


def _tree(text: Carried) -> Json | None:
    """The list or object that a result wholly is; None for another text, or a longer one than is read at once."""
    if not text.result or len(text.text) > AT_ONCE:
        return None
    try:
        return tree_of(text.text)
    except (ValueError, RecursionError):
        return None
