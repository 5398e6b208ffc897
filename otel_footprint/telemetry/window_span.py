"""The span of one visit of a window strategy, ``agentfootprint.window <strategy>``, with its events, logs and metrics.

Rules
-----
- The span is INTERNAL, under the span that is current where the call is made, and a sibling before the call's own span.
- It is opened when a billed call of the strategy's needs it as its parent, else only when the visit is finished: a visit on
  which the strategy did not engage leaves no span. One that was opened is ended in any case.
- No ``gen_ai.*`` attribute: backends take a span with one for a model call.
- Everything that left is reported here, once, with the metrics of it: the call's own span carries counts only.
- A fault of ours leaves the visit as it is: the call goes on.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from otel_footprint.boundary import guard
from otel_footprint.core.call import CallRef
from otel_footprint.telemetry import names
from otel_footprint.telemetry.event_plan import NO_EVENTS
from otel_footprint.telemetry.limits import Bounds, encodable
from otel_footprint.telemetry.window_facts import VisitFacts, outcome_of, visit_attributes, visit_events

if TYPE_CHECKING:
    from types import TracebackType

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

    from otel_footprint.telemetry.capture import Capture
    from otel_footprint.telemetry.event_writer import EventWriter
    from otel_footprint.telemetry.instruments import Instruments

_SPAN_NAME: Final = "agentfootprint.window"
_FAULTS: Final = frozenset({"strategy-failed", "invalid-window"})


@dataclass(frozen=True, slots=True)
class VisitTools:
    """What a visit writes with; one for each emitter."""

    tracer: Tracer
    instruments: Instruments
    writer: EventWriter
    capture: Capture


class WindowVisit(AbstractContextManager["WindowVisit"]):
    """One visit, made before the strategy is asked. Use it in a ``with`` block: leaving it ends the span, if there is one.

    Args:
        strategy: the strategy's name.
        context: the OpenTelemetry Context of the call; its current span becomes the parent.
        started_ns: when the visit began, in nanoseconds since the epoch.
    """

    __slots__ = ("_context", "_ended", "_span", "_started_ns", "_strategy", "_tools")

    def __init__(self, tools: VisitTools, strategy: str, context: Context, started_ns: int) -> None:
        self._tools: Final = tools
        self._strategy: Final = strategy
        self._context: Final = context
        self._started_ns: Final = started_ns
        self._span: Span | None = None
        self._ended = False
        with guard("telemetry.window"):
            tools.instruments.strategy(strategy)

    def context(self) -> Context:
        """The Context for a billed call of the strategy's: the visit's span, opened here if need be, is current in it."""
        with guard("telemetry.window"):
            return trace.set_span_in_context(self._open(), self._context)
        return self._context

    def finish(self, facts: VisitFacts) -> CallRef | None:
        """Write the visit down and end its span; where the span is, for links to what was dropped.

        None where nothing records spans at all. Does nothing the second time.
        """
        if self._ended:
            return None
        ref: CallRef | None = None
        with guard("telemetry.window"):
            ref = self._finish(facts)
        self.abandon()
        return ref

    def abandon(self) -> None:
        """The strategy did not engage: end the span, if a billed call has opened it."""
        if self._ended:
            return
        self._ended = True
        if self._span is not None:
            with guard("telemetry.window"):
                self._span.end()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.abandon()

    def _open(self) -> Span:
        if self._span is None:
            name = encodable(f"{_SPAN_NAME} {Bounds().text(self._strategy)}")
            self._span = self._tools.tracer.start_span(
                name,
                context=self._context,
                kind=SpanKind.INTERNAL,
                attributes={names.WINDOW_STRATEGY: Bounds().text(self._strategy)},
                start_time=self._started_ns,
            )
        return self._span

    def _finish(self, facts: VisitFacts) -> CallRef | None:
        span = self._open()
        context = trace.set_span_in_context(span, self._context)
        with guard("telemetry.metrics"):
            self._tools.instruments.visit(facts, outcome_of(facts), context)
        recording = span if span.is_recording() else None
        bounds = Bounds()
        on_span, in_log = self._tools.writer.wanted(recording, results=False)
        events = NO_EVENTS
        if on_span or in_log:
            with guard("telemetry.events"):
                events = visit_events(facts, self._tools.capture, bounds)
        if recording is not None:
            with guard("telemetry.span"):
                recording.set_attributes(visit_attributes(facts, bounds, events_dropped=events.dropped))
                self._tools.writer.on_span(recording, events)
                if facts.record.inactive in _FAULTS:
                    recording.set_status(Status(StatusCode.ERROR, facts.record.inactive))
        if in_log and events.made:
            with guard("telemetry.logs"):
                self._tools.writer.in_log(context, events)
        return _ref(span)


def _ref(span: Span) -> CallRef | None:
    where = span.get_span_context()
    return CallRef(where.trace_id, where.span_id, int(where.trace_flags)) if where.is_valid else None
