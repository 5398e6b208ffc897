"""What is lost when a server dies in the middle of conversations: nothing, or what is counted; and nobody waits for it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from e2e_servers import ROOT, Collector, Jaeger, Prometheus, StandIn, clean_environment, running, until

from otel_footprint.report.otlp import read_spans

SCRIPT = Path(__file__).with_name("conversations.py")
SERVICE = "shop"


class Application:
    """``conversations.py`` in a process of its own."""

    def __init__(self, folder: Path, collector: Collector, *arguments: str, **environment: str) -> None:
        self.out, self.go, self.end = (folder / f"app.{name}" for name in ("json", "go", "end"))
        self.log = folder / "app.log"
        settings = {
            "OTEL_SERVICE_NAME": SERVICE,
            "OTEL_METRIC_EXPORT_INTERVAL": "1000",
            "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": "true",
            **collector.export_settings(),
            **environment,
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, SCRIPT, "--out", self.out, "--go", self.go, "--wait-for", self.end, *arguments],
                env=clean_environment(**settings),
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def reached(self, number: int) -> None:
        """Wait for so many conversations."""

        def far() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            return self.go.exists() and int(self.go.read_text() or 0) >= number

        until(f"{number} conversations", far, 120)

    def ended(self) -> dict[str, Any]:
        """Let it end, and what it made."""
        self.end.touch()
        assert self.process.wait(120) == 0, self.log.read_text()
        made: dict[str, Any] = json.loads(self.out.read_text())
        return made


def assert_as_fast(made: dict[str, Any], during: slice, before: slice) -> None:
    """Nobody waited: handing spans over takes as long while a server is away as before, in the same run.

    Whole conversations are compared too, by their fastest ones, generously: the servers that start beside them take the
    machine's time, and an application that waited would wait for seconds. Handing over is some tens of microseconds, which
    other work rarely interrupts.
    """
    slow, fast = (statistics.median(made["handed_over"][part]) for part in (during, before))
    whole, whole_before = (min(made["times"][part]) for part in (during, before))
    print(
        f"handed over in {slow * 1e6:.0f} µs, before {fast * 1e6:.0f}; in all {whole / whole_before:.2f} times as long"
    )
    assert slow < 2 * fast + 0.0002
    assert whole < 5 * whole_before


def test_jaeger_and_prometheus_die_and_nothing_is_lost(tmp_path: Path) -> None:
    jaeger = Jaeger(tmp_path)
    collector = Collector(tmp_path, "jaeger", environment=jaeger.endpoint)
    prometheus = Prometheus(tmp_path, collector=collector)
    with running(jaeger, collector, prometheus):
        application = Application(tmp_path, collector, "--count", "1000", "--bad-every", "7")
        application.reached(300)
        jaeger.kill()
        prometheus.kill()
        application.reached(600)
        assert collector.own("otelcol_exporter_queue_size") > 0, "traces wait on the collector's disk"
        jaeger.start(wait=False)
        prometheus.start(wait=False)
        application.reached(800)
        jaeger.wait()
        jaeger.kill()
        application.reached(900)
        jaeger.start()
        application.reached(1000)
        made = application.ended()
        assert made["lost"] == {}
        wanted = set(made["spans"])
        assert len(wanted) >= 3000

        def arrived() -> bool:
            traces = jaeger.search(SERVICE, limit=2000)
            return {f"{span['traceID']}/{span['spanID']}" for each in traces for span in each["spans"]} == wanted

        until("every span in Jaeger", arrived, 90, every=1)
        for verdict, number in made["answers"].items():
            query = f'sum(agentfootprint_answers_total{{otel_scope_name="otel_footprint",verdict="{verdict}"}})'
            until(f"{number} {verdict} in Prometheus", lambda q=query, n=number: prometheus.value(q) == n, 30)

        assert_as_fast(made, slice(310, 600), slice(100, 300))


def test_the_collector_dies_and_what_is_lost_is_counted(tmp_path: Path) -> None:
    tempo = StandIn(tmp_path)
    collector = Collector(tmp_path, "tempo", environment=tempo.endpoint)
    with running(tempo, collector):
        application = Application(
            tmp_path,
            collector,
            "--count", "500", "--pause", "0.02",
            OTEL_BSP_MAX_QUEUE_SIZE="128", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="64", OTEL_BSP_SCHEDULE_DELAY="200",
            OTEL_EXPORTER_OTLP_TIMEOUT="3",
        )  # fmt: skip
        application.reached(100)
        collector.kill()
        collector.start()
        application.reached(200)
        collector.kill()
        application.reached(400)
        collector.start()
        application.reached(500)
        time.sleep(4)
        made = application.ended()
        assert made["lost"], "so long an outage costs something"
        lost = sum(made["lost"].values())
        wanted = set(made["spans"])

        def arrived() -> set[str]:
            return {f"{span.trace_id}/{span.span_id}" for span in read_spans(tempo.file)}

        until("all but what the SDK says it lost", lambda: len(wanted - arrived()) == lost, 30)
        assert arrived() <= wanted
        assert_as_fast(made, slice(210, 400), slice(50, 200))
