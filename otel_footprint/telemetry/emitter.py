"""Writes decisions into OpenTelemetry: attributes, events and links on the span, log events, metrics.

Rules
-----
- It writes on spans that others opened, and opens one kind of its own: that of a window strategy's visit.
- Metrics do not depend on the span: they are written whether or not it is sampled. Attributes, span events and links need
  one that records. Log events belong to the span's context and go out without it being sampled.
- A span that has ended, is not sampled, or is None is no error.
- Each carrier is guarded apart from the others: a fault in one leaves the others whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry import trace
from opentelemetry._logs import get_logger
from opentelemetry.context import Context
from opentelemetry.metrics import get_meter
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, TraceFlags

from otel_footprint.boundary import guard
from otel_footprint.core.assessment.fold import AnswerAssessment
from otel_footprint.core.call import Call
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.verdicts import Posture
from otel_footprint.core.findings.rows import Row
from otel_footprint.core.per_call import per_call
from otel_footprint.telemetry.attributes import agent_attributes, call_attributes, limit_attributes
from otel_footprint.telemetry.capture import Capture, CaptureLevel
from otel_footprint.telemetry.event_plan import NO_EVENTS, Events, PlannedEvent, within_limit
from otel_footprint.telemetry.event_writer import EventsSetting, EventWriter
from otel_footprint.telemetry.events import answered_events, events_of, filed_events, standing_events
from otel_footprint.telemetry.instruments import Instruments, RevisionOutcome
from otel_footprint.telemetry.limits import Bounds
from otel_footprint.telemetry.links import links_of
from otel_footprint.telemetry.summary import Summary
from otel_footprint.telemetry.window_span import VisitTools, WindowVisit

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

MakesEvents: TypeAlias = Callable[[Capture, Bounds], Iterable[PlannedEvent]]
SCOPE: Final = "otel_footprint"
"""The instrumentation scope of our metrics, log events and window spans."""


@per_call(frozen=True, slots=True, kw_only=True)
class Emission:
    """One completed call with what was decided about it.

    ``span`` is the call's, None where there is none any more; ``context`` is the call's OpenTelemetry Context;
    ``evidence_seconds`` is how long it took to decide, recorded where there was an answer to judge. ``open`` says that the
    application may still say something of the answers: how far they stand is counted by :meth:`Emitter.settled`.
    """

    decisions: Decisions
    span: Span | None
    context: Context
    call: Call
    evidence_seconds: float | None = None
    open: bool = False

    @property
    def assessments(self) -> tuple[AnswerAssessment, ...]:
        """How far its answers stand; empty where findings are off, and for a draft that was sent back."""
        return () if self.decisions.findings is None else self.decisions.findings.assessments


class Emitter:
    """Everything of ours that goes out. Thread-safe: it holds no state but which metric series were seen.

    Args:
        tracer_provider, meter_provider, logger_provider: where window spans, metrics and log events go; None is
            OpenTelemetry's global one.
        events: whether decisions go out as span events, as log events, or both.
        capture_values: which values' text goes out.
        hash_key: key of the content hashes; None is a random one.
        posture: the posture that answers are judged under where a conversation sets no other.
    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        events: EventsSetting = "span",
        capture_values: CaptureLevel = "none",
        hash_key: bytes | None = None,
        posture: Posture = "assist",
    ) -> None:
        release = _release()
        self._writer: Final = EventWriter(get_logger(SCOPE, release, logger_provider=logger_provider), events)
        self._capture: Final = Capture(capture_values, hash_key)
        self._instruments: Final = Instruments(get_meter(SCOPE, release, meter_provider), posture)
        self._visits: Final = VisitTools(
            trace.get_tracer(SCOPE, release, tracer_provider), self._instruments, self._writer, self._capture
        )

    def emit(self, emission: Emission) -> None:
        """Write one call down. Called before its span ends."""
        with guard("telemetry.metrics"):
            self._measure(emission)
        span = _recording(emission.span)
        bounds = Bounds()
        events = NO_EVENTS
        on_span, in_log = self._writer.wanted(span, results=bool(emission.decisions.judgements))
        if on_span or in_log:
            with guard("telemetry.events"):
                events = events_of(emission.decisions, emission.call, self._capture, bounds)
        if span is not None:
            with guard("telemetry.span"):
                self._write(span, emission, events, bounds)
        if in_log and events.made:
            with guard("telemetry.logs"):
                self._writer.in_log(_context_of(emission), events)

    def window_visit(self, strategy: str, context: Context, started_ns: int) -> WindowVisit:
        """A visit of this strategy, for the call that is made in this context; see :class:`WindowVisit`."""
        return WindowVisit(self._visits, strategy, context, started_ns)

    def revised(self, posture: Posture, outcome: RevisionOutcome, context: Context) -> None:
        """Count one revision that the posture asked for."""
        with guard("telemetry.metrics"):
            self._instruments.revised(posture, outcome, context)

    def answer_stands(self, emission: Emission) -> None:
        """Count the answers of a call that were drafts when they were emitted and go out after all: their revision failed.

        The decisions are those of the draft's call, with the action that was taken in the end.
        """
        with guard("telemetry.metrics"):
            labels = self._instruments.call(emission.call.model, emission.call.agent)
            self._count_answers(emission.decisions, labels, _context_of(emission))
            if not emission.open:
                self._instruments.stands(emission.assessments, labels, _context_of(emission))
        if emission.assessments:  # the call's span has ended
            self._write_told(partial(answered_events, emission.decisions, emission.call), None, _context_of(emission))

    def told(self, rows: Sequence[Row], span: Span | None, context: Context) -> None:
        """Write down what the application filed, outside any call; ``span`` is the conversation's, None where there is none."""
        if rows:
            with guard("telemetry.metrics"):
                self._instruments.declared(rows, context)
            self._write_told(partial(filed_events, rows), span, context)

    def settled(self, emission: Emission, span: Span | None, *, changed: bool) -> None:
        """Count how far the answers of an ``open`` call stand, of which the application says nothing any more.

        ``changed`` says that they stood otherwise when the call was emitted: that goes out on ``span``, the conversation's.
        """
        if not emission.assessments:
            return
        with guard("telemetry.metrics"):
            labels = self._instruments.call(emission.call.model, emission.call.agent)
            self._instruments.stands(emission.assessments, labels, _context_of(emission))
        if changed:
            stands = partial(standing_events, emission.decisions, emission.call)
            self._write_told(stands, span, emission.context)

    def _write_told(self, make: MakesEvents, span: Span | None, context: Context) -> None:
        recording = _recording(span)
        on_span, in_log = self._writer.wanted(recording, results=True)
        events = NO_EVENTS
        if on_span or in_log:
            with guard("telemetry.events"):
                events = within_limit(list(make(self._capture, Bounds())))
        if recording is not None:
            with guard("telemetry.span"):
                self._writer.on_span(recording, events)
        if in_log and events.made:
            with guard("telemetry.logs"):
                self._writer.in_log(context if span is None else trace.set_span_in_context(span, context), events)

    def summarise(self, span: Span | None, summary: Summary) -> None:
        """Write the summary of an agent's calls on its span, before it ends."""
        recording = _recording(span)
        if recording is None:
            return
        with guard("telemetry.summary"):
            bounds = Bounds()
            attributes = agent_attributes(summary, bounds)
            recording.set_attributes(attributes | limit_attributes(bounds))

    def dropped(self, conversations: int) -> None:
        """Count conversations that the bounds of the store pushed out."""
        self._instruments.dropped(conversations)

    def error(self, place: str) -> None:
        """Count a fault of ours. ``place`` is a short constant name."""
        self._instruments.error(place)

    def _measure(self, emission: Emission) -> None:
        decisions, call = emission.decisions, emission.call
        acted = call.planned
        labels = self._instruments.call(call.model, call.agent, acted.posture if acted is not None else None)
        found = decisions.findings
        if found is None and not decisions.judgements and not decisions.calls and not decisions.window.evictions:
            self._instruments.window(decisions.window, emission.context)
            return
        context = _context_of(emission)
        self._instruments.window(decisions.window, context)
        self._count_answers(decisions, labels, context)
        for emitted in decisions.calls:
            self._instruments.arguments(emitted, context)
        if found is not None:
            self._instruments.seed_standings(labels)
            self._instruments.declared(found.rows, context)
            if found.assessments and not emission.open:
                self._instruments.stands(found.assessments, labels, context)
        if decisions.judgements and emission.evidence_seconds is not None:
            self._instruments.judged(emission.evidence_seconds, context)

    def _count_answers(self, decisions: Decisions, labels: dict[str, str], context: Context) -> None:
        for judgement in decisions.judgements:
            if judgement.action != "recheck":
                self._instruments.answer(judgement, labels, context)

    def _write(self, span: Span, emission: Emission, events: Events, bounds: Bounds) -> None:
        links, links_dropped = links_of(emission.decisions, bounds)
        attributes = call_attributes(emission.decisions, emission.call, bounds)
        attributes |= limit_attributes(bounds, events_dropped=events.dropped, links_dropped=links_dropped)
        span.set_attributes(attributes)
        for link in links:
            span.add_link(link.context, link.attributes)
        self._writer.on_span(span, events)


def _recording(span: Span | None) -> Span | None:
    """The span where it takes anything: not None, sampled, not ended."""
    with guard("telemetry.span"):
        return span if span is not None and span.is_recording() else None
    return None


def _context_of(emission: Emission) -> Context:
    """The call's context with its span current, which for a stream's hook it need not be."""
    if emission.span is not None:
        return trace.set_span_in_context(emission.span, emission.context)
    ref = emission.call.ref
    if ref is None:
        return emission.context
    context = SpanContext(ref.trace_id, ref.span_id, is_remote=False, trace_flags=TraceFlags(ref.trace_flags))
    return trace.set_span_in_context(NonRecordingSpan(context), emission.context)


def _release() -> str:
    try:
        return version("otel-footprint")
    except PackageNotFoundError:  # a source tree that is not installed
        return ""
