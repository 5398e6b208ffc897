"""``otel-footprint doctor``: it looks at what is really there."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from otel_footprint.cli.endpoints import exports, shown_endpoint
from otel_footprint.cli.store_asked import ask
from otel_footprint.store import store_of
from otel_footprint.testing.provider import ScriptedProvider

if TYPE_CHECKING:
    from conftest import Cli


def document(cli: Cli, **environment: str) -> tuple[int, Any]:
    ended = cli("doctor", "--json", **environment)
    assert ended.err == ""
    return ended.code, json.loads(ended.out)


def test_what_is_installed_and_observed(cli: Cli) -> None:
    code, found = document(cli)
    assert (code, found["ok"], found["problems"]) == (0, True, [])
    sdks = {sdk["name"]: sdk for sdk in found["sdks"]}
    for name in ("openai", "anthropic"):
        if sdks[name]["version"] is not None:
            assert sdks[name]["on"]
            assert not sdks[name]["pending"]
    assert found["hook"]["active"] == "footprint"
    assert found["versions"]["otel-footprint"].startswith("0.")
    assert found["settings"]["capture_values"] == "none"
    assert found["capture"] == {
        "message_content": "NO_CONTENT",
        "values": "none",
        "events": "span",
        "sampler": "parentbased_always_on",
    }
    assert {export["answers"] for export in found["export"]} == {None}


def test_the_page_for_people(cli: Cli) -> None:
    ended = cli("doctor", OTEL_FOOTPRINT_EVENTS="both", OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK="upload")
    assert ended.code == 0
    assert "No problem found." in ended.out
    said = ended.err.splitlines()
    assert said[0] == "otel-footprint doctor: looking at what is installed and set …"
    assert "otel-footprint doctor: importing openai …" in said
    assert "observed through opentelemetry-instrumentation-genai-openai" in ended.out
    assert "\x1b" not in ended.out
    lines = [line.split(maxsplit=1) for line in ended.out.splitlines()]
    assert ["events", "both"] in lines
    assert ["active", "footprint"] in lines
    assert any(line[0] == "opentelemetry-instrument" for line in lines)
    assert ["beside", "it                      upload"] in [
        [line[0], line[1]] for line in lines if line[:1] == ["beside"]
    ]


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        (
            {"OTEL_FOOTPRINT_CAPTURE_VALUES": "some"},
            "OTEL_FOOTPRINT_CAPTURE_VALUES='some' is not one of none, flagged, all",
        ),
        (
            {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT='true' is refused; "
            "write one of NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT",
        ),
        ({"OTEL_TRACES_EXPORTER": "pigeon"}, "traces do not arrive: pigeon: no exporter of that name is installed"),
        (
            {"OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK": "angler"},
            "no completion hook named 'angler' is installed; ours runs without it",
        ),
        (
            {"OTEL_FOOTPRINT_CAPTUREVALUES": "all"},
            "OTEL_FOOTPRINT_CAPTUREVALUES is no setting; did you mean OTEL_FOOTPRINT_CAPTURE_VALUES?",
        ),
        ({"OTEL_SDK_DISABLED": "true"}, "OTEL_SDK_DISABLED=true: nothing is recorded or exported"),
        (
            {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "footprint"},
            "our instrumentor did not start (OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=footprint): "
            "zero-code instrumentation observes nothing",
        ),
    ],
)
def test_problems_are_named(cli: Cli, environment: dict[str, str], says: str) -> None:
    code, found = document(cli, **environment)
    assert (code, found["problems"]) == (1, [says])


def test_the_settings_in_force(cli: Cli) -> None:
    code, found = document(
        cli,
        OTEL_FOOTPRINT_WINDOW="sliding-window:12",
        OTEL_FOOTPRINT_KEEP_LAST_TOOL_RESULTS="0",
        OTEL_FOOTPRINT_FINDINGS="serve",
    )
    assert code == 0
    assert found["settings"]["window"] == "SlidingWindow(keep_recent_turns=12)"
    assert found["settings"]["keep_last_tool_results"] == 0
    assert found["settings"]["findings"] == "on, results set aside are served"
    assert found["settings"]["store"] == "in this process"
    assert found["store"] is None


def test_a_store_that_does_not_answer(cli: Cli, closed_port: int) -> None:
    pytest.importorskip("redis", reason="the Redis client is not installed")
    address = f"redis://user:hidden-1@127.0.0.1:{closed_port}/0?text=1&password=hidden-2"
    ended = cli("doctor", OTEL_FOOTPRINT_STORE=address)
    assert ended.code == 1
    shown = f"redis://127.0.0.1:{closed_port}/0"
    (problem,) = [line for line in ended.out.splitlines() if line.startswith("problem: ")]
    assert problem.startswith(f"problem: the store {shown}: connection refused; start Redis there, or set ")
    assert f"{shown} (with texts)" in ended.out
    assert "hidden" not in ended.whole


def test_a_store_is_asked() -> None:
    pytest.importorskip("redis", reason="the Redis client is not installed")
    with answering(b"+PONG\r\n") as address:
        asked = ask(store_of(f"{address}&wait_ms=5000", "store"), f"{address}&wait_ms=5000")
        assert (asked.address, asked.answers, asked.remedy) == (address.partition("?")[0], True, "")
        assert asked.detail.endswith(" ms; a call waits 5000 ms at most")
    with answering(b"-NOAUTH Authentication required.\r\n") as address:
        asked = ask(store_of(address, "store"), address)
        assert (asked.answers, asked.detail) == (False, "it refuses the user or the password")
    with answering(b"-ERR hidden words\r\n") as address:
        asked = ask(store_of(address, "store"), address)
        assert (asked.answers, asked.detail) == (False, "it refuses (ResponseError)")
    with answering(b"+PONG\r\n", after_s=0.1) as address:
        asked = ask(store_of(address, "store"), address)
        assert asked.answers is False
        assert asked.remedy.startswith("give it longer: ?wait_ms=")
    asked = ask(store_of("redis://no-such-host.invalid:6379/0", "store"), "redis://no-such-host.invalid:6379/0")
    assert (asked.answers, asked.detail) == (False, "its host has no address")


@contextmanager
def answering(answer: bytes, after_s: float = 0.0) -> Iterator[str]:
    """A server that gives one answer to PING and takes whatever else a client says at its start; its address."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                words = [self._word() for _ in range(int(line[1:]))]
                time.sleep(after_s if words == [b"PING"] else 0)
                self.wfile.write(answer if words == [b"PING"] else b"+OK\r\n")

        def _word(self) -> bytes:
            size = int(self.rfile.readline()[1:])
            return self.rfile.read(size + 2)[:-2]

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"redis://127.0.0.1:{server.server_address[1]}/0?protocol=2"
        server.shutdown()


def test_an_endpoint_that_does_not_answer(cli: Cli, closed_port: int) -> None:
    ended = cli("doctor", OTEL_EXPORTER_OTLP_ENDPOINT=f"http://user:hidden@127.0.0.1:{closed_port}")
    assert ended.code == 1
    assert f"problem: traces do not arrive: http://127.0.0.1:{closed_port}: connection refused" in ended.out
    assert "hidden" not in ended.whole


def test_endpoints_are_asked() -> None:
    with ScriptedProvider([]) as server:
        http = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20hidden",
            "OTEL_METRICS_EXPORTER": "console,otlp",
            "OTEL_LOGS_EXPORTER": "none",
        }
        traces, metrics, also, logs = exports(http)
        assert (traces.endpoint, traces.answers) == (f"{server.url}/v1/traces", False)
        assert traces.detail.startswith("it refuses with HTTP ")
        assert (also.endpoint, also.answers) == (f"{server.url}/v1/metrics", False)
        request, _ = server.requests
        assert (request.path, request.body) == ("/v1/traces", b"")
        assert request.headers["authorization"] == "Bearer hidden"
        assert (metrics.exporter, metrics.answers) == ("console", None)
        assert (logs.exporter, logs.answers) == ("none", None)
        grpc = exports({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": server.url})[0]
        assert (grpc.exporter, grpc.answers, grpc.detail) == ("otlp (grpc)", True, "the port is open")


def test_strange_settings_are_reported_and_not_raised(closed_port: int) -> None:
    odd = [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:notaport"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "::::", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{closed_port}", "OTEL_EXPORTER_OTLP_PROTOCOL": "smoke"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{closed_port}", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
    ]
    for environ in odd:
        assert [export.answers for export in exports(environ)] == [False] * 3, environ


def test_credentials_do_not_show() -> None:
    assert shown_endpoint("https://u:p@host:1/x?key=1#y") == "https://host:1/x"
    assert shown_endpoint("host:4317") == "host:4317"
