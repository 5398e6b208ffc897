"""Links of an answer or a tool call with evicted values: to the call that last served them, and to the one that dropped them.

Rules
-----
- One link for each call and kind, however many values lead there; it says how many do, and its tool is that of the
  first. A span takes 16 links of ours, since past 128 the SDK drops the oldest, whosever they are.
- The dropping call may be the answering one: its decision is on the same span, and the link says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opentelemetry.trace import SpanContext, TraceFlags

from otel_footprint.core.call import CallRef
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.verdicts import EvictedBy
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import Attributes
from otel_footprint.telemetry.limits import MAX_LINKS, Bounds


@dataclass(frozen=True, slots=True)
class Link:
    """One link, as it goes onto the span."""

    context: SpanContext
    attributes: Attributes


def links_of(decisions: Decisions, bounds: Bounds) -> tuple[tuple[Link, ...], int]:
    """The links of one call's answers and arguments in order of the values, and how many are left out."""
    found: dict[tuple[int, int, str], tuple[CallRef, EvictedBy]] = {}
    counts: dict[tuple[int, int, str], int] = {}
    answered = [value.evicted_by for judgement in decisions.judgements for value in judgement.values]
    passed_on = [value.evicted_by for emitted in decisions.calls for value in emitted.values]
    for dropped in (*answered, *passed_on):
        if dropped is None:
            continue
        for kind, ref in _ends(dropped):
            key = (ref.trace_id, ref.span_id, kind)
            found.setdefault(key, (ref, dropped))
            counts[key] = counts.get(key, 0) + 1
    kept = list(found.items())[:MAX_LINKS]
    links = tuple(_link(ref, key[2], dropped, counts[key], bounds) for key, (ref, dropped) in kept)
    return links, len(found) - len(kept)


def _ends(dropped: EvictedBy) -> list[tuple[Literal["served", "dropped"], CallRef]]:
    ends: list[tuple[Literal["served", "dropped"], CallRef]] = []
    if dropped.served is not None and _valid(dropped.served):
        ends.append(("served", dropped.served))
    if dropped.dropped is not None and _valid(dropped.dropped):
        ends.append(("dropped", dropped.dropped))
    return ends


def _valid(ref: CallRef) -> bool:
    return 0 < ref.trace_id < 1 << 128 and 0 < ref.span_id < 1 << 64


def _link(ref: CallRef, kind: str, dropped: EvictedBy, values: int, bounds: Bounds) -> Link:
    attributes: Attributes = {names.LINK_KIND: kind, names.LINK_VALUES: values}
    if dropped.tool is not None:
        attributes[names.LINK_TOOL] = bounds.text(dropped.tool)
    if dropped.tool_call_id is not None:
        attributes[names.LINK_TOOL_CALL_ID] = bounds.text(dropped.tool_call_id)
    return Link(
        SpanContext(ref.trace_id, ref.span_id, is_remote=False, trace_flags=TraceFlags(ref.trace_flags)), attributes
    )
