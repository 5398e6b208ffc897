"""What was done to a recorded call before it was sent, told from its span's attributes and from our own words in it.

Rules
-----
- Our notices, summaries and corrections are not what a person said, and an answer that was sent back is no answer, whether or
  not the span has attributes of ours.
- Where the span says that a window strategy decided, what left is that strategy's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from otel_footprint.core.call import Call, PlannedFacts
from otel_footprint.core.messages import Authored, Message, Text
from otel_footprint.core.window.ours import who_wrote
from otel_footprint.offline.otlp import Span
from otel_footprint.telemetry import names

_OTHERS = frozenset({"application", "provider"})


class Acted:
    """The calls of one trace, told in their order."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._drafts = revised_drafts(spans)
        self._seen: dict[str | None, set[bytes]] = {}

    def is_draft(self, span: Span) -> bool:
        """Whether the call's answer was sent back, and something else handed out."""
        return span.span_id in self._drafts

    def tell(self, span: Span, call: Call) -> Call:
        """The call with what was decided about it; as it is where nothing was."""
        keys = {message.key for message in call.messages}
        seen = self._seen.setdefault(call.conversation_id, set())
        withheld = frozenset(seen - keys)
        seen |= keys
        seen.update(output.message.key for output in call.outputs)
        attributes = span.attributes
        by = attributes.get(names.WINDOW_DECIDED_BY)
        strategy = by if isinstance(by, str) and by not in _OTHERS else None
        authored = dict(_marks(call.messages))
        if strategy is None and not authored:
            return call
        iteration = attributes.get(names.ITERATION)
        planned = PlannedFacts(
            strategy=strategy,
            decided=strategy is not None,
            is_revision=attributes.get(names.EVIDENCE_REVISION) is True,
            authored=authored,
            withheld=withheld,
            iteration=iteration if isinstance(iteration, int) else 1,
        )
        return replace(call, planned=planned)


def _marks(messages: Sequence[Message]) -> Iterator[tuple[bytes, Authored]]:
    for message in messages:
        pieces = [message]
        if message.role in ("user", "tool") and len(message.parts) > 1:  # some APIs join neighbours
            pieces += [Message("user", (part,)) for part in message.parts if isinstance(part, Text)]
        for piece in pieces:
            who = who_wrote(piece)
            if who is not None:
                yield piece.key, who


def is_verdict(span: Span) -> bool:
    """Whether a span is a call that carries a verdict of ours."""
    agent = span.attributes.get(names.GEN_AI_OPERATION_NAME) in ("invoke_agent", "invoke_workflow")
    return not agent and isinstance(span.attributes.get(names.EVIDENCE_VERDICT), str)


def revised_drafts(spans: Sequence[Span]) -> frozenset[str]:
    """The ids of spans whose answer was sent back, and something else handed out."""
    drafts: dict[tuple[str, str, str], str] = {}
    found: set[str] = set()
    for span in sorted(spans, key=lambda span: (span.start_ns, span.span_id)):
        attributes = span.attributes
        turn = (
            str(attributes.get(names.CONVERSATION_ID)),
            str(attributes.get(names.THREAD)),
            str(attributes.get(names.TURN)),
        )
        if attributes.get(names.EVIDENCE_ACTION) == "recheck" and is_verdict(span):
            drafts[turn] = span.span_id
        elif attributes.get(names.EVIDENCE_REVISION) is True and attributes.get(names.WINDOW_SETTLED) is not False:
            draft = drafts.pop(turn, None)
            if draft is not None:
                found.add(draft)
    return frozenset(found)
