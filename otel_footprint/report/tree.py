"""A trace as a tree for people: calls with what their window did, answers with their verdict and flagged values.

Only what the spans carry is shown: values and their text appear only where the run captured them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from otel_footprint.core.evidence.verdicts import FLAGGED, STATUSES
from otel_footprint.core.messages import Json
from otel_footprint.offline.otlp import Event, Span
from otel_footprint.report.printable import printable
from otel_footprint.report.tree_findings import finding_line, standing
from otel_footprint.report.words import words
from otel_footprint.telemetry import names

VERDICT_STYLES: Final[Mapping[str, str]] = {
    "no_claims": "dim",
    "grounded": "green",
    "not_applicable": "dim",
    "ungrounded": "bold red",
    "inconclusive": "yellow",
}
STATUS_STYLES: Final[Mapping[str, str]] = {
    "said": "dim",
    "read": "green",
    "respelled": "green",
    "computed": "cyan",
    "evicted": "bold magenta",
    "echoed": "cyan",
    "argument_only": "bold red",
    "derivable": "yellow",
    "unsupported": "bold red",
}

OUTCOME_STYLES: Final[Mapping[str, str]] = {
    "removed": "magenta",
    "folded": "magenta",
    "refused": "blue",
    "kept": "blue",
    "strategy-failed": "bold red",
    "invalid-window": "bold red",
}

MAX_DEPTH: Final = 16
"""Levels that are indented; what is deeper stands on the last of them, or there would be no room for it."""

_ACTIONS: Final[Mapping[str, str]] = {"recheck": "sent back", "refused": "refused to the application"}
_COMMON_REFUSAL: Final = "inside-keep-window"
_QUIET_STATUSES: Final = frozenset({"said", "read"})


def render(spans: Sequence[Span], console: Console, *, all_values: bool = False) -> None:
    """Print every trace in ``spans``, oldest first.

    Flagged values and those that needed work (respelled, computed, echoed, derivable) have a line each, and values in
    arguments of tool calls that nothing accounts for; with ``all_values`` the plain ones too, and the turns that stay because
    they are recent.
    """
    by_trace: dict[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: (span.start_ns, span.span_id)):
        by_trace[printable(span.trace_id)].append(_safe(span))
    for trace_id, members in by_trace.items():
        root = Tree(Text(f"trace {trace_id}", style="bold"), guide_style="dim")
        _attach(root, members, all_values)
        console.print(root)


def _safe(span: Span) -> Span:
    """The span with every text as a terminal may have it."""
    events = tuple(replace(event, attributes=_safe_attributes(event.attributes)) for event in span.events)
    return replace(span, name=printable(span.name), attributes=_safe_attributes(span.attributes), events=events)


def _safe_attributes(attributes: Mapping[str, Json]) -> dict[str, Json]:
    return {name: _safe_value(value) for name, value in attributes.items()}


def _safe_value(value: Json) -> Json:
    if isinstance(value, str):
        return printable(value)
    return [_safe_value(item) for item in value] if isinstance(value, list) else value


def _attach(root: Tree, spans: Iterable[Span], all_values: bool) -> None:
    members = list(spans)
    known = {span.span_id for span in members}
    children: dict[str | None, list[Span]] = defaultdict(list)
    for span in members:
        children[span.parent_id if span.parent_id in known else None].append(span)
    done: set[str] = set()

    def grow(spans: Sequence[Span]) -> None:
        stack = [(root, span, 1) for span in reversed(spans)]
        while stack:
            above, span, depth = stack.pop()
            if span.span_id in done:
                continue
            done.add(span.span_id)
            branch = above.add(_label(span))
            for line in _details(span, all_values):
                branch.add(line)
            below = branch if depth < MAX_DEPTH else above
            stack += [(below, child, depth + 1) for child in reversed(children[span.span_id])]

    grow(children[None])
    for span in members:  # spans whose parents form a circle still show
        grow([span])


def _label(span: Span) -> Text:
    label = Text(span.name or "(no name)", style="bold red" if span.error else "")
    if span.end_ns > span.start_ns:
        label.append(f"  {duration(span.end_ns - span.start_ns)}", style="dim")
    attributes = span.attributes
    verdict = attributes.get(names.EVIDENCE_VERDICT)
    if isinstance(verdict, str):
        label.append("  ")
        label.append(verdict, style=VERDICT_STYLES.get(verdict, ""))
        reasons = words(attributes.get(names.EVIDENCE_REASONS))
        if reasons:
            label.append(f" ({', '.join(reasons)})", style="dim")
        counts = status_counts(attributes)
        if counts:
            label.append("  ")
            label.append(
                ", ".join(f"{count} {status}" for status, count in counts.items()),
                style="dim",
            )
    stands = standing(attributes)
    if stands is not None:
        label.append("  ").append_text(stands)
    if attributes.get(names.EVIDENCE_REVISION) is True:
        label.append("  the revision", style="cyan")
    action = attributes.get(names.EVIDENCE_ACTION)
    if isinstance(action, str) and action in _ACTIONS:
        label.append(f"  {_ACTIONS[action]}", style="cyan")
    if attributes.get(names.EVIDENCE_STREAM_UNHELD) is True:
        label.append("  streamed out before it was judged", style="dim")
    outcome = attributes.get(names.WINDOW_OUTCOME)
    if isinstance(outcome, str):
        label.append("  ")
        label.append(outcome, style=OUTCOME_STYLES.get(outcome, "yellow"))
        label.append(_window(attributes), style="dim")
    decision = attributes.get(names.WINDOW_DECISION)
    if isinstance(decision, str):
        label.append("  ")
        label.append(f"window: {decision}", style="magenta" if decision not in ("start", "append") else "blue")
        label.append(_window(attributes), style="dim")
    return label


def _window(attributes: Mapping[str, Json]) -> str:
    before = attributes.get(names.WINDOW_MESSAGES_BEFORE)
    after = attributes.get(names.WINDOW_MESSAGES_AFTER)
    evicted = attributes.get(names.WINDOW_EVICTED)
    by = attributes.get(names.WINDOW_DECIDED_BY)
    decision = attributes.get(names.WINDOW_DECISION)
    text = ""
    if isinstance(by, str) and decision not in ("start", "append"):
        text += f" by {by}"
    if isinstance(before, int) and isinstance(after, int):
        text += f" {before}→{after} messages"
    if isinstance(evicted, int) and evicted:
        text += f", {evicted} left"
    dropped = words(attributes.get(names.WINDOW_DROPPED_TOOLS))
    if dropped:
        text += f" (results of {', '.join(dropped)})"
    return text


def _details(span: Span, all_values: bool) -> list[Text]:
    lines: list[Text] = []
    for event in span.events:
        if event.name == names.EVENT_EVIDENCE_VALUE:
            status = event.attributes.get(names.VALUE_STATUS)
            if all_values or status not in _QUIET_STATUSES or names.VALUE_MISPLACED in event.attributes:
                lines.append(_value(event))
        elif event.name == names.EVENT_ARGUMENT_VALUE:
            if all_values or event.attributes.get(names.ARGUMENT_UNACCOUNTED) is True:
                lines.append(_value(event))
        elif event.name == names.EVENT_CONTEXT_EVICTED:
            lines.append(_eviction(event))
        elif event.name == names.EVENT_CONTEXT_BUDGET_PRESSURE:
            lines.append(_budget(event))
        elif event.name == names.EVENT_CONTEXT_REFUSED and (
            all_values or event.attributes.get(names.REFUSAL_REASON) != _COMMON_REFUSAL
        ):
            lines.append(_refusal(event))
        elif (found := finding_line(event, all_values=all_values)) is not None:
            lines.append(found)
    return lines


def _value(event: Event) -> Text:
    attributes = event.attributes
    status = str(attributes.get(names.VALUE_STATUS, "?"))
    line = Text("value ", style="dim")
    called = attributes.get(names.ARGUMENT_TOOL)
    if isinstance(called, str):
        parameter = attributes.get(names.ARGUMENT_PATH) or attributes.get(names.ARGUMENT_NAME)
        line = Text(f"passed to {called} {parameter or ''}".rstrip() + " ", style="dim")
    line.append(status, style=STATUS_STYLES.get(status, ""))
    text = attributes.get(names.VALUE_TEXT)
    if isinstance(text, str):
        line.append(f" {text}", style="bold" if status in FLAGGED else "")
    shape = attributes.get(names.VALUE_SHAPE)
    if isinstance(shape, str):
        line.append(f" ({shape})", style="dim")
    derivation = attributes.get(names.VALUE_DERIVATION)
    if isinstance(derivation, str):
        line.append(f" {derivation}", style="cyan")
    decision = attributes.get(names.VALUE_EVICTED_DECISION)
    if isinstance(decision, str):
        tool = attributes.get(names.VALUE_EVICTED_TOOL) or "a tool"
        by = attributes.get(names.VALUE_EVICTED_DECIDED_BY)
        line.append(f" the result of {tool} had left: {decision} by {by}", style="magenta")
        identity = attributes.get(names.VALUE_EVICTED_TOOL_CALL_ID)
        if isinstance(identity, str):
            line.append(f" ({identity})", style="dim")
    carriers = words(attributes.get(names.VALUE_TOOL_CALL_IDS))
    if carriers and decision is None:
        carrier = attributes.get(names.VALUE_TOOL)
        name = f"{carrier} " if isinstance(carrier, str) else ""
        line.append(f" from {name}{', '.join(carriers)}", style="dim")
    if isinstance(attributes.get(names.VALUE_MISPLACED), int):
        line.append(" beside the name of another row", style="yellow")
    return line


def _eviction(event: Event) -> Text:
    attributes = event.attributes
    line = Text("left the window: ", style="magenta")
    role = attributes.get(names.EVICTION_ROLE)
    tool = attributes.get(names.EVICTION_TOOL)
    line.append(f"{tool} result" if isinstance(tool, str) and tool else f"{role} message")
    identity = attributes.get(names.EVICTION_TOOL_CALL_ID)
    if isinstance(identity, str) and identity:
        line.append(f" {identity}")
    survived = attributes.get(names.EVICTION_ITERATIONS_SURVIVED)
    if isinstance(survived, int):
        line.append(f", after {survived} call{'' if survived == 1 else 's'}", style="dim")
    return line


def _refusal(event: Event) -> Text:
    attributes = event.attributes
    line = Text("stays in the window: ", style="blue")
    line.append(f"turn {attributes.get(names.REFUSAL_TURN_INDEX)}, {attributes.get(names.REFUSAL_REASON)}")
    tool = attributes.get(names.REFUSAL_TOOL)
    if isinstance(tool, str):
        line.append(f" ({tool} result {', '.join(words(attributes.get(names.REFUSAL_TOOL_CALL_IDS)))})", style="dim")
    return line


def _budget(event: Event) -> Text:
    attributes = event.attributes
    unit = attributes.get(names.BUDGET_UNIT)
    line = Text("budget: ", style="blue")
    line.append(f"{attributes.get(names.BUDGET_PROJECTED)} of {attributes.get(names.BUDGET_CAP)} {unit}")
    line.append(f", {attributes.get(names.BUDGET_PLAN_ACTION)}", style="dim")
    return line


def status_counts(attributes: Mapping[str, Json]) -> dict[str, int]:
    """The values of an answer by status, as the span's attributes say, in order of precedence."""
    found: dict[str, int] = {}
    for status in STATUSES:
        count = attributes.get(names.EVIDENCE_STATUS[status])
        if isinstance(count, int) and count:
            found[status] = count
    return found


def duration(ns: int) -> str:
    """Nanoseconds in the unit a person reads: ``850 µs``, ``12 ms``, ``1.2 s``."""
    if ns < 1_000_000:
        return f"{ns / 1_000:.0f} µs"
    if ns < 1_000_000_000:
        return f"{ns / 1_000_000:.0f} ms"
    return f"{ns / 1_000_000_000:.1f} s"
