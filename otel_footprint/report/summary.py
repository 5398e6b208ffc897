"""What a run did, in a few lines without any text of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.evidence.verdicts import STATUSES, VERDICTS
from otel_footprint.offline.document import AnswerDocument
from otel_footprint.offline.files import TraceFile
from otel_footprint.offline.recorded import recorded
from otel_footprint.offline.totals import Totals
from otel_footprint.report.otlp import Trace
from otel_footprint.telemetry import names
from otel_footprint.telemetry.summary import WORST_FIRST

_OBSERVED: Final = ("application", "provider")
_AGENTS: Final = ("invoke_agent", "invoke_workflow")
_WORST: Final = WORST_FIRST[::-1]


@dataclass(frozen=True, slots=True)
class Worst:
    """The answer to look at first: where it is, its verdict, and its values by status.

    ``hidden``: a flagged value is counted, but the run did not record which it is.
    """

    place: str
    verdict: str
    hidden: bool
    statuses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Counts over all processes of a run. ``calls`` are model calls whose window was observed.

    ``trace_id`` is the trace to look at first: that of the worst answer, else of the first call; None without any.
    """

    calls: int
    evictions: int
    totals: Totals
    worst: Worst | None
    problems: tuple[str, ...]
    trace_id: str | None = None

    @classmethod
    def of(cls, trace: Trace) -> RunSummary:
        """The summary of what a run recorded."""
        calls = evictions = 0
        first: str | None = None
        for span in trace.spans:
            attributes = span.attributes
            call = names.WINDOW_DECISION in attributes and attributes.get(names.GEN_AI_OPERATION_NAME) not in _AGENTS
            calls += call
            first = first or (span.trace_id if call else None)
            # What a strategy dropped stands on its own span, also where nothing was sent before that could have left.
            observed = call and attributes.get(names.WINDOW_DECIDED_BY, "application") in _OBSERVED
            evicted = attributes.get(names.WINDOW_EVICTED)
            if isinstance(evicted, int) and (observed or names.WINDOW_OUTCOME in attributes):
                evictions += evicted if attributes.get(names.WINDOW_SETTLED) is not False else 0
        totals = Totals()
        worst: tuple[tuple[int, int, int], Worst] | None = None
        for judged in recorded(TraceFile(trace.spans, trace.logs)):
            totals.add(judged.document)
            for answer, place in zip(judged.document["answers"], judged.places, strict=True):
                badness = _badness(answer)
                if worst is None or badness > worst[0]:
                    worst = (badness, _worst(place, answer))
        bad = worst is not None and worst[1].verdict in ("ungrounded", "inconclusive")
        shown = worst[1] if worst is not None and bad else None
        of_worst = re.search(r"\b([0-9a-f]{32})/", shown.place) if shown is not None else None
        return cls(calls, evictions, totals, shown, trace.problems, of_worst[1] if of_worst is not None else first)

    def lines(self, *where: str) -> list[str]:
        """For standard error: one line each for calls, values, the worst answer, and ``where`` the telemetry is."""
        title = "otel-footprint:"
        if not self.calls and not self.totals.answers:
            lines = [f"{title} no model call was seen (otel-footprint doctor says what is observed, and what is not)"]
        else:
            lines = [
                f"{title} {_count(self.calls, 'model call')}, {_count(self.totals.answers, 'answer')}"
                + _counts(self.totals.verdicts, VERDICTS),
                f"{title} {_count(self.totals.values, 'value')}"
                + _counts(self.totals.statuses, STATUSES)
                + f"; {_count(self.evictions, 'message')} left a window",
            ]
        if self.worst is not None:
            statuses = ", ".join(f"{count} {status}" for status, count in self.worst.statuses)
            lines.append(f"{title} worst answer: {self.worst.place} {self.worst.verdict} ({statuses})")
            if self.worst.hidden:
                lines.append(f"{title} to record which values are flagged, set OTEL_FOOTPRINT_CAPTURE_VALUES=flagged")
        lines += [f"{title} {problem}" for problem in self.problems]
        return [*lines, *(f"{title} {line}" for line in where)]


def _worst(place: str, answer: AnswerDocument) -> Worst:
    hidden = any(value["flagged"] and value["value"] is None for value in answer["values"])
    return Worst(place, answer["verdict"], hidden, _statuses(answer))


def _badness(answer: AnswerDocument) -> tuple[int, int, int]:
    """Orders answers: by verdict, then by how many values are flagged, then by the worst of their statuses."""
    verdict = _WORST.index(answer["verdict"]) if answer["verdict"] in _WORST else 0
    flagged = [value for value in answer["values"] if value["flagged"]]
    ranks = [STATUSES.index(value["status"]) for value in flagged if value["status"] in STATUSES]
    return verdict, len(flagged), max(ranks, default=0)


def _statuses(answer: AnswerDocument) -> tuple[tuple[str, int], ...]:
    counts = [(status, sum(value["status"] == status for value in answer["values"])) for status in STATUSES]
    return tuple((status, count) for status, count in counts if count)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _counts(counts: dict[str, int], order: Sequence[str]) -> str:
    """``: 1 read, 2 said``; empty where nothing was counted."""
    counted = ", ".join(f"{counts[name]} {name}" for name in order if counts.get(name))
    return f": {counted}" if counted else ""
