"""What holds whatever an application does to its window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from session_cases import Store, asks, result, says, system, user

from otel_footprint.core.call import ProviderEdit
from otel_footprint.core.conversations import Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.messages import Message
from otel_footprint.core.window.observe import compare, decide

WORDS = ["yes", "go on", "the order 12", "a question that is rather long, about the parcel"]


def message_of(kind: str, n: int, word: str) -> Message:
    match kind:
        case "user":
            return user(word)
        case "says":
            return says(word)
        case "asks":
            return asks((f"id{n % 3}", "find", {"n": n % 2}))
        case "result":
            return result(f"id{n % 3}" if n % 5 else None, f"{word} {n % 2}")
        case _:
            return system(word)


WORD = st.sampled_from(WORDS)
MESSAGES = st.builds(
    message_of,
    st.sampled_from(["user", "says", "asks", "result", "result", "system"]),
    st.integers(0, 9),
    WORD,
)


@given(st.lists(MESSAGES, min_size=1, max_size=12), st.lists(MESSAGES, max_size=12), st.booleans())
def test_any_two_windows_are_accounted_for_exactly(before: list[Message], after: list[Message], answered: bool) -> None:
    comparison = compare(before, after, answered=answered)
    origins = [origin for origin in comparison.origin if origin >= 0]
    assert len(set(origins)) == len(origins)
    assert sorted([*origins, *comparison.left]) == list(range(len(before)))
    assert list(comparison.added) == [j for j, origin in enumerate(comparison.origin) if origin < 0]
    rewritten = {j: i for i, j in comparison.rewritten}
    for j, origin in enumerate(comparison.origin):
        if j in rewritten:
            assert rewritten[j] == origin
            assert before[origin].key != after[j].key
            assert before[origin].role == after[j].role
        elif origin >= 0:
            assert before[origin].key == after[j].key
    decision, summary = decide(comparison, before, after)
    if decision == "append":
        assert not comparison.left
        assert not comparison.rewritten
    if decision == "evict":
        assert comparison.left
    assert bool(summary) <= (decision == "summarize")
    assert all(j in comparison.added and after[j].role != "tool" for j in summary)


@given(st.lists(MESSAGES, min_size=1, max_size=12), st.lists(MESSAGES, max_size=6))
def test_a_window_that_only_grew_is_all_kept(before: list[Message], new: list[Message]) -> None:
    comparison = compare(before, [*before, *new])
    assert list(comparison.left) == []
    assert comparison.inserted == 0
    kept = Counter(before[i].key for i in comparison.origin if i >= 0)
    assert kept == Counter(message.key for message in before)


@dataclass(frozen=True)
class Act:
    """What a simulated application does to its window before its next call, and what it goes on with.

    ``kind`` is what it does, ``amount`` how much of it; then ``parallel`` results follow the calls of the last output,
    or a person says ``word``; ``asks`` says whether the model asks for tools next, under ids that repeat or not.
    """

    kind: str
    amount: int
    word: str
    parallel: int
    repeat: bool
    fails: bool


ACTS = st.builds(
    Act,
    st.sampled_from(["grow", "grow", "keep_last", "drop_middle", "blank", "fold", "fold_and_blank"]),
    st.integers(1, 9),
    st.sampled_from(WORDS),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)


@settings(deadline=None)
@given(st.lists(ACTS, min_size=2, max_size=12))
def test_what_an_application_does_is_what_is_reported(acts: Sequence[Act]) -> None:
    """The application keeps its own count: what it took out or blanked is reported, once, with exact characters."""
    store = Store()
    window: list[Message] = [user("begin with this, please")]
    output = says("The first answer, which is like no other answer.")
    persons = 1
    store.call(window, output, id="c")
    for number, act in enumerate(acts):
        before = [*window, output]
        head = 1 + act.amount
        removed: list[int] = []
        blank: list[int] = []
        summary: list[Message] = []
        if act.kind == "keep_last":
            removed = list(range(max(0, len(window) - act.amount)))
        elif act.kind == "drop_middle":
            removed = list(range(1, min(head, len(window) - 1)))
        elif act.kind.startswith("fold") and len(window) > 2:
            removed = list(range(min(head, len(window) - 1)))
            summary = [user(f"Summary {number} of what went before.") if number % 2 else says(f"Summary {number}.")]
        while removed and removed[-1] + 1 < len(window) and window[removed[-1] + 1].role == "tool":
            removed.append(removed[-1] + 1)  # a call and its results leave together
        if act.kind.endswith("blank"):
            blank = [i for i, each in enumerate(window) if each.role == "tool" and i not in removed and each.chars > 1]
        gone = set(removed)
        kept = [blanked(each) if i in blank else each for i, each in enumerate(window) if i not in gone]
        answers = [result(call.id, f"result {number} {n} of it") for n, call in enumerate(output.tool_calls)]
        new = answers or [user(act.word)]
        persons += not answers
        sent = [*summary, *kept, output, *new]
        if act.fails:
            failed = store.call(sent, id="c")
            assert not failed.window.settled
        name = "call" if act.repeat else f"call-{number}"
        calls = [(f"{name}-{n}", "find", {"n": number}) for n in range(act.parallel)]
        following = asks(*calls) if calls else says(f"Answer {number}, which is like no other answer: {act.word}")
        decided = store.call(sent, following, id="c")
        change = decided.window
        assert (decided.thread, decided.turn) == (1, persons)
        # Which of several equal messages left nobody can tell; everything else is exact.
        assert Counter(each.key for each in change.evictions) == Counter(before[i].key for i in removed)
        assert [(each.key, each.chars) for each in change.evictions] == [
            (before[each.index].key, before[each.index].chars) for each in change.evictions
        ]
        if len({each.key for each in before}) == len(before):
            assert [each.index for each in change.evictions] == removed
        assert [(each.index, each.chars_before, each.chars_after) for each in change.rewrites] == [
            (i, before[i].chars, 1) for i in blank
        ]
        assert change.inserted == len(summary)
        assert (change.messages_before, change.messages_after) == (len(before), len(sent))
        assert change.chars_before == sum(each.chars for each in before)
        assert change.chars_after == sum(each.chars for each in sent)
        if summary:
            expected = "summarize"
        else:
            expected = "clear" if blank else "evict" if removed else "append"
        assert change.decision == expected
        (thread,) = store.conversations._sessions["c"].index
        assert [slot.message for slot in thread.slots] == sent
        window, output = sent, following


def blanked(message: Message) -> Message:
    assert message.result is not None
    return result(message.result.id, "-")


def strip(decided: Decisions) -> Decisions:
    """A decision without what differs between a store of one's own and a shared one: our id, spans and times."""
    change = decided.window
    evictions = tuple(replace(each, survival_ms=0, born=None) for each in change.evictions)
    return replace(decided, conversation="", judgements=(), window=replace(change, evictions=evictions))


def history_of(name: str, turns: Sequence[tuple[str, int]]) -> list[Message]:
    made: list[Message] = []
    for n, (word, tool) in enumerate(turns):
        made.append(user(f"{word}" if n else f"{name}: {word}"))
        if tool:
            made += [asks(("call_0", "find", {"n": n, "of": name})), result("call_0", f"found {n}")]
        made.append(says(f"Answer {n} of {name}, which is long enough to be told apart: {word}"))
    return made


TURNS = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, 1)), min_size=1, max_size=6)


def calls_of(history: list[Message], keep: int) -> list[tuple[list[Message], Message]]:
    places = [place for place, message in enumerate(history) if message.role == "assistant"]
    return [(history[max(0, place - keep) : place], history[place]) for place in places]


@settings(deadline=None)
@given(TURNS, TURNS, st.integers(4, 30), st.lists(st.booleans(), max_size=30))
def test_two_conversations_are_decided_as_if_apart(
    left: list[tuple[str, int]], right: list[tuple[str, int]], keep: int, order: list[bool]
) -> None:
    waiting = {name: calls_of(history_of(name, turns), keep) for name, turns in (("left", left), ("right", right))}
    apart = {name: [strip(decided) for decided in run(each)] for name, each in waiting.items()}
    store = Store()
    together: dict[str, list[Decisions]] = {"left": [], "right": []}
    queue = {name: list(each) for name, each in waiting.items()}
    for first in [*order, *[True] * 40]:
        name = "left" if first else "right"
        if not queue[name]:
            name = "right" if first else "left"
        if queue[name]:
            window, output = queue[name].pop(0)
            together[name].append(strip(store.call(window, output)))
    assert together == apart


def run(calls: Sequence[tuple[list[Message], Message]]) -> list[Decisions]:
    store = Store()
    return [store.call(window, output) for window, output in calls]


@settings(deadline=None)
@given(TURNS)
def test_an_append_only_history_is_only_start_and_append(turns: list[tuple[str, int]]) -> None:
    decided = run(calls_of(history_of("only", turns), 1000))
    assert [each.window.decision for each in decided] == ["start"] + ["append"] * (len(decided) - 1)
    assert {each.conversation for each in decided} == {"made-1"}
    assert [each.turn for each in decided] == sorted(each.turn for each in decided)


CALLS = st.fixed_dictionaries(
    {
        "messages": st.lists(MESSAGES, max_size=6),
        "grow": st.booleans(),
        "outputs": st.lists(
            st.builds(message_of, st.sampled_from(["says", "asks"]), st.integers(0, 9), WORD), max_size=2
        ),
        "system": st.lists(st.builds(system, WORD), max_size=2),
        "id": st.sampled_from([None, None, "a", "b"]),
        "trace": st.sampled_from([None, 1, 2]),
        "response_id": st.sampled_from([None, "r1", "r2"]),
        "previous_response_id": st.sampled_from([None, None, None, "r1", "r2", "r3"]),
        "server_thread": st.sampled_from([None, None, None, "t1", "t2"]),
        "edits": st.sampled_from([(), (), (ProviderEdit("clear", "clear_tool_uses", 1),)]),
        "agent": st.sampled_from([None, "clerk"]),
        "tools": st.sampled_from([None, (), ("find",)]),
    }
)


@settings(deadline=None)
@given(st.lists(CALLS, max_size=12), st.sampled_from([1, 2, 1000]), st.sampled_from([20_000, 10**9]))
def test_whatever_is_called_the_store_stays_whole(calls: list[dict[str, Any]], conversations: int, size: int) -> None:
    store = Store(limits=Limits(conversations=conversations, bytes=size))
    inner = store.conversations
    last: list[Message] = []
    for facts in calls:
        messages = [*(last if facts.pop("grow") else []), *facts.pop("messages")]
        outputs = facts.pop("outputs")
        decided = store.call(messages, *outputs, **facts)
        last = [*messages, *outputs[:1]]
        change = decided.window
        assert len({each.index for each in change.evictions}) == len(change.evictions)
        assert all(0 <= each.index < change.messages_before for each in change.evictions)
        assert change.settled == bool(outputs)
        assert decided.iteration >= 1
        assert change.decision != "reset" or not facts["previous_response_id"]
        assert len(inner) <= conversations
        assert inner.size_bytes == sum(session.size for session in inner._sessions.values()) >= 0
        threads = {thread for session in inner._sessions.values() for thread in session.index}
        assert threads == set(inner._index)
        for thread in threads:
            assert tuple(slot.message for slot in thread.slots) == thread.sent
            assert thread.chars == sum(message.chars for message in thread.sent)
            assert thread.unreadable == sum(slot.unreadable for slot in thread.slots) == 0
            assert thread.turn >= max((slot.turn for slot in thread.slots), default=0)
        assert {held.thread for held in inner._server_held._responses.values()} <= threads
        assert set(inner._server_held._threads.values()) <= threads
