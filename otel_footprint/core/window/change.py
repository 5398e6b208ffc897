"""The plan of one call against its thread: what it changes, worked out without changing anything.

Rules
-----
- A failed call has a plan too, which is reported and then forgotten; so planning never touches the thread.
- In the ordinary case the window begins with the thread's last window and output: found by comparing slices, of which
  interned messages compare as pointers, so that a message that was there before costs nanoseconds.
- The provider's own edits, where it says so, and a compaction of its are the provider's decisions; so is that messages
  left from in front of such a compaction. The first decision in the order of the list names the call.
- Where a strategy of ours decided, its name is on the decision and its span holds what left. Where the application rewrote its
  list at the same call, the decision is the application's, and only what it took out itself is its eviction.
- An eviction is a message of the earlier window (with its output) that is missing, with the decision as its reason. A notice
  or a summary of ours that goes because the application's list starts the window anew was never in that list: it is nobody's
  eviction, and names no decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from otel_footprint.core.call import Call, EditKind, PlannedFacts
from otel_footprint.core.decisions import Eviction, Rewrite, WindowChange, WindowDecision
from otel_footprint.core.messages import Compaction, Message
from otel_footprint.core.per_call import per_call
from otel_footprint.core.stubs import begins_with
from otel_footprint.core.thread import Gone, Slot, Thread
from otel_footprint.core.window.observe import Comparison, alike, compare, decide
from otel_footprint.core.window.planned_call import decided_comparison

_ORDER: Final[tuple[WindowDecision, ...]] = ("start", "reset", "summarize", "clear", "evict", "rewrite", "append")


@per_call(frozen=True, slots=True)
class Plan:
    """What a call does to its thread.

    ``before`` are the slots it is compared with: the last window and the output that is in the new one. ``added`` are
    the indices of new messages in ``window``; ``comparison`` is None where the window only grew at its end.
    ``summary`` are those of the added messages that are a summary; ``returning`` what is known of those that come back.
    ``again`` says that the call is the last one asked again, so that its output is one more choice. ``reported``: what left
    is on the span of the strategy that decided it; ``put_aside`` are indices in ``before`` of what is, beside what the
    application took out itself.
    """

    window: tuple[Message, ...]
    decision: WindowDecision
    decided_by: str
    before: Sequence[Slot]
    output: Slot | None
    added: Sequence[int]
    tail: int
    comparison: Comparison | None = None
    summary: frozenset[int] = frozenset()
    returning: Mapping[int, Gone] = field(default_factory=dict)
    system_is_summary: bool = False
    again: bool = False
    reported: bool = False
    put_aside: frozenset[int] = frozenset()

    @property
    def left(self) -> list[Slot]:
        """The messages that left."""
        return [] if self.comparison is None else [self.before[i] for i in self.comparison.left]


def plan_start(call: Call, window: tuple[Message, ...]) -> Plan:
    """The plan of a thread's first completed call."""
    return Plan(window, "start", "application", (), None, range(len(window)), 0)


def plan_again(thread: Thread, call: Call, window: tuple[Message, ...]) -> Plan:
    """The plan of a call that is the last one asked again: at most its system messages changed."""
    if window == thread.sent:
        decision, decided_by = _with_edits("append", call, window, ())
        return Plan(window, decision, decided_by, thread.slots, None, (), len(window), again=True)
    return _compared(thread, call, window, None)


def plan_next(thread: Thread, call: Call, window: tuple[Message, ...]) -> Plan:
    """The plan of a call that continues its thread."""
    sent = thread.sent
    count = len(sent)
    output = _output_in(thread, window)
    planned = call.planned
    if planned is not None and planned.decided and planned.after == thread.last:
        output = next((slot for slot in thread.outputs if slot.message.key == planned.output), output)
        comparison = decided_comparison(planned, thread.slots, output, window)
        if comparison is not None:
            return _decided(thread, call, planned, window, output, comparison)
    if len(window) > count and output is not None and window[count] == output.message and window[:count] == sent:
        added = range(count + 1, len(window))
        decision, decided_by = _with_edits("append", call, window, added)
        return Plan(window, decision, decided_by, thread.slots, output, added, count + 1)
    return _compared(thread, call, window, output)


def _compared(thread: Thread, call: Call, window: tuple[Message, ...], output: Slot | None) -> Plan:
    """The plan of a window that did not just grow. Without ``output`` the last call is asked again."""
    before = thread.slots if output is None else [*thread.slots, output]
    messages = [slot.message for slot in before]
    comparison = compare(messages, window, answered=output is not None)
    returning = {
        j: known[-1]
        for j in comparison.added
        if j < comparison.tail and (known := thread.gone.get(window[j].key)) and window[j].role != "system"
    }
    grew, summary_stays = _system(thread, call)
    planned = call.planned
    ours = frozenset(i for i in comparison.left if messages[i].authored in ("notice", "summary"))
    if planned is not None and planned.decided and planned.origin is not None:
        ours = frozenset()  # the strategy took them out
    theirs = replace(comparison, left=[i for i in comparison.left if i not in ours]) if ours else comparison
    decision, summary = decide(theirs, messages, window, returning=returning, envelope_grew=grew or summary_stays)
    decision, decided_by = _with_edits(decision, call, window, comparison.added)
    if decided_by == "application" and comparison.left and _compacted(window, comparison):
        decision, decided_by = ("summarize" if decision == "evict" else decision), "provider"
    aside = ours if decided_by == "application" else frozenset[int]()
    if planned is not None and planned.decided and decided_by == "application":
        aside |= frozenset(i for i in comparison.left if messages[i].key in planned.withheld)
        if planned.origin is not None or len(aside) == len(comparison.left):
            decided_by, aside = planned.strategy or decided_by, frozenset()
    return Plan(
        window,
        decision,
        decided_by,
        before,
        output,
        comparison.added,
        comparison.tail,
        comparison,
        summary if decision == "summarize" else frozenset(),
        returning,
        system_is_summary=decision == "summarize" and (grew or summary_stays),
        again=output is None,
        reported=planned is not None and decided_by == planned.strategy,
        put_aside=aside,
    )


def _decided(
    thread: Thread,
    call: Call,
    planned: PlannedFacts,
    window: tuple[Message, ...],
    output: Slot | None,
    comparison: Comparison,
) -> Plan:
    """The plan of a window that a strategy of ours changed."""
    summary = frozenset(j for j in comparison.added if j < comparison.tail and window[j].authored == "summary")
    named: WindowDecision = "append"
    if comparison.left:
        named = "summarize" if summary else "evict"
    decision, decided_by = _with_edits(named, call, window, comparison.added)
    if decided_by == "application":
        decided_by = planned.strategy or decided_by
    return Plan(
        window,
        decision,
        decided_by,
        thread.slots if output is None else [*thread.slots, output],
        output,
        comparison.added,
        comparison.tail,
        comparison,
        summary,
        reported=True,
    )


def _output_in(thread: Thread, window: tuple[Message, ...]) -> Slot | None:
    """The choice of the last call that the application went on with; the first one where none is in the window.

    Where more than one is there it is the last: the others may be equal to what was said before.
    """
    outputs = thread.outputs
    if len(outputs) < 2:
        return outputs[0] if outputs else None
    place = len(thread.sent)
    if place < len(window):
        for slot in outputs:
            if slot.message.key == window[place].key:
                return slot
    given = {slot.message.key: slot for slot in reversed(outputs)}
    exact = next((given[message.key] for message in reversed(window) if message.key in given), None)
    if exact is not None:
        return exact
    return next((slot for slot in outputs if place < len(window) and alike(slot.message, window[place])), outputs[0])


def _system(thread: Thread, call: Call) -> tuple[bool, bool]:
    """Whether the system envelope grew by what may be a summary; and whether a summary in it was replaced."""
    before, after = thread.system, call.system
    if len(after) == len(before) and all(a.key == b.key for a, b in zip(before, after, strict=True)):
        return False, False
    if thread.system_is_summary:
        return False, True
    if len(after) > len(before) > 0:
        return True, False
    return len(after) == len(before) == 1 and begins_with(after[0], before[0]), False


def _compacted(window: tuple[Message, ...], comparison: Comparison) -> bool:
    """Whether all that left stood in front of the provider's compaction, which is in the window."""
    for j, message in enumerate(window):
        if any(isinstance(part, Compaction) for part in message.parts):
            origin = comparison.origin[j]
            return origin < 0 or origin > comparison.left[-1]
    return False


def _compacts(messages: list[Message]) -> bool:
    """Whether a message holds a compaction."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Compaction):
                return True
    return False


def _with_edits(
    decision: WindowDecision, call: Call, window: tuple[Message, ...], added: Sequence[int]
) -> tuple[WindowDecision, str]:
    """The decision with what the provider says it did."""
    kinds: list[EditKind] = [edit.kind for edit in call.edits]
    if _compacts([*[output.message for output in call.outputs], *[window[j] for j in added]]):
        kinds.append("summarize")
    if not kinds:
        return decision, "application"
    first = min(kinds, key=_ORDER.index)
    if _ORDER.index(first) <= _ORDER.index(decision):
        return first, "provider"
    return decision, "application"


def change_of(thread: Thread, call: Call, plan: Plan, *, settled: bool) -> WindowChange:
    """The plan as it is reported. Characters and counts are exact."""
    window = plan.window
    started = call.now if call.started_at is None else call.started_at
    number = thread.calls + 1
    if plan.comparison is None:
        before_count = len(plan.before) + (plan.output is not None)
        before_chars = thread.chars + (0 if plan.output is None else plan.output.message.chars)
        after_chars = before_chars + sum(window[j].chars for j in plan.added)
        return WindowChange(
            decision=plan.decision,
            decided_by=plan.decided_by,
            messages_before=before_count,
            messages_after=len(window),
            chars_before=before_chars,
            chars_after=after_chars,
            settled=settled,
        )
    comparison, before = plan.comparison, plan.before
    gone_by = [i for i in comparison.left if i not in plan.put_aside]
    evictions = tuple(_eviction(before[i], i, plan.decision, started, number) for i in gone_by)
    rewrites = tuple(_rewrite(before[i], i, window[j]) for i, j in comparison.rewritten)
    before_chars = sum(slot.message.chars for slot in before)
    gone = [eviction.tool for eviction in evictions if eviction.role == "tool"]
    gone += [
        rewrite.tool for rewrite in rewrites if rewrite.role == "tool" and rewrite.chars_after < rewrite.chars_before
    ]
    return WindowChange(
        decision=plan.decision,
        decided_by=plan.decided_by,
        messages_before=len(before),
        messages_after=len(window),
        chars_before=before_chars,
        chars_after=sum(message.chars for message in window),
        evictions=evictions,
        rewrites=rewrites,
        inserted=comparison.inserted,
        dropped_tools=tuple(dict.fromkeys(tool for tool in gone if tool)),
        settled=settled,
        reported=plan.reported,
    )


def _eviction(slot: Slot, index: int, reason: WindowDecision, started: float, number: int) -> Eviction:
    message = slot.message
    result = message.result
    survived = 0 if slot.born_at is None else max(0, round((started - slot.born_at) * 1000))
    return Eviction(
        index=index,
        role=message.role,
        tool=slot.tool,
        tool_call_id=None if result is None else result.id,
        result_ref=slot.refs[0] if slot.refs and result is not None else None,
        chars=message.chars,
        survival_ms=survived,
        iterations_survived=max(0, number - slot.born_call),
        reason=reason,
        key=message.key,
        born=slot.born,
    )


def _rewrite(slot: Slot, index: int, now: Message) -> Rewrite:
    result = now.result
    return Rewrite(
        index=index,
        role=now.role,
        tool=slot.tool,
        tool_call_id=None if result is None else result.id,
        chars_before=slot.message.chars,
        chars_after=now.chars,
        key=now.key,
    )
