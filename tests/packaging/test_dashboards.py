"""The dashboards and the data sources: whole, tied to each other, and asking only for what is emitted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from packaging_names import REGISTRY, check_promql, check_traceql
from packaging_paths import ROOT

GRAFANA = ROOT / "collector" / "grafana"
BOARDS = {path.stem: json.loads(path.read_text()) for path in sorted((GRAFANA / "dashboards").glob("*.json"))}
SOURCES = yaml.safe_load((GRAFANA / "provisioning" / "datasources" / "datasources.yml").read_text())["datasources"]


def targets(kind: str) -> Iterator[tuple[str, str]]:
    for board in BOARDS.values():
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                if panel["datasource"]["type"] == kind:
                    yield f"{board['title']}: {panel['title']}", target["expr" if kind == "prometheus" else "query"]


@pytest.mark.parametrize(("where", "expression"), list(targets("prometheus")))
def test_a_graph_asks_only_for_what_is_emitted(where: str, expression: str) -> None:
    check_promql(expression)


@pytest.mark.parametrize(("where", "query"), list(targets("tempo")))
def test_a_trace_panel_asks_only_for_what_is_emitted(where: str, query: str) -> None:
    check_traceql(query)


def test_the_links_to_jaeger_search_by_what_is_emitted() -> None:
    known = {attribute["name"]: attribute for attribute in REGISTRY["attribute"]}
    texts = [
        panel["options"]["content"] for board in BOARDS.values() for panel in board["panels"] if panel["type"] == "text"
    ]
    searches = [json.loads(unquote(tags)) for text in texts for tags in re.findall(r"tags=([^)&\s]+)", text)]
    assert searches
    for tags in searches:
        for name, word in tags.items():
            assert word in REGISTRY["enums"][known[name]["enum"]]


def test_every_metric_of_ours_is_on_a_dashboard() -> None:
    asked = " ".join(expression for _, expression in targets("prometheus"))
    for metric in REGISTRY["metric"]:
        stem = metric["name"].removeprefix("agentfootprint.").replace(".", "_")
        assert re.search(rf"agentfootprint[:_]{stem}", asked), f"{metric['name']} is on no dashboard"


def test_every_panel_says_what_it_shows_and_reads_a_source_that_is_provisioned() -> None:
    known = {source["uid"]: source["type"] for source in SOURCES}
    for board in BOARDS.values():
        for panel in board["panels"]:
            assert panel["title"]
            if panel["type"] != "text":
                assert panel["description"]
                assert known[panel["datasource"]["uid"]] == panel["datasource"]["type"]


def test_sources_lead_to_each_other() -> None:
    known = {source["uid"]: source for source in SOURCES}
    assert len(known) == len(SOURCES)
    metrics = known["prometheus"]["jsonData"]["exemplarTraceIdDestinations"]
    assert [each.get("datasourceUid") for each in metrics] == ["tempo", None]
    for name in ("tempo", "jaeger"):
        to_metrics: dict[str, Any] = known[name]["jsonData"]["tracesToMetrics"]
        assert to_metrics["datasourceUid"] == "prometheus"
        for query in to_metrics["queries"]:
            check_promql(query["query"].replace("{$$__tags}", ""))


def test_the_boards_are_loaded_from_where_they_are_mounted() -> None:
    providers = yaml.safe_load((GRAFANA / "provisioning" / "dashboards" / "dashboards.yml").read_text())["providers"]
    volumes = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["grafana"]["volumes"]
    assert f"./collector/grafana/dashboards:{providers[0]['options']['path']}:ro" in volumes
    assert len({board["uid"] for board in BOARDS.values()}) == len(BOARDS)
