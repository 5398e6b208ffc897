"""Many texts asked at once: which of them may carry a form, and whether words state a typed value.

Rules
-----
- A form is found by its runs of digits. In a text that carries it each of them stands between other characters, only zeros
  may follow the last one; so a text is looked up by its runs, and by those without their last zeros.
- That only leaves texts out that cannot carry the form: what stays is graded as it would be without this.
- A text is read when something is asked for the first time after it was added. Long texts are not read: each is always
  among those that may carry a form, as all are when a form has no digits to go by, or may be the end of a longer number.
- Typed values of words go into one index for all of them, those of a long text are asked for by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.carried import NOTHING, Carried, values_of_words
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.typed_index import HasYear, carries

LONG: Final = 16_384
"""Characters from which on a text is not read for its runs of digits."""
_RUNS: Final = re.compile(r"[0-9]+")


class Shelf:
    """Texts in the order they came; each is known by its place."""

    def __init__(self, texts: Iterable[Carried] = ()) -> None:
        self._texts: list[Carried] = list(texts)
        self._read = 0
        self._long: list[int] = []
        self._by_run: dict[str, list[int]] = {}
        self._folded: list[str] = []

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: Carried) -> None:
        """Put one more behind the others."""
        self._texts.append(text)

    def drop(self, place: int) -> None:
        """Forget a text; its place stays empty."""
        self._texts[place] = NOTHING
        if place < len(self._folded):
            self._folded[place] = ""

    def places(self, question: Question) -> Sequence[int]:
        """The places of the texts that may carry the form, in order."""
        runs = question.runs
        if runs is None:
            return range(len(self._texts))
        if self._read < len(self._texts):
            self._catch_up()
        by_run, folded = self._by_run, self._folded
        found: list[int] = []
        for needle, keys in zip(question.needles, runs, strict=True):
            fewest: list[int] | None = None
            for run in keys:
                known = by_run.get(run)
                if known is None:
                    break
                if fewest is None or len(known) < len(fewest):
                    fewest = known
            else:
                found += [place for place in fewest or () if needle in folded[place]]
        if len(runs) > 1 or self._long:
            return sorted({*found, *self._long})
        return found

    def holding(self, question: Question) -> list[Carried]:
        """The texts that may carry the form."""
        return [self._texts[place] for place in self.places(question)]

    def _catch_up(self) -> None:
        by_run = self._by_run
        for place in range(self._read, len(self._texts)):
            text = self._texts[place]
            if len(text.text) > LONG:
                self._long.append(place)
                self._folded.append("")
                continue
            folded = text.haystack.folded
            self._folded.append(folded)
            runs = set(_RUNS.findall(folded))
            runs.update([run.rstrip("0") for run in runs if run[-1] == "0"])
            for run in runs:
                known = by_run.get(run)
                if known is None:
                    by_run[run] = [place]
                else:
                    known.append(place)
        self._read = len(self._texts)


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
