"""OpenTelemetry providers that write traces, metrics and log events to one OTLP JSON file, one object a line.

Spans and log events are written as they end, not in batches, so that nothing is lost to a signal or ``os._exit``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.exporter.otlp.json.file.metric_exporter import FileMetricExporter
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor


@dataclass(frozen=True, slots=True)
class Recording:
    """The three providers and the file they write; :meth:`close` flushes all of them and closes it."""

    tracer_provider: TracerProvider
    meter_provider: MeterProvider
    logger_provider: LoggerProvider
    stream: IO[str]

    def close(self) -> None:
        """Flush and shut down; the file is whole afterwards."""
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()
        self.logger_provider.shutdown()
        self.stream.close()


def record_to(path: Path, *, resource: Mapping[str, Any] | None = None) -> Recording:
    """Write ``path`` anew and give providers that write to it. Raises ``OSError`` where it cannot be written."""
    return record_into(path.open("w", encoding="utf-8"), resource=resource)


def record_into(
    stream: IO[str], *, metrics: IO[str] | None = None, resource: Mapping[str, Any] | None = None
) -> Recording:
    """Providers that write to an open stream, metrics to one of their own where it is given."""
    attributes = Resource.create(dict(resource or {}))
    tracer_provider = TracerProvider(resource=attributes)
    tracer_provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(stream=stream)))
    reader = PeriodicExportingMetricReader(FileMetricExporter(stream=stream if metrics is None else metrics))
    meter_provider = MeterProvider(resource=attributes, metric_readers=[reader])
    logger_provider = LoggerProvider(resource=attributes)
    logger_provider.add_log_record_processor(SimpleLogRecordProcessor(FileLogExporter(stream=stream)))
    return Recording(tracer_provider, meter_provider, logger_provider, stream)
