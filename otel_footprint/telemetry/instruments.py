"""Counters and histograms from the SDK, so that no sampling distorts an alert.

Rules
-----
- Metrics never look at a span: they are the same under any sampler. A span's context goes along for exemplars only.
- Labels hold closed words and names, never an id, a value or an argument. A name is one of at most 100 distinct ones for
  its label; any further one is ``_other``. A name that is unknown is no label at all.
- A series that is born at 1 has no increase, so an alert would miss the first ungrounded answer. Therefore every series
  that an answer can fall into exists at 0 before: without model and agent from the start, and for each model and agent
  from the first call that is seen of them, which in an agent is one before the call that answers.
- No locks: a finaliser may call in, and a fork must not inherit one. A name's place is drawn from an atomic counter.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final, Literal, TypeAlias, get_args

from opentelemetry.context import Context
from opentelemetry.metrics import Counter, Histogram, Meter

from otel_footprint.core.assessment.fold import REASON_CODES, AnswerAssessment, AnswerStanding
from otel_footprint.core.decisions import Eviction, WindowChange
from otel_footprint.core.evidence.verdicts import FLAGGED, STATUSES, CallJudgement, Judgement, Posture, Status, Verdict
from otel_footprint.core.findings.rows import Row, StandingRow
from otel_footprint.core.findings.standing import STANDINGS
from otel_footprint.core.window.record import REFUSAL_REASONS, Inactive
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import NO_STATUS, tally
from otel_footprint.telemetry.limits import MAX_NAMES, encodable
from otel_footprint.telemetry.metric import Metric
from otel_footprint.telemetry.window_facts import VisitFacts, VisitOutcome

RevisionOutcome: TypeAlias = Literal["grounded", "flagged", "refused", "tool_calls", "failed"]
"""What came of a revision: nothing in it is flagged, it went out flagged, it was refused to the application, it asks for
tools, or the call failed."""

VISIT_OUTCOMES: Final[tuple[VisitOutcome, ...]] = ("removed", "folded", "refused", "kept", *get_args(Inactive))

OTHER: Final = "_other"
_REVISING: Final[tuple[Posture, ...]] = ("guard", "rails")
_MAX_NAME_CHARS: Final = 128
_MAX_SEEDED: Final = 100  # combinations of model and agent; the SDK holds 2,000 series for an instrument

_UNFLAGGED: Final = tuple(status for status in STATUSES if status not in FLAGGED and status != "derivable")
BORN_AT_ZERO: Final[tuple[tuple[Verdict, Status | None], ...]] = (
    ("no_claims", None),
    *(("grounded", status) for status in _UNFLAGGED),
    *(("not_applicable", status) for status in ("derivable", "unsupported")),
    *(("ungrounded", status) for status in STATUSES if status in FLAGGED),
    *(("inconclusive", status) for status in ("evicted", "argument_only", "derivable", "unsupported")),
)
"""The verdicts with the worst statuses that go with them, each a series that exists before it counts."""


class Names:
    """Distinct names of one label: at most 100, any further one is ``_other``."""

    __slots__ = ("_known", "_tickets")

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._tickets: Iterator[int] = count()

    def label(self, name: object) -> str:
        """The name as a label's value."""
        text = name if type(name) is str else str(name)
        known = self._known.get(text)
        if known is not None:
            return known
        if len(self._known) >= MAX_NAMES or next(self._tickets) >= MAX_NAMES:
            return OTHER
        self._known[text] = label = encodable(text[:_MAX_NAME_CHARS])
        return label


class Instruments:
    """The instruments of one meter, and which of their series have been seen."""

    def __init__(self, meter: Meter, posture: Posture) -> None:
        self._posture: Final = posture
        self._answers: Final = _counter(meter, names.METRIC_ANSWERS)
        self._values: Final = _counter(meter, names.METRIC_EVIDENCE_VALUES)
        self._misplaced: Final = _counter(meter, names.METRIC_EVIDENCE_MISPLACED)
        self._arguments: Final = _counter(meter, names.METRIC_ARGUMENTS_VALUES)
        self._evictions: Final = _counter(meter, names.METRIC_WINDOW_EVICTIONS)
        self._visits: Final = _counter(meter, names.METRIC_WINDOW_VISITS)
        self._refusals: Final = _counter(meter, names.METRIC_WINDOW_REFUSALS)
        self._revisions: Final = _counter(meter, names.METRIC_EVIDENCE_REVISIONS)
        self._findings: Final = _counter(meter, names.METRIC_FINDINGS)
        self._standings: Final = _counter(meter, names.METRIC_ANSWER_STANDING)
        self._reasons: Final = _counter(meter, names.METRIC_ANSWER_REASONS)
        self._dropped: Final = _counter(meter, names.METRIC_CONVERSATIONS_DROPPED)
        self._errors: Final = _counter(meter, names.METRIC_ERRORS)
        self._duration: Final = _histogram(meter, names.METRIC_EVIDENCE_DURATION)
        self._survival: Final = _histogram(meter, names.METRIC_WINDOW_SURVIVAL)
        self._chars: Final = _histogram(meter, names.METRIC_WINDOW_CHARS)
        self._models: Final = Names()
        self._agents: Final = Names()
        self._shapes: Final = Names()
        self._tools: Final = Names()
        self._deciders: Final = Names()
        self._strategies: Final = Names()
        self._places: Final = Names()
        self._seeded: Final[dict[tuple[str, str | None, str | None], None]] = {}
        self._seeded_standings: Final[dict[tuple[str | None, str | None], None]] = {}
        self._seeded_shapes: Final[dict[str, None]] = {}
        self._seeded_tools: Final[dict[str, None]] = {}
        self._seeded_strategies: Final[dict[str, None]] = {}
        self._seed_base()

    def call(self, model: str | None, agent: str | None, posture: Posture | None = None) -> dict[str, str]:
        """The labels of a call, whose answers' series exist at 0 from here on. ``posture`` None is that of the process."""
        labels: dict[str, str] = {}
        if model is not None:
            labels[names.LABEL_MODEL] = self._models.label(model)
        if agent is not None:
            labels[names.LABEL_AGENT] = self._agents.label(agent)
        self._seed(posture or self._posture, labels)
        return labels

    def window(self, change: WindowChange, context: Context) -> None:
        """The window of a completed call, and what left it."""
        self._chars.record(change.chars_after, context=context)
        if change.settled and change.evictions and not change.reported:
            self._left(change.evictions, change.decided_by, context)

    def _left(self, evictions: Sequence[Eviction], by: str, context: Context) -> None:
        decided_by = self._deciders.label(by)
        for (reason, tool), number in collections.Counter((e.reason, e.tool) for e in evictions).items():
            labels = {names.LABEL_DECIDED_BY: decided_by, names.LABEL_REASON: reason}
            if tool is not None:
                labels[names.LABEL_TOOL] = self._tools.label(tool)
            self._evictions.add(number, labels, context)
        for eviction in evictions:
            if eviction.survival_ms > 0:
                self._survival.record(eviction.survival_ms / 1000, context=context)

    def strategy(self, name: str) -> str:
        """The label of a window strategy, whose visits' series exist at 0 from here on."""
        label = self._strategies.label(name)
        if label not in self._seeded_strategies:
            if not self._seeded_strategies:
                self._seed_base()  # the application may have set its meter provider since
            self._seeded_strategies[label] = None
            for outcome in VISIT_OUTCOMES:
                self._visits.add(0, {names.LABEL_STRATEGY: label, names.LABEL_OUTCOME: outcome})
            for reason in REFUSAL_REASONS:
                self._refusals.add(0, {names.LABEL_STRATEGY: label, names.LABEL_REASON: reason})
        return label

    def visit(self, facts: VisitFacts, outcome: VisitOutcome, context: Context) -> None:
        """One visit that engaged, what it refused and what left by it."""
        label = self.strategy(facts.record.strategy)
        self._visits.add(1, {names.LABEL_STRATEGY: label, names.LABEL_OUTCOME: outcome}, context)
        for reason, number in collections.Counter(refusal.reason for refusal in facts.record.refusals).items():
            self._refusals.add(number, {names.LABEL_STRATEGY: label, names.LABEL_REASON: reason}, context)
        self._left(facts.evictions, facts.record.strategy, context)

    def revised(self, posture: Posture, outcome: RevisionOutcome, context: Context) -> None:
        """One revision that a posture asked for."""
        self._revisions.add(1, {names.LABEL_POSTURE: posture, names.LABEL_OUTCOME: outcome}, context)

    def answer(self, judgement: Judgement, labels: dict[str, str], context: Context) -> None:
        """One judged answer of a call with these labels."""
        self._seed(judgement.posture, labels)
        self._answers.add(
            1, _answer_labels(judgement.verdict, judgement.worst_status, judgement.posture, labels), context
        )
        kinds = [(value.status, self._shapes.label(value.shape)) for value in judgement.values]
        for (status, shape), number in tally(kinds).items():
            self._seed_shape(shape)
            self._values.add(number, {names.LABEL_STATUS: status, names.LABEL_SHAPE: shape}, context)
        for value in judgement.values:
            if value.misplaced:
                self._misplaced.add(len(value.misplaced), {names.LABEL_SHAPE: self._shapes.label(value.shape)}, context)

    def arguments(self, call: CallJudgement, context: Context) -> None:
        """The values that one emitted tool call passes on."""
        tool = self._tools.label(call.tool)
        if tool not in self._seeded_tools:
            self._seeded_tools[tool] = None
            for status in STATUSES:
                self._arguments.add(0, {names.LABEL_TOOL: tool, names.LABEL_STATUS: status})
        for status, number in tally([value.status for value in call.values]).items():
            self._arguments.add(number, {names.LABEL_TOOL: tool, names.LABEL_STATUS: status}, context)

    def declared(self, rows: Iterable[Row], context: Context) -> None:
        """What results are declared to be."""
        for standing, number in collections.Counter(
            row.standing for row in rows if isinstance(row, StandingRow)
        ).items():
            self._findings.add(number, {names.LABEL_STANDING: standing}, context)

    def stands(self, assessments: Iterable[AnswerAssessment], labels: dict[str, str], context: Context) -> None:
        """How far the answers of a call with these labels stand."""
        self.seed_standings(labels)
        agent = {key: word for key, word in labels.items() if key == names.LABEL_AGENT}
        for assessment in assessments:
            self._standings.add(1, {names.LABEL_STANDING: assessment.standing, **labels}, context)
            for reason in assessment.reasons:
                self._reasons.add(1, {names.LABEL_REASON: reason.code, **agent}, context)

    def judged(self, seconds: float, context: Context) -> None:
        """How long the judging of one call took, in seconds."""
        self._duration.record(seconds, context=context)

    def dropped(self, conversations: int) -> None:
        """Conversations that the bounds of the store pushed out."""
        self._dropped.add(conversations)

    def error(self, place: str) -> None:
        """A fault of ours that was swallowed."""
        self._errors.add(1, {names.LABEL_PLACE: self._places.label(place)})

    def _seed_base(self) -> None:
        for verdict, status in BORN_AT_ZERO:
            self._answers.add(0, _answer_labels(verdict, status, self._posture, {}))
        for status in STATUSES:
            self._values.add(0, {names.LABEL_STATUS: status})
            self._arguments.add(0, {names.LABEL_STATUS: status})
        self._misplaced.add(0)
        for outcome in VISIT_OUTCOMES:
            self._visits.add(0, {names.LABEL_OUTCOME: outcome})
        for reason in REFUSAL_REASONS:
            self._refusals.add(0, {names.LABEL_REASON: reason})
        for posture in _REVISING:
            for revised in get_args(RevisionOutcome):
                self._revisions.add(0, {names.LABEL_POSTURE: posture, names.LABEL_OUTCOME: revised})
        for standing in STANDINGS:
            self._findings.add(0, {names.LABEL_STANDING: standing})
        self._seed_standings_of({})
        self._dropped.add(0)
        self._errors.add(0)

    def _seed(self, posture: Posture, labels: dict[str, str]) -> None:
        key = (posture, labels.get(names.LABEL_MODEL), labels.get(names.LABEL_AGENT))
        if key in self._seeded or len(self._seeded) >= _MAX_SEEDED:
            return
        if not self._seeded:
            self._seed_base()  # again: at construction the application may not have set its meter provider yet
        self._seeded[key] = None
        for verdict, status in BORN_AT_ZERO:
            self._answers.add(0, _answer_labels(verdict, status, posture, labels))

    def seed_standings(self, labels: dict[str, str]) -> None:
        """Findings are on in a call with these labels: how far its answers stand exists at 0 from here on."""
        key = (labels.get(names.LABEL_MODEL), labels.get(names.LABEL_AGENT))
        if key not in self._seeded_standings and len(self._seeded_standings) < _MAX_SEEDED:
            self._seeded_standings[key] = None
            self._seed_standings_of(labels)

    def _seed_standings_of(self, labels: dict[str, str]) -> None:
        for standing in get_args(AnswerStanding):
            self._standings.add(0, {names.LABEL_STANDING: standing, **labels})
        agent = {key: word for key, word in labels.items() if key == names.LABEL_AGENT}
        for reason in REASON_CODES:
            self._reasons.add(0, {names.LABEL_REASON: reason, **agent})

    def _seed_shape(self, shape: str) -> None:
        if shape not in self._seeded_shapes:
            self._seeded_shapes[shape] = None
            self._misplaced.add(0, {names.LABEL_SHAPE: shape})
            for status in STATUSES:
                self._values.add(0, {names.LABEL_STATUS: status, names.LABEL_SHAPE: shape})


def _answer_labels(
    verdict: Verdict, worst_status: Status | None, posture: Posture, labels: dict[str, str]
) -> dict[str, str]:
    return {
        names.LABEL_VERDICT: verdict,
        names.LABEL_WORST_STATUS: worst_status or NO_STATUS,
        names.LABEL_POSTURE: posture,
        **labels,
    }


def _counter(meter: Meter, metric: Metric) -> Counter:
    return meter.create_counter(metric.name, unit=metric.unit, description=metric.brief)


def _histogram(meter: Meter, metric: Metric) -> Histogram:
    return meter.create_histogram(
        metric.name,
        unit=metric.unit,
        description=metric.brief,
        explicit_bucket_boundaries_advisory=metric.buckets,
    )
