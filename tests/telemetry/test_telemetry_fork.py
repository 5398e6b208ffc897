"""A forked worker is a resource of its own, or its counters would overwrite its sibling's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FORKING = """
import json, os
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from tests.telemetry.telemetry_cases import Pipeline, decisions, judgement, value

pipeline = Pipeline()
pipeline.reader = InMemoryMetricReader()
pipeline.meters = MeterProvider([pipeline.reader], resource=Resource.create({"service.name": "workers"}))
emitter = pipeline.emitter()
pipeline.emit(emitter, decisions())
reading, writing = os.pipe()
child = os.fork()
for _ in range(1 if child else 2):
    pipeline.emit(emitter, decisions(judgement(value(status="unsupported"), verdict="ungrounded")))
[resource] = pipeline.reader.get_metrics_data().resource_metrics
points = [p for s in resource.scope_metrics for m in s.metrics if m.name == "agentfootprint.answers" for p in m.data.data_points]
line = json.dumps([resource.resource.attributes.get("service.instance.id"), sum(p.value for p in points)])
if child == 0:
    os.write(writing, line.encode())
    os._exit(0)
os.waitpid(child, 0)
print(line)
print(os.read(reading, 1000).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_worker_counts_for_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    (parent_id, parent_count), (child_id, child_count) = map(json.loads, done.stdout.splitlines())
    assert (parent_count, child_count) == (1, 2), done.stderr
    assert parent_id is not None
    assert child_id is not None
    assert parent_id != child_id
