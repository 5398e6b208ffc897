"""OTLP JSON files read back: the plain spans and log records of one file or of several.

A trace file may still be growing or its writer may have been killed: a line that cannot be read is reported and the
rest is read all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.offline import otlp
from otel_footprint.offline.otlp import Log, Span


@dataclass(frozen=True, slots=True)
class Trace:
    """What was read. ``problems`` are one-line texts that name file and line."""

    spans: tuple[Span, ...]
    logs: tuple[Log, ...]
    problems: tuple[str, ...]


def read_files(paths: Iterable[Path], *, start: int = 0) -> Trace:
    """Read all files, each from byte ``start`` of the first one and from the beginning of the others.

    Raises :class:`OSError` for a file that cannot be opened.
    """
    spans: list[Span] = []
    logs: list[Log] = []
    problems: list[str] = []
    for index, path in enumerate(paths):
        with path.open("rb") as file:
            file.seek(start if index == 0 else 0)
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    export = otlp.read(json.loads(line))
                except (ValueError, RecursionError) as error:
                    reason = error.reason if isinstance(error, UnreadableInputError) else "not a JSON line"
                    problems.append(f"{path}:{number}: {reason}")
                    continue
                spans += export.spans
                logs += export.logs
    return Trace(tuple(spans), tuple(logs), tuple(problems))


def read_spans(path: str | Path) -> tuple[Span, ...]:
    """The spans of one file. Raises :class:`OSError` when it cannot be opened."""
    return read_files([Path(path)]).spans
