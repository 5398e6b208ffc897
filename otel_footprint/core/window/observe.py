"""What changed between two windows of one thread, and what to call it.

Rules
-----
- ``before`` is the window of the last completed call plus its output; ``after`` is the window of this call. Messages are
  the same when their keys are.
- The output of the last call is the anchor: what stands behind it in ``after`` is new, also where an equal message left
  ("yes" may be said twice). A system message behind it that stood in ``before`` is only moved.
- Applications keep outputs in their own words: without the text beside the calls, with the first call only, with other
  ids, cut or wrapped. Such a message is the output, rewritten.
- Matching goes backwards from the anchor, then forwards from the beginning, then by key over what is left, so that of
  equal messages the oldest are the ones that left. Linear in the two windows, whatever they hold.
- Rewritten is, besides: a result of the same call with other content; an assistant message with the same calls; a message between
  the same neighbours whose text is a piece of the old text or differs in digits only.
- The decision is the first that holds: reset, summarize, clear, evict, rewrite, append. (A thread's first is ``start``.)
- A summary is a new message, no tool result, that stands before a kept one; or before the last one, where the output was
  not kept. A message that was in the window earlier only returns: it is no summary. Nor is a drop notice. A system
  message is one only where it adds to the number of system messages, since those that change are the application's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.decisions import WindowDecision
from otel_footprint.core.messages import Message, ToolCall, canonical_json
from otel_footprint.core.stubs import Stub, sealed_arguments

_DIGITS: Final = re.compile(r"[0-9]+")


def but_for_digits(text: str) -> str:
    """The text with every run of digits replaced: equal for texts that differ in a clock or a counter only."""
    return _DIGITS.sub("0", text)


def same_calls(output: Message, message: Message) -> bool:
    """Whether the message holds calls of this output and no others, by id, name and arguments."""
    calls = _spelled(message, output)
    return bool(calls) and calls <= _spelled(output, output)


def _spelled(message: Message, output: Message) -> set[tuple[str | None, str, str]]:
    """The calls of a message as they compare with those of ``output``, whose arguments may be known by their digest only."""
    if message.role != "assistant":
        return set()
    spell = sealed_arguments if isinstance(output, Stub) else _arguments
    return {(call.id, call.name, spell(call)) for call in message.tool_calls}


def _arguments(call: ToolCall) -> str:
    return canonical_json(call.arguments)


def alike(output: Message, message: Message) -> bool:
    """Whether the message is this output in the application's words, judged where the output has to stand.

    Calls: no others than those of the output, whatever their ids. Text: the one within the other, or equal but for digits.
    """
    if message.role != "assistant" or output.role != "assistant":
        return False
    if output.tool_calls or message.tool_calls:
        known = {call[1:] for call in _spelled(output, output)}
        asked = {call[1:] for call in _spelled(message, output)}
        return bool(asked) and asked <= known
    old, new = output.text.strip(), message.text.strip()
    return bool(old and new) and (new in old or old in new or but_for_digits(old) == but_for_digits(new))


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
    anchor = _anchor(before, after) if answered and before else -1
    match = _Match(before, after, anchor)
    match.ends()
    match.by_key(results=False)
    match.calls()
    match.results(orphans=False)
    match.by_key(results=True)
    match.results(orphans=True)
    match.neighbours()
    origin = match.origin
    last_kept = max((j for j, i in enumerate(origin) if i >= 0), default=-1)
    before_kept = anchor if anchor >= 0 else last_kept
    added = [j for j, i in enumerate(origin) if i < 0]
    return Comparison(
        origin=origin,
        left=match.missing(),
        added=added,
        rewritten=sorted(match.pairs),
        tail=anchor + 1 if anchor >= 0 else max(last_kept + 1, len(after) - 1),
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
    lost = any(before[i].role != "system" for i in comparison.left)
    if lost and not kept and sum(1 for j in comparison.added if after[j].role != "system") <= 1:
        return "reset", frozenset()
    if lost:
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
    inserted = [
        j
        for j in comparison.added
        if j < comparison.tail and j not in returning and after[j].authored not in ("notice", "correction", "draft")
    ]
    summary = [j for j in inserted if after[j].role in ("user", "assistant")]
    systems = [j for j in inserted if after[j].role == "system"]
    if systems and _systems(after) > _systems(before):
        summary += systems
    return frozenset(summary)


def _systems(messages: Sequence[Message]) -> int:
    return sum(1 for message in messages if message.role == "system")


def _anchor(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Where the output of the last call stands in ``after``, -1 for nowhere.

    It is where it stood if all before it is there, else its last place; the same for a message that is it in other words.
    """
    output, place = before[-1], len(before) - 1
    if place < len(after):
        there = all(old.key == new.key for old, new in zip(before[:-1], after, strict=False))
        if there and (output.key == after[place].key or alike(output, after[place])):
            return place
    for index in range(len(after) - 1, -1, -1):
        if after[index].key == output.key:
            return index
    asked = {(call.id, call.name) for call in output.tool_calls}
    if asked:
        known = _spelled(output, output)
        for index in range(len(after) - 1, -1, -1):
            calls = after[index].tool_calls
            if (
                calls
                and all((call.id, call.name) in asked for call in calls)
                and _spelled(after[index], output) <= known
            ):
                return index
    return -1


class _Match:
    """The matching in progress: ``origin`` as in :class:`Comparison`, ``pairs`` of what was rewritten.

    ``end`` is where the continuation of the history begins in ``after``.
    """

    def __init__(self, before: Sequence[Message], after: Sequence[Message], anchor: int) -> None:
        self.before = before
        self.after = after
        self.anchor = anchor
        self.end = anchor + 1 if anchor >= 0 else len(after)
        self.origin = [-1] * len(after)
        self.pairs: list[tuple[int, int]] = []
        self._taken = bytearray(len(before))

    def missing(self) -> list[int]:
        """What of ``before`` is not matched."""
        return [i for i, taken in enumerate(self._taken) if not taken]

    def new(self) -> list[int]:
        """What of ``after`` is not matched and does not continue the history."""
        return [j for j in range(self.end) if self.origin[j] < 0]

    def _keep(self, i: int, j: int) -> None:
        self.origin[j] = i
        self._taken[i] = 1
        if self.before[i].key != self.after[j].key:
            self.pairs.append((i, j))

    def ends(self) -> None:
        """Match from the anchor backwards, then from the beginning forwards, as far as messages are the same."""
        before, after = self.before, self.after
        i, j = len(before), self.end
        if self.anchor >= 0:
            i, j = i - 1, j - 1
            self._keep(i, j)
            while i and j and before[i - 1].key == after[j - 1].key:
                i -= 1
                j -= 1
                self._keep(i, j)
        start = 0
        while start < i and start < j and before[start].key == after[start].key:
            self._keep(start, start)
            start += 1

    def by_key(self, *, results: bool) -> None:
        """Match what is the same elsewhere, the newest of equal messages first. ``results``: tool results, or the rest."""
        places: dict[bytes, list[int]] = {}
        for i in self.missing():
            if (self.before[i].role == "tool") is results:
                places.setdefault(self.before[i].key, []).append(i)
        if not places:
            return
        if not results:
            for j in range(len(self.after) - 1, self.end - 1, -1):
                if self.after[j].role == "system" and (spots := places.get(self.after[j].key)):
                    self._keep(spots.pop(), j)
        for j in reversed(self.new()):
            if spots := places.get(self.after[j].key):
                self._keep(spots.pop(), j)

    def calls(self) -> None:
        """Pair assistant messages with the same calls by id and name, whose text or arguments were changed."""
        waiting: dict[tuple[tuple[str | None, str], ...], list[int]] = {}
        for i in self.missing():
            calls = _calls(self.before[i])
            if calls:
                waiting.setdefault(calls, []).append(i)
        if waiting:
            for j in reversed(self.new()):
                if spots := waiting.get(_calls(self.after[j])):
                    self._keep(spots.pop(), j)

    def results(self, *, orphans: bool) -> None:
        """Match results of the same call by its message and the id, or, for those whose call is not there, by the id."""
        missing = [i for i in self.missing() if self.before[i].role == "tool"]
        new = [j for j in self.new() if self.after[j].role == "tool"]
        if not missing or not new:
            return
        was = _grouped(_answered(self.before, range(len(self.before))), missing)
        now = _grouped(_answered(self.after, self.origin), new)
        for identity, spots in now.items():
            old = was.get(identity)
            if old is None or (identity[0] < 0) is not orphans:
                continue
            keys = {self.before[i].key: i for i in reversed(old)}
            changed = []
            for j in spots:
                i = keys.pop(self.after[j].key, -1)
                if i >= 0:
                    self._keep(i, j)
                else:
                    changed.append(j)
            for i, j in zip([i for i in old if not self._taken[i]], changed, strict=False):
                self._keep(i, j)

    def neighbours(self) -> None:
        """Pair a message between the same neighbours that was shortened, or that differs in digits only."""
        for j in self.new():
            i = self.origin[j - 1] + 1 if j else 0
            if (j and i == 0) or i >= len(self.before) or self._taken[i] or j + 1 == len(self.after):
                continue
            old, new = self.before[i], self.after[j]
            between = self.origin[j + 1] == i + 1
            if between and old.role == new.role != "tool" and _same_but_edited(old.text.strip(), new.text.strip()):
                self._keep(i, j)


_Identity = tuple[int, str]


def _calls(message: Message) -> tuple[tuple[str | None, str], ...]:
    if message.role != "assistant":
        return ()
    calls = tuple((call.id, call.name) for call in message.tool_calls)
    return calls if all(call_id for call_id, _ in calls) else ()


def _answered(messages: Sequence[Message], origin: Sequence[int]) -> dict[int, _Identity]:
    """Which call each result answers: where the message with that call was in ``before``, and the id.

    The place is -1 for a result whose call is not in its window. A result whose call is new, or that has neither an id nor
    a call, answers none that was there before.
    """
    called: dict[str, int] = {}
    caller = -1
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
        if place >= 0 and origin[place] >= 0:
            identities[j] = (origin[place], result.id or "")
        elif place < 0 and result.id:
            identities[j] = (-1, result.id)
    return identities


def _grouped(identities: dict[int, _Identity], places: Sequence[int]) -> dict[_Identity, list[int]]:
    groups: dict[_Identity, list[int]] = {}
    for place in places:
        if place in identities:
            groups.setdefault(identities[place], []).append(place)
    return groups


def _same_but_edited(old: str, new: str) -> bool:
    if not new or not old:
        return False
    return new in old or but_for_digits(old) == but_for_digits(new)
