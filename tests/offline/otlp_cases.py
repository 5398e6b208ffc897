"""OTLP JSON as exporters write it, made by hand: values, spans, and one conversation of two calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.offline import otlp
from otel_footprint.offline.files import TraceFile
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.traces import judge_trace

TRACE = "0af7651916cd43dd8448eb211c80319c"


def value(given: Any) -> dict[str, Any]:
    """A value as OTLP JSON spells it."""
    match given:
        case bool():
            return {"boolValue": given}
        case int():
            return {"intValue": str(given)}
        case float():
            return {"doubleValue": given}
        case list():
            return {"arrayValue": {"values": [value(item) for item in given]}}
        case dict():
            return {"kvlistValue": {"values": attributes(given)}}
        case None:
            return {}
        case _:
            return {"stringValue": given}


def attributes(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(item)} for key, item in given.items()]


def span(number: int, given: Mapping[str, Any], *, parent: int | None = None, **more: Any) -> dict[str, Any]:
    found = {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "name": "chat m",
        "startTimeUnixNano": str(number * 1_000_000_000),
        "endTimeUnixNano": str(number * 1_000_000_000 + 500),
        "attributes": attributes({"gen_ai.operation.name": "chat", **given}),
        **more,
    }
    return found if parent is None else {**found, "parentSpanId": f"{parent:016x}"}


def request(*spans: Mapping[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "s"}, "spans": list(spans)}]}]}


def trace(*spans: Mapping[str, Any], logs: list[dict[str, Any]] | None = None) -> TraceFile:
    export = otlp.read(request(*spans))
    records = otlp.read({"resourceLogs": [{"scopeLogs": [{"logRecords": logs or []}]}]}).logs
    return TraceFile(export.spans, records)


def judged(*spans: Mapping[str, Any], logs: list[dict[str, Any]] | None = None) -> list[Judged]:
    found, problems, _ = judge_trace(trace(*spans, logs=logs), Evidence())
    assert problems == []
    return found


def text(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}], **more}


ASKED = text("user", "What did I order?")
CALLED = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {}}]}
READ = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": '{"order": "AB-48213"}'}]}
ANSWER = text("assistant", "It is AB-48213, not XY-99999.", finish_reason="stop")
FIRST: dict[str, Any] = {
    "gen_ai.input.messages": [ASKED],
    "gen_ai.output.messages": [{**CALLED, "finish_reason": "tool_calls"}],
    "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
}
SECOND: dict[str, Any] = {
    "gen_ai.input.messages": [ASKED, CALLED, READ],
    "gen_ai.output.messages": [ANSWER],
    "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
}


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "key",
                    "value",
                    "stringValue",
                    "intValue",
                    "doubleValue",
                    "arrayValue",
                    "kvlistValue",
                    "values",
                    "traceId",
                    "name",
                    "events",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
"""Anything, in the words of OTLP JSON."""
