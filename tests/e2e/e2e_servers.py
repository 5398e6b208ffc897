"""The real servers of the end-to-end tests as processes on loopback: free ports, logs kept, ended with the test.

Nothing here is a stand-in for a program but ``tempo_stand_in``: Tempo is not to be had everywhere, so an OTLP receiver
takes its place and writes what arrives to a file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
COLLECTOR = ROOT / "collector"
PROGRAMS = Path(os.environ.get("OTEL_FOOTPRINT_SERVERS", ROOT / ".cache" / "servers"))
HOST = "127.0.0.1"
T = TypeVar("T")

_given: set[int] = set()


def free_port() -> int:
    """A port that nobody listens on, below those that the system hands to clients, and never the same one twice."""
    for port in range(20000 + os.getpid() % 8000, 32000):
        if port in _given:
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            _given.add(port)
            return port
    raise RuntimeError("no port is free")


def clean_environment(**more: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL", "JAEGER", "TEMPO", "SAMPLING", "PYTHONPATH", "COV_"))
    }
    return {**kept, **more}


def until(what: str, probe: Callable[[], T | None], seconds: float = 60.0, every: float = 0.1) -> T:
    """What ``probe`` gives once it gives something true; an HTTP error or a connection refused is nothing yet."""
    end = time.monotonic() + seconds
    last: object = None
    while True:
        try:
            last = found = probe()
            if found:
                return found
        except (httpx.HTTPError, OSError, ValueError) as error:
            last = error
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what} (last: {last!r})")
        time.sleep(every)


class Server:
    """One process, which can be killed and started again with the same ports and folder."""

    def __init__(self, name: str, command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.command = [str(part) for part in command]
        self.environment = clean_environment(**environment)
        self.log = folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def ready(self) -> bool:
        raise NotImplementedError

    def start(self, *, wait: bool = True) -> None:
        assert self.process is None, f"{self.name} runs already"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT
            )
        if wait:
            self.wait()

    def wait(self) -> None:
        def up() -> bool:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self.process.returncode}:\n{self.tail()}")
            return self.ready()

        until(f"{self.name} is ready\n{self.tail()}", up)

    def kill(self) -> None:
        """As when the machine's memory runs out."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def tail(self, lines: int = 30) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""

    def rss_mib(self) -> float:
        """Memory in use, in MiB."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


class Collector(Server):
    """The project's collector configuration, with overlays by name."""

    def __init__(
        self, folder: Path, *overlays: str | Path, name: str = "collector", environment: Mapping[str, str] | None = None
    ) -> None:
        self.grpc, self.http, self.health, self.prometheus, self.metrics = (free_port() for _ in range(5))
        self.state = folder / f"{name}-state"
        files = [COLLECTOR / "config.yaml", *(x if isinstance(x, Path) else COLLECTOR / f"{x}.yaml" for x in overlays)]
        command = [PROGRAMS / "otelcol", *(part for file in files for part in ("--config", file))]
        super().__init__(
            name,
            command,
            folder,
            {
                "OTELCOL_GRPC_PORT": str(self.grpc),
                "OTELCOL_HTTP_PORT": str(self.http),
                "OTELCOL_HEALTH_PORT": str(self.health),
                "OTELCOL_PROMETHEUS_PORT": str(self.prometheus),
                "OTELCOL_METRICS_PORT": str(self.metrics),
                "OTELCOL_STATE": str(self.state),
                **(environment or {}),
            },
        )

    def ready(self) -> bool:
        return httpx.get(f"http://{HOST}:{self.health}/").status_code == 200

    def export_settings(self, protocol: str = "grpc") -> dict[str, str]:
        """What an application sets to send here."""
        port = self.grpc if protocol == "grpc" else self.http
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{HOST}:{port}", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}

    def exposed(self) -> dict[str, float]:
        """What Prometheus would scrape from the applications' metrics: each series as it is written, with its value."""
        return _series(f"http://{HOST}:{self.prometheus}/metrics")

    def own(self, name: str, **labels: str) -> float:
        """The sum of the collector's own series of this name that hold these labels."""
        found = _series(f"http://{HOST}:{self.metrics}/metrics")
        return sum(
            value
            for series, value in found.items()
            if series.partition("{")[0] == name and all(f'{key}="{wanted}"' in series for key, wanted in labels.items())
        )


def _series(url: str) -> dict[str, float]:
    text = httpx.get(url).text
    rows = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {series: float(value) for series, _, value in rows}


class Jaeger(Server):
    """Jaeger with the configuration that docker-compose.yml mounts."""

    def __init__(self, folder: Path) -> None:
        self.otlp, self.ui, self.health, self.grpc, self.metrics = (free_port() for _ in range(5))
        super().__init__(
            "jaeger",
            [PROGRAMS / "jaeger", "--config", COLLECTOR / "jaeger" / "config.yaml"],
            folder,
            {
                "JAEGER_OTLP_PORT": str(self.otlp),
                "JAEGER_UI_PORT": str(self.ui),
                "JAEGER_HEALTH_PORT": str(self.health),
                "JAEGER_GRPC_PORT": str(self.grpc),
                "JAEGER_METRICS_PORT": str(self.metrics),
                "JAEGER_STATE": str(folder / "jaeger-state"),
                "JAEGER_UI_CONFIG": str(COLLECTOR / "jaeger" / "ui.json"),
            },
        )

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.ui}"

    @property
    def endpoint(self) -> dict[str, str]:
        """The collector's setting."""
        return {"JAEGER_ENDPOINT": f"{HOST}:{self.otlp}"}

    def ready(self) -> bool:
        return httpx.get(f"{self.url}/api/services").status_code == 200

    def search(self, service: str, limit: int = 100, **tags: str) -> list[dict[str, Any]]:
        """Traces with a span that holds all these tags (dots are written as __)."""
        parameters: dict[str, str] = {"service": service, "limit": str(limit), "lookback": "2h"}
        if tags:
            pairs = {name.replace("__", "."): value for name, value in tags.items()}
            parameters["tags"] = httpx_json(pairs)
        answer = httpx.get(f"{self.url}/api/traces", params=parameters, timeout=30)
        answer.raise_for_status()
        data: list[dict[str, Any]] = answer.json()["data"]
        return data

    def trace(self, trace_id: str) -> dict[str, Any] | None:
        answer = httpx.get(f"{self.url}/api/traces/{trace_id}", timeout=30)
        return None if answer.status_code == 404 else answer.json()["data"][0]


def httpx_json(value: object) -> str:
    import json

    return json.dumps(value)


class Prometheus(Server):
    """Prometheus with the shipped configuration, its targets on this machine and its intervals shorter."""

    def __init__(
        self,
        folder: Path,
        *,
        collector: Collector,
        alertmanager: int | None = None,
        rules: Sequence[Path] = (),
        interval: str = "1s",
    ) -> None:
        self.port = free_port()
        config = yaml.safe_load((COLLECTOR / "prometheus" / "prometheus.yml").read_text())
        config["global"] |= {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval}
        targets = {
            "agents": f"{HOST}:{collector.prometheus}",
            "collector": f"{HOST}:{collector.metrics}",
            "prometheus": f"{HOST}:{self.port}",
        }
        config["scrape_configs"] = [
            {**job, "static_configs": [{"targets": [targets[job["job_name"]]]}]}
            for job in config["scrape_configs"]
            if job["job_name"] in targets
        ]
        config["rule_files"] = [str(rule) for rule in rules]
        managers = [{"static_configs": [{"targets": [f"{HOST}:{alertmanager}"]}]}] if alertmanager is not None else []
        config["alerting"]["alertmanagers"] = managers
        file = folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        super().__init__(
            "prometheus",
            [
                PROGRAMS / "prometheus",
                f"--config.file={file}",
                f"--storage.tsdb.path={folder / 'prometheus-state'}",
                f"--web.listen-address={HOST}:{self.port}",
                "--log.level=warn",
            ],
            folder,
            {},
        )

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def ready(self) -> bool:
        return httpx.get(f"{self.url}/-/ready").status_code == 200

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": expression}, timeout=30)
        answer.raise_for_status()
        return [(row["metric"], float(row["value"][1])) for row in answer.json()["data"]["result"]]

    def value(self, expression: str) -> float | None:
        found = self.query(expression)
        assert len(found) <= 1, found
        return found[0][1] if found else None


class Alertmanager(Server):
    """Alertmanager with the shipped configuration, its receivers turned to a webhook of the test."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.port = free_port()
        file = folder / "alertmanager.yml"
        file.write_text(yaml.safe_dump(dict(config)))
        super().__init__(
            "alertmanager",
            [
                PROGRAMS / "alertmanager",
                f"--config.file={file}",
                f"--storage.path={folder / 'alertmanager-state'}",
                f"--web.listen-address={HOST}:{self.port}",
                "--cluster.listen-address=",
                "--log.level=warn",
            ],
            folder,
            {},
        )

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def ready(self) -> bool:
        return httpx.get(f"{self.url}/-/ready").status_code == 200

    def alerts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = httpx.get(f"{self.url}/api/v2/alerts").json()
        return found


class StandIn(Server):
    """An OTLP receiver that writes what arrives to a file, in the place of Tempo."""

    def __init__(self, folder: Path, name: str = "tempo") -> None:
        self.grpc, self.health, self.metrics = (free_port() for _ in range(3))
        self.file = folder / f"{name}.otlp.jsonl"
        config = folder / f"{name}.yaml"
        config.write_text(
            yaml.safe_dump(
                {
                    "extensions": {"health_check": {"endpoint": f"{HOST}:{self.health}"}},
                    "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": f"{HOST}:{self.grpc}"}}}},
                    # With rotation the file is appended to and nothing is kept back in a buffer.
                    "exporters": {"file": {"path": str(self.file), "rotation": {"max_megabytes": 100_000}}},
                    "service": {
                        "extensions": ["health_check"],
                        "telemetry": {
                            "metrics": {
                                "readers": [
                                    {"pull": {"exporter": {"prometheus": {"host": HOST, "port": self.metrics}}}}
                                ]
                            }
                        },
                        "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["file"]}},
                    },
                }
            )
        )
        super().__init__(name, [PROGRAMS / "otelcol", "--config", config], folder, {})

    @property
    def endpoint(self) -> dict[str, str]:
        """The collector's setting."""
        return {"TEMPO_ENDPOINT": f"{HOST}:{self.grpc}"}

    def ready(self) -> bool:
        return httpx.get(f"http://{HOST}:{self.health}/").status_code == 200

    def received(self) -> float:
        """Spans that arrived."""
        found = _series(f"http://{HOST}:{self.metrics}/metrics")
        return sum(v for s, v in found.items() if s.startswith("otelcol_receiver_accepted_spans"))


@contextlib.contextmanager
def running(*servers: Server) -> Iterator[None]:
    """All of them, started together; killed at the end, since nothing of theirs is needed afterwards."""
    try:
        for server in servers:
            server.start(wait=False)
        for server in servers:
            server.wait()
        yield
    finally:
        for server in reversed(servers):
            server.kill()
