"""What changed between two windows of one thread, and what to call it.

Rules
-----
- ``before`` is the window of the last completed call plus its output; ``after`` is the window of this call. Messages are
  the same when their keys are.
- The output of the last call is the anchor: what stands behind it in ``after`` is new, also where an equal message left
  ("yes" may be said twice). A system message behind it that stood in ``before`` is only moved.
- Matching goes backwards from the anchor, then forwards from the beginning, then by key over what is left, so that of
  equal messages the oldest are the ones that left. Linear in the two windows, whatever they hold.
- Rewritten is: a result of the same call with other content; an assistant message with the same calls; a message between
  the same neighbours whose text is a piece of the old text or differs in digits only.
- The decision is the first that holds: reset, summarize, clear, evict, rewrite, append. (A thread's first is ``start``.)
- A summary is a new message, no tool result, that stands before a kept one; or before the last one, where the output was
  not kept. A message that was in the window earlier only returns: it is no summary. A system message is one only where
  it adds to the number of system messages, since those that change are the application's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.decisions import WindowDecision
from otel_footprint.core.messages import Message

_DIGITS: Final = re.compile(r"[0-9]+")


def but_for_digits(text: str) -> str:
    """The text with every run of digits replaced: equal for texts that differ in a clock or a counter only."""
    return _DIGITS.sub("0", text)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How ``after`` came out of ``before``.

    ``origin[j]`` is the index in ``before`` of message ``j`` of ``after``, -1 for a message that was not there; for a
    rewritten message it is the index of what stood there. ``left`` and ``added`` are ascending indices in ``before`` and
    ``after``; ``rewritten`` holds pairs of both. Messages from ``tail`` on continue the history; those added before it
    were put into it. ``inserted`` counts the added ones before the last kept message.
    """

    origin: Sequence[int]
    left: Sequence[int]
    added: Sequence[int]
    rewritten: Sequence[tuple[int, int]]
    tail: int
    inserted: int


def compare(before: Sequence[Message], after: Sequence[Message], *, answered: bool = True) -> Comparison:
    """Match two windows. ``answered``: whether the last message of ``before`` is the output of the last call."""
    origin = [-1] * len(after)
    anchor = _anchor(before, after) if answered else -1
    end_before, end_after = len(before), len(after)
    if anchor >= 0:
        end_after = anchor + 1
        while end_before and end_after and before[end_before - 1].key == after[end_after - 1].key:
            end_before -= 1
            end_after -= 1
            origin[end_after] = end_before
    start = 0
    while start < end_before and start < end_after and before[start].key == after[start].key:
        origin[start] = start
        start += 1
    _match_by_key(before, after, range(start, end_before), range(start, end_after), anchor, origin)
    rewritten = _rewritten(before, after, origin)
    last_kept = max((j for j, i in enumerate(origin) if i >= 0), default=-1)
    tail = anchor + 1 if anchor >= 0 else max(last_kept + 1, len(after) - 1)
    before_kept = anchor if anchor >= 0 else last_kept
    stayed = bytearray(len(before))
    for index in origin:
        if index >= 0:
            stayed[index] = 1
    added = [j for j, i in enumerate(origin) if i < 0]
    return Comparison(
        origin=origin,
        left=[i for i, there in enumerate(stayed) if not there],
        added=added,
        rewritten=rewritten,
        tail=tail,
        inserted=sum(1 for j in added if j < before_kept),
    )


def decide(
    comparison: Comparison,
    before: Sequence[Message],
    after: Sequence[Message],
    *,
    returning: Collection[int] = (),
    envelope_grew: bool = False,
) -> tuple[WindowDecision, frozenset[int]]:
    """The decision, and the indices in ``after`` of the messages that are the summary (empty unless ``summarize``).

    ``returning`` are indices of added messages that were in the window earlier; ``envelope_grew`` says that the leading
    system envelope holds more messages than before.
    """
    rewritten = {j for _, j in comparison.rewritten}
    kept = any(i >= 0 and (after[j].role != "system" or j in rewritten) for j, i in enumerate(comparison.origin))
    if not kept and sum(1 for j in comparison.added if after[j].role != "system") <= 1:
        return "reset", frozenset()
    if comparison.left:
        summary = _summary(comparison, before, after, returning)
        if summary or envelope_grew:
            return "summarize", summary
    if any(after[j].role == "tool" and after[j].chars < before[i].chars for i, j in comparison.rewritten):
        return "clear", frozenset()
    if comparison.left:
        return "evict", frozenset()
    return ("rewrite" if comparison.rewritten else "append"), frozenset()


def _summary(
    comparison: Comparison, before: Sequence[Message], after: Sequence[Message], returning: Collection[int]
) -> frozenset[int]:
    inserted = [j for j in comparison.added if j < comparison.tail and j not in returning]
    summary = [j for j in inserted if after[j].role in ("user", "assistant")]
    systems = [j for j in inserted if after[j].role == "system"]
    if systems and _systems(after) > _systems(before):
        summary += systems
    return frozenset(summary)


def _systems(messages: Sequence[Message]) -> int:
    return sum(1 for message in messages if message.role == "system")


def _anchor(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Where the output of the last call stands in ``after``: the last place of it, -1 for nowhere."""
    key = before[-1].key
    for index in range(len(after) - 1, -1, -1):
        if after[index].key == key:
            return index
    return -1


def _match_by_key(
    before: Sequence[Message],
    after: Sequence[Message],
    old: range,
    new: range,
    anchor: int,
    origin: list[int],
) -> None:
    """Match what neither end matched, by key, the newest of equal messages first."""
    if not old:
        return
    places: dict[bytes, list[int]] = {}
    for i in old:
        places.setdefault(before[i].key, []).append(i)
    if anchor >= 0:
        for j in range(len(after) - 1, anchor, -1):
            if after[j].role == "system" and (spots := places.get(after[j].key)):
                origin[j] = spots.pop()
    for j in reversed(new):
        if spots := places.get(after[j].key):
            origin[j] = spots.pop()


def _rewritten(before: Sequence[Message], after: Sequence[Message], origin: list[int]) -> list[tuple[int, int]]:
    """Pair what was rewritten in place, and note it in ``origin``."""
    added = [j for j, i in enumerate(origin) if i < 0]
    if not added:
        return []
    taken = {i for i in origin if i >= 0}
    missing = [i for i in range(len(before)) if i not in taken]
    if not missing:
        return []
    pairs: list[tuple[int, int]] = []
    _pair_calls(before, after, missing, added, origin, pairs)
    _pair_results(before, after, missing, added, origin, pairs)
    _pair_neighbours(before, after, origin, pairs, {i for _, i in enumerate(origin) if i >= 0})
    return sorted(pairs)


def _pair_calls(
    before: Sequence[Message],
    after: Sequence[Message],
    missing: Sequence[int],
    added: Sequence[int],
    origin: list[int],
    pairs: list[tuple[int, int]],
) -> None:
    """Assistant messages with the same calls by id and name, whose text or arguments were changed."""
    waiting: dict[tuple[tuple[str | None, str], ...], list[int]] = {}
    for i in missing:
        calls = _calls(before[i])
        if calls:
            waiting.setdefault(calls, []).append(i)
    if not waiting:
        return
    for j in reversed(added):
        calls = _calls(after[j])
        if calls and (spots := waiting.get(calls)):
            origin[j] = spots.pop()
            pairs.append((origin[j], j))


def _calls(message: Message) -> tuple[tuple[str | None, str], ...]:
    if message.role != "assistant":
        return ()
    calls = tuple((call.id, call.name) for call in message.tool_calls)
    return calls if all(call_id for call_id, _ in calls) else ()


def _pair_results(
    before: Sequence[Message],
    after: Sequence[Message],
    missing: Sequence[int],
    added: Sequence[int],
    origin: list[int],
    pairs: list[tuple[int, int]],
) -> None:
    """Results of the same call: its message is there in both windows; or it is in neither and the id is unique."""
    if not any(before[i].role == "tool" for i in missing) or not any(after[j].role == "tool" for j in added):
        return
    was = _identities(before, range(len(before)))
    now = _identities(after, origin)
    gone = {was[i]: i for i in missing if i in was}
    for j in added:
        identity = now.get(j)
        if identity is not None and (i := gone.pop(identity, -1)) >= 0:
            origin[j] = i
            pairs.append((i, j))


_Identity = tuple[int, str, int]


def _identities(messages: Sequence[Message], origin: Sequence[int]) -> dict[int, _Identity]:
    """Which call each result answers: where its message was in ``before``, the id, and which result of it in a row.

    A result whose call is not there has -1 for the place, and no identity where its id is not unique among those.
    """
    called: dict[str, int] = {}
    caller = -1
    counts: dict[tuple[int, str], int] = {}
    identities: dict[int, _Identity] = {}
    for j, message in enumerate(messages):
        result = message.result
        if result is None:
            calls = message.tool_calls
            if calls:
                caller = j
                for call in calls:
                    if call.id:
                        called[call.id] = j
            continue
        place = called.get(result.id, -1) if result.id else caller
        if place < 0 and not result.id:
            continue
        known = origin[place] if place >= 0 else -1
        if place >= 0 and known < 0:
            continue
        spot = (known, result.id or "")
        count = counts[spot] = counts.get(spot, 0) + 1
        identities[j] = (known, result.id or "", count)
    return {
        j: identity for j, identity in identities.items() if identity[0] >= 0 or counts[(-1, identity[1])] == 1
    }


def _pair_neighbours(
    before: Sequence[Message],
    after: Sequence[Message],
    origin: list[int],
    pairs: list[tuple[int, int]],
    taken: set[int],
) -> None:
    """A message between the same neighbours that was shortened, or that differs in digits only."""
    for j, known in enumerate(origin):
        if known >= 0 or j + 1 == len(origin):
            continue
        i = origin[j - 1] + 1 if j else 0
        if (j and i == 0) or origin[j + 1] != i + 1 or i in taken:
            continue
        old, new = before[i], after[j]
        if old.role == new.role != "tool" and _same_but_edited(old.text.strip(), new.text.strip()):
            origin[j] = i
            pairs.append((i, j))


def _same_but_edited(old: str, new: str) -> bool:
    if not new or not old:
        return False
    return new in old or but_for_digits(old) == but_for_digits(new)
