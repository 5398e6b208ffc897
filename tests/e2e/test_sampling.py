"""What sampling keeps: all that matters, also late; and what it loses is counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e_servers import HOST, Collector, StandIn, running, until
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link, Span, SpanContext, StatusCode

from otel_footprint.report.otlp import read_spans
from otel_footprint.telemetry import names

CALL = {"gen_ai.operation.name": "chat", names.CONVERSATION_ID: "c", names.WINDOW_DECISION: "append"}


@contextmanager
def tracer(collector: Collector) -> Iterator[trace.Tracer]:
    provider = TracerProvider(resource=Resource({"service.name": "sampled"}))
    exporter = OTLPSpanExporter(endpoint=f"http://{HOST}:{collector.grpc}", insecure=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider.get_tracer("test")
    provider.shutdown()


def make(
    tracer: trace.Tracer, name: str, root: Span | None, *, links: tuple[SpanContext, ...] = (), **more: object
) -> Span:
    """A span that is over at once, below ``root``; with ``error`` its status says so."""
    context = trace.set_span_in_context(root) if root is not None else None
    error = more.pop("error", False)
    span = tracer.start_span(name, context=context, attributes={**CALL, **more}, links=[Link(each) for each in links])  # type: ignore[dict-item]
    if error:
        span.set_status(StatusCode.ERROR)
    span.end()
    return span


def test_what_matters_is_kept_also_late(tmp_path: Path) -> None:
    tempo = StandIn(tmp_path)
    settings = {"SAMPLING_WAIT": "2s", "SAMPLING_PERCENT": "0", **tempo.endpoint}
    collector = Collector(tmp_path, "tempo", "sampling", environment=settings)
    evicted = {names.EVIDENCE_VERDICT: "ungrounded", names.EVIDENCE_WORST_STATUS: "evicted"}
    with running(tempo, collector), tracer(collector) as it:
        whole = {}
        for name, more in (
            ("ungrounded", {names.EVIDENCE_VERDICT: "ungrounded"}),
            ("refused", {names.EVIDENCE_ACTION: "refused"}),
            ("over budget", {names.WINDOW_OUTCOME: "refused", names.WINDOW_THRESHOLD_TOKENS: 100}),
            ("broken", {names.WINDOW_OUTCOME: "strategy-failed"}),
            ("error", {"error": True}),
        ):
            root = make(it, f"{name} root", None)
            whole[name] = [root, make(it, f"{name} call", root), make(it, f"{name} end", root, **more)]
        for _ in range(10):
            # A sliding window that has nothing to remove is no news.
            make(it, "plain call", make(it, "plain root", None), **{names.WINDOW_OUTCOME: "refused"})
        # A run that goes on for longer than anybody waits, and turns ungrounded at its end.
        long_root = make(it, "long root", None)
        served = make(it, "long served", long_root)
        time.sleep(5)
        dropped = make(it, "long dropped", long_root, **{names.WINDOW_EVICTED: 2})
        time.sleep(5)
        answer = make(
            it, "long answer", long_root, links=(served.get_span_context(), dropped.get_span_context()), **evicted
        )
        time.sleep(5)

        def arrived() -> set[str]:
            return {span.span_id for span in read_spans(tempo.file)}

        def ids(*spans: Span) -> set[str]:
            return {f"{span.get_span_context().span_id:016x}" for span in spans}

        kept = ids(*(span for spans in whole.values() for span in spans), dropped, answer)
        until("all that is kept", lambda: kept <= arrived(), 20)
        assert arrived() == kept, "and nothing else: the plain traces and the long one's beginning were decided against"
        assert len(read_spans(tempo.file)) == len(kept), "each once"

        # What the answer links to and sampling did not keep is in the file of calls.
        calls = {span.span_id for path in collector.state.glob("calls/*") for span in read_spans(path)}
        assert ids(served, dropped, answer) <= calls

        # What was lost is counted: spans that came in and did not go out, traces decided against.
        lost = collector.own("otelcol_receiver_accepted_spans_total") - collector.own(
            "otelcol_exporter_sent_spans_total", exporter="otlp_grpc/tempo"
        )
        assert lost == 20 + 2
        decided = "otelcol_processor_tail_sampling_global_count_traces_sampled_total"
        assert collector.own(decided, sampled="false") >= 11
        assert collector.own(decided, sampled="true") >= 4


def test_a_stated_share_of_the_rest_is_kept(tmp_path: Path) -> None:
    tempo = StandIn(tmp_path)
    settings = {"SAMPLING_WAIT": "1s", "SAMPLING_PERCENT": "20", **tempo.endpoint}
    collector = Collector(tmp_path, "tempo", "sampling", environment=settings)
    with running(tempo, collector), tracer(collector) as it:
        for _ in range(400):
            make(it, "plain", None)
        decided = "otelcol_processor_tail_sampling_global_count_traces_sampled_total"
        until("all are decided", lambda: collector.own(decided) == 400, 30)
        kept = collector.own(decided, sampled="true")
        assert 40 <= kept <= 125, "a fifth, give or take five standard deviations"
        until("they arrive", lambda: len(read_spans(tempo.file)) == kept)
        # A collector that is stopped decides on what it still holds.
        for _ in range(50):
            make(it, "last", None, **{names.EVIDENCE_ACTION: "refused"})
            make(it, "last plain", None, error=True)
        collector.stop()
        collector.start()
        until("those too", lambda: len(read_spans(tempo.file)) == kept + 100, 30)
