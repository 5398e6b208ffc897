"""The final summary on a framework's own ``invoke_agent`` span, which ends after the calls it holds.

Rules
-----
- The calls of an agent span are those whose parent it is; where it has none (a workflow or a graph node stands between),
  all calls of its trace.
- Counts and words only are remembered, for a bounded number of spans; the oldest go.
- It stands beside our hook as another hook: instrumentations call hooks for agent spans too, before they end.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from otel_footprint import boundary
from otel_footprint.telemetry import names
from otel_footprint.telemetry.summary import Summary

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from otel_footprint.core.assessment.fold import AnswerAssessment
    from otel_footprint.core.decisions import Decisions
    from otel_footprint.telemetry.emitter import Emitter

AGENT_OPERATION: Final = "invoke_agent"

_REMEMBERED: Final = 2048


class AgentSpans:
    """Remembers what was decided under each parent, and writes it on an agent's span when that ends."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter: Final = emitter
        self._lock = threading.RLock()
        self._by_parent: OrderedDict[int | tuple[int, int], Summary] = OrderedDict()

    def add(self, span: Span | None, decisions: Decisions) -> None:
        """One call was decided; ``span`` is the call's."""
        keys = _keys(span)
        if not keys:
            return
        with self._lock:
            for key in keys:
                self._by_parent[key] = self._by_parent.pop(key, Summary()).add(decisions)
            while len(self._by_parent) > _REMEMBERED:
                self._by_parent.popitem(last=False)

    def stands(self, span: Span | None, decisions: Decisions) -> None:
        """A draft of a call that was added goes out after all."""
        with self._lock:
            for key in _keys(span):
                if key in self._by_parent:
                    self._by_parent[key] = self._by_parent[key].add_answers(decisions)

    def restands(self, span: Span | None, before: Decisions, after: Decisions) -> None:
        """The answers of a call that was added stand otherwise, by what the application said of them."""
        old, new = _assessments(before), _assessments(after)
        with self._lock:
            for key in _keys(span):
                if key in self._by_parent:
                    self._by_parent[key] = self._by_parent[key].restand(old, new)

    def on_completion(self, *, span: Span | None = None, **_: Any) -> None:
        """An operation has finished; its span has not ended yet."""
        with boundary.guard("agent_spans"):
            if span is not None and is_agent_span(span):
                context = span.get_span_context()
                with self._lock:
                    own = self._by_parent.get((context.trace_id, context.span_id))
                    summary = own or self._by_parent.get(context.trace_id)
                if summary is not None:
                    self._emitter.summarise(span, summary)


def _assessments(decisions: Decisions) -> tuple[AnswerAssessment, ...]:
    return () if decisions.findings is None else decisions.findings.assessments


def _keys(span: Span | None) -> tuple[int | tuple[int, int], ...]:
    """Where a call's decisions are kept: by its trace, and by its parent's span. None for the root of its trace."""
    context = span.get_span_context() if span is not None else None
    if context is None or not context.is_valid:
        return ()
    parent = getattr(span, "parent", None)  # only spans of the SDK that are sampled have it
    if parent is None:
        return ()  # a call that is the root of its trace has no agent span around it
    return context.trace_id, (context.trace_id, parent.span_id)


def is_agent_span(span: Span) -> bool:
    """Whether it is an ``invoke_agent`` span that records."""
    attributes = getattr(span, "attributes", None)  # only spans of the SDK that are sampled have them
    return attributes is not None and attributes.get(names.GEN_AI_OPERATION_NAME) == AGENT_OPERATION
