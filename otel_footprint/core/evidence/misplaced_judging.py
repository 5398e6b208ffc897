"""Hand an answer's findings to the advisory on misplaced values, and take back what it found.

Rules
-----
- Only values that stay ``read`` or ``respelled`` are asked about; their status does not change, and nothing is flagged.
- A number with a unit that nothing carried is ``respelled`` where the named row carries it in a field its word means:
  "36 minutes" beside a row whose ``MIN`` is 36.
- A small number that a person or the application said with its word is theirs ("8 points").
- A small number that is misplaced becomes a value of its own: it was read, only in another row.
- An answer without values and numbers costs a look at its text; tables are read when one with some asks, once each.
- The latest results are looked at first, up to ``MAX_CHARS`` characters of them together; a longer one is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.extract import Candidate
from otel_footprint.core.evidence.misplaced import Asked, Placement
from otel_footprint.core.evidence.misplaced_counts import says_numbers
from otel_footprint.core.evidence.misplaced_rows import Row
from otel_footprint.core.evidence.misplaced_tables import Words
from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.verdicts import Misplaced, Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

MAX_CHARS: Final = 200_000
"""Characters of results whose tables are looked at for one answer."""
MAX_ANSWER: Final = 50_000
"""Characters of an answer that are looked at."""
_KEPT: Final = 64
_PLAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9._\-]*[a-z0-9])?")
_READ: Final[frozenset[Status]] = frozenset({"read", "respelled"})
_UNFOUND: Final[frozenset[Status]] = frozenset({"unsupported", "derivable", "argument_only"})


class Small(NamedTuple):
    """One spelling of misplaced small numbers: as a value, where it stands, and the rows that carry it."""

    candidate: Candidate
    places: list[Misplaced]
    rows: list[Row]


def place(
    text: str,
    findings: Sequence[Finding],
    window: Sequence[Source],
    said: Sequence[Carried],
    carries: Callable[[int, Carried], bool],
    row_names: RowNames,
    *,
    counts: bool = True,
) -> list[tuple[Candidate, tuple[Misplaced, ...], tuple[Source, ...]]]:
    """Give the findings their ``misplaced`` places; returns the small numbers that are values only because of theirs, with
    their places and the results that carry them.

    Without ``counts`` small numbers are left alone. ``carries`` says whether a text carries the value of the finding with that
    index; ``row_names`` are those of the window.
    """
    text = text[:MAX_ANSWER]
    if not any(finding.status in _READ for finding in findings) and not says_numbers(text):
        return []
    eligible = _with_rows(window)
    if not eligible:
        return []
    words = Words(text)
    sources = row_names.naming(words.present, eligible)
    if not sources:
        return []
    placement = Placement(text, words, [source.carried.tables for source in sources])
    if not placement:
        return []
    known = {id(source) for source in eligible if source.carried.tables.names}
    for index, finding in enumerate(findings):
        # What is carried where no tables were read may well be in its place.
        if finding.status in _READ and known.issuperset(map(id, finding.sources)):
            tables = [source.carried.tables for source in finding.sources]
            finding.misplaced = placement.of_value(
                Asked(tuple(finding.candidate.spans), _spelled(finding.candidate), tables, partial(carries, index))
            )
    if not counts:
        return []
    numbers = placement.small_numbers()
    for finding in findings:
        starts = [start for start, _ in finding.candidate.spans]
        if finding.status in _UNFOUND and starts and all(start in numbers.carried for start in starts):
            finding.status, finding.derivation = "respelled", None
            finding.sources = _carrying(sources, [numbers.carried[start] for start in starts])
    found: dict[str, Small] = {}
    for small in numbers.misplaced:
        span = small.place.span
        if any(small.phrase in words.haystack.folded for words in said):
            continue
        value = next((finding for finding in findings if _meets(finding.candidate.spans, span)), None)
        if value is not None:
            if value.status in _READ and not _meets([place.span for place in value.misplaced], span):
                value.misplaced = (*value.misplaced, small.place)
            continue
        one = found.setdefault(small.text, Small(Candidate(small.text, "number", small.text.lower()), [], []))
        one.candidate.spans.append(span)
        one.places.append(small.place)
        one.rows.append(small.row)
    return [(one.candidate, tuple(one.places), _carrying(sources, one.rows)) for one in found.values()]


def _spelled(candidate: Candidate) -> str:
    """The form of a candidate where a cell of that spelling surely carries it."""
    plain = not candidate.literal and candidate.shape != "percent" and _PLAIN.fullmatch(candidate.form) is not None
    return candidate.form if plain else ""


def _meets(spans: Sequence[tuple[int, int]], span: tuple[int, int]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in spans)


def _carrying(sources: Sequence[Source], rows: Sequence[Row]) -> tuple[Source, ...]:
    return tuple(source for source in sources if any(row in source.carried.tables.rows for row in rows))


def _with_rows(window: Sequence[Source]) -> list[Source]:
    """The sources that are looked at, in order."""
    found: list[Source] = []
    left = MAX_CHARS
    for source in reversed(window):
        carried = source.carried
        if len(carried.text) <= left and carried.row_chars:
            left -= carried.row_chars
            found.append(source)
    found.reverse()
    return found


class RowNames:
    """Which results name a row by a name that starts with a word. A result is read when it is first asked about."""

    def __init__(self) -> None:
        self._read: dict[int, Carried] = {}
        self._by_word: dict[str, list[int]] = {}

    def naming(self, words: Set[str], sources: Sequence[Source]) -> list[Source]:
        """Those of the sources that name a row by a name that starts with one of the words."""
        if len(self._read) > 2 * len(sources) + _KEPT:
            self._read.clear()  # most of them are no longer there
            self._by_word.clear()
        for source in sources:
            if id(source.carried) not in self._read:
                self._enter(source.carried)
        by_word = self._by_word
        may = {place for word in words & by_word.keys() for place in by_word[word]}
        return [source for source in sources if id(source.carried) in may] if may else []

    def _enter(self, carried: Carried) -> None:
        place = id(carried)
        self._read[place] = carried
        by_word = self._by_word
        for word in carried.tables.longest:
            if word in by_word:
                by_word[word].append(place)
            else:
                by_word[word] = [place]
