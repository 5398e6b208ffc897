"""The pages agree with the code: settings, statuses, verdicts and links."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

import otel_footprint
from otel_footprint.core.decisions import Match, WindowDecision
from otel_footprint.core.evidence import verdicts

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("*/README.md")),
]
README = (ROOT / "README.md").read_text()


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def test_the_first_line_says_what_it_is_for_whom() -> None:
    assert README.startswith("otel-footprint shows people who run LLM agents")


def test_the_configuration_table_has_every_argument_and_no_other() -> None:
    table = README.split("## Configuration", 1)[1].split("\n## ", 1)[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert listed == set(inspect.signature(otel_footprint.instrument).parameters)


def test_every_variable_of_ours_in_the_code_is_documented_and_the_other_way_round() -> None:
    source = (ROOT / "otel_footprint" / "config.py").read_text()
    read = set(re.findall(r'env\.(?:get|names)\("([A-Z_]+)"\)', source)) | {"EVENTS", "CAPTURE_VALUES"}
    documented = set(re.findall(r"`OTEL_FOOTPRINT_([A-Z_]+)", README))
    assert documented == read


def test_every_status_verdict_and_reason_is_explained() -> None:
    text = page("evidence.md")
    for union in (verdicts.Status, verdicts.Verdict, verdicts.Reason):
        for name in get_args(union):
            assert f"`{name}`" in text, name


def test_every_window_decision_and_match_is_explained() -> None:
    text = page("window.md")
    for union in (WindowDecision, Match):
        for name in get_args(union):
            assert f"`{name}`" in text, name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_within_the_repository_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text()):
        assert (path.parent / target).exists(), target
