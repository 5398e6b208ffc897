"""``otel-footprint check``: recorded conversations and traces, judged offline.

Exit code 0 when nothing is flagged, 1 when something is, 2 when an input (or a part of one) cannot be read, which wins.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from otel_footprint.boundary import guard
from otel_footprint.cli import options
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.offline import files
from otel_footprint.offline.files import Problem, TraceFile
from otel_footprint.offline.format import Conversation
from otel_footprint.offline.judged import Judged, judge_conversation
from otel_footprint.offline.totals import Totals
from otel_footprint.report.junit import JUnitSink
from otel_footprint.report.printable import printable
from otel_footprint.report.sinks import InputFile, JsonSink, Sink, Source

STDIN: Final = "-"

DESCRIPTION: Final = """\
Judge the answers of recorded conversations: is every value an answer states carried by a tool result, said by the
person, or worked out from those? Reads OpenAI chat messages, Anthropic messages, OpenAI Responses items, Gemini
contents and Bedrock's Converse messages as JSON or JSON lines (a list, or objects with "messages"), and OTLP JSON
traces. It catches values that came from nowhere; it cannot catch a false claim built from real values.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file to check; - reads standard input")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.add_argument("--junit", metavar="FILE", help="write a JUnit XML report too")
    parser.add_argument(
        "--arguments",
        action="store_true",
        help="report the values that tool calls pass on too; advice that changes no verdict and no exit code",
    )
    parser.add_argument(
        "--misplaced",
        action="store_true",
        help="list the values that stand beside the name of another row than the one that carries them; advice too",
    )
    options.add_arguments(parser)


def main(arguments: argparse.Namespace) -> int:
    """Check every file; returns the exit code."""
    evidence = options.evidence_of(arguments)
    with contextlib.ExitStack() as stack:
        junit: JUnitSink | None = None
        sinks: list[Sink] = []
        if arguments.junit:
            # Opened first: a report that cannot be written is known before minutes of work, not after.
            stream = stack.enter_context(open(arguments.junit, "w", encoding="utf-8"))
            junit = JUnitSink(stream.write)
            sinks.append(junit)
        sinks.append(JsonSink(sys.stdout.write) if arguments.json else _table(misplaced=arguments.misplaced))
        totals = Totals()
        if arguments.arguments:
            totals.add_arguments(())
        for name in arguments.files:
            for problem in _check_file(name, evidence, sinks, totals):
                totals.unreadable += 1
                line = _where(name, problem)
                print(f"otel-footprint check: {line}", file=sys.stderr)
                if junit is not None:
                    junit.problem(line)
        for sink in sinks:
            sink.close(totals)
        sys.stdout.flush()
    if totals.unreadable:
        return 2
    return 1 if totals.flagged else 0


def _table(*, misplaced: bool) -> Sink:
    from otel_footprint.cli.console import stdout_console  # rich only where a person reads
    from otel_footprint.report.table import TableSink

    return TableSink(stdout_console(), misplaced=misplaced)


def _where(name: str, problem: Problem) -> str:
    place = "standard input" if name == STDIN else printable(name)
    return f"{place}:{problem.line}: {problem.reason}" if problem.line is not None else f"{place}: {problem.reason}"


def _check_file(name: str, evidence: Evidence, sinks: list[Sink], totals: Totals) -> Iterator[Problem]:
    """Check one file into the sinks; yields what of it could not be read."""
    section = _Section(name, sinks, totals)
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(_open(name))
        except OSError as error:
            yield Problem(None, error.strerror or str(error))
            return
        for item in files.read(file):
            match item:
                case Problem():
                    yield item
                case Conversation():
                    judged: Judged | None = None
                    with guard("check.judge"):
                        judged = judge_conversation(item, evidence, arguments=totals.arguments is not None)
                    if judged is None:
                        yield Problem(None, f"{section.next_name} could not be judged: a fault of ours")
                    else:
                        section.add("messages", judged)
                case TraceFile():
                    yield from _check_trace(item, evidence, section, arguments=totals.arguments is not None)
                case _:
                    assert_never(item)


def _check_trace(trace: TraceFile, evidence: Evidence, section: _Section, *, arguments: bool) -> Iterator[Problem]:
    from otel_footprint.offline.recorded import recorded
    from otel_footprint.offline.traces import judge_trace

    judged: list[Judged] = []
    seen: frozenset[str] = frozenset()
    problems = [Problem(None, "its calls could not be judged: a fault of ours")]
    with guard("check.judge_trace"):
        judged, problems, seen = judge_trace(trace, evidence, arguments=arguments)
    yield from problems
    found = recorded(trace, skip=seen, arguments=arguments)
    if judged or seen or not found:
        section.begin("messages")
    section.add_all("messages", judged)
    section.add_all("recorded", found)


class _Section:
    """One input's part of the report: begins when its first conversation is there."""

    def __init__(self, name: str, sinks: list[Sink], totals: Totals) -> None:
        self._name = name
        self._sinks = sinks
        self._totals = totals
        self._source: str | None = None
        self._index = 0

    @property
    def next_name(self) -> str:
        """What a person calls the conversation that is read now."""
        return f"conversation {self._index}"

    def begin(self, source: Source) -> None:
        if self._source == source:
            return
        if self._source is None:
            self._totals.files += 1
        self._source = source
        self._index = 0
        for sink in self._sinks:
            sink.file(InputFile(self._name, source))

    def add(self, source: Source, judged: Judged) -> None:
        self.begin(source)
        self._totals.add(judged.document)
        if self._totals.arguments is not None:
            self._totals.add_arguments(judged.arguments)
        for sink in self._sinks:
            sink.conversation(self._index, judged)
        self._index += 1

    def add_all(self, source: Source, conversations: Iterable[Judged]) -> None:
        for judged in conversations:
            self.add(source, judged)


@contextlib.contextmanager
def _open(name: str) -> Iterator[BinaryIO]:
    if name == STDIN:
        yield sys.stdin.buffer
        return
    path = Path(name)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with path.open("rb") as file:
        yield file
