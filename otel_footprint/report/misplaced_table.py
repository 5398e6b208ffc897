"""Values that stand beside another name than the rows that carry them have, for people: each place, and whose value it is."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.text import Text

from otel_footprint.offline.document import AnswerDocument, MisplacedDocument, ValueDocument
from otel_footprint.report.printable import printable

MAX_SHOWN: Final = 1_000
"""Places shown; the rest is counted."""


class MisplacedTable:
    """Counts as it goes, and keeps only what it shows. Without ``each`` it is one line that says how many there are."""

    def __init__(self, *, each: bool) -> None:
        self._each = each
        self._count = 0
        self._shown: list[tuple[str, ValueDocument, MisplacedDocument]] = []

    def add(self, where: str, answer: AnswerDocument) -> None:
        """The values of one answer."""
        for value in answer["values"]:
            for place in value["misplaced"]:
                self._count += 1
                if self._each and len(self._shown) < MAX_SHOWN:
                    self._shown.append((where, value, place))

    def show(self, console: Console) -> None:
        """Print them, if there are any or each was asked for."""
        if not self._count:
            if self._each:
                console.print("\nNo value stands beside the name of another row.")
            return
        places = "value stands" if self._count == 1 else "values stand"
        hint = "" if self._each else "; --misplaced lists them"
        console.print(f"\n{self._count} {places} beside the name of another row (advice, not flagged{hint})")
        for where, value, place in self._shown:
            console.print(_line(where, value, place))
        if len(self._shown) < self._count and self._each:
            console.print(f"and {self._count - len(self._shown)} more (see --json)")


def _line(where: str, value: ValueDocument, place: MisplacedDocument) -> Text:
    text = Text(printable(where), style="bold")
    text.append(f": {printable(value['value'] or value['shape'])} beside {printable(place['named'])}")
    whose = f"it is that of {printable(place['belongs_to'])}" if place["belongs_to"] else "another field carries it"
    text.append(f"  {whose}", style="dim")
    return text
