"""What tool calls pass on, for people: counts by tool, then every value that nothing accounts for, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from otel_footprint.core.evidence.verdicts import STATUSES
from otel_footprint.offline.document import ArgumentDocument
from otel_footprint.report.printable import printable
from otel_footprint.report.tree import STATUS_STYLES
from otel_footprint.report.why import why

MAX_SHOWN: Final = 1_000
"""Values shown; the rest is counted."""


class ArgumentsTable:
    """Counts as it goes, and keeps only the values to show."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._shown: list[tuple[str, ArgumentDocument]] = []
        self._hidden = 0

    def add(self, where: str, values: Sequence[ArgumentDocument]) -> None:
        """The values of one conversation."""
        for value in values:
            self._counts.setdefault(value["tool"], Counter())[value["status"]] += 1
            if value["unaccounted"]:
                if len(self._shown) < MAX_SHOWN:
                    self._shown.append((where, value))
                else:
                    self._hidden += 1

    def show(self, console: Console) -> None:
        """Print them."""
        console.print()
        if not self._counts:
            console.print("No tool call passes on a value.")
            return
        statuses = [status for status in STATUSES if any(counts[status] for counts in self._counts.values())]
        table = Table(box=None, pad_edge=False, show_edge=False)
        table.add_column("arguments by tool")
        for status in statuses:
            table.add_column(Text(f"  {status}", style=STATUS_STYLES[status]), justify="right")
        for tool in sorted(self._counts):
            counts = self._counts[tool]
            table.add_row(printable(tool), *(str(counts[status]) if counts[status] else "" for status in statuses))
        console.print(table)
        for where, value in self._shown:
            console.print(_line(where, value))
        if self._hidden:
            console.print(f"and {self._hidden} more arguments that nothing accounts for (see --json)")


def _line(where: str, value: ArgumentDocument) -> Text:
    place = "" if value["message_index"] is None else f", message {value['message_index']}"
    text = Text(printable(f"{where}{place}: {value['tool']} {value['path'] or ''}".rstrip()), style="bold")
    shown = value["value"] or f"({value['shape']}, text not captured)"
    text.append(f" = {printable(shown)}  ")
    status, _, clause = printable(why(value)).partition(":")
    text.append(status, style=STATUS_STYLES.get(status, ""))
    text.append(f":{clause}")
    return text
