"""A check for people: the counts, then every flagged answer with its values and why, then what is advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from otel_footprint.core.evidence.verdicts import FLAGGED, STATUSES, VERDICTS
from otel_footprint.offline.document import AnswerDocument
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.totals import Totals, is_flagged
from otel_footprint.report.arguments_table import ArgumentsTable
from otel_footprint.report.misplaced_table import MisplacedTable
from otel_footprint.report.printable import printable
from otel_footprint.report.sinks import InputFile
from otel_footprint.report.tree import STATUS_STYLES, VERDICT_STYLES
from otel_footprint.report.why import why

MAX_SHOWN: Final = 1_000
"""Flagged answers shown; the rest is counted."""
MAX_VALUES: Final = 50
"""Flagged values shown of one answer; the rest is counted."""


@dataclass(frozen=True, slots=True)
class _Flagged:
    where: str
    answer: AnswerDocument


class TableSink:
    """Keeps the flagged answers only, and prints at the end."""

    def __init__(self, console: Console, *, misplaced: bool = False) -> None:
        self._console = console
        self._file = InputFile("", "messages")
        self._flagged: list[_Flagged] = []
        self._hidden = 0
        self._arguments = ArgumentsTable()
        self._misplaced = MisplacedTable(each=misplaced)

    def file(self, file: InputFile) -> None:
        self._file = file

    def conversation(self, index: int, judged: Judged) -> None:
        document = judged.document
        name = f"conversation {index}" if document["id"] is None else f"conversation {index} (id {document['id']})"
        self._arguments.add(f"{self._file.path}, {name}", judged.arguments)
        for answer, place in zip(document["answers"], judged.places, strict=True):
            choice = f", choice {answer['choice']}" if answer["choice"] else ""
            where = f"{self._file.path}, {name}, {place}{choice}"
            self._misplaced.add(where, answer)
            if not is_flagged(answer):
                continue
            if len(self._flagged) >= MAX_SHOWN:
                self._hidden += 1
                continue
            self._flagged.append(_Flagged(where, answer))

    def close(self, totals: Totals) -> None:
        console = self._console
        console.print(_counts(totals))
        if not totals.answers:
            console.print("No answers to judge.")
        for flagged in self._flagged:
            console.print()
            console.print(_answer(flagged))
        if self._hidden:
            console.print(f"\nand {self._hidden} more flagged answers (see --json)")
        self._misplaced.show(console)
        if totals.arguments is not None:
            self._arguments.show(console)


def _counts(totals: Totals) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("answers by verdict")
    table.add_column("", justify="right")
    table.add_column("   values by status")
    table.add_column("", justify="right")
    verdicts = [Text(name, style=VERDICT_STYLES[name] if totals.verdicts[name] else "dim") for name in VERDICTS]
    counts = [str(totals.verdicts[name]) for name in VERDICTS]
    rows = list(zip(verdicts, counts, strict=True))
    rows += [(Text("all", style="bold"), str(totals.answers))]
    for index, status in enumerate(STATUSES):
        left = rows[index] if index < len(rows) else (Text(""), "")
        count = totals.statuses[status]
        mark = "  flagged" if status in FLAGGED and count else ""
        name = Text(f"   {status}", style=STATUS_STYLES[status] if count else "dim")
        name.append(mark, style="dim")
        table.add_row(*left, name, str(count))
    return table


def _answer(flagged: _Flagged) -> Text:
    answer = flagged.answer
    text = Text(printable(flagged.where), style="bold")
    text.append(f": {answer['verdict']}", style=VERDICT_STYLES.get(answer["verdict"], ""))
    if answer["reasons"]:
        text.append(f" ({', '.join(answer['reasons'])})", style="dim")
    values = [value for value in answer["values"] if value["flagged"]]
    for value in values[:MAX_VALUES]:
        text.append("\n  ")
        text.append(printable(value["value"] or f"({value['shape']}, text not captured)"), style="bold")
        text.append("  ")
        status, _, clause = printable(why(value)).partition(":")
        text.append(status, style=STATUS_STYLES.get(status, ""))
        text.append(f":{clause}")
    if len(values) > MAX_VALUES:
        text.append(f"\n  and {len(values) - MAX_VALUES} more flagged values (see --json)")
    return text
