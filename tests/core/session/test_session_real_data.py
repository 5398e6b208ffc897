"""Real conversations replayed as calls: each prefix up to an assistant message is a call whose output is that message."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_cases import Store, result

from otel_footprint.core.decisions import Decisions
from otel_footprint.core.messages import Message, Text
from otel_footprint.core.session import Session
from otel_footprint.providers import openai_chat

BLANK = "[cleared]"
FILES = ["tau_airline/conversations.jsonl", "tau_retail/conversations.jsonl", "tau2/airline.jsonl", "tau2/retail.jsonl"]


def read(line: str) -> list[Message]:
    """One recorded conversation."""
    return [native.message for native in openai_chat.read(json.loads(line)["messages"])]


@pytest.fixture(scope="module", params=FILES)
def conversations(request: pytest.FixtureRequest, shared_data: Path) -> list[list[Message]]:
    return [read(line) for line in (shared_data / request.param).read_text("utf-8").splitlines()]


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the judging out, which takes longer than all the rest, where only windows are looked at."""
    monkeypatch.setattr(Session, "_judge", lambda *_: None)


def calls(conversations: list[list[Message]]) -> Iterator[tuple[int, tuple[Message, ...], list[Message], Message]]:
    """``(which, system, history, output)`` of every call, the conversations taking turns message by message."""
    for place in range(max(map(len, conversations))):
        for which, conversation in enumerate(conversations):
            if place < len(conversation) and conversation[place].role == "assistant":
                head = tuple(conversation[:1]) if conversation[0].role == "system" else ()
                yield which, head, conversation[len(head) : place], conversation[place]


class Ledger:
    """What each conversation of the store was last seen to hold, kept apart from the store.

    Conversations that are equal so far are the same to anyone who only reads messages, so a call may take the place of
    its twin; from then on the two are exchanged. What must never happen is that a call is put to another history.
    """

    def __init__(self) -> None:
        self.holds: dict[str, tuple[Message, ...]] = {}

    def check(self, decided: Decisions, history: list[Message], output: Message) -> None:
        assert decided.thread == 1
        known = self.holds.get(decided.conversation)
        begun = [message for message in history if message.role == "assistant"]
        if known is None:
            assert not begun
        else:
            assert known == tuple(history[: len(known)])
        self.holds[decided.conversation] = (*history, output)


def test_every_call_finds_its_own_conversation(conversations: list[list[Message]]) -> None:
    store, ledger, decisions = Store(), Ledger(), Counter[str]()
    for _, head, history, output in calls(conversations):
        decided = store.call(history, output, system=head)
        ledger.check(decided, history, output)
        decisions[decided.window.decision] += 1
        assert decided.turn == sum(message.role == "user" for message in history)
        assert decided.window.chars_after == sum(message.chars for message in history)
    total = sum(message.role == "assistant" for conversation in conversations for message in conversation)
    assert decisions == {"start": len(conversations), "append": total - len(conversations)}
    assert Counter(ledger.holds.values()) == Counter(
        tuple(conversation[1 : last_answer(conversation) + 1]) for conversation in conversations
    )


def last_answer(conversation: list[Message]) -> int:
    return max(place for place, message in enumerate(conversation) if message.role == "assistant")


@pytest.mark.parametrize("keep", [8, 12])
@pytest.mark.usefixtures("unjudged")
def test_an_application_that_keeps_the_last_messages(conversations: list[list[Message]], keep: int) -> None:
    store, ids = Store(), Twins(conversations)
    sent: dict[int, range] = {}
    for which, head, history, output in calls(conversations):
        places = range(max(0, len(history) - keep), len(history))
        decided = store.call([history[place] for place in places], output, system=head, id=ids[which])
        change = decided.window
        before = sent.get(which)
        if before is not None:
            gone = range(before.start, places.start)
            assert [(each.index, each.key) for each in change.evictions] == [
                (index, history[place].key) for index, place in enumerate(gone)
            ]
            assert change.decision == ("evict" if gone else "append")
            assert (change.messages_before, change.messages_after) == (len(before), len(places))
            assert change.chars_before == sum(history[place].chars for place in before)
            tools = [result_tool(history, place) for place in gone]
            assert change.dropped_tools == tuple(dict.fromkeys(tool for tool in tools if tool))
        assert change.chars_after == sum(history[place].chars for place in places)
        assert (change.rewrites, change.inserted, decided.thread) == ((), 0, 1)
        assert decided.turn == sum(message.role == "user" for message in history)
        sent[which] = range(places.start, len(history) + 1)


@pytest.mark.parametrize("recent", [1, 3])
@pytest.mark.usefixtures("unjudged")
def test_an_application_that_blanks_old_results(conversations: list[list[Message]], recent: int) -> None:
    store, ids = Store(), Twins(conversations)
    blanked: dict[int, set[int]] = {}
    lengths: dict[int, int] = {}
    for which, head, history, output in calls(conversations):
        results = [place for place, message in enumerate(history) if message.role == "tool"]
        blank = {place for place in results[:-recent] if history[place].chars > len(BLANK)}
        window = [
            result(message.result.id, BLANK, message.result.name) if place in blank and message.result else message
            for place, message in enumerate(history)
        ]
        decided = store.call(window, output, system=head, id=ids[which])
        change = decided.window
        now = sorted(place for place in blank - blanked.get(which, set()) if place < lengths.get(which, 0))
        assert (change.evictions, change.inserted, decided.thread) == ((), 0, 1)
        if change.decision == "start":
            assert which not in blanked
        else:
            assert [(each.index, each.chars_before, each.chars_after) for each in change.rewrites] == [
                (place, history[place].chars, len(BLANK)) for place in now
            ]
            assert change.decision == ("clear" if now else "append")
        blanked[which], lengths[which] = blank, len(history)


@pytest.mark.usefixtures("unjudged")
def test_an_application_that_folds_its_history(conversations: list[list[Message]]) -> None:
    store, ids = Store(), Twins(conversations)
    folds: dict[int, int] = {}
    seen = Counter[str]()
    for which, head, history, output in calls(conversations):
        folded = folds.get(which, 0)
        summarised = len(history) - folded > 12
        if summarised:
            folded = len(history) - 6
            while history[folded].role == "tool":
                folded -= 1
        window = history[folded:] if not folded else [summary_of(which, folded), *history[folded:]]
        decided = store.call(window, output, system=head, id=ids[which])
        change = decided.window
        seen[change.decision] += 1
        if change.decision != "start":
            assert change.decision == ("summarize" if summarised else "append")
            assert change.inserted == summarised
            before = folds.get(which, 0)
            assert len(change.evictions) == ((folded - before + (before > 0)) if summarised else 0)
        assert decided.thread == 1
        assert decided.turn == sum(message.role == "user" for message in history)
        folds[which] = folded
    assert seen["summarize"] > 10


def summary_of(which: int, folded: int) -> Message:
    text = f"What conversation {which} held in its first {folded} messages, in short."
    return Message("user" if which % 2 else "assistant", (Text(text),))


def result_tool(history: list[Message], place: int) -> str | None:
    answered = history[place].result
    if answered is None:
        return None
    for message in reversed(history[:place]):
        for call in message.tool_calls:
            if call.id == answered.id:
                return answered.name or call.name
    return answered.name


class Twins(dict[int, "str | None"]):
    """Explicit ids for conversations that begin with the very same calls as another, no id for the rest."""

    def __init__(self, conversations: list[list[Message]]) -> None:
        openings = Counter(tuple(conversation[:3]) for conversation in conversations)
        greeted = Counter(tuple(conversation[:2]) for conversation in conversations if conversation[1].role != "user")
        super().__init__(
            {
                which: str(which) if openings[tuple(c[:3])] > 1 or greeted[tuple(c[:2])] > 1 else None
                for which, c in enumerate(conversations)
            }
        )
