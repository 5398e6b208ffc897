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
from collections.abc import Iterator
from itertools import count
from typing import Final

from opentelemetry.context import Context
from opentelemetry.metrics import Counter, Histogram, Meter

from otel_footprint.core.decisions import WindowChange
from otel_footprint.core.evidence.verdicts import FLAGGED, STATUSES, CallJudgement, Judgement, Posture, Status, Verdict
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import NO_STATUS
from otel_footprint.telemetry.limits import MAX_NAMES, encodable
from otel_footprint.telemetry.metric import Metric

OTHER: Final = "_other"
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
        self._arguments: Final = _counter(meter, names.METRIC_ARGUMENTS_VALUES)
        self._evictions: Final = _counter(meter, names.METRIC_WINDOW_EVICTIONS)
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
        self._places: Final = Names()
        self._seeded: Final[dict[tuple[str, str | None, str | None], None]] = {}
        self._seeded_shapes: Final[dict[str, None]] = {}
        self._seeded_tools: Final[dict[str, None]] = {}
        self._seed_base()

    def call(self, model: str | None, agent: str | None) -> dict[str, str]:
        """The labels of a call, whose answers' series exist at 0 from here on."""
        labels: dict[str, str] = {}
        if model is not None:
            labels[names.LABEL_MODEL] = self._models.label(model)
        if agent is not None:
            labels[names.LABEL_AGENT] = self._agents.label(agent)
        self._seed(self._posture, labels)
        return labels

    def window(self, change: WindowChange, context: Context) -> None:
        """The window of a completed call, and what left it."""
        self._chars.record(change.chars_after, context=context)
        if not change.settled:
            return
        decided_by = self._deciders.label(change.decided_by) if change.evictions else ""
        for (reason, tool), number in collections.Counter((e.reason, e.tool) for e in change.evictions).items():
            labels = {names.LABEL_DECIDED_BY: decided_by, names.LABEL_REASON: reason}
            if tool is not None:
                labels[names.LABEL_TOOL] = self._tools.label(tool)
            self._evictions.add(number, labels, context)
        for eviction in change.evictions:
            if eviction.survival_ms > 0:
                self._survival.record(eviction.survival_ms / 1000, context=context)

    def answer(self, judgement: Judgement, labels: dict[str, str], context: Context) -> None:
        """One judged answer of a call with these labels."""
        self._seed(judgement.posture, labels)
        self._answers.add(
            1, _answer_labels(judgement.verdict, judgement.worst_status, judgement.posture, labels), context
        )
        for (status, shape), number in collections.Counter(
            (v.status, self._shapes.label(v.shape)) for v in judgement.values
        ).items():
            self._seed_shape(shape)
            self._values.add(number, {names.LABEL_STATUS: status, names.LABEL_SHAPE: shape}, context)

    def arguments(self, call: CallJudgement, context: Context) -> None:
        """The values that one emitted tool call passes on."""
        tool = self._tools.label(call.tool)
        if tool not in self._seeded_tools:
            self._seeded_tools[tool] = None
            for status in STATUSES:
                self._arguments.add(0, {names.LABEL_TOOL: tool, names.LABEL_STATUS: status})
        for status, number in collections.Counter(value.status for value in call.values).items():
            self._arguments.add(number, {names.LABEL_TOOL: tool, names.LABEL_STATUS: status}, context)

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

    def _seed_shape(self, shape: str) -> None:
        if shape not in self._seeded_shapes:
            self._seeded_shapes[shape] = None
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
