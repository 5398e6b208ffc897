"""The overlay for TLS and tokens: who has both gets in, and nobody else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from e2e_servers import HOST, Collector, StandIn, running, until
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_footprint.report.otlp import read_spans

TOKEN = "a-token-of-this-test"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key, certificate = tmp_path / "server.key", tmp_path / "server.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", f"subjectAltName=IP:{HOST}"],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, certificate


def test_tls_and_a_token_are_asked_for(
    tmp_path: Path, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # they go before what an exporter is given
        monkeypatch.delenv(name, raising=False)
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN}\n")
    tempo = StandIn(tmp_path)
    settings = {
        "OTELCOL_KEY": str(certificate[0]),
        "OTELCOL_CERTIFICATE": str(certificate[1]),
        "OTELCOL_TOKENS": str(tokens),
        **tempo.endpoint,
    }
    collector = Collector(tmp_path, "tempo", "secure", environment=settings)
    with running(tempo, collector):
        for name, scheme, token in (
            ("in", "https", TOKEN),
            ("wrong token", "https", "another"),
            ("no token", "https", None),
            ("no TLS", "http", TOKEN),
        ):
            provider = TracerProvider()
            exporter = OTLPSpanExporter(
                f"{scheme}://{HOST}:{collector.http}/v1/traces",
                certificate_file=str(certificate[1]),
                headers={"authorization": f"Bearer {token}"} if token else {},
                timeout=2,
            )
            provider.add_span_processor(SimpleSpanProcessor(exporter))
            provider.get_tracer("test").start_span(name).end()
            provider.shutdown()
        until("the one that may", lambda: read_spans(tempo.file) if tempo.file.exists() else ())
        assert [span.name for span in read_spans(tempo.file)] == ["in"]
