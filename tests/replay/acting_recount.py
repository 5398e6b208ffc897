"""What a window strategy did, counted from the requests on the wire alone: nothing of what is checked is used here.

A window is the request's history without the system instruction. What left at a call is what stood in the window before (the
last request, its answer, and what the application has appended since) and does not stand in this one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acting_agents import CORRECTION, Api, Message, Played

NOTICE = "[otel-footprint notice]"
SUMMARY_LABEL = "[otel-footprint summary]"


@dataclass(frozen=True)
class Piece:
    """One message of a window as the wire holds it: who says it, its text, its calls, the result it is."""

    role: str
    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    result_id: str | None = None
    ours: bool = False

    @property
    def chars(self) -> int:
        """Characters of text and results."""
        return len(self.text)


@dataclass
class Counted:
    """One call, counted anew."""

    before: list[Piece]
    after: list[Piece]
    removed: list[int]
    put: list[Piece]
    iterations: list[int]

    @property
    def left(self) -> list[Piece]:
        """What left, in order."""
        return [self.before[index] for index in self.removed]

    @property
    def tools(self) -> list[str | None]:
        """Of each message that left, the tool whose result it is: that of the nearest call before it with its id."""
        called: dict[str, str] = {}
        found: list[str | None] = []
        for piece in self.before:
            called.update({identity: name for identity, name, _ in piece.calls})
            found.append(called.get(piece.result_id) if piece.result_id else None)
        return [found[index] for index in self.removed]

    @property
    def dropped_tools(self) -> set[str]:
        """The tools whose results left."""
        return {tool for tool in self.tools if tool is not None}


def pieces(api: Api, messages: Sequence[Message]) -> list[Piece]:
    """A request's history, message by message."""
    found: list[Piece] = []
    for message in messages:
        if api == "openai.chat":
            found.append(_openai(message))
        else:
            found += _anthropic(message)
    return found


def without_pair(window: list[Piece]) -> list[Piece]:
    """The window without an answer that was sent back and its correction, which are not of the conversation."""
    at = next((index for index, piece in enumerate(window) if piece.text.startswith(CORRECTION)), None)
    if at is None:
        return window
    assert at
    assert window[at - 1].role == "assistant"
    return window[: at - 1] + window[at + 1 :]


def _openai(message: Message) -> Piece:
    calls = tuple(
        (call["id"], call["function"]["name"], _canonical(json.loads(call["function"]["arguments"])))
        for call in message.get("tool_calls") or ()
    )
    return _piece(message["role"], message.get("content") or "", calls, message.get("tool_call_id"))


def _anthropic(message: Message) -> list[Piece]:
    content = message["content"]
    if isinstance(content, str):
        return [_piece(message["role"], content)]
    if message["role"] == "assistant":
        text = "".join(block["text"] for block in content if block["type"] == "text")
        calls = tuple((b["id"], b["name"], _canonical(b["input"])) for b in content if b["type"] == "tool_use")
        return [_piece("assistant", text, calls)]
    found = []
    for block in content:
        if block["type"] == "tool_result":
            found.append(_piece("tool", block["content"], (), block["tool_use_id"]))
        else:
            found.append(_piece("user", block["text"]))
    return found


def _piece(role: str, text: str, calls: Any = (), result_id: str | None = None) -> Piece:
    ours = role == "user" and text.startswith((NOTICE, SUMMARY_LABEL))
    return Piece(role, text, tuple(calls), result_id, ours)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def history(api: Api, body: Mapping[str, Any]) -> list[Message]:
    """The history of a request, without the system instruction."""
    messages = list(body["messages"])
    while api == "openai.chat" and messages and messages[0]["role"] == "system":
        messages = messages[1:]
    return messages


def recount(api: Api, played: Played) -> list[Counted]:
    """Every call of a run."""
    counted: list[Counted] = []
    window: list[Piece] = []
    served: list[int] = []
    known = 0
    for body, own in zip(played.wire, played.lists, strict=True):
        listed = pieces(api, [m for m in own if m["role"] != "system"])
        before = window + listed[known:]
        served = served + [0] * (len(before) - len(window))
        after = without_pair(pieces(api, history(api, body)))
        removed, put, origin = _difference(before, after)
        counted.append(Counted(before, after, removed, put, [served[index] for index in removed]))
        window, served = after, [0 if index is None else served[index] for index in origin]
        asked_again = sum(1 for revision in played.revisions if revision["messages"][:-2] == body["messages"])
        served = [times + 1 + asked_again for times in served]
        known = len(listed)
    return counted


def _difference(before: list[Piece], after: list[Piece]) -> tuple[list[int], list[Piece], list[int | None]]:
    """What of ``before`` is missing in ``after``, what is new in it, and where each of its messages stood."""
    removed: list[int] = []
    put: list[Piece] = []
    origin: list[int | None] = []
    i, j = len(before) - 1, len(after) - 1
    while j >= 0:
        if i >= 0 and before[i] == after[j]:
            origin.append(i)
            i, j = i - 1, j - 1
        elif after[j].ours and after[j] not in before[: i + 1]:
            origin.append(None)
            put.append(after[j])
            j -= 1
        else:
            assert i >= 0, f"nothing in the window before accounts for {after[j]}"
            removed.append(i)
            i -= 1
    removed += range(i, -1, -1)
    for place, index in enumerate(reversed(origin)):
        # A notice of the same words: what left from right behind it took the old one along, and wrote it anew.
        if index is not None and after[place].ours and index + 1 in removed:
            removed.append(index)
            put.append(after[place])
            origin[len(origin) - 1 - place] = None
    return sorted(removed), put[::-1], origin[::-1]
