"""The alerts: only names of the registry, and each says how grave it is, what happened and what to do."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest
import yaml
from packaging_names import PROMETHEUS, check_promql, rules
from packaging_paths import ROOT

ALERTS = [rule for rule in rules() if "alert" in rule]


def test_the_recorded_rules_are_those_that_the_script_writes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "build_rules.py"))
    assert (PROMETHEUS / "recorded.yml").read_text() == script["rules"]()


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_asks_only_for_what_is_emitted(rule: dict[str, Any]) -> None:
    check_promql(rule["expr"])


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
