"""From an ungrounded answer to a webhook, through the real Prometheus and the real Alertmanager, and back to silence.

The shipped rules hold for minutes and hours; a copy in which a minute is a second is run here. ``promtool test rules``
tests the durations as they are.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import yaml
from e2e_servers import COLLECTOR, HOST, ROOT, Alertmanager, Collector, Prometheus, clean_environment, running, until

SCRIPT = Path(__file__).with_name("conversations.py")
SERVICE = "shop"
BOARDS = [json.loads(path.read_text()) for path in sorted((COLLECTOR / "grafana" / "dashboards").glob("*.json"))]


class Webhook:
    """Takes what Alertmanager sends."""

    def __init__(self) -> None:
        received = self.received = []  # type: list[dict[str, Any]]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                received.append({**json.loads(body), "at": time.monotonic()})
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer((HOST, 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://{HOST}:{self.server.server_port}/"

    def told(self, alert: str, status: str) -> dict[str, Any] | None:
        for message in self.received:
            for each in message["alerts"]:
                if each["labels"]["alertname"] == alert and each["status"] == status:
                    return {**each, "at": message["at"]}
        return None


def faster(text: str) -> str:
    """A minute becomes a second, an hour a minute."""
    return re.sub(
        r"\b(\d+)h\b", lambda m: f"{int(m[1]) * 60}s", re.sub(r"\b(\d+)m\b", r"\1s", text.replace("30s", "1s"))
    )


def alertmanager_config(webhook: Webhook) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((COLLECTOR / "prometheus" / "alertmanager.yml").read_text())
    for receiver in config["receivers"]:
        receiver["webhook_configs"] = [{"url": webhook.url, "send_resolved": True}]
    for route in (config["route"], *config["route"]["routes"]):
        route |= {"group_wait": "1s", "group_interval": "1s"}
    return config


def filled(expression: str) -> str:
    """An expression of a dashboard as Grafana sends it."""
    return re.sub(r"\$(job|agent|model)", ".*", expression.replace("$__rate_interval", "1m"))


def test_an_ungrounded_answer_pages_and_resolves(tmp_path: Path) -> None:
    rules = []
    for name in ("recorded.yml", "alerts.yml"):
        rules.append(tmp_path / name)
        rules[-1].write_text(faster((COLLECTOR / "prometheus" / name).read_text()))
    webhook = Webhook()
    alertmanager = Alertmanager(tmp_path, alertmanager_config(webhook))
    collector = Collector(tmp_path)
    prometheus = Prometheus(tmp_path, collector=collector, alertmanager=alertmanager.port, rules=rules)

    def application(*arguments: str, out: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), "--out", str(tmp_path / out), *arguments],
            env=clean_environment(
                OTEL_SERVICE_NAME=SERVICE, OTEL_METRIC_EXPORT_INTERVAL="1000", **collector.export_settings()
            ),
            cwd=ROOT,
        )

    with running(alertmanager, collector, prometheus):
        time.sleep(16)  # births count from here on: in the rules as they are, a quarter of an hour

        # One bad answer of a process that has only just begun.
        began = time.monotonic()
        assert application("--count", "1", "--bad-every", "1", out="one").wait(60) == 0
        until("it is seen", lambda: webhook.told("UngroundedAnswer", "firing"), 60)
        assert webhook.told("UngroundedAnswersHigh", "firing") is None
        until("it ends", lambda: webhook.told("UngroundedAnswer", "resolved"), 60)

        # Many of them.
        began = time.monotonic()
        many = application("--count", "60", "--bad-every", "2", "--pause", "0.2", out="many")
        page = until("a page", lambda: webhook.told("UngroundedAnswersHigh", "firing"), 60)
        assert page["at"] - began < 60
        assert page["labels"] == {
            "alertname": "UngroundedAnswersHigh",
            "severity": "page",
            "job": SERVICE,
            "agent": "shop-desk",
            "model": "gpt-4o",
        }
        assert page["annotations"]["runbook_url"] == "docs/runbooks.md#ungrounded-answers"
        assert re.match(r"\d+(\.\d+)?% of the answers of shop are ungrounded$", page["annotations"]["summary"])
        assert many.wait(60) == 0
        until("the end of it", lambda: webhook.told("UngroundedAnswersHigh", "resolved"), 60)

        # What was counted is what was made, exactly, though both processes are gone.
        made = [json.loads((tmp_path / name).read_text())["answers"] for name in ("one", "many")]
        for verdict in ("grounded", "ungrounded"):
            total = prometheus.value(
                f'sum(agentfootprint_answers_total{{otel_scope_name="otel_footprint",verdict="{verdict}"}})'
            )
            assert total == sum(each.get(verdict, 0) for each in made)

        # What the dashboards ask for is understood, and most of it is there.
        asked = [
            target["expr"]
            for board in BOARDS
            for panel in board["panels"]
            for target in panel.get("targets", ())
            if "expr" in target
        ]
        answered = [bool(prometheus.query(filled(expression))) for expression in asked]
        assert sum(answered) > len(asked) / 2

        # The collector comes back after a while: nothing new, so nobody is told anything.
        before = len(webhook.received)
        collector.stop()
        time.sleep(1)
        collector.start()
        time.sleep(20)
        told = [each["labels"]["alertname"] for message in webhook.received[before:] for each in message["alerts"]]
        assert set(told) <= {"CollectorDown"}
