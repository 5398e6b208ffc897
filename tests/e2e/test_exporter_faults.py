"""A receiver that is down, hangs, is busy or refuses: the application does not wait, its end is bounded, losses are counted."""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest
from e2e_servers import HOST, ROOT, clean_environment, free_port

SCRIPT = Path(__file__).with_name("conversations.py")
TIMEOUT = 2


class _Grpc(grpc.GenericRpcHandler):
    """Any method of OTLP, with one fault."""

    def __init__(self, fault: str, over: threading.Event) -> None:
        self.fault, self.over = fault, over

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        def handle(request: bytes, context: grpc.ServicerContext) -> bytes:
            if self.fault == "hangs":
                self.over.wait(60)
            code = grpc.StatusCode.INVALID_ARGUMENT if self.fault == "refuses" else grpc.StatusCode.UNAVAILABLE
            context.abort(code, self.fault)
            return b""

        return grpc.unary_unary_rpc_method_handler(handle)


@contextmanager
def receiver(fault: str, protocol: str) -> Iterator[str]:
    """An endpoint with this fault."""
    over = threading.Event()
    if fault == "down":
        yield f"http://{HOST}:{free_port()}"
    elif protocol == "grpc":
        server = grpc.server(ThreadPoolExecutor(8), handlers=[_Grpc(fault, over)])
        port = server.add_insecure_port(f"{HOST}:0")
        server.start()
        yield f"http://{HOST}:{port}"
        over.set()
        server.stop(0)
    else:

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                if fault == "hangs":
                    over.wait(60)
                self.send_response(400 if fault == "refuses" else 503)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        http = ThreadingHTTPServer((HOST, 0), Handler)
        http.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{http.server_port}"
        over.set()
        http.shutdown()


def run(folder: Path, name: str, *arguments: str, **environment: str) -> dict[str, Any]:
    out = folder / f"{name}.json"
    subprocess.run(
        [sys.executable, SCRIPT, "--out", out, "--count", "150", *arguments],
        env=clean_environment(
            OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED="true",
            OTEL_METRIC_EXPORT_INTERVAL="1000",
            OTEL_BSP_SCHEDULE_DELAY="200",
            OTEL_EXPORTER_OTLP_TIMEOUT=str(TIMEOUT),
            **environment,
        ),
        cwd=ROOT,
        check=True,
        timeout=120,
        capture_output=True,
    )
    made: dict[str, Any] = json.loads(out.read_text())
    return made


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long the fastest conversation takes where nothing is exported, in seconds."""
    made = run(tmp_path_factory.mktemp("alone"), "alone", "--no-export")
    return float(min(made["times"]))


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
@pytest.mark.parametrize("fault", ["down", "hangs", "busy", "refuses"])
def test_the_application_goes_on(tmp_path: Path, alone: float, fault: str, protocol: str) -> None:
    with receiver(fault, protocol) as endpoint:
        made = run(tmp_path, "made", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
    # The application is inside the exporter's side for an append to a queue, and takes no longer for it on the whole.
    assert statistics.median(made["handed_over"]) < 0.001
    assert min(made["times"]) < 5 * alone + 0.002
    full = made["lost"].get("otel.sdk.processor.span.processed queue_full", 0)
    assert made["failed"] + full == len(made["spans"]), "every span is lost, and the exporter says so"
    if protocol == "grpc" or fault in ("down", "hangs"):
        assert sum(made["lost"].values()) == len(made["spans"]), "the SDK's metrics count each of them"
    else:  # what HTTP answers with a status is counted by export, not by span
        assert made["statuses"]["400" if fault == "refuses" else "503"] > 0
    # One export that is under way and one for each batch that waits, for the spans; then one of metrics.
    assert made["shutdown"] < 6 * TIMEOUT + 5
