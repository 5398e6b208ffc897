"""The figures: what one checker flags of a corpus, how long it takes, and which mutants it catches."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from quality_checkers import Checker
from quality_mutants import Mutant
from quality_replay import Answer

Hits = tuple[int, int]
"""How many of how many."""


@dataclass(frozen=True)
class OwnFigures:
    """What the product says of one corpus. Times are milliseconds for one answer."""

    answers: int
    with_data: int
    flagged: int
    inconclusive: int
    statuses: Counter[str]
    flagged_values: Counter[str]
    misplaced: int
    median_ms: float
    p99_ms: float


def own_figures(answers: Sequence[Answer]) -> OwnFigures:
    """Count the judgements of a corpus."""
    data = [answer.judgement for answer in answers if answer.judgement.candidates]
    values = [value for judgement in data for value in judgement.values]
    times = sorted(answer.seconds * 1000 for answer in answers) or [0.0]
    return OwnFigures(
        answers=len(answers),
        with_data=len(data),
        flagged=sum(judgement.verdict == "ungrounded" for judgement in data),
        inconclusive=sum(judgement.verdict == "inconclusive" for judgement in data),
        statuses=Counter(value.status for value in values),
        flagged_values=Counter(value.status for value in values if value.flagged),
        misplaced=sum(bool(value.misplaced) for value in values),
        median_ms=statistics.median(times),
        p99_ms=_p99(times),
    )


@dataclass
class CheckerFigures:
    """What one checker says of all corpora. ``flagged`` is of the answers with data, by corpus."""

    name: str
    flagged: dict[str, Hits] = field(default_factory=dict)
    recall: dict[str, Hits] = field(default_factory=dict)
    missed: list[tuple[Mutant, str]] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        """Median time of one answer."""
        return statistics.median(self.times_ms) if self.times_ms else 0.0

    @property
    def p99_ms(self) -> float:
        """The 99th percentile."""
        return _p99(sorted(self.times_ms)) if self.times_ms else 0.0


def measure_answers(checker: Checker, corpus: str, answers: Iterable[Answer], into: CheckerFigures) -> None:
    """How many answers with data a checker flags."""
    flagged = with_data = 0
    for answer in answers:
        if not answer.judgement.candidates:
            continue
        start = time.perf_counter()
        flags = checker.check(answer)
        into.times_ms.append((time.perf_counter() - start) * 1000)
        with_data += 1
        flagged += flags.any
    into.flagged[corpus] = flagged, with_data


def measure_mutants(checker: Checker, mutants: Iterable[Mutant], into: CheckerFigures) -> None:
    """How many mutants a checker flags where they were changed, by class."""
    for mutant in mutants:
        caught = mutant.caught_by(checker.check(mutant.answer).spans)
        hit, done = into.recall.get(mutant.kind, (0, 0))
        into.recall[mutant.kind] = hit + caught, done + 1
        if not caught:
            into.missed.append((mutant, ""))


def explain_missed(mutant: Mutant) -> str:
    """Why the product let a mutant pass: the status of what stands there now, and its derivation."""
    found = [
        value
        for value in mutant.answer.judge().values
        if any(start < mutant.span[1] and mutant.span[0] < end for start, end in value.spans)
    ]
    if not found:
        return "not data"
    return "; ".join(
        one.status + (f" {one.derivation.name}{one.derivation.inputs}" if one.derivation else "") for one in found
    )


def _p99(times: Sequence[float]) -> float:
    return times[min(len(times) - 1, int(len(times) * 0.99))]
