"""Decisions for the tests: a plain call, one that shows everything, and any at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

from hypothesis import strategies as st
from opentelemetry import context, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler

from otel_footprint.core.call import Call, CallRef, ProviderEdit
from otel_footprint.core.decisions import Decisions, Eviction, Match, Rewrite, WindowChange, WindowDecision
from otel_footprint.core.evidence.verdicts import (
    FLAGGED,
    STATUSES,
    VERDICTS,
    Action,
    ArgumentValue,
    CallJudgement,
    Carrier,
    Derivation,
    EvictedBy,
    Judgement,
    Misplaced,
    Posture,
    Reason,
    Value,
)
from otel_footprint.core.messages import Role
from otel_footprint.telemetry.emitter import Emission, Emitter
from otel_footprint.telemetry.window_facts import VisitFacts

SERVED = CallRef(trace_id=0xA1, span_id=0xB1, trace_flags=1)
DROPPED = CallRef(trace_id=0xA2, span_id=0xB2, trace_flags=1)


@dataclass
class Pipeline:
    """A real SDK whose exporters keep everything in memory."""

    sampler: Sampler = ALWAYS_ON
    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    logs: InMemoryLogRecordExporter = field(default_factory=InMemoryLogRecordExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    def __post_init__(self) -> None:
        self.tracers = TracerProvider(sampler=self.sampler)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.meters = MeterProvider(metric_readers=[self.reader])
        self.loggers = LoggerProvider()
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self.logs))

    def emitter(self, **settings: Any) -> Emitter:
        return Emitter(
            tracer_provider=self.tracers, meter_provider=self.meters, logger_provider=self.loggers, **settings
        )

    def emit(self, emitter: Emitter, decisions: Decisions, call: Call | None = None) -> ReadableSpan | None:
        """One call through the emitter; its exported span, None when it was not sampled."""
        span = self.tracers.get_tracer("test").start_span("chat gpt-x")
        call = CALL if call is None else call
        emitter.emit(
            Emission(decisions=decisions, span=span, context=context.get_current(), call=call, evidence_seconds=0.002)
        )
        span.end()
        finished = self.spans.get_finished_spans()
        return finished[-1] if finished else None

    def visit(self, emitter: Emitter, facts: VisitFacts) -> ReadableSpan | None:
        """One visit of a window strategy through the emitter; its exported span, None when it was not sampled."""
        with emitter.window_visit(facts.record.strategy, context.get_current(), 1_000) as visit:
            visit.finish(facts)
        finished = self.spans.get_finished_spans()
        return finished[-1] if finished else None

    def points(self, name: str) -> dict[tuple[tuple[str, Any], ...], Any]:
        """The points of one metric by their attributes: the sum of a counter, (count, sum) of a histogram."""
        found: dict[tuple[tuple[str, Any], ...], Any] = {}
        data = self.reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name == name:
                        for point in metric.data.data_points:
                            key = tuple(sorted(point.attributes.items()))
                            value = getattr(point, "value", None)
                            found[key] = value if value is not None else (point.count, point.sum)
        return found


def value(text: str = "AB-1234", status: str = "read", **other: Any) -> Value:
    fields: dict[str, Any] = {"spans": ((0, len(text)),), "shape": "identifier", "flagged": status in FLAGGED}
    return Value(text=text, status=status, **{**fields, **other})  # type: ignore[arg-type]


def argument(text: str = "AB-1234", status: str = "read", **other: Any) -> ArgumentValue:
    fields: dict[str, Any] = {"paths": ("order_id",), "shape": "identifier", "unaccounted": status in FLAGGED}
    return ArgumentValue(text=text, status=status, **{**fields, **other})  # type: ignore[arg-type]


def emitted(*values: ArgumentValue, **other: Any) -> CallJudgement:
    fields: dict[str, Any] = {"tool": "get_order", "tool_call_id": "call_7", "choice": 0, "reasons": ()}
    return CallJudgement(values=values, **{**fields, **other})


def judgement(*values: Value, verdict: str = "grounded", **other: Any) -> Judgement:
    fields: dict[str, Any] = {
        "choice": 0,
        "reasons": (),
        "candidates": len(values),
        "looked_up": sum(1 for v in values if v.status != "said"),
        "earlier_turns_only": 0,
        "action": "flagged" if verdict == "ungrounded" else "grounded",
    }
    return Judgement(verdict=verdict, values=values, **{**fields, **other})  # type: ignore[arg-type]


def window(decision: str = "append", **other: Any) -> WindowChange:
    fields: dict[str, Any] = {"messages_before": 5, "messages_after": 7, "chars_before": 100, "chars_after": 260}
    fields["decided_by"] = "application"
    return WindowChange(decision=decision, **{**fields, **other})  # type: ignore[arg-type]


def decisions(*judgements: Judgement, **other: Any) -> Decisions:
    fields: dict[str, Any] = {
        "conversation": "order-4711",
        "inferred": False,
        "match": "explicit",
        "thread": 1,
        "forked_from": None,
        "turn": 2,
        "iteration": 3,
        "window": window(),
        "tool_results_this_turn": 1,
    }
    return Decisions(judgements=judgements, **{**fields, **other})


CALL = Call(messages=(), now=1000.0, model="gpt-x", agent="support", response_id="resp_1")

EVICTION = Eviction(
    index=2,
    role="tool",
    tool="get_order",
    tool_call_id="call_1",
    result_ref="call_1#2",
    chars=120,
    survival_ms=4200,
    iterations_survived=3,
    reason="evict",
    key=b"0123456789abcdef",
    born=SERVED,
)
REWRITE = Rewrite(
    index=4, role="tool", tool="search", tool_call_id="call_2", chars_before=90, chars_after=9, key=b"fedcba9876543210"
)
EVICTED_VALUE = value(
    "AB-1234",
    "evicted",
    turn=1,
    evicted_by=EvictedBy("evict", "application", "call_1", "get_order", dropped=DROPPED, served=SERVED),
)
COMPUTED_VALUE = value(
    "$1,250.00",
    "computed",
    shape="money",
    spans=((10, 19), (40, 49)),
    turn=2,
    derivation=Derivation("sum", ("$1,000.00", "$250.00")),
    carriers=(Carrier("call_2", "call_2", "search", 2), Carrier("call_3#2", "call_3", "search", 2)),
    carriers_cut=True,
)
RICH = decisions(
    judgement(
        EVICTED_VALUE,
        COMPUTED_VALUE,
        value("today", "said"),
        verdict="ungrounded",
        earlier_turns_only=1,
    ),
    thread=2,
    forked_from=1,
    window=window(
        "evict",
        evictions=(EVICTION,),
        rewrites=(REWRITE,),
        inserted=1,
        dropped_tools=("get_order",),
    ),
)
"""A call that shows everything but what the limits leave out."""

MISPLACED = decisions(
    judgement(
        value("AB-1234"),
        value("1912", shape="number", misplaced=(Misplaced((20, 24), "Alan Turing", "Ada Lovelace"),) * 2),
    )
)
"""An answer that states a value beside the name of another row, twice."""

OVERFULL = decisions(
    judgement(
        *(
            value(
                f"{'x' * 300}{n}",
                "evicted",
                evicted_by=EvictedBy(
                    "evict", "application", "c", "t", dropped=CallRef(1, 1 + n), served=CallRef(2, 1 + n)
                ),
                carriers=tuple(Carrier(f"call_{'y' * 250}{i}", None, "t", 1) for i in range(30)),
            )
            for n in range(80)
        ),
        verdict="inconclusive",
        reasons=("opaque_content", "coincidence"),
    ),
    window=window(
        "summarize",
        settled=False,
        decided_by="provider",
        dropped_tools=tuple(f"tool_{n}" for n in range(50)),
        evictions=(EVICTION,) * 100,
    ),
)
"""A call that meets every limit, without output, whose history the provider folded."""

# Any decisions at all, within their types, and text of every kind: lone surrogates, NUL, very long.
_ODD = ("", "{" + "k" * 400, "é" * 300, "\ud800" * 3, "a\x00b", "\U0001f600" * 400, '["a", ' + "1, " * 200, "x" * 256)
texts = st.sampled_from(_ODD) | st.text(alphabet=st.characters(codec=None), max_size=12)
names_ = st.none() | texts
counts = st.integers(0, 2**40)
refs = st.builds(CallRef, st.integers(0, 2**128 + 1), st.integers(0, 2**64 + 1), st.integers(0, 255))
carriers = st.builds(Carrier, ref=texts, tool_call_id=names_, tool=names_, turn=counts, position=st.none())
evicted_bys = st.builds(
    EvictedBy, st.sampled_from(get_args(WindowDecision)), texts, names_, names_, st.none() | refs, st.none() | refs
)
values = st.builds(
    Value,
    text=texts,
    spans=st.lists(st.tuples(counts, counts), max_size=3).map(tuple),
    shape=texts,
    status=st.sampled_from(STATUSES),
    flagged=st.booleans(),
    carriers=st.lists(carriers, max_size=2).map(lambda some: tuple(some * 12)),
    carriers_cut=st.booleans(),
    turn=st.none() | counts,
    derivation=st.none() | st.builds(Derivation, texts, st.lists(texts, max_size=3).map(tuple)),
    evicted_by=st.none() | evicted_bys,
)
judgements = st.builds(
    Judgement,
    choice=counts,
    verdict=st.sampled_from(VERDICTS),
    reasons=st.lists(st.sampled_from(get_args(Reason)), max_size=6, unique=True).map(tuple),
    values=st.lists(values, max_size=3).map(lambda some: tuple(some * 20)) | st.lists(values, max_size=3).map(tuple),
    candidates=counts,
    looked_up=counts,
    earlier_turns_only=counts,
    posture=st.sampled_from(get_args(Posture)),
    action=st.sampled_from(get_args(Action)),
)
roles = st.sampled_from(get_args(Role))
evictions = st.builds(
    Eviction,
    index=counts,
    role=roles,
    tool=names_,
    tool_call_id=names_,
    result_ref=names_,
    chars=counts,
    survival_ms=counts,
    iterations_survived=counts,
    reason=st.sampled_from(get_args(WindowDecision)),
    key=st.binary(min_size=16, max_size=16),
    born=st.none() | refs,
)
rewrites = st.builds(
    Rewrite,
    index=counts,
    role=roles,
    tool=names_,
    tool_call_id=names_,
    chars_before=counts,
    chars_after=counts,
    key=st.binary(min_size=16, max_size=16),
)
windows = st.builds(
    WindowChange,
    decision=st.sampled_from(get_args(WindowDecision)),
    decided_by=texts,
    messages_before=counts,
    messages_after=counts,
    chars_before=counts,
    chars_after=counts,
    evictions=st.lists(evictions, max_size=2).map(lambda some: tuple(some * 30)),
    rewrites=st.lists(rewrites, max_size=3).map(tuple),
    inserted=counts,
    dropped_tools=st.lists(texts, max_size=5).map(lambda some: tuple(some * 8)),
    settled=st.booleans(),
    reported=st.booleans(),
)
argument_values = st.builds(
    ArgumentValue,
    text=texts,
    paths=st.lists(texts, max_size=3).map(tuple),
    shape=texts,
    status=st.sampled_from(STATUSES),
    unaccounted=st.booleans(),
    carriers=st.lists(carriers, max_size=2).map(tuple),
    carriers_cut=st.booleans(),
    turn=st.none() | counts,
    derivation=st.none() | st.builds(Derivation, texts, st.lists(texts, max_size=3).map(tuple)),
    evicted_by=st.none() | evicted_bys,
)
call_judgements = st.builds(
    CallJudgement,
    tool=texts,
    tool_call_id=names_,
    choice=counts,
    reasons=st.lists(st.sampled_from(get_args(Reason)), max_size=6, unique=True).map(tuple),
    values=st.lists(argument_values, max_size=3).map(lambda some: tuple(some * 20))
    | st.lists(argument_values, max_size=3).map(tuple),
)
any_decisions = st.builds(
    Decisions,
    conversation=texts,
    inferred=st.booleans(),
    match=st.sampled_from(get_args(Match)),
    thread=counts,
    forked_from=st.none() | counts,
    turn=counts,
    iteration=counts,
    window=windows,
    tool_results_this_turn=counts,
    judgements=st.lists(judgements, max_size=2).map(tuple),
    calls=st.lists(call_judgements, max_size=2).map(tuple),
)
any_calls = st.builds(
    Call,
    messages=st.just(()),
    now=st.floats(),
    ref=st.none() | refs,
    model=names_,
    agent=names_,
    response_id=names_,
    edits=st.lists(st.builds(ProviderEdit, st.sampled_from(["clear", "evict", "summarize"]), texts), max_size=2).map(
        tuple
    ),
)


def link_facts(span: ReadableSpan) -> list[tuple[int, int, dict[str, Any]]]:
    return [(link.context.trace_id, link.context.span_id, dict(link.attributes or {})) for link in span.links]


def event_facts(span: ReadableSpan) -> list[tuple[str, dict[str, Any]]]:
    return [(event.name, dict(event.attributes or {})) for event in span.events]


def current_trace_ids(span: ReadableSpan) -> tuple[int, int]:
    context_ = span.get_span_context()
    assert context_ is not None
    assert context_ != trace.INVALID_SPAN_CONTEXT
    return context_.trace_id, context_.span_id
