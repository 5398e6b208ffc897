"""The collector's configuration and the compose file: well formed, pinned in one place, open to this machine only.

The programs that read them are run by ``make e2e``.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging_paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COLLECTOR = ROOT / "collector"
COMPOSE = ROOT / "docker-compose.yml"
OVERLAYS = sorted(path for path in COLLECTOR.glob("*.yaml") if path.name != "config.yaml")
REGISTRY = tomllib.loads((ROOT / "otel_footprint" / "telemetry" / "registry.toml").read_text())


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(COMPOSE.read_text()))


def merged(*overlays: Path) -> dict[str, Any]:
    """The configuration as the collector merges it: an overlay's maps go into the base's, its lists replace them."""

    def merge(base: Any, over: Any) -> Any:
        if isinstance(base, dict) and isinstance(over, dict):
            return {**base, **{key: merge(base.get(key), value) for key, value in over.items()}}
        return over

    config: Any = yaml.safe_load((COLLECTOR / "config.yaml").read_text())
    for overlay in overlays:
        config = merge(config, yaml.safe_load(overlay.read_text()))
    return dict(config)


def pinned() -> dict[str, str]:
    lines = (ROOT / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize("overlays", [(), *((path,) for path in OVERLAYS), tuple(OVERLAYS)])
def test_every_component_of_a_pipeline_is_configured_and_every_configured_one_is_used(
    overlays: tuple[Path, ...],
) -> None:
    config = merged(*overlays)
    pipelines = config["service"]["pipelines"].values()
    given = {name for pipeline in pipelines for name in pipeline["exporters"]}
    taken = {name for pipeline in pipelines for name in pipeline["receivers"]}
    connectors = set(config["connectors"])
    assert taken == set(config["receivers"]) | connectors
    assert given == set(config["exporters"]) | connectors
    assert {name for pipeline in pipelines for name in pipeline.get("processors", ())} == set(config["processors"])
    assert set(config["service"]["extensions"]) == set(config["extensions"])


def test_an_overlay_with_extensions_repeats_those_of_the_base() -> None:
    base = merged()["service"]["extensions"]
    for overlay in OVERLAYS:
        given = yaml.safe_load(overlay.read_text()).get("service", {}).get("extensions", base)
        assert given[: len(base)] == base


def test_overlays_add_pipelines_and_repeat_no_list_of_the_base() -> None:
    base = merged()["service"]["pipelines"]
    for overlay in OVERLAYS:
        for name, pipeline in yaml.safe_load(overlay.read_text()).get("service", {}).get("pipelines", {}).items():
            assert not set(pipeline) & set(base.get(name, {})), f"{overlay.name} replaces a list of {name}"


def test_the_memory_limiter_comes_first_wherever_data_comes_in() -> None:
    for pipeline in merged(*OVERLAYS)["service"]["pipelines"].values():
        if "otlp" in pipeline["receivers"]:
            assert pipeline["processors"][0] == "memory_limiter"


def test_what_must_not_leave_is_removed_before_anything_else_sees_it() -> None:
    pipelines = merged(*OVERLAYS)["service"]["pipelines"]
    for name, pipeline in pipelines.items():
        if "otlp" in pipeline["receivers"] and not name.startswith("metrics"):
            removing = [each for each in pipeline["processors"] if each != "transform/status"]
            assert removing[-3:] == ["redaction/credentials", "transform/content", "transform/values"]


def test_the_collector_listens_on_this_machine_unless_told_otherwise() -> None:
    # Tempo's file is for its container, whose ports docker-compose.yml binds to this machine.
    for path in (each for each in COLLECTOR.rglob("*.yaml") if each.parent.name != "tempo"):
        for line in path.read_text().splitlines():
            match = re.match(r"\s*(endpoint|host): (\S+)", line)
            if match:
                assert re.match(r"\$\{env:\w+:-127\.0\.0\.1[:}]", match[2]), f"{path.name}: {line}"


def test_counted_metrics_are_those_of_the_registry() -> None:
    metrics = {metric["name"]: metric for metric in REGISTRY["metric"]}
    attributes = {attribute["name"] for attribute in REGISTRY["attribute"]}
    events = {event["name"] for event in REGISTRY["event"]}
    config = merged()
    renamed = dict(
        re.findall(
            r'set\(datapoint\.attributes\["(\w+)"\], datapoint\.attributes\["([\w.]+)"\]\)',
            "\n".join(config["processors"]["transform/counts"]["metric_statements"]),
        )
    )
    for name, counted in config["connectors"]["count"]["spanevents"].items():
        assert counted["description"] == metrics[name]["brief"], "the same text, or Prometheus is told two"
        (condition,) = counted["conditions"]
        (event,) = re.findall(r'spanevent\.name == "([\w.]+)"', condition)
        assert event in events
        for attribute in counted["attributes"]:
            assert attribute["key"] in attributes | {"model", "agent"}
        labels = {label for label, key in renamed.items() if key in {a["key"] for a in counted["attributes"]}}
        labels |= {a["key"] for a in counted["attributes"]} & {"model", "agent"}
        assert labels == set(metrics[name]["attributes"])


def test_every_attribute_that_may_hold_a_value_is_removed() -> None:
    groups = merged()["processors"]["transform/values"]["trace_statements"]
    statements = [statement for group in groups for statement in group["statements"]]
    assert len(statements) == 2, "of spans, and of events"
    for attribute in REGISTRY["attribute"]:
        removed = [re.search(re.search(r'"(.*)"', s)[1].replace("\\\\", "\\"), attribute["name"]) for s in statements]  # type: ignore[index]
        assert all(removed) == (attribute["privacy"] == "value"), attribute["name"]


def test_statements_for_spans_and_for_events_are_apart() -> None:
    """A list that names both is run for each event, so it misses a span that has none."""
    for name in ("transform/content", "transform/values"):
        for group in merged()["processors"][name]["trace_statements"]:
            targets = {re.match(r"\w+\((\w+)\.", statement)[1] for statement in group["statements"]}  # type: ignore[index]
            assert len(targets) == 1, targets


def test_sampling_goes_by_names_of_the_registry() -> None:
    known = {attribute["name"]: attribute for attribute in REGISTRY["attribute"]}
    text = (COLLECTOR / "sampling.yaml").read_text()
    assert set(re.findall(r"agentfootprint(?:\.\w+)+", text)) <= set(known)
    for policy in merged(COLLECTOR / "sampling.yaml")["processors"]["tail_sampling"]["policies"]:
        if policy["type"] == "string_attribute":
            enum = known[policy["string_attribute"]["key"]]["enum"]
            assert set(policy["string_attribute"]["values"]) <= set(REGISTRY["enums"][enum])


def test_published_ports_are_bound_to_loopback() -> None:
    ports = [port for service in compose()["services"].values() for port in service.get("ports", ())]
    assert ports
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)


@pytest.mark.parametrize("profile", ["jaeger", "tempo", "all"])
def test_a_profile_is_whole(profile: str) -> None:
    """What a service of it waits for and what the files name is in it; each port is published once."""
    services = {name: each for name, each in compose()["services"].items() if profile in each["profiles"]}
    hosts = set(services) | {alias for each in services.values() for alias in _aliases(each)}
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        assert service.get("restart") == "unless-stopped" or "depends_on" not in service
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert len(ports) == len(set(ports))
    assert {"collector", "prometheus", "alertmanager", "grafana"} <= hosts
    assert {"jaeger", "tempo"} & hosts == ({"jaeger", "tempo"} if profile == "all" else {profile})


@pytest.mark.parametrize(
    "overlays", ["", "--config=/etc/otelcol/sampling.yaml --config=/etc/otelcol/allow-values.yaml"]
)
def test_overlays_are_named_in_one_variable(overlays: str) -> None:
    """A command in one line is split into words after variables are put in; none is left of an empty one."""
    assert pinned()["OTELCOL_OVERLAYS"] == ""
    collectors = [each for each in compose()["services"].values() if "opentelemetry-collector" in each["image"]]
    assert len(collectors) == 3
    for service in collectors:
        words = shlex.split(service["command"].replace("${OTELCOL_OVERLAYS:-}", overlays))
        files = [re.fullmatch(r"--config=/etc/otelcol/(\w[\w-]*\.yaml)", word)[1] for word in words]  # type: ignore[index]
        assert files[0] == "config.yaml"
        assert all((COLLECTOR / file).exists() for file in files)
        assert len(files) - len(overlays.split()) == (3 if service["profiles"] == ["all"] else 2)


def test_what_a_container_is_given_is_what_its_files_ask_for() -> None:
    """The same defaults, and no name that nothing reads."""
    asked = dict(
        re.findall(r"\$\{env:(\w+):-([^}]*)\}", "".join(path.read_text() for path in COLLECTOR.glob("*.yaml")))
    )
    for name, value in compose()["x-collector-environment"].items():
        assert name in asked
        given = re.fullmatch(r"\$\{(\w+):-(.*)\}", str(value))
        assert given is None or given.groups() == (name, asked[name])


def _aliases(service: dict[str, Any]) -> list[str]:
    networks = service.get("networks") or {}
    return [alias for network in networks.values() for alias in network.get("aliases", ())]


def test_services_wait_for_what_is_healthy_where_its_health_is_known() -> None:
    services = compose()["services"]
    for service in services.values():
        for name, how in service.get("depends_on", {}).items():
            known = "service_healthy" if "healthcheck" in services[name] else "service_started"
            assert how["condition"] == ("service_completed_successfully" if name == "volumes" else known)


def test_what_is_written_lies_in_volumes() -> None:
    compose_ = compose()
    written = {v.split(":")[0] for s in compose_["services"].values() for v in s["volumes"] if not v.startswith(".")}
    assert written == set(compose_["volumes"])


def test_no_password_is_left_open() -> None:
    grafana = compose()["services"]["grafana"]["environment"]
    assert grafana["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert grafana["GF_AUTH_DISABLE_LOGIN_FORM"] == "true"
    assert grafana["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert "PASSWORD" not in COMPOSE.read_text()


def test_every_image_is_pinned_in_one_place() -> None:
    for service in compose()["services"].values():
        variable = re.fullmatch(r"[\w./-]+:v?\$\{(\w+)\}", service["image"])
        assert variable, service["image"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", pinned()[variable.group(1)])


def test_the_tested_collector_and_jaeger_are_those_of_the_compose_file() -> None:
    wanted = json.loads((COLLECTOR / "servers" / "servers.json").read_text())["go"]
    assert wanted["otelcol"]["builder"].endswith(f"@v{pinned()['OTELCOL_VERSION']}")
    assert wanted["jaeger"]["release"] == pinned()["JAEGER_VERSION"]
    assert wanted["alertmanager"]["version"] == wanted["amtool"]["version"] == f"v{pinned()['ALERTMANAGER_VERSION']}"
    manifest = yaml.safe_load((COLLECTOR / "servers" / wanted["otelcol"]["manifest"]).read_text())
    components = [
        part["gomod"] for kind, parts in manifest.items() if kind not in ("dist", "providers") for part in parts
    ]
    assert {module.split()[1] for module in components} == {f"v{pinned()['OTELCOL_VERSION']}"}


def mounted(service: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for volume in service.get("volumes", ()):
        source, _, mode = f"{volume}:".split(":")[:3]
        if source.startswith("."):
            yield ROOT / source, mode


def test_every_mounted_file_is_there() -> None:
    for service in compose()["services"].values():
        for source, mode in mounted(service):
            assert source.exists(), source
            assert mode == "ro"
