"""The planner: what window a call is to send, from the application's list, what was carried, and what a strategy decides.

Rules
-----
- ``begin`` changes nothing; a visit that is never committed never was. ``commit`` fixes the window that is sent, ``complete``
  tells what came of it.
- A strategy runs between ``begin`` and ``commit``, without a lock: other calls may come in between. A line that went on
  meanwhile, or one with another call under way, is left alone: the visit becomes a line of its own.
- The same list asked again is sent as it was sent before, without asking the strategy: nothing is evicted or paid for twice.
- Where the window is the provider's a strategy is not asked, and the record says so.
- One revision a turn. The revision's own call is the call before it asked again; its failed answer and correction stay in
  the turn's later requests where it answered with tool calls, else they leave at once.
- Pure and not thread-safe: no clock, ids from ``new_id``; the caller holds a lock around each method.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from otel_footprint.core.call import Call, CallRef
from otel_footprint.core.conversations import Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.exhaustive import assert_never
from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.messages import Message
from otel_footprint.core.planned import Planned as Planned
from otel_footprint.core.planned import PlanRequest as PlanRequest
from otel_footprint.core.planned import Ticket
from otel_footprint.core.planned import Visit as Visit
from otel_footprint.core.threads import Instructions
from otel_footprint.core.window import line as lines_of
from otel_footprint.core.window.checking import allowed
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.core.window.line import Pair, State
from otel_footprint.core.window.lines import Asked, Going, How, Line, Lines
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.record import FoldedSpan, Inactive, WindowRecord
from otel_footprint.core.window.saving import LINES_LIMIT, SavedLine, WindowState, folded_of
from otel_footprint.core.window.strategy import WindowResult, WindowStrategy, WindowStrategyInput
from otel_footprint.core.window.visit import call_directly, never_cancelled, visit_input

_LINES_PER_CONVERSATION: Final = 4
_DIGESTS: Final = 256


class Planner:
    """Plans the window of every call that is acted on. ``new_id`` makes ids of runs where there is no trace."""

    def __init__(self, *, limits: Limits | None = None, new_id: Callable[[], str]) -> None:
        limits = limits or Limits()
        self._new_id = new_id
        self._instructions = Instructions()
        self._digests: dict[str, str] = {}
        self._lines = Lines(
            count=_LINES_PER_CONVERSATION * max(1, limits.conversations), bytes_=limits.bytes, idle_s=limits.idle_s
        )

    @property
    def evicted_lines(self) -> int:
        """How many lines the bounds have pushed out: their windows start over from the application's list."""
        return self._lines.evicted

    def begin(
        self,
        request: PlanRequest,
        *,
        strategy: WindowStrategy | None,
        keep_last_tool_results: int = 2,
        keep_ledger_facts: int = 6,
        standings: Callable[[tuple[str, int] | None], Callable[[str], Standing | None] | None] | None = None,
        as_child: Callable[..., Any] = call_directly,
        cancelled: Callable[[], bool] = never_cancelled,
    ) -> Visit:
        """Find the line the call goes on with, and lay out what the strategy may look at.

        ``standings`` gives, for the conversation and the thread this history was found to be (None: not known), what results
        are declared to be.
        """
        self._lines.expire(request.now)
        envelope = self._instructions.of(request.system)
        asked = Asked(
            messages=request.messages,
            keys=tuple([message.key for message in request.messages]),
            conversation=request.conversation_id,
            instruction=self._instruction(envelope),
            agent=request.agent,
            tools=frozenset(request.tools or ()),
            trace=request.trace_id,
            held=request.server_held,
            envelope=envelope,
        )
        going = self._lines.find(asked)
        state = self._state(request, asked, going)
        window = _window(state.items, request.messages)
        again = going is not None and going.how is How.AGAIN
        visit = Visit(
            input=None,
            request=request,
            strategy=strategy,
            state=state,
            window=window,
            asked=asked,
            going=going,
            version=0 if going is None else going.line.version,
            apart=going is not None and going.line.running and going.base is not going.line.tried,
        )
        if strategy is None or request.server_held or (again and strategy.name == state.strategy):
            return visit
        number = state.calls + 1
        born = Born(None, None, number)
        return replace(
            visit,
            input=visit_input(
                window,
                births=[birth if birth.born_call else born for birth in state.births],
                refs=state.refs,
                call_number=number,
                iteration=state.iteration,
                run_id=state.run_id,
                now=request.now,
                request=request.request,
                measured=state.measured,
                unreported=state.unreported,
                model=request.model,
                provider=request.provider,
                keep_last_tool_results=keep_last_tool_results,
                keep_ledger_facts=keep_ledger_facts,
                standing=None if standings is None else standings(None if going is None else going.line.hint),
                previous=state.records,
                as_child=as_child,
                cancelled=cancelled,
            ),
        )

    def commit(self, visit: Visit, result: WindowResult | None, *, failed: bool = False) -> Planned:
        """Fix the window. ``result`` is what the strategy gave back, None that it did not engage; ``failed``: it raised."""
        state, window, strategy = visit.state, visit.window, visit.strategy
        record: WindowRecord | None = None
        broken: str | None = None
        if strategy is not None:
            if visit.input is not None:
                state = replace(state, strategy=strategy.name)
            if visit.request.server_held:
                record, result = _inactive(visit, strategy, "server-held"), None
            elif failed:
                record, result = _inactive(visit, strategy, "strategy-failed"), None
            elif result is not None and visit.input is not None:
                broken = _broken(result, visit.input)
                record = result.record if broken is None else _inactive(visit, strategy, "invalid-window")
                result = result if broken is None else None
            if result is not None and visit.input is not None:
                state = lines_of.decide(state, result)
                window = result.window if result.window is not None else window
            elif visit.input is not None:
                state = lines_of.undecided(state)
        if state.decided or not state.based:
            state = lines_of.leave_unseen(visit.state, state, visit.request.messages)
        line = self._take(visit, state)
        return self._planned(Ticket(line, state), window, record=record, result=result, broken=broken)

    def written(self, planned: Planned, ref: CallRef | None) -> None:
        """The visit that changed the window of this call was written down: what left by it leads to ``ref``."""
        ticket = planned.ticket
        line, state = ticket.line, ticket.state
        ticket.state = replace(state, window_ref=ref)
        if line.tried is state:
            line.tried = ticket.state

    def complete(self, planned: Planned, call: Call, decisions: Decisions) -> None:
        """What came of the call: its outputs, or none where it failed."""
        ticket = planned.ticket
        line, state = ticket.line, ticket.state
        if not call.outputs:
            if line.tried is state:
                line.failed = True
            return
        before = line.done
        if not any(known is not None and known.keys == state.keys for known in (line.tried, before)):
            line, before = line.apart(), None
            ticket.line = line
        done = lines_of.complete(state, call, turn=decisions.turn, iteration=decisions.iteration)
        if before is not None and before.keys == done.keys:
            done = replace(done, outputs=(done.outputs + before.outputs)[: lines_of.OUTPUTS_LIMIT])
        if planned.is_revision and not call.outputs[0].message.tool_calls:
            done = replace(done, pair=None)
        if line.tried is state:
            line.tried = None
        line.done = ticket.state = done
        line.failed = False
        line.hint = decisions.conversation, decisions.thread
        line.trace = None if call.ref is None else call.ref.trace_id or None
        self._lines.put(line, call.now)

    def abandon(self, planned: Planned) -> None:
        """The call ended, and nothing was observed of it: it was cancelled, or never left."""
        line = planned.ticket.line
        if line.tried is planned.ticket.state:
            line.failed = True

    def revise(
        self, planned: Planned, draft: Message, draft_native: tuple[object, ...], correction: Message
    ) -> Planned:
        """The same call asked again, with the answer that is sent back and its correction at the end of its window."""
        ticket = planned.ticket
        base = ticket.state
        spent = replace(base, revised_turn=base.turn)
        pair = Pair(
            Put(replace(draft, authored="draft"), draft_native),
            Put(replace(correction, authored="correction")),
            len(base.keys),
        )
        state = lines_of.ask_again(replace(spent, pair=pair), run_id=base.run_id, streamed=base.streamed)
        line = ticket.line
        if line.done is base:
            line.done = ticket.state = spent
        line.tried, line.failed = state, False
        line.version += 1
        bare = (
            planned.window
            if base.pair is None
            else tuple(message for message in planned.window if message.authored not in ("draft", "correction"))
        )
        return self._planned(Ticket(line, state), bare, is_revision=True)

    def folded(self, conversation_id: str) -> tuple[FoldedSpan, ...]:
        """What summaries stand for in the windows of this conversation, in the order in which they were written."""
        lines = self._lines.of(conversation_id)
        return folded_of(state for line in lines for state in (line.done, line.tried) if state is not None)

    def saved(self, conversation_id: str) -> WindowState:
        """The windows of this conversation, as another process can go on with them; empty where none is known."""
        lines = [line for line in self._lines.of(conversation_id) if line.done is not None]
        return WindowState(
            tuple(
                SavedLine(
                    line.instruction,
                    line.agent,
                    line.tools,
                    replace(line.done, pair=None, based=False),
                    line.hint[1] if line.hint is not None and line.hint[0] == conversation_id else None,
                )
                for line in lines[-LINES_LIMIT:]
                if line.done is not None
            )
        )

    def restore(self, conversation_id: str, state: WindowState, *, now: float, threads: Collection[int] = ()) -> None:
        """Go on with windows that were saved, in the place of what is known of this conversation. ``now`` in Unix seconds.

        ``threads`` are those of the conversation that were restored with them: what their windows were is known there.
        """
        self._lines.forget(conversation_id)
        for saved in state.lines:
            line = Line(conversation_id, saved.instruction, saved.agent, saved.tools, done=saved.state)
            if saved.thread is not None and saved.thread in threads:
                line.done = replace(saved.state, based=True)
                line.hint = conversation_id, saved.thread
            self._lines.put(line, now)

    def _instruction(self, text: str) -> str:
        """A digest of this system instruction."""
        digest = self._digests.get(text)
        if digest is None:
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() if text else ""
            if len(self._digests) >= _DIGESTS:
                self._digests.clear()
            self._digests[text] = digest
        return digest

    def _state(self, request: PlanRequest, asked: Asked, going: Going | None) -> State:
        messages, keys, streamed = request.messages, asked.keys, request.streamed
        run = format(request.trace_id, "032x") if request.trace_id else None
        if going is None:
            return lines_of.start(messages, keys, run_id=run or self._new_id(), streamed=streamed)
        base = going.base
        match going.how:
            case How.AGAIN:
                state = lines_of.ask_again(base, run_id=run or base.run_id, streamed=streamed)
            case How.APPEND:
                state = lines_of.go_on(base, messages, keys, run_id=run or base.run_id, streamed=streamed)
            case How.REWRITTEN:
                state = lines_of.start_over(
                    base, messages, keys, output_at=going.output_at, run_id=run or base.run_id, streamed=streamed
                )
            case How.FORKED:
                state = lines_of.fork(
                    base, messages, keys, shared=going.shared, run_id=run or self._new_id(), streamed=streamed
                )
            case _:
                assert_never(going.how)
        return replace(state, run_id=self._new_id()) if run is None and state.iteration == 1 else state

    def _take(self, visit: Visit, state: State) -> Line:
        """The line of a committed visit: the one it went on with, if that stands where it stood."""
        going, asked = visit.going, visit.asked
        forked = going is not None and going.how is How.FORKED
        if going is not None and not forked and not visit.apart and going.line.version == visit.version:
            line = going.line
        else:
            line = Line(asked.conversation, asked.instruction, asked.agent, asked.tools)
            if going is not None and not forked:
                line = going.line.apart()
                # The hint holds for as long as nothing else went on there.
                line.hint = going.line.hint
        line.asked(asked)
        line.tried, line.failed = state, False
        line.version += 1
        self._lines.put(line, visit.request.now)
        return line

    def _planned(
        self,
        ticket: Ticket,
        window: tuple[Message, ...],
        *,
        record: WindowRecord | None = None,
        result: WindowResult | None = None,
        broken: str | None = None,
        is_revision: bool = False,
    ) -> Planned:
        state = ticket.state
        items = state.sent
        put = [item.message for item in items if isinstance(item, Put)]
        return Planned(
            items=items,
            window=window if items is state.items else _with_pair(window, items, state),
            result=result,
            record=record,
            broken=broken,
            decided=result is not None and result.window is not None,
            strategy=state.strategy if record is None else record.strategy,
            hint=ticket.line.hint,
            authored={message.key: message.authored for message in put if message.authored is not None},
            revision_available=state.revised_turn != state.turn,
            is_revision=is_revision,
            turn=state.turn,
            iteration=state.iteration,
            run_id=state.run_id,
            ticket=ticket,
        )


def _window(items: tuple[Item, ...], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple([messages[item.index] if isinstance(item, Kept) else item.message for item in items])


def _with_pair(window: tuple[Message, ...], items: tuple[Item, ...], state: State) -> tuple[Message, ...]:
    """The window with the pair where it stands in the items that are sent."""
    assert state.pair is not None
    place = next(j for j, item in enumerate(items) if item is state.pair.draft)
    return (*window[:place], state.pair.draft.message, state.pair.correction.message, *window[place:])


def _inactive(visit: Visit, strategy: WindowStrategy, why: Inactive) -> WindowRecord:
    """The record of a visit at which a strategy could not be used."""
    chars = sum(message.chars for message in visit.window)
    return WindowRecord(
        strategy=strategy.name,
        iteration=visit.state.iteration,
        window_chars_before=chars,
        window_chars_after=chars,
        inactive=why,
    )


def _broken(result: WindowResult, seen: WindowStrategyInput) -> str | None:
    """The rule that a result breaks, None where it may be used. An application's strategy may give back anything."""
    try:
        return allowed(result, seen).reason
    except (TypeError, ValueError, AttributeError, IndexError):
        return "what it gave back cannot be read"
