"""The registry is the only source of names: generated files match it, and nothing else is ever emitted."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.context import get_current

from otel_footprint.core.assessment.fold import REASON_CODES, AnswerAssessment, AnswerStanding, Assessment, Checked
from otel_footprint.core.assessment.witness import ScriptLabel, StepsAction, UnmatchedReason
from otel_footprint.core.call import Call, PlannedFacts, ProviderEdit
from otel_footprint.core.decisions import Decisions, Match, WindowDecision
from otel_footprint.core.evidence.verdicts import STATUSES, VERDICTS, Action, Posture, Reason
from otel_footprint.core.findings.change import FindingsChange
from otel_footprint.core.findings.rows import BASES, EXPECTATIONS, DeclaredBy, Moment
from otel_footprint.core.findings.standing import STANDINGS
from otel_footprint.core.messages import Role
from otel_footprint.core.window.record import REFUSAL_REASONS, BudgetUnit, Inactive, PlanAction, Retain
from otel_footprint.telemetry.emitter import Emission
from otel_footprint.telemetry.instruments import VISIT_OUTCOMES, RevisionOutcome
from otel_footprint.telemetry.summary import Summary
from otel_footprint.telemetry.window_facts import VisitFacts
from tests.telemetry.findings_cases import DISPATCHING, FOUND, HOSTILE, TOLD, any_changes, change
from tests.telemetry.telemetry_cases import (
    CALL,
    MISPLACED,
    OVERFULL,
    RICH,
    Pipeline,
    any_decisions,
    argument,
    decisions,
    emitted,
    judgement,
    value,
    window,
)
from tests.telemetry.window_cases import FOLDED, HELD, OVERFULL_VISIT, REFUSED, REMOVED, any_visits

ROOT = Path(__file__).resolve().parents[2]


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_names", ROOT / "scripts" / "generate_names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = _generator()
REGISTRY: dict[str, Any] = dict(GENERATOR.load())


def _keys(attribute: dict[str, Any]) -> set[str]:
    """The keys an entry stands for: one, or one for each word of its template."""
    if "template" not in attribute:
        return {attribute["name"]}
    return {f"{attribute['name']}.{word}" for word in REGISTRY["enums"][attribute["template"]]}


BY_KEY = {key: attribute for attribute in REGISTRY["attribute"] for key in _keys(attribute)}
ON_CHAT = {key for key, attribute in BY_KEY.items() if "chat" in attribute.get("spans", ())}
ON_AGENT = {key for key, attribute in BY_KEY.items() if "invoke_agent" in attribute.get("spans", ())}
ON_WINDOW = {key for key, attribute in BY_KEY.items() if "window" in attribute.get("spans", ())}
ON_LINK = {key for key, attribute in BY_KEY.items() if attribute.get("link")}
BY_NAME = {attribute["name"]: attribute for attribute in REGISTRY["attribute"]}
EVENTS = {
    event["name"]: set().union(*(_keys(BY_NAME[name]) for name in event["attributes"])) for event in REGISTRY["event"]
}
METRICS = {metric["name"]: set(metric["attributes"]) for metric in REGISTRY["metric"]}
LABELS = {(label.get("metric"), label["name"]): label for label in REGISTRY["label"]}

TYPES: dict[str, Any] = {"string": str, "int": int, "double": float, "boolean": bool, "string[]": tuple}


def test_generated_files_do_not_differ_from_the_registry() -> None:
    assert GENERATOR.main(["--check"]) == 0, "run `make names`"


def test_drift_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stale = tmp_path / "names.py"
    stale.write_text("STALE = 1\n", encoding="utf-8")
    monkeypatch.setattr(GENERATOR, "NAMES", stale)
    monkeypatch.setattr(GENERATOR, "ROOT", tmp_path)

    assert GENERATOR.main(["--check"]) == 1


def test_every_entry_says_what_it_must() -> None:
    for attribute in REGISTRY["attribute"]:
        assert attribute["type"] in TYPES, attribute["name"]
        assert attribute["privacy"] in {"enum", "count", "name", "id", "hash", "value"}, attribute["name"]
        assert attribute["brief"].endswith("."), attribute["name"]
        assert ("capture" in attribute) == (attribute["privacy"] == "value"), attribute["name"]
        assert attribute["name"].startswith(("agentfootprint.", "gen_ai.")), attribute["name"]
    assert len(BY_NAME) == len(REGISTRY["attribute"])


def test_closed_sets_are_those_of_the_core() -> None:
    enums = {name: tuple(words) for name, words in REGISTRY["enums"].items()}
    assert enums["match"] == get_args(Match)
    assert enums["window_decision"] == get_args(WindowDecision)
    assert enums["verdict"] == VERDICTS
    assert enums["status"] == STATUSES
    assert enums["worst_status"] == ("none", *STATUSES)
    assert enums["reason"] == get_args(Reason)
    assert enums["posture"] == get_args(Posture)
    assert enums["action"] == get_args(Action)
    assert enums["role"] == get_args(Role)
    assert enums["refusal"] == REFUSAL_REASONS
    assert enums["inactive"] == get_args(Inactive)
    assert enums["visit_outcome"] == VISIT_OUTCOMES
    assert enums["retain"] == get_args(Retain)
    assert enums["plan_action"] == get_args(PlanAction)
    assert enums["budget_unit"] == get_args(BudgetUnit)
    assert enums["revision_outcome"] == get_args(RevisionOutcome)
    assert enums["basis"] == BASES
    assert enums["expect"] == EXPECTATIONS
    assert enums["standing"] == STANDINGS
    assert enums["declared_by"] == get_args(DeclaredBy)
    assert enums["moment"] == get_args(Moment)
    assert enums["assessment"] == get_args(Assessment)
    assert enums["answer_standing"] == get_args(AnswerStanding)
    assert enums["answer_reason"] == REASON_CODES
    assert enums["steps_action"] == get_args(StepsAction)
    assert enums["script_label"] == get_args(ScriptLabel)
    assert enums["script_reason"] == get_args(UnmatchedReason)
    assert enums["evaluation_label"] == (*VERDICTS, *get_args(AnswerStanding))


def _label(metric: str, key: str) -> dict[str, Any]:
    """What a label means on this metric: its own entry, else the one for every metric."""
    return dict(LABELS.get((metric, key)) or LABELS[(None, key)])


def test_a_label_that_means_different_things_is_told_apart_by_its_metric() -> None:
    for metric, labels in METRICS.items():
        for label in labels:
            assert _label(metric, label)["name"] == label
    for metric, label in LABELS:
        assert metric is None or label in METRICS[metric]
        assert metric is None or (None, label) not in LABELS


def _allowed(name: str) -> set[str]:
    kinds = {"invoke_agent": ON_AGENT, "agentfootprint.window": ON_WINDOW}
    return next((allowed for kind, allowed in kinds.items() if name.startswith(kind)), ON_CHAT)


def assert_registered(attributes: dict[str, Any], allowed: set[str], where: str) -> None:
    for key, given_value in attributes.items():
        assert key in allowed, f"{key} on {where} is not in the registry"
        entry = BY_KEY[key]
        assert type(given_value) is TYPES[entry["type"]], f"{key} on {where}: {given_value!r}"
        words = REGISTRY["enums"].get(entry.get("enum"))
        if words is not None:
            for word in given_value if isinstance(given_value, tuple) else (given_value,):
                assert word in words, f"{key} on {where}: {word!r}"


def _check_everything(pipeline: Pipeline) -> tuple[set[str], set[str]]:
    """Every exported name is registered; returns the attribute and event names seen."""
    seen: set[str] = set()
    events: set[str] = set()
    for span in pipeline.spans.get_finished_spans():
        attributes = dict(span.attributes or {})
        assert_registered(attributes, _allowed(span.name), span.name)
        seen |= set(attributes)
        for event in span.events:
            assert event.name in EVENTS, f"event {event.name} is not in the registry"
            assert_registered(dict(event.attributes or {}), EVENTS[event.name], event.name)
            events.add(event.name)
            seen |= set(event.attributes or {})
        for link in span.links:
            assert_registered(dict(link.attributes or {}), ON_LINK, "a link")
            seen |= set(link.attributes or {})
    for data in pipeline.logs.get_finished_logs():
        name = data.log_record.event_name
        assert name in EVENTS, f"log event {name} is not in the registry"
        assert_registered(dict(data.log_record.attributes or {}), EVENTS[name], name)
        assert data.log_record.body is None
    metrics = pipeline.reader.get_metrics_data()
    for resource in metrics.resource_metrics if metrics else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                assert metric.name in METRICS, f"metric {metric.name} is not in the registry"
                for point in metric.data.data_points:
                    for key, word in (point.attributes or {}).items():
                        assert key in METRICS[metric.name], f"{key} on {metric.name} is not in the registry"
                        words = REGISTRY["enums"].get(_label(metric.name, key).get("enum"))
                        assert words is None or word in words, f"{key} on {metric.name}: {word!r}"
    return seen, events


def _emit_all(pipeline: Pipeline, *calls: Decisions, visits: Sequence[VisitFacts] = ()) -> None:
    emitter = pipeline.emitter(events="both", capture_values="all")
    for call in calls:
        pipeline.emit(emitter, call)
    for visit in visits:
        pipeline.visit(emitter, visit)
    emitter.revised("guard", "grounded", get_current())
    for call in calls:
        with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
            emission = Emission(decisions=call, span=None, context=get_current(), call=CALL, open=True)
            emitter.told(() if call.findings is None else call.findings.rows, span, get_current())
            emitter.settled(emission, span, changed=True)
    emitter.error("somewhere")
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        emitter.summarise(span, Summary.of(calls))


def test_everything_emitted_is_registered_and_everything_registered_is_emitted(pipeline: Pipeline) -> None:
    statuses = judgement(
        *(value(f"v{n}", status) for n, status in enumerate(STATUSES)), verdict="ungrounded", reasons=("coincidence",)
    )
    verdicts = [decisions(judgement(verdict=verdict)) for verdict in VERDICTS]
    arguments = emitted(*(argument(f"v{n}", status) for n, status in enumerate(STATUSES)), reasons=("opaque_content",))
    verdicts.append(decisions(calls=(arguments,)))
    draft = decisions(judgement(verdict="ungrounded", action="recheck"))
    several = decisions(judgement(), judgement(choice=1))
    visits = (REMOVED, FOLDED, REFUSED, HELD, OVERFULL_VISIT)
    told = decisions(judgement(), findings=change(*TOLD, assessed=True))
    checks = tuple(Checked(f"check_{n}", 1, 1) for n in range(22))
    standings = [
        decisions(
            judgement(), findings=FindingsChange(assessments=(AnswerAssessment("known", standing, (), (), checks),))
        )
        for standing in get_args(AnswerStanding)
    ]
    found = (FOUND, DISPATCHING, HOSTILE, told, *standings)
    _emit_all(
        pipeline, RICH, MISPLACED, OVERFULL, decisions(statuses), several, draft, *verdicts, *found, visits=visits
    )
    planned = PlannedFacts(is_revision=True, stream_unheld=True)
    pipeline.emit(pipeline.emitter(), decisions(), Call(messages=(), now=0.0, planned=planned))
    folded = Call(messages=(), now=0.0, edits=(ProviderEdit("summarize", "compaction"),))
    pipeline.emit(pipeline.emitter(), decisions(window=window("start")), folded)

    seen, events = _check_everything(pipeline)

    # A carrier list is at most 8 long, and texts on an agent's span are cut only when an id is overlong: both are
    # covered by the limits' own tests, and by OVERFULL here.
    assert set(BY_KEY) - seen == set()
    assert set(EVENTS) - events == set()
    assert {name for name in METRICS if not pipeline.points(name)} == set()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(any_decisions, any_visits, st.none() | any_changes)
def test_whatever_is_decided_only_registered_names_go_out(
    call: Decisions, visit: VisitFacts, findings: FindingsChange | None
) -> None:
    pipeline = Pipeline()
    _emit_all(pipeline, replace(call, findings=findings), visits=(visit,))
    _check_everything(pipeline)


def test_no_name_is_written_by_hand() -> None:
    """Names stand in the generated constants only: a literal in code would escape the registry."""
    generated = ROOT / "otel_footprint" / "telemetry" / "names.py"
    literal = re.compile(r"""["'](agentfootprint\.[a-z_.]+|gen_ai\.evaluation\.[a-z_.]+)["']""")
    found = [
        f"{path.relative_to(ROOT)}: {match}"
        for path in (ROOT / "otel_footprint").rglob("*.py")
        if path != generated
        for match in literal.findall(path.read_text(encoding="utf-8"))
    ]
    assert sorted(found) == [
        "otel_footprint/telemetry/events.py: agentfootprint.evidence",  # a value, not a key
        "otel_footprint/telemetry/finding_events.py: agentfootprint.answer",
        "otel_footprint/telemetry/window_span.py: agentfootprint.window",  # a span's name
    ]


def test_pages_and_collector_files_name_nothing_that_is_not_in_the_registry() -> None:
    known = {*BY_KEY, *BY_NAME, *EVENTS, *METRICS}
    prometheus = {f"{name.replace('.', '_')}" for name in METRICS}
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(path for kind in ("*.yaml", "*.yml", "*.json", "*.md") for path in (ROOT / "collector").rglob(kind)),
    ]
    strangers = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"(?<![\w.])agentfootprint(?:\.\w+)+\.?", text):
            stem = name.rstrip(".")
            if stem not in known and not any(key.startswith(f"{stem}.") for key in known):
                strangers.append(f"{page.relative_to(ROOT)}: {name}")
        for name in re.findall(r"(?<![\w:])agentfootprint_\w+", text):
            if not name.startswith(tuple(prometheus)):
                strangers.append(f"{page.relative_to(ROOT)}: {name}")
    assert strangers == []
