"""Servers that fork, and workers that are recycled: what all of them counted adds up in Prometheus, to the last answer.

Each is started by ``otel-footprint run``, as its user would; nothing in the applications knows of telemetry.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from conversations import answer
from e2e_servers import HOST, ROOT, Collector, Prometheus, StandIn, clean_environment, free_port, running, until

from otel_footprint.report.otlp import read_spans
from otel_footprint.telemetry import names
from otel_footprint.testing.provider import ScriptedProvider

HERE = Path(__file__).parent
RUN = (sys.executable, "-m", "otel_footprint.cli.main", "run", "--")
CONVERSATIONS = 40


def environment(collector: Collector, provider: ScriptedProvider, protocol: str, folder: Path) -> dict[str, str]:
    for name in ("queue", "results"):
        (folder / name).mkdir(exist_ok=True)
    return clean_environment(
        OTEL_SERVICE_NAME="forks",
        OTEL_METRIC_EXPORT_INTERVAL="1000",
        E2E_PROVIDER=provider.openai_url,
        E2E_BROKER=str(folder),
        PYTHONPATH=str(HERE),
        **collector.export_settings(protocol),
    )


def assert_all_counted(collector: Collector, prometheus: Prometheus, tempo: StandIn, bad_every: int) -> None:
    """Every answer, by verdict, in the sum over all instances; every span at the backend, once."""
    bad = CONVERSATIONS // bad_every
    wanted = {"ungrounded": bad, "grounded": CONVERSATIONS - bad}
    sdk = 'otel_scope_name="otel_footprint"'

    def counted() -> dict[str, float]:
        found = prometheus.query(f"sum by (verdict) (agentfootprint_answers_total{{{sdk}}})")
        return {labels["verdict"]: value for labels, value in found if value}

    def spans() -> list[Any]:
        return [span for span in read_spans(tempo.file) if names.EVIDENCE_VERDICT in span.attributes]

    try:
        until("every answer is counted", lambda: counted() == wanted, 30)
        until("every answer's span", lambda: len(spans()) >= CONVERSATIONS, 30)
    except AssertionError as error:
        raise AssertionError(f"{error}\ncounted {counted()}, {len(spans())} spans") from None
    assert len({span.span_id for span in spans()}) == CONVERSATIONS
    instances = prometheus.query(f"count by (instance) (agentfootprint_answers_total{{{sdk}}} > 0)")
    assert len(instances) >= 4, "each worker is an instance of its own"


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
@pytest.mark.parametrize("preload", [False, True], ids=["plain", "preload"])
def test_gunicorn_workers_that_are_recycled(tmp_path: Path, preload: bool, protocol: str) -> None:
    tempo = StandIn(tmp_path)
    collector = Collector(tmp_path, "tempo", environment=tempo.endpoint)
    prometheus = Prometheus(tmp_path, collector=collector)
    port = free_port()
    with running(tempo, collector, prometheus), ScriptedProvider(answer(5), record=False) as provider:
        log = (tmp_path / "gunicorn.log").open("wb")
        command = [
            *RUN, sys.executable, "-m", "gunicorn", "forking_apps:web", "--bind", f"{HOST}:{port}", "--workers", "2",
            "--max-requests", "10", "--graceful-timeout", "20", *(["--preload"] if preload else []),
        ]  # fmt: skip
        server = subprocess.Popen(
            command, env=environment(collector, provider, protocol, tmp_path), cwd=ROOT, stdout=log, stderr=log
        )
        try:
            until("gunicorn listens", lambda: _listens(port), 60)
            with ThreadPoolExecutor(2) as threads:
                pids = set(threads.map(lambda number: _ask(port, number), range(CONVERSATIONS)))
            assert len(pids) >= 4, "workers were recycled"
            server.send_signal(signal.SIGTERM)
            server.wait(60)
        finally:
            server.kill()
        assert_all_counted(collector, prometheus, tempo, 5)


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _ask(port: int, number: int) -> str:
    """One request; again where a worker went away before it took it."""
    for _ in range(20):
        try:
            response = httpx.get(f"http://{HOST}:{port}/{number}", timeout=30)
        except httpx.TransportError:
            continue
        assert response.status_code == 200, response.text
        return response.text.split()[0]
    raise AssertionError("no worker answered")


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_celery_children_that_are_recycled(tmp_path: Path, protocol: str) -> None:
    tempo = StandIn(tmp_path)
    collector = Collector(tmp_path, "tempo", environment=tempo.endpoint)
    prometheus = Prometheus(tmp_path, collector=collector)
    with running(tempo, collector, prometheus), ScriptedProvider(answer(5), record=False) as provider:
        settings = environment(collector, provider, protocol, tmp_path)
        log = (tmp_path / "celery.log").open("wb")
        command = [
            *RUN, sys.executable, "-m", "celery", "-A", "forking_apps:tasks", "worker", "--pool", "prefork",
            "--concurrency", "2", "--max-tasks-per-child", "10", "--loglevel", "INFO", "--without-gossip",
            "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip
        worker = subprocess.Popen(command, env=settings, cwd=tmp_path, stdout=log, stderr=log)
        try:
            send = f"import forking_apps\nfor n in range({CONVERSATIONS}): forking_apps.converse_task.apply_async((n,))"
            subprocess.run([sys.executable, "-c", send], env=settings, check=True, timeout=60)
            done = tmp_path / "celery.log"
            until("every task is done", lambda: done.read_text().count("succeeded in") >= CONVERSATIONS, 120)
            worker.send_signal(signal.SIGTERM)
            worker.wait(60)
        finally:
            worker.kill()
        assert_all_counted(collector, prometheus, tempo, 5)
