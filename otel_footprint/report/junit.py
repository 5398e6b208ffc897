"""JUnit XML of a check: one suite per file, one case per answer, a failure for each that is flagged."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from otel_footprint.offline.document import AnswerDocument
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.totals import Totals, is_flagged
from otel_footprint.report.sinks import InputFile
from otel_footprint.report.why import why

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnitSink:
    """Collects cases per file and writes the document at the end. An unreadable input is an error of its own suite."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._suites: list[tuple[str, list[str], int]] = []
        self._problems: list[str] = []

    def file(self, file: InputFile) -> None:
        name = file.path if file.source == "messages" else f"{file.path} ({file.source})"
        self._suites.append((name, [], 0))

    def problem(self, message: str) -> None:
        """Something that could not be read."""
        self._problems.append(message)

    def conversation(self, index: int, judged: Judged) -> None:
        name, cases, failures = self._suites[-1]
        identity = judged.document["id"] or str(index)
        for answer, place in zip(judged.document["answers"], judged.places, strict=True):
            label = place if answer["choice"] == 0 else f"{place} choice {answer['choice']}"
            case = f"<testcase classname={_attribute(f'{name}.{identity}')} name={_attribute(label)}"
            if is_flagged(answer):
                failures += 1
                cases.append(f"{case}>{_failure(answer)}</testcase>")
            elif answer["verdict"] in ("inconclusive", "not_applicable"):
                reasons = ", ".join([answer["verdict"], *answer["reasons"]])
                cases.append(f"{case}><skipped message={_attribute(reasons)}/></testcase>")
            else:
                cases.append(f"{case}/>")
        self._suites[-1] = (name, cases, failures)

    def close(self, totals: Totals) -> None:
        tests = totals.answers + len(self._problems)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites tests="{tests}" failures="{totals.flagged}" errors="{len(self._problems)}">',
        ]
        for name, cases, failures in self._suites:
            opening = f'<testsuite name={_attribute(name)} tests="{len(cases)}" failures="{failures}" errors="0">'
            lines += [opening, *cases, "</testsuite>"]
        if self._problems:
            count = len(self._problems)
            lines.append(f'<testsuite name="unreadable" tests="{count}" failures="0" errors="{count}">')
            for problem in self._problems:
                name = _attribute(problem)
                lines.append(f'<testcase classname="unreadable" name={name}><error message={name}/></testcase>')
            lines.append("</testsuite>")
        lines.append("</testsuites>\n")
        self._write("\n".join(lines))


def _failure(answer: AnswerDocument) -> str:
    flagged = [value for value in answer["values"] if value["flagged"]]
    counts = ", ".join(sorted({value["status"] for value in flagged}))
    lines = [f"{value['value'] or '(not captured)'}: {why(value)}" for value in flagged]
    message = f"{answer['verdict']}: {counts}" if counts else answer["verdict"]
    return f"<failure message={_attribute(message)}>{escape(_clean(chr(10).join(lines)))}</failure>"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Text without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
