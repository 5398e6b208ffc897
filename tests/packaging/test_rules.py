"""The alerts: only names of the registry, and each says how grave it is, what happened and what to do."""

from __future__ import annotations

import re
import runpy
import sys
from typing import Any

import pytest
import yaml
from packaging_paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROMETHEUS = ROOT / "collector" / "prometheus"
REGISTRY = tomllib.loads((ROOT / "otel_footprint" / "telemetry" / "registry.toml").read_text())
UNITS = {"s": "_seconds"}


def exposed(metric: dict[str, Any]) -> set[str]:
    """The names under which Prometheus sees a metric."""
    name = metric["name"].replace(".", "_") + UNITS.get(metric["unit"], "")
    return (
        {f"{name}_total"} if metric["kind"] == "counter" else {f"{name}_{part}" for part in ("bucket", "sum", "count")}
    )


LABELS = {name: set(metric["attributes"]) for metric in REGISTRY["metric"] for name in exposed(metric)}
GIVEN = {"job", "instance", "otel_scope_name", "le"}
"""Labels that come from the resource, the scope and the format."""


def rules() -> list[dict[str, Any]]:
    files = ("recorded.yml", "alerts.yml")
    groups = [group for file in files for group in yaml.safe_load((PROMETHEUS / file).read_text())["groups"]]
    return [rule for group in groups for rule in group["rules"]]


ALERTS = [rule for rule in rules() if "alert" in rule]
RECORDED = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}


def allowed(metric: str, label: str) -> set[str] | None:
    """The closed set of a label's words on a metric; None where it is open."""
    name = next(m["name"] for m in REGISTRY["metric"] if metric in exposed(m))
    for entry in REGISTRY["label"]:
        if entry["name"] == label and entry.get("metric", name) == name:
            return set(REGISTRY["enums"][entry["enum"]]) if "enum" in entry else None
    return None


def test_the_recorded_rules_are_those_that_the_script_writes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "build_rules.py"))
    assert (PROMETHEUS / "recorded.yml").read_text() == script["rules"]()


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_asks_only_for_what_is_emitted(rule: dict[str, Any]) -> None:
    for name, selector in re.findall(r"\b(agentfootprint[\w:]+)(?:\{([^}]*)\})?", rule["expr"]):
        if ":" in name:
            assert name in RECORDED, name
            labels = set(re.findall(r"\w+", re.search(r"sum by \(([^)]*)\)", RECORDED[name])[1]))  # type: ignore[index]
            (metric,) = {m for m in re.findall(r"agentfootprint_\w+", RECORDED[name])}
        else:
            assert name in LABELS, name
            labels, metric = LABELS[name] | GIVEN, name
        for label, words in re.findall(r'(\w+)[=!]~?"([^"]*)"', selector):
            assert label in labels, f"{name} has no {label}"
            known = allowed(metric, label)
            if known is not None:
                assert set(filter(None, words.split("|"))) <= known, f"{label} of {name}: {words}"
    for grouping in re.findall(r"by \(([^)]*)\)", rule["expr"]):
        if "agentfootprint" in rule["expr"]:
            known_labels = set().union(*LABELS.values()) | GIVEN
            assert set(re.findall(r"\w+", grouping)) <= known_labels


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("page", "ticket", "info")
    annotations = alert["annotations"]
    assert set(annotations) == {"summary", "description", "runbook_url"}
    page = (ROOT / "docs" / "runbooks.md").read_text()
    anchors = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", page, re.M)}
    prefix, _, anchor = annotations["runbook_url"].partition("#")
    assert prefix == "{{ $externalLabels.runbooks }}"
    assert anchor in anchors
    sections = page.split("\n## ")[1:]
    section = next(part for part in sections if part.splitlines()[0].lower().replace(" ", "-") == anchor)
    assert f"`{alert['alert']}`" in section, "its runbook names it"


def test_every_alert_is_tested() -> None:
    tests = (PROMETHEUS / "rules_test.yml").read_text()
    assert {alert["alert"] for alert in ALERTS} <= set(re.findall(r"alertname[:=] ?\"?(\w+)", tests))


def test_receivers_hold_no_address_of_anybody() -> None:
    config = yaml.safe_load((PROMETHEUS / "alertmanager.yml").read_text())
    assert all(set(receiver) == {"name"} for receiver in config["receivers"])
