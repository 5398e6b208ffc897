"""Writes decisions into OpenTelemetry: attributes, events and links on the span, log events, metrics.

Rules
-----
- It writes on spans that others opened, and opens none.
- Metrics do not depend on the span: they are written whether or not it is sampled. Attributes, span events and links need
  one that records. Log events belong to the span's context and go out without it being sampled.
- A span that has ended, is not sampled, or is None is no error.
- Each carrier is guarded apart from the others: a fault in one leaves the others whole.
- ``gen_ai.evaluation.result`` always goes out as a log event too: some backends read it only there.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from time import time_ns
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from opentelemetry import trace
from opentelemetry._logs import SeverityNumber, get_logger
from opentelemetry.context import Context
from opentelemetry.metrics import get_meter
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, TraceFlags

from otel_footprint.boundary import guard
from otel_footprint.core.call import Call
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.verdicts import Posture
from otel_footprint.telemetry.attributes import agent_attributes, call_attributes, limit_attributes
from otel_footprint.telemetry.capture import Capture, CaptureLevel
from otel_footprint.telemetry.events import Events, events_of
from otel_footprint.telemetry.instruments import Instruments
from otel_footprint.telemetry.limits import Bounds
from otel_footprint.telemetry.links import links_of
from otel_footprint.telemetry.summary import Summary

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider

SCOPE: Final = "otel_footprint"
"""The instrumentation scope of our metrics and log events."""

EventsSetting: TypeAlias = Literal["span", "log", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """One completed call with what was decided about it.

    ``span`` is the call's, None where there is none any more; ``context`` is the call's OpenTelemetry Context;
    ``evidence_seconds`` is how long it took to decide, recorded where there was an answer to judge.
    """

    decisions: Decisions
    span: Span | None
    context: Context
    call: Call
    evidence_seconds: float | None = None


class Emitter:
    """Everything of ours that goes out. Thread-safe: it holds no state but which metric series were seen.

    Args:
        meter_provider, logger_provider: where metrics and log events go; None is OpenTelemetry's global one.
        events: whether decisions go out as span events, as log events, or both.
        capture_values: which values' text goes out.
        hash_key: key of the content hashes; None is a random one.
        posture: the posture that answers are judged under where a conversation sets no other.
    """

    def __init__(
        self,
        *,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        events: EventsSetting = "span",
        capture_values: CaptureLevel = "none",
        hash_key: bytes | None = None,
        posture: Posture = "assist",
    ) -> None:
        release = _release()
        self._logger: Final = get_logger(SCOPE, release, logger_provider=logger_provider)
        self._on_span: Final = events != "log"
        self._in_log: Final = events != "span"
        self._capture: Final = Capture(capture_values, hash_key)
        self._instruments: Final = Instruments(get_meter(SCOPE, release, meter_provider), posture)

    def emit(self, emission: Emission) -> None:
        """Write one call down. Called before its span ends."""
        with guard("telemetry.metrics"):
            self._measure(emission)
        span = _recording(emission.span)
        bounds = Bounds()
        events = Events()
        logs = self._logs()
        if (span is not None and self._on_span) or logs:
            with guard("telemetry.events"):
                events = events_of(emission.decisions, emission.call, self._capture, bounds)
        if span is not None:
            with guard("telemetry.span"):
                self._write(span, emission, events, bounds)
        if logs and events.made:
            with guard("telemetry.logs"):
                self._log(emission, events)

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
        labels = self._instruments.call(call.model, call.agent)
        if not decisions.judgements and not decisions.calls and not decisions.window.evictions:
            self._instruments.window(decisions.window, emission.context)
            return
        context = _context_of(emission)
        self._instruments.window(decisions.window, context)
        for judgement in decisions.judgements:
            self._instruments.answer(judgement, labels, context)
        for emitted in decisions.calls:
            self._instruments.arguments(emitted, context)
        if decisions.judgements and emission.evidence_seconds is not None:
            self._instruments.judged(emission.evidence_seconds, context)

    def _write(self, span: Span, emission: Emission, events: Events, bounds: Bounds) -> None:
        links, links_dropped = links_of(emission.decisions, bounds)
        attributes = call_attributes(emission.decisions, emission.call, bounds)
        attributes |= limit_attributes(bounds, events_dropped=events.dropped, links_dropped=links_dropped)
        span.set_attributes(attributes)
        for link in links:
            span.add_link(link.context, link.attributes)
        if self._on_span:
            now = time_ns()
            for offset, event in enumerate(event for event in events.made if event.kept):
                # One nanosecond apart, so that backends that sort by time keep the order.
                span.add_event(event.name, event.attributes, now + offset)

    def _logs(self) -> bool:
        """Whether anybody listens to our log events: making them costs more than asking."""
        with guard("telemetry.logs"):
            return self._logger.enabled(severity_number=SeverityNumber.INFO)
        return False

    def _log(self, emission: Emission, events: Events) -> None:
        context = _context_of(emission)
        now = time_ns()
        for offset, event in enumerate(events.made):
            if not (self._in_log or event.is_result):
                continue
            if self._logger.enabled(context=context, severity_number=SeverityNumber.INFO, event_name=event.name):
                self._logger.emit(
                    timestamp=now + offset,
                    context=context,
                    severity_number=SeverityNumber.INFO,
                    event_name=event.name,
                    attributes=event.attributes,
                )


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
