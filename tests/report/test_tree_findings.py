"""Findings in the printed tree: every row that goes out has its line, as the emitter writes it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from otel_footprint.core.findings.rows import ConflictRow, Row
from otel_footprint.offline.otlp import Event, Span
from otel_footprint.report.tree import render
from otel_footprint.telemetry import names
from tests.telemetry.findings_cases import AT, DISPATCHING, FOUND, TOLD, change
from tests.telemetry.telemetry_cases import Pipeline, decisions, judgement


def lines_of(*calls: Any, capture: Any = "none", all_values: bool = False) -> list[str]:
    """The lines below each call's, without branches."""
    out = io.StringIO()
    pipeline = Pipeline()
    emitter = pipeline.emitter(capture_values=capture)
    spans = []
    for number, call in enumerate(calls):
        exported = pipeline.emit(emitter, call)
        assert exported is not None
        events = tuple(Event(event.name, 0, listed(event.attributes)) for event in exported.events)
        spans.append(
            Span(
                trace_id="1" * 32,
                span_id=f"{number:016x}",
                name="chat m",
                start_ns=number,
                attributes=listed(exported.attributes),
                events=events,
            )
        )
    render(spans, Console(file=out, width=200, color_system=None), all_values=all_values)
    return [line.strip("│├└─ ") for line in out.getvalue().splitlines()][1:]


def listed(attributes: Any) -> dict[str, Any]:
    """Attributes as a trace file gives them back: lists for tuples."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in (attributes or {}).items()}


def test_a_call_with_findings() -> None:
    call, *below = lines_of(FOUND)

    assert "  not-sure (coverage-gap, declared-absent, empty-undeclared, sources-conflict, value-contingent" in call
    assert below == [
        "search result call_1 looked and found nothing, 2 not checked",
        "list_orders result call_2 did not check everything, 1 not checked",
        "a tool result call_3 came back empty and does not say what was looked at",
        "declared fact: the result call_4",
        "conflict: the results call_4, call_5 do not agree",
        "declared ruled-out: the result call_1, on the word of an absence that did not check everything",
        "declared noise: a result that nobody knows",
        "declared open by the application: the result call_2",
        "contingent: a value of the answer (identifier) rests on call_1 alone, which is no fact",
        "code shown: block 1 submitted",
        "code shown: block 3 failed",
        "code shown: block 4 unmatched",
    ]


def test_with_all_values_why_it_calls_and_what_the_model_says() -> None:
    below = lines_of(FOUND, capture="all", all_values=True)

    assert "calls get_order: direct “the order was shipped”" in below
    assert "declared fact: the result call_4 “shipped”" in below
    assert "conflict: the results call_4, call_5 do not agree on delivery of order W-1" in below
    assert "code shown: block 2 ran" in below


def test_a_value_passed_on() -> None:
    assert "contingent: a value passed to book (date) rests on call_1, call_2 alone, which are no fact" in lines_of(
        DISPATCHING
    )


def test_what_the_application_says() -> None:
    below = lines_of(decisions(judgement(), findings=change(*TOLD[1:], assessed=False)))[1:]

    assert below == [
        "steps left: 1 of 3 of refund (issue_refund), cut-short",
        "the application says: check totals add up failed",
        "the application says: asked",
        "the application says: stopped early (budget)",
    ]


@pytest.mark.parametrize(
    "row", [ConflictRow(**AT, subject_kind="a\x1b[2J", subject_id="b", predicate="c", witnesses=("\x1b]0;x\x07",))]
)
def test_no_text_of_a_finding_controls_the_terminal(row: Row) -> None:
    text = "\n".join(lines_of(decisions(findings=change(row, assessed=False)), capture="all", all_values=True))

    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_span_of_any_shape_has_a_line() -> None:
    """A trace of another version, or of a backend that dropped attributes."""
    out = io.StringIO()
    kinds = [
        name for name in names.IMPORTANCE if "find" in name or "answer" in name or "steps" in name or "absent" in name
    ]
    events = tuple(Event(name, 0, {}) for name in kinds)
    render(
        [
            Span(
                trace_id="1" * 32,
                span_id="1" * 16,
                name="chat",
                attributes={names.ANSWER_STANDING: "of-another-version"},
                events=events,
            )
        ],
        Console(file=out, width=200, color_system=None),
        all_values=True,
    )

    assert out.getvalue().count("\n") == 2 + len(kinds)
