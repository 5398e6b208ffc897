"""The state of a conversation's windows as a document, so that another process goes on with the same windows.

Rules
-----
- One versioned JSON document: for each line what was last sent, as places in the application's list with what we put between
  them, the keys of that list, counts, folded spans, and what stand-down needs of the last records. Of the application's own
  messages only the last output is in it, and what was folded under ``retain="conversation"``; no system text. Without text
  not these either: what summaries say stays, since the windows could not go on without.
- Restoring is all or nothing: what is malformed, and a version that is not known, is refused by name.
- What only this process could use is left out: a call under way, an answer that was sent back within the turn (its native
  form is the provider's), the thread the calls were observed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from otel_footprint.core.call import CallRef
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.message_json import Reader, message_to_json
from otel_footprint.core.messages import Json
from otel_footprint.core.stubs import Stub
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.core.window.line import RECORDS_KEPT, State, Unreported
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.record import REFUSAL_REASONS, FoldedSpan, Refusal, Retain, WindowRecord
from otel_footprint.core.window.strategy import Measured

FORMAT: Final = "otel-footprint window"
VERSION: Final = 1
LINES_LIMIT: Final = 64
_KEY_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class SavedLine:
    """One line: whose it is, and the state of its last completed call. ``instruction`` is a digest of the system text.

    ``thread`` is the number of the thread its calls were observed in, None where they were not.
    """

    instruction: str
    agent: str | None
    tools: frozenset[str]
    state: State
    thread: int | None = None


@dataclass(frozen=True, slots=True)
class WindowState:
    """The windows of one conversation, the one asked longest ago first."""

    lines: tuple[SavedLine, ...] = ()

    @property
    def folded(self) -> tuple[FoldedSpan, ...]:
        """What summaries stand for, each span once, in the order in which they were written."""
        return folded_of(line.state for line in self.lines)

    def to_dict(self, *, text: bool = True) -> dict[str, Json]:
        """The document; ``json.dumps`` takes it as it is. Without ``text`` no message of the application is in it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "lines": [_line_to_json(line, text=text) for line in self.lines],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Json], what: str = "the saved window") -> WindowState:
        """What :meth:`to_dict` gave. Raises ConfigurationError for anything else, naming what is wrong; ``what`` names it."""
        reader = Reader(what)
        top = reader.mapping(document, "the document")
        if top.get("format") != FORMAT:
            raise ConfigurationError(f"{what}: format {top.get('format')!r} is not {FORMAT!r}")
        if top.get("version") != VERSION or isinstance(top.get("version"), bool):
            raise ConfigurationError(
                f"{what}: version {top.get('version')!r} is not known, only {VERSION}; save it again with this version"
            )
        saved = _Saved(reader)
        lines = reader.several(top.get("lines"), "lines", saved.line)
        if len(lines) > LINES_LIMIT:
            raise reader.refuse("lines", f"a list of at most {LINES_LIMIT}")
        return cls(lines)


def folded_of(states: Iterable[State]) -> tuple[FoldedSpan, ...]:
    """The folded spans of these states, each once."""
    spans: dict[tuple[str, int, str], FoldedSpan] = {}
    for state in states:
        for span in state.folded:
            spans.setdefault((span.run_id, span.iteration, span.digest), span)
    return tuple(spans.values())


def _line_to_json(line: SavedLine, *, text: bool) -> dict[str, Json]:
    state = line.state
    return {
        "instruction": line.instruction,
        "agent": line.agent,
        "tools": [*sorted(line.tools)],
        "thread": line.thread,
        "keys": b"".join(state.keys).hex(),
        "items": [_item_to_json(*item) for item in zip(state.items, state.births, state.refs, strict=True)],
        "turn": state.turn,
        "iteration": state.iteration,
        "run_id": state.run_id,
        "calls": state.calls,
        "results": [[id_ or "", count] for id_, count in state.results.items()],
        "outputs": [message_to_json(message, text=text) for message in state.outputs],
        "after": _ref_to_json(state.after),
        "completed_at": state.completed_at,
        "measured": None if state.measured is None else [state.measured.input, state.measured.output],
        "unreported": state.unreported,
        "reported": state.reported,
        "records": [None if record is None else _record_to_json(record) for record in state.records],
        "folded": [_folded_to_json(span, text=text) for span in state.folded],
        "strategy": state.strategy,
        "revised_turn": state.revised_turn,
    }


def _item_to_json(item: Item, born: Born, result_ref: str | None) -> dict[str, Json]:
    row: dict[str, Json] = {"index": item.index} if isinstance(item, Kept) else {"put": message_to_json(item.message)}
    return {
        **row,
        "born_at": born.born_at,
        "born": _ref_to_json(born.born),
        "born_call": born.born_call,
        "result_ref": result_ref,
    }


def _ref_to_json(ref: CallRef | None) -> Json:
    if ref is None:
        return None
    return {"trace_id": f"{ref.trace_id:032x}", "span_id": f"{ref.span_id:016x}", "flags": ref.trace_flags}


def _record_to_json(record: WindowRecord) -> Json:
    return {
        "strategy": record.strategy,
        "iteration": record.iteration,
        "removed": record.removed_message_count,
        "chars": [record.window_chars_before, record.window_chars_after],
        "refusals": [[refusal.reason, refusal.turn_index, refusal.message_index] for refusal in record.refusals],
    }


def _folded_to_json(span: FoldedSpan, *, text: bool) -> Json:
    kept = text or not span.messages
    return {
        "summary": span.summary,
        "messages": [message_to_json(message) for message in span.messages] if kept else [],
        "message_count": span.message_count,
        "chars": span.chars,
        "iteration": span.iteration,
        "run_id": span.run_id,
        "retain": span.retain if kept else "discard",
        "digest": span.digest,
        "removed_span_ids": [None if id_ is None else f"{id_:016x}" for id_ in span.removed_span_ids],
    }


class _Saved:
    """Reads the rows of a document."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def line(self, value: object, place: str) -> SavedLine:
        read = self.reader
        row = read.mapping(value, place)
        tools = read.several(row.get("tools"), f"{place}.tools", read.text)
        return SavedLine(
            read.text(row.get("instruction"), f"{place}.instruction"),
            read.text_or_none(row.get("agent"), f"{place}.agent"),
            frozenset(tools),
            self._state(row, place),
            None if row.get("thread") is None else read.whole(row["thread"], f"{place}.thread", 1),
        )

    def _state(self, row: Mapping[str, Any], place: str) -> State:
        read = self.reader
        data = read.hexadecimal(row.get("keys"), f"{place}.keys", _KEY_BYTES)
        keys = tuple(data[start : start + _KEY_BYTES] for start in range(0, len(data), _KEY_BYTES))
        items = read.several(row.get("items"), f"{place}.items", self._item)
        last = -1
        for index, (item, _, _) in enumerate(items):
            if isinstance(item, Kept):
                if not last < item.index < len(keys):
                    raise read.refuse(f"{place}.items[{index}].index", "a place in the list, each after the one before")
                last = item.index
        measured = None
        if row.get("measured") is not None:
            counts = read.several(row.get("measured"), f"{place}.measured", read.whole)
            if len(counts) != 2:
                raise read.refuse(f"{place}.measured", "input and output tokens")
            measured = Measured(*counts)
        outputs = read.several(row.get("outputs"), f"{place}.outputs", read.message)
        if not outputs:
            raise read.refuse(f"{place}.outputs", "a list of at least one message")
        unreported: Unreported | None = read.one_of(
            row.get("unreported"), f"{place}.unreported", (None, *get_args(Unreported))
        )
        return State(
            keys=keys,
            items=tuple(item for item, _, _ in items),
            births=tuple(born for _, born, _ in items),
            refs=tuple(ref for _, _, ref in items),
            turn=read.whole(row.get("turn"), f"{place}.turn"),
            iteration=read.whole(row.get("iteration"), f"{place}.iteration", 1),
            run_id=read.text(row.get("run_id"), f"{place}.run_id"),
            streamed=False,
            reach=len(items),
            results=dict(read.several(row.get("results"), f"{place}.results", self._count)),
            calls=read.whole(row.get("calls"), f"{place}.calls", 1),
            outputs=outputs,
            after=self._ref(row.get("after"), f"{place}.after"),
            completed_at=read.number_or_none(row.get("completed_at"), f"{place}.completed_at"),
            measured=measured,
            unreported=unreported,
            reported=read.flag(row.get("reported"), f"{place}.reported"),
            records=read.several(row.get("records"), f"{place}.records", self._record)[-RECORDS_KEPT:],
            folded=read.several(row.get("folded"), f"{place}.folded", self._folded),
            strategy=read.text_or_none(row.get("strategy"), f"{place}.strategy"),
            revised_turn=read.whole(row.get("revised_turn"), f"{place}.revised_turn", -1),
        )

    def _item(self, value: object, place: str) -> tuple[Item, Born, str | None]:
        read = self.reader
        row = read.mapping(value, place)
        item: Item
        if "put" in row:
            message = read.message(row["put"], f"{place}.put")
            if message.role != "user" or message.authored is None or isinstance(message, Stub):
                raise read.refuse(f"{place}.put", "a user message that says who wrote it")
            item = Put(message)
        else:
            item = Kept(read.whole(row.get("index"), f"{place}.index"))
        born = Born(
            read.number_or_none(row.get("born_at"), f"{place}.born_at"),
            self._ref(row.get("born"), f"{place}.born"),
            read.whole(row.get("born_call"), f"{place}.born_call"),
        )
        return item, born, read.text_or_none(row.get("result_ref"), f"{place}.result_ref")

    def _ref(self, value: object, place: str) -> CallRef | None:
        if value is None:
            return None
        row = self.reader.mapping(value, place)
        trace = self.reader.hexadecimal(row.get("trace_id"), f"{place}.trace_id", 16)
        span = self.reader.hexadecimal(row.get("span_id"), f"{place}.span_id", 8)
        flags = self.reader.whole(row.get("flags"), f"{place}.flags")
        return CallRef(int.from_bytes(trace, "big"), int.from_bytes(span, "big"), flags)

    def _count(self, value: object, place: str) -> tuple[str | None, int]:
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise self.reader.refuse(place, "an id and a count")
        return self.reader.text(value[0], place) or None, self.reader.whole(value[1], place)

    def _record(self, value: object, place: str) -> WindowRecord | None:
        if value is None:
            return None
        read = self.reader
        row = read.mapping(value, place)
        chars = read.several(row.get("chars"), f"{place}.chars", read.whole)
        if len(chars) != 2:
            raise read.refuse(f"{place}.chars", "the characters before and after")
        return WindowRecord(
            strategy=read.text(row.get("strategy"), f"{place}.strategy"),
            iteration=read.whole(row.get("iteration"), f"{place}.iteration"),
            removed_message_count=read.whole(row.get("removed"), f"{place}.removed"),
            window_chars_before=chars[0],
            window_chars_after=chars[1],
            refusals=read.several(row.get("refusals"), f"{place}.refusals", self._refusal),
        )

    def _refusal(self, value: object, place: str) -> Refusal:
        if not isinstance(value, (list, tuple)) or len(value) != 3:
            raise self.reader.refuse(place, "a reason, a turn and a message")
        reason = self.reader.one_of(value[0], place, REFUSAL_REASONS)
        return Refusal(reason, self.reader.whole(value[1], place), self.reader.whole(value[2], place))

    def _folded(self, value: object, place: str) -> FoldedSpan:
        read = self.reader
        row = read.mapping(value, place)
        retain: Retain = read.one_of(row.get("retain"), f"{place}.retain", get_args(Retain))
        return FoldedSpan(
            summary=read.text(row.get("summary"), f"{place}.summary"),
            messages=read.several(row.get("messages"), f"{place}.messages", read.message),
            message_count=read.whole(row.get("message_count"), f"{place}.message_count"),
            chars=read.whole(row.get("chars"), f"{place}.chars"),
            iteration=read.whole(row.get("iteration"), f"{place}.iteration"),
            run_id=read.text(row.get("run_id"), f"{place}.run_id"),
            retain=retain,
            digest=read.text(row.get("digest"), f"{place}.digest"),
            removed_span_ids=read.several(row.get("removed_span_ids"), f"{place}.removed_span_ids", self._span),
        )

    def _span(self, value: object, place: str) -> int | None:
        return None if value is None else int.from_bytes(self.reader.hexadecimal(value, place, 8), "big")
