"""The parts of a corpus: results and the model's own calls, with what happened to them.

Rules
-----
- A source is in the window or has left it, by a decision. Its text does not change; other content is another source.
- A result without readable content is opaque; one that did not fit the bound is unread. Neither carries anything.
- An outcome is good when the result is not empty, not an error and not an absence: only then does a call echo its arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from otel_footprint.core.absence import read_absence
from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.evidence.haystack import Question
from otel_footprint.core.evidence.shelf import Shelf
from otel_footprint.core.evidence.typed_index import HasYear
from otel_footprint.core.evidence.verdicts import Carrier

Outcome: TypeAlias = Literal["good", "empty", "error", "absent"]

_ERROR: Final = re.compile(r"\W{0,3}(?:error|exception|traceback|failed|failure)\b", re.IGNORECASE)
_ERROR_FIELDS: Final = ("error", "errors", "is_error", "isError")
_EMPTY: Final = frozenset({"", "[]", "{}", "null", "none", '""', "()", "[[]]"})
_LONGEST_EMPTY: Final = max(map(len, _EMPTY))


@dataclass(slots=True)
class Source:
    """One tool result (or handed-in text: ``call_id`` None, ``handed_in`` True)."""

    ref: str
    call_id: str | None
    tool: str | None
    carried: Carried
    turn: int
    position: int | None
    served: CallRef | None
    outcome: Outcome
    handed_in: bool = False
    opaque: bool = False
    unread: bool = False
    in_window: bool = True
    decision: str = ""
    decided_by: str = ""
    dropped: CallRef | None = None
    place: int = -1

    def carrier(self) -> Carrier:
        """Its name as the verdicts give it."""
        return Carrier(self.ref, self.call_id, self.tool, self.turn, self.position)

    def copy(self) -> Source:
        """The same source with a fate of its own; what was read from it is shared."""
        return replace(self)


class Stack:
    """Sources in the order they came, asked together. A source is in one stack, where its ``place`` says."""

    __slots__ = ("_dropped", "_shelf", "_sources")

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._put_up(sources)

    def fork(self, copies: dict[int, Source]) -> Stack:
        """The same sources by their copies; what was read from them is shared."""
        other = Stack()
        other._sources = [copies.get(id(source), source) for source in self._sources]
        other._shelf = self._shelf.fork()
        other._dropped = self._dropped
        return other

    def _put_up(self, sources: Iterable[Source]) -> None:
        self._sources: list[Source] = []
        self._shelf = Shelf()
        self._dropped = 0
        for source in sources:
            self.add(source)

    def add(self, source: Source) -> None:
        """Put one more behind the others."""
        source.place = len(self._sources)
        self._sources.append(source)
        self._shelf.add(source.carried)

    def drop(self, source: Source) -> None:
        """Forget a source. What is left is read anew once that is the smaller part."""
        self._shelf.drop(source.place)
        self._dropped += 1
        source.place = -1
        if self._dropped * 2 > len(self._sources):
            self._put_up([one for one in self._sources if one.place >= 0])

    def holding(self, question: Question) -> list[Source]:
        """The sources in the window that may carry the form."""
        sources = self._sources
        return [source for place in self._shelf.places(question) if (source := sources[place]).in_window]

    def carrying(self, value: typed.Typed, has_year: HasYear) -> list[Source]:
        """The sources, in the window and not, that carry a typed value; ``has_year`` as in ``carries``."""
        return [self._sources[place] for place in self._shelf.carrying(value, has_year)]

    def take_bounded(self) -> bool:
        """Whether, since the last time, a typed value could not be looked for everywhere."""
        return self._shelf.take_bounded()

    def gone(self, question: Question) -> list[Source]:
        """The sources that left the window and may carry the form."""
        sources = self._sources
        return [source for place in self._shelf.places(question) if not (source := sources[place]).in_window]


@dataclass(frozen=True, slots=True)
class CallMade:
    """One tool call the model made. ``ref`` pairs it with its result."""

    ref: str
    tool: str
    carried: Carried
    turn: int
    position: int | None


def outcome_of(text: str, *, is_error: bool) -> Outcome:
    """What kind of result a text is."""
    stripped = text.strip()
    if len(stripped) <= _LONGEST_EMPTY and stripped.lower() in _EMPTY:
        return "empty"
    if is_error or _says_error(text):
        return "error"
    if read_absence(text) is not None:
        return "absent"
    return "good"


def _says_error(text: str) -> bool:
    start = text.lstrip()
    if not start.startswith("{"):
        return _ERROR.match(start) is not None
    if "rror" not in text:
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _ERROR.match(start) is not None
    return isinstance(found, dict) and any(found.get(name) for name in _ERROR_FIELDS)
