"""OpenTelemetry providers that write traces, metrics and log events to one OTLP JSON file, one object a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.exporter.otlp.json.file.metric_exporter import FileMetricExporter
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


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


def record_to(path: Path, *, append: bool = False, resource: Mapping[str, Any] | None = None) -> Recording:
    """Open ``path`` and give providers that write to it. Raises ``OSError`` where it cannot be written."""
    stream = path.open("a" if append else "w", encoding="utf-8")
    attributes = Resource.create(dict(resource or {}))
    tracer_provider = TracerProvider(resource=attributes)
    tracer_provider.add_span_processor(BatchSpanProcessor(FileSpanExporter(stream=stream)))
    meter_provider = MeterProvider(
        resource=attributes,
        metric_readers=[PeriodicExportingMetricReader(FileMetricExporter(stream=stream))],
    )
    logger_provider = LoggerProvider(resource=attributes)
    logger_provider.add_log_record_processor(BatchLogRecordProcessor(FileLogExporter(stream=stream)))
    return Recording(tracer_provider, meter_provider, logger_provider, stream)
