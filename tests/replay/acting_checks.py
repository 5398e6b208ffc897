"""Whether what a run put on record is what happened: spans and metrics against a recount from the wire."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from acting_agents import CORRECTION, Api, Played
from acting_recount import Counted, Piece, history, pieces, recount

from otel_footprint.testing.wire_rules import problems

OURS = "agentfootprint."
CODE = re.compile(r"\b(?=[A-Z]+[0-9]|[0-9]+[A-Z]+[0-9])[A-Z0-9]{6}\b")
"""What a reservation is called, but for those that read as a number with a word behind it."""


@dataclass
class Tally:
    """What the runs held, so that a test can say that it saw enough."""

    calls: int = 0
    visits: Counter[str] = field(default_factory=Counter)
    left: int = 0
    revisions: int = 0
    evicted_values: int = 0
    codes_known_to_have_left: int = 0


def attributes(span: Any) -> dict[str, Any]:
    """Our attributes of a span, without our prefix."""
    return {key.removeprefix(OURS): value for key, value in (span.attributes or {}).items() if key.startswith(OURS)}


def events(span: Any, name: str) -> list[dict[str, Any]]:
    """The attributes of the span's events of this name, without our prefix."""
    return [
        {key.removeprefix(OURS): value for key, value in (event.attributes or {}).items()}
        for event in span.events
        if event.name == f"{OURS}{name}"
    ]


def check_run(api: Api, strategy: str, played: Played, spans: Sequence[Any], tally: Tally) -> None:
    """Everything that is to hold of one run. ``spans`` are those it exported, in the order they ended."""
    check_wire(api, played)
    counted = recount(api, played)
    visits: dict[int, Any] = {}
    chats: list[Any] = []
    judged: list[Any] = []
    revised = 0
    waiting: Any = None
    for span in spans:
        if span.name.startswith("agentfootprint.window "):
            assert waiting is None, "two visits for one call"
            waiting = span
        elif (span.attributes or {}).get("gen_ai.operation.name") == "chat" and _is_agent(span):
            if waiting is not None:
                assert waiting.end_time <= span.start_time
                assert waiting.parent == span.parent
            if attributes(span).get("window.settled") is False:
                assert events(span, "context.evicted") == []
                continue  # it failed: what the visit decided is sent when the application asks again
            if attributes(span).get("evidence.revision"):
                revised += 1
                assert attributes(judged[-1])["evidence.action"] == "recheck"
                assert attributes(span)["window.evicted"] == attributes(span)["window.inserted"] == 0
                assert attributes(span)["window.messages_after"] == attributes(judged[-1])["window.messages_after"]
                judged[-1] = span
                continue
            if waiting is not None:
                visits[len(chats)] = waiting
                waiting = None
            chats.append(span)
            judged.append(span)
    assert waiting is None
    assert revised == len(played.revisions)
    assert len(chats) == len(counted) == len(played.wire)
    for number, (call, chat) in enumerate(zip(counted, chats, strict=True)):
        visit = visits.get(number)
        check_visit(strategy, call, visit)
        check_chat(strategy, call, chat, counted[number - 1] if number else None)
        tally.calls += 1
        tally.left += len(call.removed)
        tally.visits[attributes(visit)["window.outcome"] if visit is not None else "none"] += 1
    check_evidence(api, strategy, played, counted, judged, [visits.get(n) for n in range(len(chats))], tally)
    turns = [
        (span["thread"], span["turn"])
        for chat in chats
        if (span := attributes(chat)).get("evidence.action") == "recheck"
    ]
    assert len(turns) == len(set(turns)) == len(played.revisions), "more than one revision in a turn"
    tally.revisions += revised


def _is_agent(span: Any) -> bool:
    return (span.attributes or {}).get("gen_ai.request.model") != "summarizer"


def check_wire(api: Api, played: Played) -> None:
    """Every request is one that the provider takes, holds the current request, and leaves the application's list alone."""
    for body in played.revisions:
        assert problems(api, body) == []
    for number, (body, own) in enumerate(zip(played.wire, played.lists, strict=True)):
        assert problems(api, body) == [], f"call {number}"
        assert CORRECTION not in str(own)
        if number:
            assert own[: len(played.lists[number - 1])] == played.lists[number - 1]
        said = [piece for piece in pieces(api, [m for m in own if m["role"] != "system"]) if piece.role == "user"]
        assert said[-1] in pieces(api, history(api, body)), f"call {number} lacks the current request"


def check_visit(strategy: str, call: Counted, visit: Any) -> None:
    """The span of the visit against the recount of what it did."""
    if visit is None:
        assert call.removed == []
        assert call.put == []
        return
    said = attributes(visit)
    assert said["window.strategy"] == strategy
    assert said["window.evicted"] == len(call.removed)
    assert (said["window.outcome"] in ("removed", "folded")) == bool(call.removed)
    assert (said["window.messages_before"], said["window.messages_after"]) == (len(call.before), len(call.after))
    assert said["window.chars_before"] == _chars(call.before)
    assert said["window.chars_after"] == _chars(call.after)
    assert set(said.get("window.dropped_tools", ())) == call.dropped_tools
    named = [
        tuple(event.get(f"eviction.{key}") for key in ("role", "tool", "tool_call_id", "chars", "iterations_survived"))
        for event in events(visit, "context.evicted")
    ]
    assert named == [
        (piece.role, tool, piece.result_id, piece.chars, survived)
        for piece, tool, survived in zip(call.left, call.tools, call.iterations, strict=True)
    ]
    assert [event["eviction.index"] for event in events(visit, "context.evicted")] == _either(call, visit)
    refused = {(event["refusal.turn_index"], event["refusal.reason"]) for event in events(visit, "context.refused")}
    assert len(refused) == said["window.refusals"]
    turns = _turns(call.before)
    gone = sum(1 for turn in turns if set(turn) <= set(call.removed))
    assert said["window.turns_before"] == len(turns)
    assert gone + len({turn for turn, _ in refused}) + said["window.unreached"] == len(turns)
    assert not any(key.startswith("gen_ai.") for key in visit.attributes or {})


def _either(call: Counted, visit: Any) -> list[int]:
    """Where they stood; of equal messages either may be the one that left."""
    found = []
    for index, event in zip(call.removed, events(visit, "context.evicted"), strict=True):
        same = event["eviction.index"]
        found.append(same if call.before[same] == call.before[index] else index)
    return found


def _chars(window: Sequence[Piece]) -> int:
    return sum(piece.chars for piece in window)


def _turns(window: Sequence[Piece]) -> list[list[int]]:
    """The turns of a window, as the indices of their messages; a drop notice is of none."""
    turns: list[list[int]] = []
    for index, piece in enumerate(window):
        if piece.ours and "notice]" in piece.text[:30]:
            continue
        if piece.role != "tool" or not turns:
            turns.append([])
        turns[-1].append(index)
    return turns


def check_chat(strategy: str, call: Counted, chat: Any, before: Counted | None) -> None:
    """The call's span: what is observed agrees with what was decided, in counts, and reports nothing again."""
    said = attributes(chat)
    assert events(chat, "context.evicted") == []
    assert said["window.evicted"] == (len(call.removed) if before is not None else 0)
    assert said["window.messages_after"] == len(call.after)
    assert said["window.chars_after"] == _chars(call.after)
    known = 0 if before is None else len(before.after) + 1
    assert said["window.messages_before"] == known
    assert said["window.chars_before"] == _chars(call.before[:known])
    assert said["window.rewritten"] == 0
    if before is None:
        assert said["window.decision"] == "start"  # nothing was sent before that could have left
    elif call.removed:
        folded = any("summary]" in piece.text[:30] for piece in call.put)
        assert said["window.decision"] == ("summarize" if folded else "evict")
        assert said["window.decided_by"] == strategy
        assert set(said.get("window.dropped_tools", ())) == call.dropped_tools
    else:
        assert said["window.decision"] == "append"


def check_evidence(
    api: Api,
    strategy: str,
    played: Played,
    counted: Sequence[Counted],
    chats: Sequence[Any],
    visits: Sequence[Any],
    tally: Tally,
) -> None:
    """An answer that states what had left says so, and leads to the visit that dropped it."""
    dropped_by: dict[int, list[tuple[Piece, int]]] = {}
    left: list[Piece] = []
    for number, (call, chat, answer) in enumerate(zip(counted, chats, played.answers, strict=True)):
        left += [piece for piece in call.left if piece.role == "tool"]
        if visits[number] is not None:
            dropped_by[visits[number].get_span_context().span_id] = [(piece, number) for piece in call.left]
        values = events(chat, "evidence.value")
        ends = {
            link.context.span_id: dict(link.attributes or {})
            for link in chat.links
            if (link.attributes or {}).get(f"{OURS}link.kind") == "dropped"
        }
        for value in values:
            if value["value.status"] != "evicted":
                continue
            tally.evicted_values += 1
            assert value["value.evicted_decided_by"] == strategy
            ids = {piece.result_id for span in ends for piece, _ in dropped_by.get(span, ())}
            assert value["value.evicted_tool_call_id"] in ids, f"call {number}: no link to the span that dropped it"
        assert set(ends) <= set(dropped_by)
        stated = {value["value.text"]: value["value.status"] for value in values}
        said = [
            p.text for p in pieces(api, [m for m in played.lists[number] if m["role"] == "user"]) if p.role == "user"
        ]
        seen = " ".join([*(p.text for p in call.after), *said, str(played.wire[number].get("system", ""))])
        seen += " ".join(str(m["content"]) for m in played.wire[number]["messages"] if m["role"] == "system")
        (spoken,) = pieces(api, [answer])
        for code in set(CODE.findall(spoken.text)) if not spoken.calls else ():
            if code not in seen and any(code in piece.text for piece in left):
                tally.codes_known_to_have_left += 1
                assert stated.get(code) == "evicted", f"call {number}: {code} is {stated.get(code)}"
