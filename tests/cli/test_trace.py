"""``otel-footprint trace``: from a file and from servers that answer as Jaeger and Tempo do, or do not answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_footprint.cli.trace import _export, _identity
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.report.words import words

if TYPE_CHECKING:
    from conftest import Cli

TRACE = "0af7651916cd43dd8448eb211c80319c"


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}


def span(name: str, span_id: str, parent: str = "", **more: Any) -> dict[str, Any]:
    times = {"startTimeUnixNano": "1000000", "endTimeUnixNano": "3000000"}
    return {"traceId": TRACE, "spanId": span_id, "parentSpanId": parent, "name": name, **times, **more}


EVENT = {
    "name": "agentfootprint.evidence.value",
    "timeUnixNano": "2",
    "attributes": [
        attribute("agentfootprint.value.status", "unsupported"),
        attribute("agentfootprint.value.shape", "identifier"),
    ],
}
ANSWER = [
    attribute("agentfootprint.evidence.verdict", "ungrounded"),
    attribute("agentfootprint.evidence.status.unsupported", 1),
]
SPANS = [
    span("invoke_agent desk", "00f067aa0ba902b7"),
    span("chat gpt-4o", "00f067aa0ba902b8", "00f067aa0ba902b7", attributes=ANSWER, events=[EVENT]),
]
GROUPS = [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": SPANS}]}]
TREE = f"""trace {TRACE}
└── invoke_agent desk  2 ms
    └── chat gpt-4o  2 ms  ungrounded  1 unsupported
        └── value unsupported (identifier)
"""


class Server:
    """Answers every request with what it was given."""

    def __init__(self) -> None:
        server = self
        self.status, self.body = 200, b"{}"
        self.asked: list[tuple[str, dict[str, str]]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                self.send_response(server.status)
                self.end_headers()
                self.wfile.write(server.body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_a_file(cli: Cli, tmp_path: Path) -> None:
    other = {"resourceSpans": [{"scopeSpans": [{"spans": [{**SPANS[0], "traceId": "f" * 32}]}]}]}
    lines = [{"resourceSpans": GROUPS}, {"resourceSpans": GROUPS}, other]  # sent twice: shown once
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ended = cli("trace", TRACE.upper(), "--file", "t.jsonl")
    assert (ended.code, ended.out, ended.err) == (0, TREE, "")


@pytest.mark.parametrize(
    ("option", "path", "body"),
    [
        ("--jaeger", f"/api/v3/traces/{TRACE}", {"result": {"resourceSpans": GROUPS}}),
        ("--tempo", f"/api/traces/{TRACE}", {"batches": GROUPS}),
        ("--tempo", f"/api/traces/{TRACE}", {"trace": {"resourceSpans": GROUPS}}),
    ],
    ids=["jaeger", "tempo", "tempo-v2"],
)
def test_a_server(cli: Cli, server: Server, option: str, path: str, body: dict[str, Any]) -> None:
    server.body = json.dumps(body).encode()
    ended = cli("trace", TRACE, option, f"{server.url}/", "--header", "X-Scope-OrgID=team a")
    assert (ended.code, ended.out, ended.err) == (0, TREE, "")
    ((asked, headers),) = server.asked
    assert asked == path
    assert headers["x-scope-orgid"] == "team a"


def test_the_base64_ids_of_tempo_are_read(cli: Cli, server: Server) -> None:
    coded = [
        {**s, "traceId": "CvdlGRbNQ92ESOshHIAxnA==", "spanId": "APBnqgupArc=", "parentSpanId": ""} for s in SPANS[:1]
    ]
    server.body = json.dumps({"batches": [{"scopeSpans": [{"spans": coded}]}]}).encode()
    ended = cli("trace", TRACE, "--tempo", server.url)
    assert (ended.code, ended.out) == (0, f"trace {TRACE}\n└── invoke_agent desk  2 ms\n")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b"no such trace", f"no trace {TRACE} in Jaeger"),
        (200, b'{"resourceSpans": []}', f"no trace {TRACE} in Jaeger"),
        (401, b"", "answers with HTTP 401"),
        (200, b"<html>", "cannot be read: it is not JSON"),
        (200, b"[" * 100_000, "cannot be read: it is not JSON"),
        (200, b'{"data": []}', "cannot be read: not an OTLP export request"),
    ],
)
def test_what_is_not_there_is_one_line(cli: Cli, server: Server, status: int, body: bytes, said: str) -> None:
    server.status, server.body = status, body
    ended = cli("trace", TRACE, "--jaeger", server.url.replace("//", "//user:SECRET@"))
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert "SECRET" not in ended.whole


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((TRACE, "--jaeger", "http://127.0.0.1:1"), "http://127.0.0.1:1 does not answer: ConnectError"),
        ((TRACE, "--jaeger", "ftp://127.0.0.1"), "no http:// or https:// URL"),
        (("xyz", "--jaeger", "http://127.0.0.1:1"), "'xyz' is no trace id"),
        (("0" * 32, "--file", "t"), "is no trace id"),
        ((TRACE, "--file", "nowhere.jsonl"), "nowhere.jsonl: No such file or directory"),
        ((TRACE, "--jaeger", "http://127.0.0.1:1", "--header", "x"), "a header is written NAME=VALUE"),
        ((TRACE,), "one of the arguments --jaeger --tempo --file is required"),
    ],
)
def test_what_cannot_be_done_is_one_line(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    ended = cli("trace", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


@given(st.text(max_size=40))
def test_any_text_is_an_id_or_is_refused(text: str) -> None:
    try:
        identity = _identity(text)
    except ConfigurationError:
        return
    assert len(identity) == 32
    assert int(identity, 16) == int(text, 16) != 0


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_any_answer_is_unwrapped_or_left(payload: Any) -> None:
    assert _export({"result": {"resourceSpans": payload}}) == {"resourceSpans": payload}
    _export(payload)


@given(st.lists(st.text()))
def test_a_list_that_a_backend_stored_as_json_is_a_list(items: list[str]) -> None:
    assert words(json.dumps(items)) == items
