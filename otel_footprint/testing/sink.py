"""An in-memory sink: OpenTelemetry providers whose spans, metrics and logs a test can read.

Rules
-----
- Nothing global is set: pass the three providers to what is tested.
- What is read is a snapshot; reading metrics collects them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a metric. ``value`` is a sum or gauge value, or a histogram's sum; ``count`` a histogram's count."""

    name: str
    attributes: Mapping[str, Any]
    value: float
    count: int


class Sink:
    """Three providers and what arrived at them. A context manager that shuts them down."""

    def __init__(self, *, sampler: Sampler | None = None) -> None:
        resource = Resource.create({"service.name": "test"})
        self._spans = InMemorySpanExporter()
        self._logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        self._reader = InMemoryMetricReader()
        self._open = _OpenSpans()
        self.tracer_provider = TracerProvider(resource=resource, sampler=sampler)
        self.tracer_provider.add_span_processor(self._open)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meter_provider = MeterProvider(metric_readers=[self._reader], resource=resource)
        self.logger_provider = LoggerProvider(resource=resource)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self._logs))

    def __enter__(self) -> Sink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Shut the providers down."""
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()
        self.logger_provider.shutdown()

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """The spans that ended, in the order they did."""
        return self._spans.get_finished_spans()

    @property
    def open_spans(self) -> tuple[str, ...]:
        """Names of the sampled spans that started and did not end yet."""
        return tuple(self._open.names.values())

    @property
    def chat_spans(self) -> tuple[ReadableSpan, ...]:
        """The spans of model calls: those of the operations chat, generate_content and text_completion."""
        return tuple(span for span in self.spans if _operation(span) in _MODEL_CALLS)

    @property
    def logs(self) -> tuple[Any, ...]:
        """The log records, each with ``event_name``, ``attributes``, ``body``, ``trace_id`` and ``span_id``."""
        return tuple(item.log_record for item in self._logs.get_finished_logs())

    def metrics(self, name: str | None = None) -> tuple[Point, ...]:
        """Collect and give the points, all or those of one metric."""
        data = self._reader.get_metrics_data()
        if data is None:
            return ()
        return tuple(
            _point(metric.name, point)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
            if name is None or metric.name == name
        )

    def clear(self) -> None:
        """Forget the spans and logs so far. Metrics are cumulative and stay."""
        self._spans.clear()
        self._logs.clear()


class _OpenSpans(SpanProcessor):
    def __init__(self) -> None:
        self.names: dict[int, str] = {}

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        context = span.get_span_context()
        if context is not None:
            self.names[context.span_id] = span.name

    def on_end(self, span: ReadableSpan) -> None:
        context = span.get_span_context()
        if context is not None:
            self.names.pop(context.span_id, None)


_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion", "interactions.create"})


def _operation(span: ReadableSpan) -> Any:
    return (span.attributes or {}).get("gen_ai.operation.name")


def _point(name: str, point: Any) -> Point:
    value = point.sum if hasattr(point, "sum") else point.value
    return Point(name=name, attributes=dict(point.attributes or {}), value=value, count=getattr(point, "count", 1))
