"""The evidence of a thread in a document: what was said, results, calls, and what earlier answers computed."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, get_args

from otel_footprint.core.evidence.saving import CALLS_LIMIT, LEFT_LIMIT, Memory, SavedCall, SavedCorpus, SavedSource
from otel_footprint.core.evidence.sources import Outcome
from otel_footprint.core.evidence.stated import Unit
from otel_footprint.core.evidence.verdicts import Derivation
from otel_footprint.core.message_json import content_to_json
from otel_footprint.core.messages import Json
from otel_footprint.core.state.rows import Rows, lean, ref_to_json

_OUTCOMES: Final = get_args(Outcome)
_UNITS: Final = get_args(Unit)
_COMPUTED_LIMIT: Final = 2_000
_STATED_LIMIT: Final = 12


def corpus_to_json(saved: SavedCorpus) -> dict[str, Json]:
    """The row of a corpus."""
    memory = saved.memory
    return lean(
        {
            "said": [content_to_json(content) for content in saved.said],
            "results": [_source_to_json(source) for source in saved.sources],
            "calls": [_call_to_json(call) for call in saved.calls],
            "outcomes": [[ref, outcome] for ref, outcome in saved.outcomes],
            "memory": None if memory is None or memory == Memory() else _memory_to_json(memory),
            "forgot": saved.forgot,
            "calls_forgotten": saved.calls_forgotten,
            "lost": memory is None,
        }
    )


def corpus_from_json(read: Rows, value: object, place: str) -> SavedCorpus:
    """The corpus of a row."""
    row = read.mapping(value, place)
    sources = read.several(row.get("results", ()), f"{place}.results", lambda v, p: _source(read, v, p))
    if sum(not source.in_window for source in sources) > LEFT_LIMIT:
        raise read.refuse(f"{place}.results", f"a list of which at most {LEFT_LIMIT} left the window")
    calls = read.several(row.get("calls", ()), f"{place}.calls", lambda v, p: _call(read, v, p))
    read.bounded(calls, f"{place}.calls", CALLS_LIMIT)
    memory: Memory | None = Memory()
    if read.optional_flag(row.get("lost"), f"{place}.lost"):
        memory = None
    elif row.get("memory") is not None:
        memory = _memory(read, row["memory"], f"{place}.memory")
    return SavedCorpus(
        said=read.several(row.get("said", ()), f"{place}.said", read.content),
        sources=sources,
        calls=calls,
        outcomes=read.several(row.get("outcomes", ()), f"{place}.outcomes", lambda v, p: _outcome(read, v, p)),
        memory=memory,
        forgot=read.optional_flag(row.get("forgot"), f"{place}.forgot"),
        calls_forgotten=read.optional_whole(row.get("calls_forgotten"), f"{place}.calls_forgotten"),
    )


def _source_to_json(source: SavedSource) -> dict[str, Json]:
    return {
        "ref": source.ref,
        "content": content_to_json(source.content),
        "turn": source.turn,
        **lean(
            {
                "id": source.call_id,
                "tool": source.tool,
                "served": ref_to_json(source.served),
                "outcome": None if source.outcome == "good" else source.outcome,
                "handed_in": source.handed_in,
                "opaque": source.opaque,
                "unread": source.unread,
                "left": not source.in_window,
                "decision": source.decision,
                "decided_by": source.decided_by,
                "dropped": ref_to_json(source.dropped),
            }
        ),
        **({} if source.position is None else {"position": source.position}),
    }


def _source(read: Rows, value: object, place: str) -> SavedSource:
    row = read.mapping(value, place)
    outcome: Outcome = read.one_of(row.get("outcome", "good"), f"{place}.outcome", _OUTCOMES)
    return SavedSource(
        ref=read.text(row.get("ref"), f"{place}.ref"),
        content=read.content(row.get("content"), f"{place}.content"),
        turn=read.whole(row.get("turn"), f"{place}.turn"),
        call_id=read.text_or_none(row.get("id"), f"{place}.id"),
        tool=read.text_or_none(row.get("tool"), f"{place}.tool"),
        position=None if row.get("position") is None else read.whole(row["position"], f"{place}.position"),
        served=read.ref(row.get("served"), f"{place}.served"),
        outcome=outcome,
        handed_in=read.optional_flag(row.get("handed_in"), f"{place}.handed_in"),
        opaque=read.optional_flag(row.get("opaque"), f"{place}.opaque"),
        unread=read.optional_flag(row.get("unread"), f"{place}.unread"),
        in_window=not read.optional_flag(row.get("left"), f"{place}.left"),
        decision=read.text(row.get("decision", ""), f"{place}.decision"),
        decided_by=read.text(row.get("decided_by", ""), f"{place}.decided_by"),
        dropped=read.ref(row.get("dropped"), f"{place}.dropped"),
    )


def _call_to_json(call: SavedCall) -> dict[str, Json]:
    row: dict[str, Json] = {
        "ref": call.ref,
        "tool": call.tool,
        "content": content_to_json(call.content),
        "turn": call.turn,
    }
    return row if call.position is None else {**row, "position": call.position}


def _call(read: Rows, value: object, place: str) -> SavedCall:
    row = read.mapping(value, place)
    return SavedCall(
        read.text(row.get("ref"), f"{place}.ref"),
        read.text(row.get("tool"), f"{place}.tool"),
        read.content(row.get("content"), f"{place}.content"),
        read.whole(row.get("turn"), f"{place}.turn"),
        None if row.get("position") is None else read.whole(row["position"], f"{place}.position"),
    )


def _outcome(read: Rows, value: object, place: str) -> tuple[str, Outcome]:
    pair = read.several(value, place, lambda v, _: v)
    if len(pair) != 2:
        raise read.refuse(place, "a result and its outcome")
    outcome: Outcome = read.one_of(pair[1], f"{place}[1]", _OUTCOMES)
    return read.text(pair[0], f"{place}[0]"), outcome


def _memory_to_json(memory: Memory) -> dict[str, Json]:
    return lean(
        {
            "computed": [[unit, str(number), made.name, *made.inputs] for unit, number, made in memory.computed],
            "stated": [[unit, str(number)] for unit, number in memory.stated],
            "text": memory.text,
        }
    )


def _memory(read: Rows, value: object, place: str) -> Memory:
    row = read.mapping(value, place)
    computed = read.several(row.get("computed", ()), f"{place}.computed", lambda v, p: _computed(read, v, p))
    stated = read.several(row.get("stated", ()), f"{place}.stated", lambda v, p: _number(read, v, p, 2))
    read.bounded(computed, f"{place}.computed", _COMPUTED_LIMIT)
    read.bounded(stated, f"{place}.stated", _STATED_LIMIT)
    return Memory(computed, stated, read.text(row.get("text", ""), f"{place}.text"))


def _number(read: Rows, value: object, place: str, most: int | None = None) -> tuple[Unit, Decimal]:
    row = read.several(value, place, read.text)
    if len(row) < 2 or (most is not None and len(row) > most):
        raise read.refuse(place, "a unit and a number")
    unit: Unit = read.one_of(row[0], f"{place}[0]", _UNITS)
    return unit, read.decimal(row[1], f"{place}[1]")


def _computed(read: Rows, value: object, place: str) -> tuple[Unit, Decimal, Derivation]:
    unit, number = _number(read, value, place)
    row = read.several(value, place, read.text)
    if len(row) < 3:
        raise read.refuse(place, "a unit, a number, a name and what went in")
    return unit, number, Derivation(row[2], row[3:])
