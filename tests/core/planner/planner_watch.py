"""Watching a live agent from outside: what of its list was sent, and whether what was observed is what was decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from planner_cases import Called, Live

from otel_footprint.core.messages import Message
from otel_footprint.core.turns import segment
from otel_footprint.core.window.items import Kept, Put
from otel_footprint.core.window.lines import How


@dataclass
class Watch:
    """One application's list, and what of it had left at each state of its lines."""

    live: Live
    fields: dict[str, Any]
    messages: list[Message]
    gone: dict[int, set[int]] = field(default_factory=dict)
    states: list[Any] = field(default_factory=list)

    def call(self, *outputs: Message) -> Called:
        """Plan, call, observe, and check everything."""
        called = self.live.call(self.messages, *outputs, **self.fields)
        self.carry(called)
        self.shape(called)
        self.agree(called)
        return called

    def carry(self, called: Called) -> None:
        """What was dropped never comes back, and nothing else leaves without a record."""
        state, visit = called.planned.ticket.state, called.visit
        self.states.append(state)  # so that ids stay theirs
        kept, everything = set(called.kept), set(range(len(self.messages)))
        if visit.going is None or visit.going.how is How.REWRITTEN:
            assert visit.window == tuple(self.messages)
            gone: set[int] = set()
        else:
            gone = self.gone[id(visit.going.base)]
        assert not kept & gone
        record, given = called.planned.record, called.planned.result
        assert len(visit.window) == len([m for m in visit.window if m.authored]) + len(everything - gone)
        if given is None or given.window is None:
            assert kept == everything - gone
        else:
            assert record is not None
            left = {item.index for item in visit.state.items if isinstance(item, Kept)} - kept
            put_before = sum(1 for item in visit.state.items if isinstance(item, Put))
            put_after = sum(1 for message in called.window if message.authored in ("notice", "summary"))
            assert len(given.evictions) == record.removed_message_count
            assert len(left) <= len(given.evictions) <= len(left) + put_before
            assert put_after <= put_before + 1
        self.gone[id(state)] = everything - kept

    def shape(self, called: Called) -> None:
        """Whole turns, in order, with the current request; a window that opens as the list could."""
        kept = called.kept
        assert kept == sorted(set(kept))
        for turn in segment(self.messages):
            members = set(range(turn.first, turn.last + 1))
            assert members <= set(kept) or not members & set(kept)
        said = [index for index, message in enumerate(self.messages) if message.said_by_person]
        assert not said or said[-1] in kept
        if self.messages[0].role == "user":
            assert called.window[0].role == "user"
        record = called.planned.record
        if record is not None:
            assert record.window_chars_before == sum(message.chars for message in called.visit.window)
            conversation = [m for m in called.window if m.authored not in ("draft", "correction")]
            assert record.window_chars_after == sum(message.chars for message in conversation)

    def agree(self, called: Called) -> None:
        """What was observed of the call is what was decided about it."""
        planned, decisions = called.planned, called.decisions
        change, given = decisions.window, planned.result
        if planned.hint is not None:
            assert (decisions.turn, decisions.iteration) == (planned.turn, planned.iteration)
        assert decisions.turn >= planned.turn
        pair = sum(1 for message in planned.window if message.authored in ("draft", "correction"))
        assert change.messages_after == len(planned.window) - pair
        state = called.visit.state
        if given is not None and given.window is not None and state.based and planned.hint is not None:
            assert change.decided_by == planned.strategy
            assert change.reported
            if not state.decided:
                assert [(e.index, e.key, e.chars) for e in change.evictions] == [
                    (e.index, e.key, e.chars) for e in given.evictions if e.index < change.messages_before
                ]
        if (given is None or given.window is None) and not state.decided:
            assert change.decided_by == "application"
        thread = self.live.conversations._sessions[decisions.conversation].numbered[decisions.thread]
        if called.call.outputs:
            assert [m.key for m in thread.sent] == [
                m.key for m in planned.window if m.authored not in ("draft", "correction")
            ]
            assert [m.authored for m in thread.sent] == [
                m.authored for m in planned.window if m.authored not in ("draft", "correction")
            ]
