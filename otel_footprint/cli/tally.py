"""What the summary of a run needs of its spans, kept aside while they are exported elsewhere.

Only our own attributes and events are kept, without the text of a value: no name, message, argument or result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_footprint.telemetry import names

if TYPE_CHECKING:
    from opentelemetry.util.types import AttributeValue

_OURS = "agentfootprint."
_KEPT = frozenset({names.WINDOW_DECISION, names.WINDOW_OUTCOME})


class TallyExporter(SpanExporter):
    """Writes the reduced spans of model calls and of window strategies' visits to a stream, and no others."""

    def __init__(self, stream: IO[str]) -> None:
        self._inner = FileSpanExporter(stream=stream)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what is ours."""
        ours = [_reduced(span) for span in spans if not _KEPT.isdisjoint(span.attributes or ())]
        return self._inner.export(ours) if ours else SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close nothing: the stream is the process's."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is buffered."""
        return True


def _reduced(span: ReadableSpan) -> ReadableSpan:
    events = [
        Event(event.name, _ours(event.attributes), timestamp=event.timestamp)
        for event in span.events
        if event.name.startswith(_OURS)
    ]
    return ReadableSpan(
        name="call",
        context=span.get_span_context(),
        attributes=_ours(span.attributes),
        events=events,
        start_time=span.start_time,
        end_time=span.end_time,
    )


def _ours(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    return {
        key: value
        for key, value in (attributes or {}).items()
        if (key.startswith(_OURS) and key != names.VALUE_TEXT) or key == names.GEN_AI_OPERATION_NAME
    }
