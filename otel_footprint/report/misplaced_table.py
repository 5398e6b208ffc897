"""Values that stand beside another name than the rows that carry them have, for people: each place, and whose value it is.

Rules
-----
- The places of a recorded value are one line, since neither they nor the names were recorded.
- That there are none is said only where an answer was judged.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.console import Console
from rich.text import Text

from otel_footprint.offline.document import AnswerDocument, MisplacedDocument, ValueDocument
from otel_footprint.report.printable import printable

MAX_SHOWN: Final = 1_000
"""Places shown; the rest is counted."""


class _Shown(NamedTuple):
    where: str
    value: ValueDocument
    place: MisplacedDocument
    times: int


class MisplacedTable:
    """Counts as it goes, and keeps only what it shows. Without ``each`` it is one line that says how many there are."""

    def __init__(self, *, each: bool) -> None:
        self._each = each
        self._answers = 0
        self._count = 0
        self._shown: list[_Shown] = []

    def add(self, where: str, answer: AnswerDocument) -> None:
        """The values of one answer."""
        self._answers += 1
        for value in answer["values"]:
            places = value["misplaced"]
            self._count += len(places)
            if places and not places[0]["named"]:
                self._keep(_Shown(where, value, places[0], len(places)))
                continue
            for place in places:
                self._keep(_Shown(where, value, place, 1))

    def _keep(self, shown: _Shown) -> None:
        if self._each and len(self._shown) < MAX_SHOWN:
            self._shown.append(shown)

    def show(self, console: Console) -> None:
        """Print them, if there are any or each was asked for."""
        if not self._count:
            if self._each and self._answers:
                console.print("\nNo value stands beside the name of another row.")
            return
        places = "value stands" if self._count == 1 else "values stand"
        hint = "" if self._each else "; --misplaced lists them"
        console.print(f"\n{self._count} {places} beside the name of another row (advice, not flagged{hint})")
        for shown in self._shown:
            console.print(_line(shown))
        rest = self._count - sum(shown.times for shown in self._shown)
        if rest and self._each:
            console.print(f"and {rest} more (see --json)")


def _line(shown: _Shown) -> Text:
    value, place = shown.value, shown.place
    text = Text(printable(shown.where), style="bold")
    stated = value["value"] or f"({value['shape']}, text not captured)"
    text.append(f": {printable(stated)} ")
    if not place["named"]:
        text.append("beside the name of another row")
        if shown.times > 1:
            text.append(f", in {shown.times} places")
        return text
    text.append(f"beside {printable(place['named'])}")
    whose = f"it is that of {printable(place['belongs_to'])}" if place["belongs_to"] else "another field carries it"
    text.append(f"  {whose}", style="dim")
    return text
