"""A call as it was planned: its messages with who wrote them, and without an answer that was sent back.

Rules
-----
- A message with the key of one that we put into the window carries its mark; where a provider's form joined one to its
  neighbour, the two are parted again.
- A correction and the answer before it are taken out: the revision is the same call asked again, and what is compared,
  counted and read as evidence is the conversation.
- Where a strategy changed the window the comparison with the window before is the one it decided; it is used only where it
  fits the messages, else the windows are compared as if nobody had said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from otel_footprint.core.call import Call, PlannedFacts
from otel_footprint.core.messages import Authored, Message, Text
from otel_footprint.core.thread import Slot
from otel_footprint.core.window.observe import Comparison, alike


def as_planned(call: Call, planned: PlannedFacts) -> Call:
    """The call with the marks of what we wrote, without a draft and its correction."""
    authored = planned.authored
    if not authored:
        return call
    messages: list[Message] = []
    for message in call.messages:
        for piece in _parted(message, authored):
            mark = authored.get(piece.key)
            if mark == "correction":
                if messages and messages[-1].role == "assistant":
                    del messages[-1]  # the answer that was sent back
            elif mark is not None and mark != "draft":
                messages.append(piece if piece.authored == mark else replace(piece, authored=mark))
            else:
                messages.append(piece)
    return replace(call, messages=tuple(messages))


def _parted(message: Message, authored: Mapping[bytes, Authored]) -> Sequence[Message]:
    if message.role not in ("user", "tool") or len(message.parts) < 2:
        return (message,)
    marks = [authored.get(Message("user", (part,)).key) if isinstance(part, Text) else None for part in message.parts]
    if not any(marks):
        return (message,)
    pieces: list[Message] = []
    for (_, mark), group in groupby(enumerate(marks), key=lambda place: (place[0] if place[1] else -1, place[1])):
        parts = tuple(message.parts[index] for index, _ in group)
        pieces.append(Message("user", parts) if mark else replace(message, parts=parts))
    return pieces


def decided_comparison(
    planned: PlannedFacts, slots: Sequence[Slot], output: Slot | None, window: tuple[Message, ...]
) -> Comparison | None:
    """How the window came out of the one before, as it was decided; None where that does not fit.

    ``slots`` and then ``output`` are the window before.
    """
    places = planned.origin
    if places is None or len(places) != len(window):
        return None
    count = len(slots)
    end = count + (output is not None)
    origin = [-1] * len(window)
    rewritten: list[tuple[int, int]] = []
    for j, i in enumerate(places):
        if i < 0 or i >= end:
            continue
        before = output.message if output is not None and i == count else slots[i].message
        if before.key != window[j].key:
            if i != count or not alike(before, window[j]):
                return None
            rewritten.append((i, j))
        origin[j] = i
    taken = set(origin)
    kept = [j for j, i in enumerate(origin) if i >= 0]
    last_kept = kept[-1] if kept else -1
    added = [j for j, i in enumerate(origin) if i < 0]
    return Comparison(
        origin=origin,
        left=[i for i in range(end) if i not in taken],
        added=added,
        rewritten=rewritten,
        tail=next((j for j, i in enumerate(places) if i > count), len(window)),
        inserted=sum(1 for j in added if j < last_kept),
    )
