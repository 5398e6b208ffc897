"""Every file that a server reads, read by that server."""

from __future__ import annotations

import itertools
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from e2e_servers import COLLECTOR, PROGRAMS, ROOT, clean_environment

OVERLAYS = [path.stem for path in sorted(COLLECTOR.glob("*.yaml")) if path.name != "config.yaml"]


def run(*command: str | Path, cwd: Path = COLLECTOR) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean_environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "overlays",
    [(), *((name,) for name in OVERLAYS), *itertools.combinations(OVERLAYS, 2), tuple(OVERLAYS)],
    ids=lambda names: "+".join(names) or "base",
)
def test_the_collector_takes_the_base_with_any_overlays(overlays: tuple[str, ...]) -> None:
    files = ["config", *overlays]
    run(PROGRAMS / "otelcol", "validate", *(part for name in files for part in ("--config", f"{name}.yaml")))


def test_jaeger_takes_its_configuration() -> None:
    run(PROGRAMS / "jaeger", "validate", "--config", COLLECTOR / "jaeger" / "config.yaml")


def test_prometheus_takes_its_configuration_and_the_rules(tmp_path: Path) -> None:
    text = (COLLECTOR / "prometheus" / "prometheus.yml").read_text()
    config = tmp_path / "prometheus.yml"
    config.write_text(text.replace("/etc/prometheus", str(COLLECTOR / "prometheus")))
    run(PROGRAMS / "promtool", "check", "config", config)


def test_the_rules_do_what_they_say() -> None:
    assert "SUCCESS" in run(PROGRAMS / "promtool", "test", "rules", "prometheus/rules_test.yml")


def test_alertmanager_takes_its_configuration() -> None:
    run(PROGRAMS / "amtool", "check-config", "prometheus/alertmanager.yml")


def test_the_compose_file_is_one() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    run(sys.executable, "-m", "check_jsonschema", *schema, ROOT / "docker-compose.yml")


def test_the_dashboards_are_those_that_the_script_writes() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "build_dashboards.py"))["dashboards"]()
    folder = COLLECTOR / "grafana" / "dashboards"
    assert {path.name: path.read_text() for path in folder.glob("*.json")} == written
