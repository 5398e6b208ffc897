"""Many texts asked at once: which of them may carry a form, which carry a typed value, and what words state.

Rules
-----
- Texts are read together in heaps, short ones in a pile, when something is asked for the first time after they were added;
  a pile is read anew with those that came after it.
- A form only leaves texts out that cannot carry it: what stays is graded as it would be without this.
- Results are asked for typed values by the heap where they are much text, else each by its own index.
- Typed values of words go into one index for all of them, those of a long text are asked for by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.carried import NOTHING, Carried, values_of_words
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.heap import Heap, Pile
from otel_footprint.core.evidence.typed_index import HasYear, carries

SMALL: Final = 65_536
"""Characters up to which texts make a pile, each of which is asked for typed values by itself."""
_LARGE: Final = 8_000_000
"""Characters of one heap from which on another is begun."""


class Shelf:
    """Texts in the order they came; each is known by its place."""

    def __init__(self, texts: Iterable[Carried] = ()) -> None:
        self._texts: list[Carried] = list(texts)
        self._heaps: list[tuple[int, Heap | Pile]] = []
        self._read = 0
        self._dropped = False

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: Carried) -> None:
        """Put one more behind the others."""
        self._texts.append(text)

    def drop(self, place: int) -> None:
        """Forget a text; its place stays empty."""
        self._texts[place] = NOTHING
        self._dropped = True

    def fork(self) -> Shelf:
        """A shelf that holds the same and goes its own way; what was read is shared."""
        other = type(self)(self._texts)
        other._heaps = list(self._heaps)
        other._read = self._read
        other._dropped = self._dropped
        return other

    def places(self, question: Question) -> Sequence[int]:
        """The places of the texts that may carry the form, in order."""
        found: list[int] = []
        for first, heap in self._heaps if self._read == len(self._texts) else self._caught_up():
            places = heap.places(question)
            if places:
                found += sorted(places) if not first else [first + local for local in sorted(places)]
        return [place for place in found if self._texts[place] is not NOTHING] if self._dropped else found

    def holding(self, question: Question) -> list[Carried]:
        """The texts that may carry the form."""
        texts = self._texts
        return [texts[place] for place in self.places(question)]

    def carrying(self, asked: typed.Typed, has_year: HasYear) -> list[int]:
        """The places of the results that carry a typed value in another spelling, in order; ``has_year`` as in ``carries``."""
        texts = self._texts
        found: list[int] = []
        last = len(texts)
        for first, heap in reversed(self._caught_up()):
            places: Iterable[int]
            if isinstance(heap, Heap):
                places = (first + local for local in heap.carrying(asked, has_year))
            else:
                places = (place for place in range(first, last) if texts[place].match(asked, has_year))
            found += [place for place in places if texts[place] is not NOTHING]
            last = first
        return sorted(found)

    def take_bounded(self) -> bool:
        """Whether, since the last time, a typed value could not be looked for everywhere."""
        together = sum(heap.take_bounded() for _, heap in self._heaps if isinstance(heap, Heap))
        return sum(text.take_bounded() for text in self._texts if text.is_bulky) + together > 0

    def _caught_up(self) -> list[tuple[int, Heap | Pile]]:
        if self._read < len(self._texts):
            start = self._read
            if self._heaps and isinstance(self._heaps[-1][1], Pile):
                start = self._heaps.pop()[0]
            size = 0
            for place in range(start, len(self._texts)):
                size += len(self._texts[place].text)
                if size > _LARGE:
                    self._heaps.append((start, self._heap(start, place + 1)))
                    start, size = place + 1, 0
            if start < len(self._texts):
                self._heaps.append((start, self._heap(start, len(self._texts))))
            self._read = len(self._texts)
        return self._heaps

    def _heap(self, start: int, end: int) -> Heap | Pile:
        texts = self._texts[start:end]
        return Heap(texts) if sum([len(one.text) + 1 for one in texts]) > SMALL else Pile(texts)


class Words(Shelf):
    """A shelf of what persons and the application said."""

    def __init__(self, texts: Iterable[Carried] = ()) -> None:
        super().__init__(texts)
        self._indexed = 0
        self._values = typed.LeafIndex(())
        self._bulky: list[Carried] = []

    def states(self, value: typed.Typed, has_year: HasYear) -> bool:
        """Whether any of them states a typed value, perhaps in another spelling; ``has_year`` as in ``carries``."""
        self._index()
        return carries(self._values, value, has_year) or any(text.match(value, has_year) for text in self._bulky)

    @property
    def years(self) -> set[int]:
        """The years their dates name."""
        self._index()
        return self._values.years.union(*(text.years for text in self._bulky))

    def _index(self) -> None:
        for text in self._texts[self._indexed :] if self._indexed < len(self._texts) else ():
            if text.is_bulky:
                self._bulky.append(text)
            else:
                self._values.take(values_of_words(text.text))
        self._indexed = len(self._texts)
