"""A forked child of ``otel-footprint run`` exports over connections of its own, whatever its parent keeps open."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

FORKING = """
import os, sys
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from otel_footprint.cli.forks import survive_forks

base = sys.argv[1]
tracers = TracerProvider()
tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/traces"), schedule_delay_millis=60_000))
meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter(f"{base}/metrics"), 60_000)])
survive_forks((tracers, meters))
counter = meters.get_meter("m").create_counter("c")

def send():
    with tracers.get_tracer("t").start_as_current_span("s"):
        counter.add(1)
    assert tracers.force_flush(5_000) and meters.force_flush(5_000)

send()
for _ in range(2):
    if os.fork() == 0:
        send()
        os._exit(0)
    assert os.wait()[1] == 0
send()
os._exit(0)
"""


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """A server that keeps connections open, and what came in: the path, and the port it came from."""
    seen: list[tuple[str, int]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            seen.append((self.path, self.client_address[1]))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", seen
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_no_two_processes_share_a_connection(receiver: tuple[str, list[tuple[str, int]]], tmp_path: Path) -> None:
    base, seen = receiver
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    subprocess.run([sys.executable, str(script), base], check=True, timeout=60)
    for path in ("/traces", "/metrics"):
        before, first, second, after = [port for sent, port in seen if sent == path]
        assert before == after, "the parent keeps its own"
        assert len({before, first, second}) == 3
