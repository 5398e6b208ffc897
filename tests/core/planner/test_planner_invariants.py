"""Whatever an application does with its list: the rules of the carried window hold, and what is observed agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from planner_cases import Live, asks, correction, result, says, user
from planner_watch import Watch

from otel_footprint.core.turns import segment
from otel_footprint.core.window.items import Kept
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
class Application(Watch):
    """An application that does anything with its list."""

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


@settings(max_examples=150, deadline=None)
@given(STRATEGIES, st.lists(STEPS, max_size=30), st.sampled_from([{}, {"conversation_id": "a"}, {"trace_id": None}]))
def test_any_application(strategy: Any, steps: list[tuple[str, Any]], fields: dict[str, Any]) -> None:
    application = Application(Live(strategy), fields, [user("Begin.")])
    for kind, what in steps:
        application.step(kind, what)


def test_a_completed_call_made_again_in_vain_is_as_if_it_had_not_been_made() -> None:
    """The application discarded an answer, failed to get another, and goes on without one."""
    application = Application(Live(SlidingWindow(1)), {}, [user("Begin.")])
    for kind, what in [("tools", ["look"]), ("edit", 1), ("fail", None), ("say", "yes"), ("tools", ["look"])]:
        application.step(kind, what)
    apart = Application(Live(SlidingWindow(1)), {}, [user("Begin.")])
    for kind, what in [("tools", ["look"]), ("edit", 1), ("say", "yes"), ("tools", ["look"])]:
        apart.step(kind, what)
    one, other = application.states[-1], apart.states[-1]
    assert (one.keys, one.items, one.turn, one.iteration) == (other.keys, other.items, other.turn, other.iteration)


def test_an_answer_like_an_earlier_one_is_discarded_and_its_call_made_again_in_vain() -> None:
    application = Application(Live(None), {}, [user("Begin.")])
    steps = [("answer", "no"), ("answer", "no"), ("fork", 2), ("fail", None), ("say", "yes"), ("tools", ["look"])]
    for kind, what in steps:
        application.step(kind, what)


def test_of_two_answers_to_a_call_the_one_that_stands_last_is_gone_on_with() -> None:
    """The draft that was sent back is like an earlier answer, which the application still holds."""
    application = Application(Live(None), {}, [user("Begin.")])
    for kind, what in [("answer", "It is QX7781ZZ."), ("revise", False), ("edit", 0)]:
        application.step(kind, what)
    decisions = application.call(asks(("c", "look"))).decisions
    assert (decisions.turn, decisions.iteration) == (3, 1)
    assert [eviction.index for eviction in decisions.window.evictions] == [0]


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
