"""Findings as lines of the printed tree: what was declared, what conflicts, what rests on it, how far an answer stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from otel_footprint.core.messages import Json
from otel_footprint.offline.otlp import Event
from otel_footprint.report.words import words
from otel_footprint.telemetry import names

STANDING_STYLES: Final[Mapping[str, str]] = {
    "ask": "yellow",
    "not-sure": "bold yellow",
    "known": "bold green",
    "consistent": "green",
    "not-assessed": "dim",
}
_DECLARED_STYLES: Final[Mapping[str, str]] = {"fact": "green", "open": "yellow", "noise": "dim", "ruled-out": "magenta"}
_ABSENCES: Final[Mapping[str, str]] = {
    "declared-absent": "looked and found nothing",
    "coverage-gap": "did not check everything",
    "empty-undeclared": "came back empty and does not say what was looked at",
}


def standing(attributes: Mapping[str, Json]) -> Text | None:
    """How far the answer of a span stands, and why no further; None where the span does not say."""
    word = attributes.get(names.ANSWER_STANDING)
    if not isinstance(word, str):
        return None
    text = Text(word, style=STANDING_STYLES.get(word, ""))
    reasons = words(attributes.get(names.ANSWER_REASONS))
    if reasons:
        text.append(f" ({', '.join(reasons)})", style="dim")
    return text


def finding_line(event: Event, *, all_values: bool) -> Text | None:
    """The line of an event that is about findings; None for any other, and for a quiet one unless all are asked for."""
    attributes = event.attributes
    match event.name:
        case names.EVENT_FINDINGS_DECLARED:
            return _basis(attributes) if all_values else None
        case names.EVENT_FINDINGS_STANDING:
            return _declared(attributes)
        case names.EVENT_FINDINGS_CONFLICT:
            return _conflict(attributes)
        case names.EVENT_FINDINGS_CONTINGENT:
            return _contingent(attributes)
        case names.EVENT_TOOLS_ABSENT:
            return _absence(attributes)
        case names.EVENT_SKILL_STEPS_UNFINISHED:
            return _steps(attributes)
        case names.EVENT_ANSWER_SCRIPT_SHOWN:
            return _script(attributes) if all_values or attributes.get(names.SCRIPT_LABEL) != "ran" else None
        case names.EVENT_ANSWER_WITNESS:
            return _witness(attributes)
        case _:
            return None


def _basis(attributes: Mapping[str, Json]) -> Text:
    line = Text("calls ", style="dim")
    line.append(f"{attributes.get(names.FINDING_TOOL)}: {attributes.get(names.FINDING_BASIS)}", style="dim")
    return _quoted(line, attributes, names.FINDING_PROPOSITION)


def _declared(attributes: Mapping[str, Json]) -> Text:
    word = str(attributes.get(names.FINDING_STANDING, "?"))
    line = Text("declared ", style="dim")
    line.append(word, style=_DECLARED_STYLES.get(word, ""))
    if attributes.get(names.FINDING_DECLARED_BY) == "application":
        line.append(" by the application", style="dim")
    result = attributes.get(names.FINDING_TOOL_CALL_ID)
    if isinstance(result, str):
        line.append(f": the result {result}")
    elif attributes.get(names.FINDING_UNKNOWN_ID) is True:
        line.append(": a result that nobody knows", style="yellow")
    if attributes.get(names.FINDING_UNSETTLED) is True:
        line.append(", on the word of an absence that did not check everything", style="yellow")
    return _quoted(line, attributes, names.FINDING_LINE)


def _conflict(attributes: Mapping[str, Json]) -> Text:
    line = Text("conflict: ", style="bold red")
    line.append(f"the results {', '.join(words(attributes.get(names.FINDING_TOOL_CALL_IDS)))} do not agree")
    subject, predicate = attributes.get(names.FINDING_SUBJECT), attributes.get(names.FINDING_PREDICATE)
    if isinstance(subject, str) and isinstance(predicate, str):
        line.append(f" on {predicate} of {subject}")
    return line


def _contingent(attributes: Mapping[str, Json]) -> Text:
    line = Text("contingent: ", style="bold yellow")
    tool = attributes.get(names.FINDING_TOOL)
    line.append(f"a value passed to {tool}" if isinstance(tool, str) else "a value of the answer")
    shape = attributes.get(names.VALUE_SHAPE)
    if isinstance(shape, str):
        line.append(f" ({shape})", style="dim")
    results = words(attributes.get(names.FINDING_TOOL_CALL_IDS))
    line.append(f" rests on {', '.join(results)} alone, which {'is' if len(results) == 1 else 'are'} no fact")
    return line


def _absence(attributes: Mapping[str, Json]) -> Text:
    kind = str(attributes.get(names.ABSENCE_KIND, "?"))
    tool, result = attributes.get(names.ABSENCE_TOOL), attributes.get(names.ABSENCE_TOOL_CALL_ID)
    line = Text(f"{tool if isinstance(tool, str) else 'a tool'} result {result} ", style="yellow")
    line.append(_ABSENCES.get(kind, kind), style="yellow")
    gaps = attributes.get(names.ABSENCE_GAPS)
    if isinstance(gaps, int) and gaps:
        line.append(f", {gaps} not checked", style="dim")
    return line


def _steps(attributes: Mapping[str, Json]) -> Text:
    remaining, total = attributes.get(names.STEPS_REMAINING), attributes.get(names.STEPS_TOTAL)
    line = Text("steps left: ", style="yellow")
    line.append(f"{remaining} of {total} of {attributes.get(names.STEPS_SKILL_ID)}")
    tools = words(attributes.get(names.STEPS_REMAINING_TOOLS))
    if tools:
        line.append(f" ({', '.join(tools)})", style="dim")
    line.append(f", {attributes.get(names.STEPS_ACTION)}", style="dim")
    return line


def _script(attributes: Mapping[str, Json]) -> Text:
    label = attributes.get(names.SCRIPT_LABEL)
    line = Text("code shown: ", style="dim")
    line.append(f"block {attributes.get(names.SCRIPT_BLOCK)} ")
    line.append(str(label), style="yellow" if label in ("unmatched", "failed") else "")
    return line


def _witness(attributes: Mapping[str, Json]) -> Text:
    line = Text("the application says: ", style="dim")
    match attributes.get(names.WITNESS_KIND):
        case "validated":
            ok = attributes.get(names.WITNESS_OK) is True
            line.append(f"check {attributes.get(names.WITNESS_CHECK)} ")
            line.append("passed" if ok else "failed", style="green" if ok else "bold red")
        case "stopped-early":
            line.append(f"stopped early ({attributes.get(names.WITNESS_REASON)})")
        case kind:
            line.append(str(kind))
    return line


def _quoted(line: Text, attributes: Mapping[str, Json], name: str) -> Text:
    text = attributes.get(name)
    if isinstance(text, str):
        line.append(f" “{text}”", style="dim")
    return line
