"""The collector's configuration and the compose file: well formed, pinned in one place, open to this machine only.

The programs that read them are not run here.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from packaging_paths import ROOT

COMPOSE = ROOT / "docker-compose.yml"


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(COMPOSE.read_text()))


def collector() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "collector" / "config.yaml").read_text()))


def test_every_component_of_a_pipeline_is_configured_and_every_configured_one_is_used() -> None:
    config = collector()
    for section in ("receivers", "processors", "exporters"):
        used = {name for pipeline in config["service"]["pipelines"].values() for name in pipeline[section]}
        assert used == set(config[section])


def test_the_memory_limiter_comes_first() -> None:
    for pipeline in collector()["service"]["pipelines"].values():
        assert pipeline["processors"][0] == "memory_limiter"


def test_the_collector_listens_on_this_machine_unless_told_otherwise() -> None:
    for protocol in collector()["receivers"]["otlp"]["protocols"].values():
        assert protocol["endpoint"].startswith("${env:OTLP_HOST:-127.0.0.1}:")


def test_published_ports_are_bound_to_loopback() -> None:
    ports = [port for service in compose()["services"].values() for port in service.get("ports", ())]
    assert ports
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)


def test_every_image_is_pinned_in_one_place() -> None:
    pinned = dict(
        line.split("=", 1) for line in (ROOT / ".env").read_text().splitlines() if line and not line.startswith("#")
    )
    for service in compose()["services"].values():
        variable = re.fullmatch(r"[\w./-]+:\$\{(\w+)\}", service["image"])
        assert variable, service["image"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", pinned[variable.group(1)])


def test_every_mounted_file_is_there() -> None:
    for service in compose()["services"].values():
        for volume in service.get("volumes", ()):
            source, _, mode = volume.split(":")
            assert (ROOT / source).is_file()
            assert mode == "ro"
