"""Hand an answer's findings to the advisory on misplaced values, and take back what it found.

Rules
-----
- Only values that stay ``read`` or ``respelled`` are asked about; their status does not change, and nothing is flagged.
- A small number that a person or the application said with its word is theirs ("8 points").
- A small number that is misplaced becomes a value of its own: it was read, only in another row.
- The latest results are looked at first, up to ``MAX_CHARS`` characters of them together; a longer one is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.extract import Candidate
from otel_footprint.core.evidence.misplaced import Asked, Placement
from otel_footprint.core.evidence.misplaced_tables import MAX_TEXT
from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.verdicts import Misplaced, Status

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Finding

MAX_CHARS: Final = 200_000
"""Characters of results whose tables are looked at for one answer."""
_READ: Final[frozenset[Status]] = frozenset({"read", "respelled"})


class Small(NamedTuple):
    """A misplaced small number as a value: where it stands, and the results that carry it."""

    candidate: Candidate
    places: list[Misplaced]
    sources: list[Source]


def place(
    text: str,
    findings: Sequence[Finding],
    window: Sequence[Source],
    said: Sequence[Carried],
    carries: Callable[[int, Carried], bool],
) -> tuple[Small, ...]:
    """Give the findings their ``misplaced`` places; returns the small numbers that are values only because of theirs.

    ``carries`` says whether a text carries the value of the finding with that index.
    """
    sources = _with_tables(window)
    if not sources:
        return ()
    placement = Placement(text, [source.carried.tables for source in sources])
    if not placement:
        return ()
    for index, finding in enumerate(findings):
        if finding.status in _READ:
            finding.misplaced = placement.of_value(Asked(tuple(finding.candidate.spans), partial(carries, index)))
    taken = [span for finding in findings for span in finding.candidate.spans]
    found: dict[str, Small] = {}
    for small in placement.small_numbers(taken):
        if any(small.phrase in words.haystack.folded for words in said):
            continue
        one = found.setdefault(small.text, Small(Candidate(small.text, "number", small.text.lower()), [], []))
        one.candidate.spans.append(small.place.span)
        one.places.append(small.place)
        for source in sources:
            if all(source is not other for other in one.sources) and any(
                row is small.row for row in source.carried.tables.rows
            ):
                one.sources.append(source)
    return tuple(found.values())


def _with_tables(window: Sequence[Source]) -> list[Source]:
    found: list[Source] = []
    left = MAX_CHARS
    for source in reversed(window):
        size = len(source.carried.text)
        if size > MAX_TEXT or size > left or not _may_hold_rows(source.carried.text):
            continue
        left -= size
        if source.carried.tables.names:
            found.append(source)
    found.reverse()
    return found


def _may_hold_rows(text: str) -> bool:
    """Whether it is worth reading: objects, lists of lists, or lines with a delimiter."""
    return text.count("{") > 1 or text.count("[") > 2 or text.count("\n") > 1
