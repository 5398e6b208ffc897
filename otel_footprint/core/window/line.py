"""A line: one planned history. What was carried of it, what is known of each message, and where its calls stand.

Rules
-----
- A state is one call's window and never changes: the application's list by its keys, and the window as places in it with
  what was put between them. Of what left only the keys are kept, so that it never comes back.
- Going on: the carried window, then the new tail of the list. From a list that is not the last one with something appended
  planning starts anew; the line keeps its counts where the list still holds its last output.
- A failed answer and its correction are outside of the window a strategy sees: they stand before the output that followed
  them, and go when a person speaks again.
- A message is born at the call that sent it first, an output at the call that gave it. What a line's first list holds up to
  its last assistant message was there before: its birth is unknown. What was never sent has none.
- ``turn`` counts the messages a person said, also those that left; ``iteration`` the calls since the last of them, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from otel_footprint.core.call import Call, CallRef
from otel_footprint.core.messages import Message, ServerToolResult, ToolResult
from otel_footprint.core.turns import calls_in_turn, result_reference
from otel_footprint.core.window.items import Item, Kept, Put, kept
from otel_footprint.core.window.observe import alike
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.record import FoldedSpan, WindowRecord
from otel_footprint.core.window.strategy import Measured, WindowResult

Keys: TypeAlias = tuple[bytes, ...]
Unreported: TypeAlias = Literal["stream", "stopped", "never"]

OUTPUTS_LIMIT: Final = 8
FOLDED_CHARS: Final = 16_000_000
"""Characters of folded messages that a line keeps: of older spans only what they were."""
RECORDS_KEPT: Final = 2
"""Stand-down looks at the two previous visits."""


UNSENT: Final = Born()
"""The birth of a message that no completed call has sent: its call is 0."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer that was sent back and its correction; they stand before place ``at`` of the application's list."""

    draft: Put
    correction: Put
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One call's window and what is known at that call.

    - ``keys`` are those of the application's list; ``items`` the window without a pair. In the same order ``births``, one
      value for all of a call, and ``refs``, the names of the tool results, None for any other message.
    - ``reach`` counts what the last completed call sent, its output, and what is new; ``origin`` is for each item its place
      in that, -1 for what was put since, None where nothing was taken or put. Both mean nothing unless ``based``.
    - ``calls`` counts completed calls; ``outputs`` is what the last one gave, empty while this one is open, and ``chosen``
      the key of the one that the list went on with, ``again`` that this is that call once more; ``after`` and
      ``completed_at`` say which and when (Unix seconds).
    - ``decided``: a strategy changed the window since the last completed call; ``window_ref`` is the span of that visit;
      ``strategy`` is the one that was asked last.
    - ``records`` are those of the last visits, oldest first, None where the strategy did not engage.
    - ``unseen`` are messages of the list that left before any call sent them, until this call is completed.
    - ``revised_turn`` is the last turn whose one revision is spent, -1 for none.
    - ``results`` counts the results of the list by their ids, which names the next ones.
    """

    keys: Keys
    items: tuple[Item, ...]
    births: tuple[Born, ...]
    refs: tuple[str | None, ...]
    turn: int
    iteration: int
    run_id: str
    streamed: bool
    reach: int
    results: Mapping[str | None, int]
    origin: tuple[int, ...] | None = None
    based: bool = False
    pair: Pair | None = None
    calls: int = 0
    outputs: tuple[Message, ...] = ()
    chosen: bytes | None = None
    again: bool = False
    after: CallRef | None = None
    completed_at: float | None = None
    measured: Measured | None = None
    unreported: Unreported | None = None
    reported: bool = False
    records: tuple[WindowRecord | None, ...] = ()
    folded: tuple[FoldedSpan, ...] = ()
    decided: bool = False
    window_ref: CallRef | None = None
    strategy: str | None = None
    unseen: tuple[Message, ...] = ()
    revised_turn: int = -1

    @property
    def sent(self) -> tuple[Item, ...]:
        """The items as they are sent, with the pair where there is one."""
        pair, items = self.pair, self.items
        if pair is None:
            return items
        after = (j for j, item in enumerate(items) if isinstance(item, Kept) and item.index >= pair.at)
        place = next(after, len(items))
        if not place:
            return items  # an answer cannot open a window
        return (*items[:place], pair.draft, pair.correction, *items[place:])

    def size_bytes(self) -> int:
        """About how many bytes it keeps alive."""
        put = [item.message for item in self.items if isinstance(item, Put)]
        put += self.outputs
        if self.pair is not None:
            put += (self.pair.draft.message, self.pair.correction.message)
        folded = sum(2 * (len(span.summary) + (span.chars if span.messages else 0)) + 500 for span in self.folded)
        return 200 * len(self.keys) + sum(2 * message.chars + 500 for message in put) + folded + 1_000


def start(messages: Sequence[Message], keys: Keys, *, run_id: str, streamed: bool) -> State:
    """The state of a list that goes on with nothing."""
    results: dict[str | None, int] = {}
    history = _history(messages)
    return State(
        keys=keys,
        items=kept(0, len(messages)),
        births=(Born(None, None, 1),) * history + (UNSENT,) * (len(messages) - history),
        refs=_named(results, messages),
        turn=_said(messages),
        iteration=1 + calls_in_turn(messages),
        run_id=run_id,
        streamed=streamed,
        reach=len(messages),
        results=results,
    )


def go_on(base: State, messages: Sequence[Message], keys: Keys, *, run_id: str, streamed: bool) -> State:
    """The carried window with the tail by which the list has grown, which begins with the output where there is one."""
    known = len(base.keys)
    tail = messages[known:]
    output = (Born(base.completed_at, base.after, base.calls + 1),) if base.outputs else ()
    births = (*output, *[UNSENT] * (len(tail) - len(output)))
    results = dict(base.results)
    refs = _named(results, tail)
    said = _said(tail)
    return replace(
        base,
        keys=keys,
        items=base.items + kept(known, len(messages)),
        births=base.births + births,
        refs=base.refs + refs,
        turn=base.turn + said,
        iteration=_iteration(base, said=bool(said)),
        run_id=run_id,
        streamed=streamed,
        reach=base.reach + len(tail),
        results=results,
        origin=None if base.origin is None else base.origin + tuple(range(base.reach, base.reach + len(tail))),
        pair=None if said else base.pair,
        outputs=(),
        again=False,
        chosen=_chosen(base.outputs, tail[0]) if base.outputs and tail else base.chosen,
    )


def ask_again(base: State, *, run_id: str, streamed: bool) -> State:
    """The window of a call that is made once more with the same list."""
    return replace(
        base,
        iteration=_iteration(base, said=False),
        run_id=run_id,
        streamed=streamed,
        outputs=(),
        again=base.again or bool(base.outputs),
    )


def start_over(
    base: State, messages: Sequence[Message], keys: Keys, *, output_at: int | None, run_id: str, streamed: bool
) -> State:
    """The state of a list that the application rewrote. ``output_at`` is where it holds the line's last output, if it does."""
    tail = messages[-1:] if output_at is None else messages[output_at + 1 :]
    said = _said(tail)
    births = dict(zip(base.keys, _births_in_list(base), strict=True))
    if output_at is not None:
        births[keys[output_at]] = Born(base.completed_at, base.after, base.calls + 1)
    unknown = Born(None, None, base.calls + 1)
    history = _history(messages) if output_at is None else output_at + 1
    results: dict[str | None, int] = {}
    return replace(
        base,
        keys=keys,
        items=kept(0, len(messages)),
        births=tuple([births.get(key) or (unknown if j < history else UNSENT) for j, key in enumerate(keys)]),
        refs=_named(results, messages),
        turn=base.turn + said,
        iteration=_iteration(base, said=bool(said)),
        run_id=run_id,
        streamed=streamed,
        reach=len(messages),
        results=results,
        origin=None,
        based=False,
        pair=None,
        outputs=(),
        chosen=None,
        again=False,
        decided=False,
        window_ref=None,
        unseen=(),
    )


def fork(base: State, messages: Sequence[Message], keys: Keys, *, shared: int, run_id: str, streamed: bool) -> State:
    """The state of a list that goes another way after its first ``shared`` messages: what had left there stays out.

    Nothing of ``base`` left behind them. It counts as a list that goes on with nothing; what was reported last holds on.
    """
    anew = start_over(base, messages, keys, output_at=None, run_id=run_id, streamed=streamed)
    sent = zip(base.items, base.births, strict=True)
    carried = [(item, birth) for item, birth in sent if isinstance(item, Put) or item.index < shared]
    items = (*(item for item, _ in carried), *kept(shared, len(messages)))
    return replace(
        anew,
        items=items,
        births=(*(birth for _, birth in carried), *anew.births[shared:]),
        refs=tuple([None if isinstance(item, Put) else anew.refs[item.index] for item in items]),
        turn=_said(messages),
        iteration=1 + calls_in_turn(messages),
        after=None,
        revised_turn=-1,
    )


def decide(state: State, result: WindowResult) -> State:
    """The state with what a strategy decided; the result has been checked against the rules."""
    state = replace(state, records=(*state.records, result.record)[-RECORDS_KEPT:], strategy=result.record.strategy)
    window, rebase = result.window, result.rebase
    if window is None or rebase is None:
        return state
    places = rebase.origins(len(state.items))
    origin = state.origin if state.origin is not None else range(len(state.items))
    return replace(
        state,
        items=tuple([Put(message) if j is None else state.items[j] for j, message in zip(places, window, strict=True)]),
        births=tuple([UNSENT if j is None else state.births[j] for j in places]),
        refs=tuple([None if j is None else state.refs[j] for j in places]),
        origin=tuple([-1 if j is None else origin[j] for j in places]),
        folded=_bounded(state.folded + result.folded) if result.folded else state.folded,
        decided=True,
        window_ref=None,
    )


def leave_unseen(before: State, after: State, messages: Sequence[Message]) -> State:
    """Note what of the application's ``messages`` left at this visit, or in another process, before a call here sent it."""
    stays = {item.index for item in after.items if isinstance(item, Kept)}
    left: Sequence[int]
    if not after.based:
        left = range(len(messages)) if len(stays) < len(messages) else ()
    else:
        items = zip(before.items, before.births, strict=True)
        left = [item.index for item, birth in items if isinstance(item, Kept) and not birth.born_call]
    unseen = tuple([messages[index] for index in left if index not in stays])
    return replace(after, unseen=unseen if not after.based else before.unseen + unseen)


def undecided(state: State) -> State:
    """The state after a visit at which the strategy did not engage."""
    return replace(state, records=(*state.records, None)[-RECORDS_KEPT:])


def complete(state: State, call: Call, *, turn: int, iteration: int) -> State:
    """The state once the provider has answered."""
    number = state.calls + 1
    at = call.now if call.started_at is None else call.started_at
    reported = bool(call.input_tokens or call.output_tokens)
    unreported: Unreported | None = None
    if not reported:
        unreported = "stream" if state.streamed else "stopped" if state.reported else "never"
    born = Born(at, call.ref, number)
    return replace(
        state,
        births=tuple([birth if birth.born_call else born for birth in state.births]),
        turn=turn,
        iteration=iteration,
        reach=len(state.items),
        origin=None,
        based=True,
        calls=number,
        outputs=tuple(output.message for output in call.outputs[:OUTPUTS_LIMIT]),
        chosen=None,
        again=False,
        after=call.ref,
        completed_at=call.now,
        measured=Measured(call.input_tokens or 0, call.output_tokens or 0) if reported else None,
        unreported=unreported,
        reported=state.reported or reported,
        decided=False,
        window_ref=None,
        unseen=(),
    )


def _named(results: dict[str | None, int], messages: Sequence[Message]) -> tuple[str | None, ...]:
    """The references of the tool results of these messages, which are counted in ``results``."""
    refs: list[str | None] = []
    for message in messages:
        ref: str | None = None
        role = message.role
        if role == "tool" or role == "assistant":
            for part in message.parts:
                if isinstance(part, (ToolResult, ServerToolResult)):
                    id_ = part.id or None
                    if id_ is None or id_ in results:
                        count = results[id_] = results.get(id_, 0) + 1
                        ref = ref or result_reference(id_, count)
                    else:
                        results[id_] = 1
                        ref = ref or id_
        refs.append(ref if role == "tool" else None)
    return tuple(refs)


def _births_in_list(state: State) -> list[Born | None]:
    """For each message of the application's list its birth, None where it left."""
    births: list[Born | None] = [None] * len(state.keys)
    for item, birth in zip(state.items, state.births, strict=True):
        if isinstance(item, Kept):
            births[item.index] = birth
    return births


def _bounded(folded: tuple[FoldedSpan, ...]) -> tuple[FoldedSpan, ...]:
    bounded: list[FoldedSpan] = []
    room = FOLDED_CHARS
    for span in reversed(folded):
        room -= span.chars if span.messages else 0
        bounded.append(span if room >= 0 or not span.messages else replace(span, messages=(), retain="discard"))
    return tuple(reversed(bounded))


def _chosen(outputs: Sequence[Message], message: Message) -> bytes | None:
    """The key of the output that this message of the list is, as it was given or in other words."""
    if any(output.key == message.key for output in outputs):
        return message.key
    return next((output.key for output in outputs if alike(output, message)), None)


def _iteration(base: State, *, said: bool) -> int:
    if said:
        return 1
    return base.iteration + (1 if base.outputs else 0)


def _said(messages: Sequence[Message]) -> int:
    return len([1 for message in messages if message.role == "user" and message.said_by_person])


def _history(messages: Sequence[Message]) -> int:
    """How many messages stand up to the last one of the assistant, that one included."""
    for j in range(len(messages) - 1, -1, -1):
        if messages[j].role == "assistant":
            return j + 1
    return 0
