"""Many texts as one: which of them may carry a form, and which carry a typed value, at the cost of one long text.

Rules
-----
- The folded texts are joined, a line each; what is found belongs to the text in whose stretch it stands.
- A form is found by its needles, each text that holds one may carry it.
- Typed values are found as in one long result (``bulk``): numbers in arrays for all of them, strings that need reading read
  once. A text that is no whole JSON, or has too many such strings, is asked by itself.
- What a text said does not change; a text that was dropped is passed over by the one who knows.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.bulk import MAX_HITS, Bulk
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.haystack import Haystack, Question
from otel_footprint.core.evidence.pieces import gathered
from otel_footprint.core.evidence.typed_index import HasYear, carries

_FEW: Final = 64
_HITS_OF_EACH: Final = 30
_MAX_STRINGS: Final = 20_000


class Heap(Bulk):
    """Some texts, read together."""

    def __init__(self, texts: Sequence[Carried]) -> None:
        folded = [one.haystack.folded for one in texts]
        super().__init__(Haystack.of_folded("\n".join(folded)), result=True)
        self._texts = list(texts)
        self._starts = [0, *accumulate(len(one) + 1 for one in folded)]
        self._own: list[typed.Gathered | None] = []
        self._by_itself: list[int] = []
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
            if number and not haystack.spells_so(needle):
                continue
            at = haystack.find(needle)
            while at >= 0:
                place = bisect_right(starts, at)
                found.add(place - 1)
                at = haystack.folded.find(needle, starts[place])
        return found

    def carrying(self, asked: typed.Typed, has_year: HasYear) -> set[int]:
        """The places of the texts that carry the asked value in another spelling."""
        found: set[int] = set()
        for one in self._carrying(asked, has_year):
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

    def _with_number(self, key: str | None, number: float) -> list[int]:
        return [place for place, own in enumerate(self._own) if own is not None and number in own.numbers.get(key, ())]

    def _with_string(self, asked: typed.Typed, has_year: HasYear) -> list[int]:
        return [
            place
            for place, own in enumerate(self._own)
            if own is not None and own.strings and carries(typed.LeafIndex(own.strings), asked, has_year)
        ]

    def _gather(self) -> typed.Gathered:
        together = typed.Gathered()
        strings: dict[tuple[str | None, str], None] = {}
        for place, text in enumerate(self._texts):
            own = (text.haystack.take_gathered() or gathered(text.text)) if text.result else None
            if own is None or own.strings is None or len(strings) > _MAX_STRINGS:
                self._own.append(None)
                self._by_itself.append(place)
                continue
            self._own.append(own)
            strings.update(dict.fromkeys(own.strings))
            for key, sizes in own.numbers.items():
                kept = together.numbers.get(key)
                if kept is None:
                    kept = together.numbers[key] = array("d")
                kept.extend(sizes)
        together.strings = list(strings)
        return together

    def _slice(self, start: int, end: int) -> str:
        place = bisect_right(self._starts, start) - 1
        first, text = self._starts[place], self._texts[place].text
        if len(text) == self._starts[place + 1] - first - 1:
            return text[start - first : end - first]
        return self._haystack.folded[start:end].upper()

    def _next(self, place: int) -> int:
        return self._starts[bisect_right(self._starts, place)]
