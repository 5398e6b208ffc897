"""Where a check's results go, one conversation at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from otel_footprint.offline.judged import Judged
from otel_footprint.offline.totals import Totals

Source: TypeAlias = Literal["messages", "recorded"]


@dataclass(frozen=True, slots=True)
class InputFile:
    """One section of the report: an input, and whether it was judged from its messages or read from its verdicts."""

    path: str
    source: Source


class Sink(Protocol):
    """Takes results in order: a file, its conversations, the next file, and at the end the totals."""

    def file(self, file: InputFile) -> None:
        """A section begins."""

    def conversation(self, index: int, judged: Judged) -> None:
        """One conversation of the section; ``index`` counts from 0 in it."""

    def close(self, totals: Totals) -> None:
        """Everything was read."""


class JsonSink:
    """The documented JSON document, written as it comes so that memory does not follow the input."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._files = 0
        self._conversations = 0
        write('{"files":[')

    def file(self, file: InputFile) -> None:
        if self._files:
            self._write("\n]},")
        self._files += 1
        self._conversations = 0
        self._write(f'\n{{"path":{json.dumps(file.path)},"source":"{file.source}","conversations":[')

    def conversation(self, index: int, judged: Judged) -> None:
        self._write(("," if self._conversations else "") + "\n" + json.dumps(judged.document, separators=(",", ":")))
        self._conversations += 1

    def close(self, totals: Totals) -> None:
        self._write(("\n]}" if self._files else "") + '\n],"totals":' + json.dumps(totals.document()) + "}\n")
