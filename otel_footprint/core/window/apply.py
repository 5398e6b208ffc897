"""Making a plan true: what left and what is new, in the window of the thread and in its evidence.

Rules
-----
- Only a completed call is applied.
- What left leaves the evidence first, named with the last call that served it; then new messages go in, in order.
- A person's message that continues the history begins a turn; one that was put into it, or is a summary, does not.
- Iteration counts calls since that message. Where a thread begins in the middle of a turn, the calls before are counted by
  the assistant messages that asked for tools.
- A message that returns keeps its birth and its names; a rewritten one too, with the new content as its evidence.
- A fork begins with what it shares with the thread it left: births, names, evidence, and the turn it left at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from otel_footprint.core.call import Call, CallRef, PlannedFacts
from otel_footprint.core.feeding import feed, say_system
from otel_footprint.core.findings.ledger import At
from otel_footprint.core.messages import Message, ServerToolResult, ToolResult
from otel_footprint.core.per_call import per_call
from otel_footprint.core.thread import Slot, Thread
from otel_footprint.core.turns import calls_in_turn
from otel_footprint.core.window.change import Plan
from otel_footprint.core.window.observe import compare


@per_call(frozen=True, slots=True)
class Counts:
    """Where a call stands: the turn, the call in that turn, and how many tool results the turn has served.

    ``unseen`` are turns that a strategy took out of the list before any call sent them.
    """

    turn: int
    iteration: int
    results: int
    unseen: int = 0


def shared_with(parent: Thread, window: tuple[Message, ...]) -> dict[int, Slot]:
    """What a fork shares with the thread it left: slots of its own, by their index in the fork's window."""
    before = [*parent.slots, *parent.outputs[:1]]
    if not before:
        return {}
    comparison = compare([slot.message for slot in before], window, answered=bool(parent.outputs))
    rewritten = {j for _, j in comparison.rewritten}
    return {
        j: replace(before[i], alive=True)
        for j, i in enumerate(comparison.origin)
        if i >= 0 and j not in rewritten and before[i].fed
    }


def count(thread: Thread, plan: Plan, shared: Mapping[int, Slot], planned: PlannedFacts | None = None) -> Counts:
    """The counts of a call, whether or not it will be applied. ``planned`` knows of what was taken out before it."""
    turn, results, begun = thread.turn, thread.results_this_turn, False
    if not thread.calls:
        turn = max((slot.turn for slot in shared.values()), default=0)
        results = sum(len(slot.refs) for slot in shared.values() if slot.turn == turn)
    for j in plan.added:
        if j in shared or j in plan.returning:
            continue
        message = plan.window[j]
        if begins_turn(plan, j):
            turn, results, begun = turn + 1, 0, True
        else:
            results += results_in(message)
    if planned is not None and planned.turn >= turn:
        return Counts(planned.turn, planned.iteration, results, planned.turn - turn)
    if not thread.calls:
        return Counts(turn, 1 + calls_in_turn(plan.window), results)
    return Counts(turn, 1 if begun else thread.iteration + 1, results)


def begins_turn(plan: Plan, index: int) -> bool:
    """Whether this new message is the next thing a person said. (What was put into the history stands before the tail.)"""
    return index >= plan.tail and plan.window[index].said_by_person


def results_in(message: Message) -> int:
    """How many tool results the message holds."""
    return len([part for part in message.parts if isinstance(part, (ToolResult, ServerToolResult))])


def inherit(thread: Thread, parent: Thread, shared: Mapping[int, Slot], call: Call) -> None:
    """Let a fork begin as the thread it left, without what is not in its window."""
    kept = {ref for slot in shared.values() for ref in slot.refs}
    absent = [ref for slot in [*parent.slots, *parent.outputs] for ref in slot.refs if ref not in kept]
    thread.corpus = parent.corpus.fork()
    thread.corpus.leave(absent, decision="start", decided_by="application", dropped=call.ref)
    if parent.track is not None:
        thread.track = parent.track.fork(_last_of(shared), absent)
    thread.names = parent.names.fork()
    thread.calls = parent.calls
    thread.system = parent.system
    thread.system_unreadable = parent.system_unreadable
    thread.system_is_summary = parent.system_is_summary
    thread.unreadable = sum(slot.unreadable for slot in shared.values())


def _last_of(shared: Mapping[int, Slot]) -> At:
    """The last call whose output a fork shares, as far as its window shows."""
    turn = max((slot.turn for slot in shared.values()), default=0)
    return At(turn, sum(slot.turn == turn and slot.message.role == "assistant" for slot in shared.values()))


def apply(
    thread: Thread,
    call: Call,
    plan: Plan,
    shared: Mapping[int, Slot],
    counts: Counts,
    *,
    plain: tuple[Message, ...],
    arrived: Callable[[Slot], None],
) -> None:
    """Change the thread as planned.

    ``plain`` is the window without system messages; ``arrived`` is called with each message that is new in it.
    """
    say_system(thread, call.system, summary=plan.system_is_summary)
    thread.system_is_summary = thread.system_is_summary or plan.system_is_summary
    if plan.output is not None:
        _choose(thread, call, plan, plan.output)
    if plan.comparison is None:
        slots: list[Slot] = [] if plan.decision == "start" else thread.slots
        if plan.output is not None:
            slots.append(plan.output)
        if plan.decision == "start" and call.planned is not None and call.planned.unseen and not thread.calls:
            _feed_unseen(thread, call, call.planned, counts)
        if plan.decision == "start" or plan.added:
            _enter(thread, call, plan, slots, shared, arrived, unseen=counts.unseen)
    else:
        thread.epoch += 1
        _drop(thread, call, plan)
        known = {j: plan.before[i] for j, i in enumerate(plan.comparison.origin) if i >= 0}
        known.update(_rewrite(thread, call, plan))
        known.update(_bring_back(thread, call, plan))
        slots = []
        if plan.reported and call.planned is not None:
            _feed_unseen(thread, call, call.planned, counts)
        _enter(thread, call, plan, slots, known, arrived, unseen=counts.unseen)
    thread.calls += 1
    thread.slots = slots
    thread.sent = plan.window
    thread.plain = plain
    thread.attempted = None
    thread.parent = None
    thread.turn, thread.iteration, thread.results_this_turn = counts.turn, counts.iteration, counts.results


def _choose(thread: Thread, call: Call, plan: Plan, output: Slot) -> None:
    """The application went on with one of the choices: the others' results are not in the window."""
    others = [ref for slot in thread.outputs if slot is not output for ref in slot.refs]
    if others:
        thread.corpus.leave(others, decision=plan.decision, decided_by=plan.decided_by, dropped=call.ref)
    if not output.fed:
        feed(thread, output, served=call.ref, errors=call.error_result_ids)
    thread.unreadable += output.unreadable


def _drop(thread: Thread, call: Call, plan: Plan) -> None:
    for slot in plan.left:
        slot.alive = False
        thread.unreadable -= slot.unreadable
        thread.remember(slot)
    _leave(thread, plan.left, plan.decision, plan.decided_by, _dropped_at(call, plan))


def _dropped_at(call: Call, plan: Plan) -> CallRef | None:
    """Where it was decided that messages leave: at a visit of a strategy that has a span, else at this call."""
    visit = call.planned.window_ref if call.planned is not None and plan.reported else None
    return visit or call.ref


def _feed_unseen(thread: Thread, call: Call, planned: PlannedFacts, counts: Counts) -> None:
    """Messages that a strategy took out before any call sent them: they were there, and are gone."""
    turn = 0 if not thread.calls else thread.turn
    refs: list[str] = []
    for message in planned.unseen:
        turn = min(turn + message.said_by_person, counts.turn)
        slot = Slot(message, None, None, thread.calls + 1, turn, alive=False)
        feed(thread, slot, served=None, errors=call.error_result_ids)
        refs += slot.refs
    folded = "summary" in planned.authored.values()
    thread.corpus.leave(
        refs,
        decision="summarize" if folded else "evict",
        decided_by=planned.strategy or "application",
        dropped=planned.window_ref or call.ref,
    )


def _leave(thread: Thread, slots: list[Slot], decision: str, decided_by: str, dropped: CallRef | None) -> None:
    for slot in slots:
        if slot.refs:
            thread.corpus.serve(slot.refs, turn=slot.turn, served=thread.last)
            thread.corpus.leave(slot.refs, decision=decision, decided_by=decided_by, dropped=dropped)


def _rewrite(thread: Thread, call: Call, plan: Plan) -> dict[int, Slot]:
    """The slots of rewritten messages, fed with what they hold now."""
    made: dict[int, Slot] = {}
    assert plan.comparison is not None
    for i, j in plan.comparison.rewritten:
        old, message = plan.before[i], plan.window[j]
        old.alive = False
        thread.unreadable -= old.unreadable
        kind = "clear" if message.chars < old.message.chars else "rewrite"
        _leave(thread, [old], kind, plan.decided_by, call.ref)
        slot = made[j] = replace(old, message=message, alive=True)
        feed(thread, slot, served=call.ref, errors=call.error_result_ids, refs=old.refs, again=True)
        thread.unreadable += slot.unreadable
    return made


def _bring_back(thread: Thread, call: Call, plan: Plan) -> dict[int, Slot]:
    """The slots of messages that were in the window earlier and are in it again."""
    made: dict[int, Slot] = {}
    for j in plan.returning:
        known = thread.recall(plan.window[j].key)
        if known is None:
            continue
        slot = made[j] = Slot(
            plan.window[j], known.born_at, known.born, known.born_call, known.turn, known.refs, known.tool,
            unreadable=known.unreadable, fed=True,
        )  # fmt: skip
        thread.unreadable += slot.unreadable
        thread.corpus.serve(slot.refs, turn=slot.turn, served=call.ref)
    return made


def _enter(
    thread: Thread,
    call: Call,
    plan: Plan,
    slots: list[Slot],
    known: Mapping[int, Slot],
    arrived: Callable[[Slot], None],
    *,
    unseen: int,
) -> None:
    """Append to ``slots`` what the window holds from there on: known messages, and new ones, which are fed."""
    window, number = plan.window, thread.calls + 1
    begins = call.now if call.started_at is None else call.started_at
    starting = plan.decision == "start"
    turn = max((slot.turn for slot in known.values()), default=0) if starting else thread.turn
    turn += unseen
    history = -1
    if starting:
        history = max((j for j, message in enumerate(window) if message.role == "assistant"), default=-1)
    for j in range(len(slots), len(window)):
        slot = known.get(j)
        if slot is not None:
            slots.append(slot)
            continue
        if begins_turn(plan, j):
            turn += 1
        unknown = j <= history
        slot = Slot(window[j], None if unknown else begins, None if unknown else call.ref, number, turn)
        feed(thread, slot, served=call.ref, errors=call.error_result_ids, said=j not in plan.summary)
        thread.unreadable += slot.unreadable
        slots.append(slot)
        arrived(slot)


def output_slot(message: Message, call: Call, number: int, turn: int) -> Slot:
    """The slot of a choice the model gave: born now, first sent with the thread's next call."""
    return Slot(message, call.now, call.ref, number + 1, turn)
