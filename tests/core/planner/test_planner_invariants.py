"""Whatever an application does with its list: the rules of the carried window hold, and what is observed agrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from planner_cases import Called, Live, asks, correction, result, says, user

from otel_footprint.core.messages import Message
from otel_footprint.core.turns import segment
from otel_footprint.core.window.items import Kept, Put
from otel_footprint.core.window.lines import How
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget

STRATEGIES = st.one_of(
    st.none(),
    st.integers(1, 5).map(SlidingWindow),
    st.builds(TokenBudget, st.integers(50, 400), st.integers(1, 5)),
    st.builds(
        lambda threshold, keep: SummarizeOldest(threshold, lambda _: "They read rows.", "m", keep),
        st.integers(50, 400),
        st.integers(1, 5),
    ),
)
WORDS = st.sampled_from(
    ["yes", "no", "Read the rows of the first table.", "And the next one, please, with all it holds."]
)
STEPS = st.one_of(
    st.tuples(st.just("say"), WORDS),
    st.tuples(st.just("tools"), st.lists(st.sampled_from(["look", "find", "list"]), min_size=1, max_size=3)),
    st.tuples(st.just("tools"), st.lists(st.sampled_from(["look", "find", "list"]), min_size=1, max_size=1)),
    st.tuples(st.just("answer"), WORDS),
    st.tuples(st.just("fail"), st.none()),
    st.tuples(st.just("again"), st.none()),
    st.tuples(st.just("edit"), st.integers(0, 50)),
    st.tuples(st.just("fork"), st.integers(0, 50)),
    st.tuples(st.just("revise"), st.booleans()),
)


@dataclass
class Application:
    """An application with one list, and what an observer of its own knows of each line."""

    live: Live
    fields: dict[str, Any]
    messages: list[Message] = field(default_factory=lambda: [user("Begin.")])
    gone: dict[int, set[int]] = field(default_factory=dict)
    states: list[Any] = field(default_factory=list)
    made: int = 0

    def step(self, kind: str, what: Any) -> None:
        messages = self.messages
        if kind == "say":
            messages.append(user(what))
        elif kind == "edit":
            turns = segment(messages)
            turn = turns[what % len(turns)]
            del messages[turn.first : turn.last + 1]
        elif kind == "fork":
            del messages[1 + what % len(messages) :]
            while messages and messages[-1].tool_calls:
                messages.pop()
        if not messages or messages[-1].role == "assistant":
            messages.append(user("Go on."))
        if kind == "fail":
            self.call()
        elif kind == "tools":
            self.made += 1
            calls = [(f"c{(self.made + n) % 7}", name) for n, name in enumerate(what)]
            self.call(asks(*calls))
            messages.append(asks(*calls))
            messages += [
                result(id_, f"rows of {name} {self.made} ".ljust(self.made % 5 * 60, ".")) for id_, name in calls
            ]
        elif kind == "answer":
            self.call(says(what))
            messages.append(says(what))
        elif kind == "again":
            self.call(says("One."))
            self.call(says("Another."))
            messages.append(says("Another."))
        elif kind == "revise":
            self.revise(calls_tools=what)

    def revise(self, *, calls_tools: bool) -> None:
        draft, check = says("It is QX7781ZZ."), correction("[automatic check] QX7781ZZ")
        first = self.call(draft)
        if not first.planned.revision_available:
            self.messages.append(draft)
            return
        planned = self.live.planner.revise(first.planned, draft, (), check)
        assert planned.window[-2:] == (draft, check)
        output = asks(("r", "look")) if calls_tools else says("I do not know.")
        second = self.live.answer(first.visit, planned, output)
        self.agree(second)
        for state in (first.planned.ticket.state, second.planned.ticket.state):
            self.states.append(state)
            self.gone[id(state)] = set(range(len(self.messages))) - set(first.kept)
        assert second.decisions.thread == first.decisions.thread
        self.messages.append(output)
        if calls_tools:
            self.messages.append(result("r", "rows " * 20))

    def call(self, *outputs: Message) -> Called:
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


@settings(max_examples=150, deadline=None)
@given(STRATEGIES, st.lists(STEPS, max_size=30), st.sampled_from([{}, {"conversation_id": "a"}, {"trace_id": None}]))
def test_any_application(strategy: Any, steps: list[tuple[str, Any]], fields: dict[str, Any]) -> None:
    application = Application(Live(strategy), fields)
    for kind, what in steps:
        application.step(kind, what)


@settings(max_examples=60, deadline=None)
@given(
    STRATEGIES,
    st.lists(st.tuples(st.integers(0, 2), STEPS), max_size=40),
    st.booleans(),
)
def test_any_applications_side_by_side(strategy: Any, steps: list[tuple[int, Any]], named: bool) -> None:
    live = Live(strategy)
    applications = [
        Application(live, {"conversation_id": f"id-{n}"} if named else {"trace_id": n + 1}, [user(f"Begin {n}.")])
        for n in range(3)
    ]
    for which, (kind, what) in steps:
        applications[which].step(kind, what)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).map(SlidingWindow),
    st.integers(2, 8),
    st.permutations(range(4)),
    st.permutations(range(4)),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_parallel_calls_keep_their_own_windows(
    strategy: SlidingWindow, count: int, commits: list[int], ends: list[int], fails: list[bool]
) -> None:
    live = Live(strategy)
    base = [user("Read it all.")]
    for number in range(count):
        output = asks((f"c{number}", "look"))
        live.call(base, output)
        base += [output, result(f"c{number}", f"row {number} " * 30)]
    lists = [[*base, user(f"Branch {n}.")] for n in range(4)]
    visits = [live.begin(each) for each in lists]
    planned = {n: live.commit(visits[n]) for n in commits}
    assert len({id(each.ticket.line) for each in planned.values()}) == 4
    for n in ends:
        live.answer(visits[n], planned[n], *([] if fails[n] else [asks((f"b{n}", "look"))]))
    for n in range(4):
        assert planned[n].window[-1] == lists[n][-1]
        if fails[n]:
            again = live.begin(lists[n])
            assert live.commit(again).items == planned[n].items
            continue
        later = live.begin([*lists[n], asks((f"b{n}", "look")), result(f"b{n}", "row")])
        before = {item.index for item in planned[n].items if isinstance(item, Kept)}
        kept = {item.index for item in later.state.items if isinstance(item, Kept)}
        assert kept == before | {len(lists[n]), len(lists[n]) + 1}
