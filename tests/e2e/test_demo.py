"""An agent's run, from the SDK through the collector to where a person looks for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e_servers import ROOT, Collector, Jaeger, StandIn, clean_environment, running, until

from otel_footprint.report.otlp import read_spans
from otel_footprint.telemetry import names

COMMAND = (sys.executable, "-m", "otel_footprint.cli.main")
RUN = (*COMMAND, "run", "--", sys.executable)
SERVICE = "demo-agents"


def tags(span: dict[str, Any]) -> dict[str, Any]:
    return {tag["key"]: tag["value"] for tag in span["tags"]}


def events(span: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for log in span["logs"]:
        fields = {field["key"]: field["value"] for field in log["fields"]}
        found.append((fields.pop("event", ""), fields))
    return found


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_the_demo_is_found_by_its_verdict(tmp_path: Path, protocol: str) -> None:
    jaeger, tempo = Jaeger(tmp_path), StandIn(tmp_path)
    collector = Collector(tmp_path, "jaeger", "tempo", environment={**jaeger.endpoint, **tempo.endpoint})
    with running(jaeger, tempo, collector):
        done = subprocess.run(
            [*RUN, str(Path(__file__).with_name("demo_agent.py"))],
            env=clean_environment(OTEL_SERVICE_NAME=SERVICE, **collector.export_settings(protocol)),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        verdict = {"agentfootprint__evidence__verdict": "ungrounded"}
        traces = until("traces with an ungrounded answer", lambda: _at_least(2, jaeger.search(SERVICE, **verdict)))
        evicted = {"agentfootprint__evidence__worst_status": "evicted"}
        trace = until("the trace that quotes what left", lambda: _at_least(1, jaeger.search(SERVICE, **evicted)))[0]

        answer = next(
            span
            for span in trace["spans"]
            if tags(span).get(names.EVIDENCE_VERDICT) == "ungrounded" and tags(span)["gen_ai.operation.name"] == "chat"
        )
        found = events(answer)
        assert [name for name, _ in found].count(names.EVENT_AGENT_EVIDENCE_CHECKED) == 1
        assert [name for name, _ in found].count(names.EVENT_CONTEXT_EVICTED) == 2
        (value,) = [
            fields
            for name, fields in found
            if name == names.EVENT_EVIDENCE_VALUE and fields[names.VALUE_STATUS] == "evicted"
        ]
        assert value[names.VALUE_EVICTED_TOOL] == "get_reservation"
        linked = {
            (reference["traceID"], reference["spanID"])
            for reference in answer["references"]
            if reference["refType"] == "FOLLOWS_FROM"
        }
        here = {(span["traceID"], span["spanID"]) for span in trace["spans"]}
        assert len(linked) == 2
        assert linked <= here, "the calls that served the value and dropped its result are in Jaeger"

        # The same spans reach the other backend, unchanged.
        sent = {(span["traceID"], span["spanID"]) for each in jaeger.search(SERVICE) for span in each["spans"]}
        until("every span at the stand-in", lambda: len(read_spans(tempo.file)) >= len(sent))
        assert {(span.trace_id, span.span_id) for span in read_spans(tempo.file)} == sent

        # What the SDK counted, and what the collector counted in the spans.
        counted = until("the counters", lambda: _answers(collector.exposed()))
        assert counted["SDK"] == counted["spans"]
        assert counted["SDK"]["ungrounded"] == len(traces)

        # A person reads it in a terminal, from wherever it is.
        trees = [
            subprocess.run(
                [*COMMAND, "trace", trace["traceID"], *source],
                env=clean_environment(),
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            ).stdout
            for source in (("--jaeger", jaeger.url), ("--file", str(tempo.file)))
        ]
        assert trees[0] == trees[1]
        assert "the result of get_reservation had left: evict by application (call_1)" in trees[0]


def _at_least(number: int, found: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    return found if len(found) >= number else None


def _answers(series: dict[str, float]) -> dict[str, dict[str, float]]:
    totals: dict[str, dict[str, float]] = {"SDK": {}, "spans": {}}
    for name, value in series.items():
        if name.startswith("agentfootprint_answers_total{") and value:
            source = "spans" if "countconnector" in name else "SDK"
            match = re.search(r'verdict="(\w+)"', name)
            assert match
            totals[source][match[1]] = totals[source].get(match[1], 0) + value
    return totals if totals["SDK"] and totals["spans"] else {}
