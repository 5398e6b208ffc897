"""What a query may ask for: the registry's names as Prometheus and TraceQL see them."""

from __future__ import annotations

import re
import sys
from typing import Any

import yaml
from packaging_paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROMETHEUS = ROOT / "collector" / "prometheus"
REGISTRY = tomllib.loads((ROOT / "otel_footprint" / "telemetry" / "registry.toml").read_text())
_UNITS = {"s": "_seconds"}


def exposed(metric: dict[str, Any]) -> set[str]:
    """The names under which Prometheus sees a metric."""
    name = metric["name"].replace(".", "_") + _UNITS.get(metric["unit"], "")
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


RECORDED = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}


def words_of(metric: str, label: str) -> set[str] | None:
    """The closed set of a label's words on a metric; None where it is open."""
    name = next(m["name"] for m in REGISTRY["metric"] if metric in exposed(m))
    for entry in REGISTRY["label"]:
        if entry["name"] == label and entry.get("metric", name) == name:
            return set(REGISTRY["enums"][entry["enum"]]) if "enum" in entry else None
    return None


def check_promql(expression: str) -> None:
    """Fail where it names a metric, a label or a word of a closed set that nothing emits."""
    for name, selector in re.findall(r"\b(agentfootprint[\w:]+)(?:\{([^}]*)\})?", expression):
        if ":" in name:
            assert name in RECORDED, name
            labels = set(re.findall(r"\w+", re.search(r"sum by \(([^)]*)\)", RECORDED[name])[1]))  # type: ignore[index]
            (metric,) = set(re.findall(r"agentfootprint_\w+", RECORDED[name]))
        else:
            assert name in LABELS, name
            labels, metric = LABELS[name] | GIVEN, name
        for label, words in re.findall(r'(\w+)[=!]~?"([^"]*)"', selector):
            assert label in labels, f"{name} has no {label}"
            known = words_of(metric, label)
            if known is not None and "$" not in words:
                assert set(filter(None, words.split("|"))) <= known, f"{label} of {name}: {words}"
    if "agentfootprint" in expression:
        known_labels = set().union(*LABELS.values()) | GIVEN
        for grouping in re.findall(r"by \(([^)]*)\)", expression):
            assert set(re.findall(r"\w+", grouping)) <= known_labels, grouping


def check_traceql(query: str) -> None:
    """Fail where it names an attribute, an event or a word of a closed set that nothing emits."""
    attributes = {attribute["name"]: attribute for attribute in REGISTRY["attribute"]}
    events = {event["name"]: set(event["attributes"]) for event in REGISTRY["event"]}
    named = set(re.findall(r'event:name = "([^"]+)"', query))
    assert named <= set(events), named
    for scope, name, _, word in re.findall(r'\b(span|event)\.(agentfootprint[\w.]+) (=|>) "?([^" ]+)"?', query):
        assert name in attributes, name
        if scope == "span":
            assert attributes[name].get("spans"), f"{name} stands on no span"
        else:
            assert any(name in events[event] for event in named), f"{name} is in none of {named}"
        enum = attributes[name].get("enum")
        assert enum is None or word in REGISTRY["enums"][enum], f"{name} = {word}"
