"""An application: conversations with a scripted model over the real OpenAI SDK, its telemetry sent by the real exporters.

Writes what it made as JSON at its end, so that a test can compare it with what arrived: the ids of all spans, the answers
by verdict, the time each conversation took, what the SDK says it lost. ``--go FILE``: after each tenth conversation the
number so far is written there, so that a test knows when to pull a plug.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openai
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import otel_footprint
from otel_footprint.testing.provider import Request, ScriptedProvider, Step, Text, ToolCalls, ToolUse

LOST = ("otel.sdk.processor.span.processed", "otel.sdk.exporter.span.exported")
TOOLS: Any = [
    {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}
]


class Made(SpanProcessor):
    """Remembers which spans were made."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None:
            self.ids.append(f"{span.context.trace_id:032x}/{span.context.span_id:016x}")


class Timed(SpanProcessor):
    """The processor that hands spans over to the exporter, and how long the application was inside it, in seconds."""

    def __init__(self, inner: SpanProcessor) -> None:
        self.inner = inner
        self.spent = 0.0

    def on_end(self, span: ReadableSpan) -> None:
        began = time.perf_counter()
        self.inner.on_end(span)
        self.spent += time.perf_counter() - began

    def shutdown(self) -> None:
        self.inner.shutdown()


class Watched(SpanExporter):
    """An exporter whose failures are counted here too: the SDK's own count misses those that HTTP answers with a status."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter
        self.failed = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self.exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.failed += len(spans)
        return result

    def shutdown(self) -> None:
        self.exporter.shutdown()


def exporters(protocol: str) -> tuple[Any, Any]:
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(), OTLPMetricExporter()
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter

    return HttpSpanExporter(), HttpMetricExporter()


def answer(bad_every: int) -> Any:
    """A model that asks for the order, and then states its number, or another one in every ``bad_every``-th answer."""
    answers = Counter[str]()

    def play(request: Request) -> Step:
        messages = request.json["messages"]
        if messages[-1]["role"] != "tool":
            return ToolCalls([ToolUse("get_order", {"id": messages[-1]["content"][-6:]})])
        answers["all"] += 1
        number = json.loads(messages[-1]["content"])["number"]
        bad = bad_every and answers["all"] % bad_every == 0
        return Text(f"Your order is {number[:-1]}9." if bad else f"Your order is {number}.")

    return play


def converse(client: openai.OpenAI, index: int) -> None:
    messages: list[Any] = [{"role": "user", "content": f"Which order is mine? I am customer {index:06d}"}]
    reply: Any = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0].message
    result = {"number": f"AB-{48210 + index * 10}"}
    messages += [reply, {"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": json.dumps(result)}]
    client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--bad-every", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between conversations")
    parser.add_argument("--go", type=Path)
    parser.add_argument("--wait-for", type=Path, help="do not end before this file is there")
    parser.add_argument("--no-export", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)

    made = Made()
    own = InMemoryMetricReader()
    readers: list[Any] = [own]
    span_exporter: Any = None
    sending: Timed | None = None
    if not arguments.no_export:
        exporter, metric_exporter = exporters(os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"))
        span_exporter = Watched(exporter)
        readers.append(PeriodicExportingMetricReader(metric_exporter))
    meters = MeterProvider(metric_readers=readers)
    metrics.set_meter_provider(meters)
    spans = TracerProvider(meter_provider=meters)
    spans.add_span_processor(made)
    if span_exporter is not None:
        sending = Timed(BatchSpanProcessor(span_exporter, meter_provider=meters))
        spans.add_span_processor(sending)
    trace.set_tracer_provider(spans)
    otel_footprint.instrument(providers=["openai"])

    times: list[float] = []
    handed_over: list[float] = []  # seconds of each conversation that the exporter's side took
    with ScriptedProvider(answer(arguments.bad_every), record=False) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="none needed", max_retries=0)
        began = time.perf_counter()
        for index in range(arguments.count):
            before = time.perf_counter()
            with otel_footprint.conversation(f"c{os.getpid()}-{index}", agent="shop-desk"):
                converse(client, index)
            times.append(time.perf_counter() - before)
            handed_over.append(sending.spent if sending is not None else 0.0)
            if arguments.go and index % 10 == 9:
                arguments.go.write_text(str(index + 1))
            if arguments.pause:
                time.sleep(arguments.pause)
        seconds = time.perf_counter() - began
    while arguments.wait_for and not arguments.wait_for.exists():
        time.sleep(0.05)
    before = time.perf_counter()
    spans.shutdown()
    lost = _points(own)  # after the last spans were sent or given up, and before the last metrics are
    meters.shutdown()
    arguments.out.write_text(
        json.dumps(
            {
                "spans": made.ids,
                "seconds": seconds,
                "times": times,
                "handed_over": [end - start for start, end in zip([0.0, *handed_over], handed_over, strict=False)],
                "shutdown": time.perf_counter() - before,
                "lost": lost["lost"],
                "failed": span_exporter.failed if span_exporter is not None else 0,
                "statuses": lost["statuses"],
                "answers": lost["answers"],
                "threads": threading.active_count(),
            }
        )
    )
    return 0


def _points(reader: InMemoryMetricReader) -> dict[str, Any]:
    """What the SDK counted: answers by verdict, and spans it lost by reason."""
    answers, lost, statuses = Counter[str](), Counter[str](), Counter[str]()
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in getattr(metric.data, "data_points", ()):
                    labels = dict(point.attributes or {})
                    if metric.name == "agentfootprint.answers":
                        answers[str(labels["verdict"])] += point.value  # type: ignore[union-attr]
                    elif metric.name == "otel.sdk.exporter.operation.duration":
                        statuses[str(labels.get("http.response.status_code"))] += point.count  # type: ignore[union-attr]
                    elif metric.name in LOST and "error.type" in labels:
                        lost[f"{metric.name} {labels['error.type']}"] += point.value  # type: ignore[union-attr]
    return {"answers": {k: v for k, v in answers.items() if v}, "lost": dict(lost), "statuses": dict(statuses)}


if __name__ == "__main__":
    sys.exit(main())
