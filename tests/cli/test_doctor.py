"""``otel-footprint doctor``: it looks at what is really there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_footprint.cli.endpoints import exports, shown_endpoint
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
