"""One thread in a document: its window message by message, what left, its counts, its names."""

from __future__ import annotations

from typing import Final

from otel_footprint.core.message_json import content_to_json, message_to_json
from otel_footprint.core.messages import Json
from otel_footprint.core.state.corpus_rows import corpus_from_json, corpus_to_json
from otel_footprint.core.state.rows import Rows, lean, ref_to_json
from otel_footprint.core.state.track_rows import track_from_json, track_to_json
from otel_footprint.core.state.values import SavedResponse, SavedSlot, SavedThread
from otel_footprint.core.stubs import DIGEST_BYTES
from otel_footprint.core.thread import DROPPED_LIMIT, OUTPUTS_LIMIT, Gone
from otel_footprint.core.turns import SavedNames

_RESPONSES_LIMIT: Final = 64
_KEPT_OF_ONE: Final = 16


def thread_to_json(thread: SavedThread, *, text: bool) -> dict[str, Json]:
    """The row of a thread. Without ``text`` its messages are stubs."""
    row: dict[str, Json] = {
        "number": thread.number,
        "calls": thread.calls,
        "turn": thread.turn,
        "iteration": thread.iteration,
        "results_this_turn": thread.results_this_turn,
        "messages": [_slot_to_json(slot, text=text) for slot in thread.slots],
        "outputs": [_slot_to_json(slot, text=text) for slot in thread.outputs],
        "evidence": corpus_to_json(thread.corpus),
    }
    if thread.attempted is not None:
        row["attempted"] = [message_to_json(message, text=text) for message in thread.attempted]
    if thread.track is not None:
        row["findings"] = track_to_json(thread.track)
    return {
        **row,
        **lean(
            {
                "instruction": content_to_json(thread.instruction),
                "first_system": content_to_json(thread.first_system),
                "forked_from": thread.forked_from,
                "parent": thread.parent,
                "agent": thread.agent,
                "tools": [*sorted(thread.tools)],
                "system": [message_to_json(message, text=text) for message in thread.system],
                "chars": thread.chars,
                "trace": None if thread.trace is None else f"{thread.trace:032x}",
                "last": ref_to_json(thread.last),
                "completed_at": thread.completed_at,
                "unseen": thread.unseen,
                "unreadable": thread.unreadable,
                "system_unreadable": thread.system_unreadable,
                "system_is_summary": thread.system_is_summary,
                "results_named": [[id_, count] for id_, count in thread.names.results],
                "results_awaited": [[id_, count] for id_, count in thread.names.waiting],
                "tools_called": [[id_, tool] for id_, tool in thread.names.tools],
                "left": [[key.hex(), *(_gone_to_json(one) for one in known)] for key, known in thread.gone],
                "final": content_to_json(thread.final),
                "reports": [[number, [*places]] for number, places in thread.reports],
                "responses": [
                    [one.id, one.sent, message_to_json(one.output, text=text), one.unseen] for one in thread.responses
                ],
                "server_threads": [*thread.server_threads],
            }
        ),
    }


def thread_from_json(read: Rows, value: object, place: str) -> SavedThread:
    """The thread of a row."""
    row = read.mapping(value, place)
    outputs = read.several(row.get("outputs"), f"{place}.outputs", lambda v, p: _slot(read, v, p))
    read.bounded(outputs, f"{place}.outputs", OUTPUTS_LIMIT)
    gone = read.several(row.get("left", ()), f"{place}.left", lambda v, p: _left(read, v, p))
    read.bounded(gone, f"{place}.left", DROPPED_LIMIT)
    responses = read.several(row.get("responses", ()), f"{place}.responses", lambda v, p: _response(read, v, p))
    read.bounded(responses, f"{place}.responses", _RESPONSES_LIMIT)
    slots = read.several(row.get("messages"), f"{place}.messages", lambda v, p: _slot(read, v, p))
    for index, one in enumerate(responses):
        if one.sent > len(slots):
            raise read.refuse(f"{place}.responses[{index}][1]", "a number of messages of the window", one.sent)
    reports = read.several(row.get("reports", ()), f"{place}.reports", lambda v, p: _report(read, v, p, len(slots)))
    attempted = row.get("attempted")
    trace = row.get("trace")
    return SavedThread(
        number=read.whole(row.get("number"), f"{place}.number", 1),
        instruction=read.content(row.get("instruction", ""), f"{place}.instruction"),
        first_system=read.content(row.get("first_system", ""), f"{place}.first_system"),
        forked_from=_number(read, row.get("forked_from"), f"{place}.forked_from"),
        parent=_number(read, row.get("parent"), f"{place}.parent"),
        agent=read.text_or_none(row.get("agent"), f"{place}.agent"),
        tools=frozenset(read.several(row.get("tools", ()), f"{place}.tools", read.text)),
        system=read.several(row.get("system", ()), f"{place}.system", read.message),
        slots=slots,
        outputs=outputs,
        attempted=None if attempted is None else read.several(attempted, f"{place}.attempted", read.message),
        chars=read.optional_whole(row.get("chars"), f"{place}.chars"),
        calls=read.whole(row.get("calls"), f"{place}.calls"),
        turn=read.whole(row.get("turn"), f"{place}.turn"),
        iteration=read.whole(row.get("iteration"), f"{place}.iteration"),
        results_this_turn=read.whole(row.get("results_this_turn"), f"{place}.results_this_turn"),
        trace=None if trace is None else int.from_bytes(read.hexadecimal(trace, f"{place}.trace", 16, times=1), "big"),
        last=read.ref(row.get("last"), f"{place}.last"),
        completed_at=read.number_or_none(row.get("completed_at"), f"{place}.completed_at"),
        unseen=read.optional_flag(row.get("unseen"), f"{place}.unseen"),
        unreadable=read.optional_whole(row.get("unreadable"), f"{place}.unreadable"),
        system_unreadable=read.optional_flag(row.get("system_unreadable"), f"{place}.system_unreadable"),
        system_is_summary=read.optional_flag(row.get("system_is_summary"), f"{place}.system_is_summary"),
        names=SavedNames(
            read.several(row.get("results_named", ()), f"{place}.results_named", lambda v, p: _count(read, v, p)),
            read.several(row.get("results_awaited", ()), f"{place}.results_awaited", lambda v, p: _count(read, v, p)),
            read.several(row.get("tools_called", ()), f"{place}.tools_called", lambda v, p: _called(read, v, p)),
        ),
        gone=gone,
        final=read.content(row.get("final", ""), f"{place}.final"),
        reports=reports,
        responses=responses,
        server_threads=read.several(row.get("server_threads", ()), f"{place}.server_threads", read.text),
        corpus=corpus_from_json(read, row.get("evidence"), f"{place}.evidence"),
        track=None if row.get("findings") is None else track_from_json(read, row["findings"], f"{place}.findings"),
    )


def _slot_to_json(slot: SavedSlot, *, text: bool) -> dict[str, Json]:
    born_at: dict[str, Json] = {} if slot.born_at is None else {"born_at": slot.born_at}
    return {
        "message": message_to_json(slot.message, text=text),
        **born_at,
        **lean(
            {
                "born": ref_to_json(slot.born),
                "born_call": slot.born_call,
                "turn": slot.turn,
                "refs": [*slot.refs],
                "tool": slot.tool,
                "unreadable": slot.unreadable,
                "fed": slot.fed,
            }
        ),
    }


def _slot(read: Rows, value: object, place: str) -> SavedSlot:
    row = read.mapping(value, place)
    return SavedSlot(
        message=read.message(row.get("message"), f"{place}.message"),
        born_at=read.number_or_none(row.get("born_at"), f"{place}.born_at"),
        born=read.ref(row.get("born"), f"{place}.born"),
        born_call=read.optional_whole(row.get("born_call"), f"{place}.born_call"),
        turn=read.optional_whole(row.get("turn"), f"{place}.turn"),
        refs=read.several(row.get("refs", ()), f"{place}.refs", read.text),
        tool=read.text_or_none(row.get("tool"), f"{place}.tool"),
        unreadable=read.optional_flag(row.get("unreadable"), f"{place}.unreadable"),
        fed=read.optional_flag(row.get("fed"), f"{place}.fed"),
    )


def _gone_to_json(gone: Gone) -> dict[str, Json]:
    born_at: dict[str, Json] = {} if gone.born_at is None else {"born_at": gone.born_at}
    return {
        **born_at,
        **lean(
            {
                "born": ref_to_json(gone.born),
                "born_call": gone.born_call,
                "turn": gone.turn,
                "refs": [*gone.refs],
                "tool": gone.tool,
                "unreadable": gone.unreadable,
            }
        ),
    }


def _gone(read: Rows, value: object, place: str) -> Gone:
    row = read.mapping(value, place)
    return Gone(
        read.number_or_none(row.get("born_at"), f"{place}.born_at"),
        read.ref(row.get("born"), f"{place}.born"),
        read.optional_whole(row.get("born_call"), f"{place}.born_call"),
        read.optional_whole(row.get("turn"), f"{place}.turn"),
        read.several(row.get("refs", ()), f"{place}.refs", read.text),
        read.text_or_none(row.get("tool"), f"{place}.tool"),
        read.optional_flag(row.get("unreadable"), f"{place}.unreadable"),
    )


def _left(read: Rows, value: object, place: str) -> tuple[bytes, tuple[Gone, ...]]:
    row = read.several(value, place, lambda v, _: v)
    if not 2 <= len(row) <= 1 + _KEPT_OF_ONE:
        raise read.refuse(place, f"a key and 1 to {_KEPT_OF_ONE} messages that left")
    key = read.hexadecimal(row[0], f"{place}[0]", DIGEST_BYTES, times=1)
    return key, tuple(_gone(read, one, f"{place}[{index}]") for index, one in enumerate(row[1:], 1))


def _response(read: Rows, value: object, place: str) -> SavedResponse:
    row = read.several(value, place, lambda v, _: v)
    if len(row) != 4:
        raise read.refuse(place, "an id, a count, a message and a flag")
    return SavedResponse(
        read.text(row[0], f"{place}[0]"),
        read.whole(row[1], f"{place}[1]"),
        read.message(row[2], f"{place}[2]"),
        read.flag(row[3], f"{place}[3]"),
    )


def _report(read: Rows, value: object, place: str, messages: int) -> tuple[int, tuple[int, ...]]:
    row = read.several(value, place, lambda v, _: v)
    if len(row) != 2:
        raise read.refuse(place, "a thread and places in the window")
    places = read.several(row[1], f"{place}[1]", read.whole)
    if any(index >= messages for index in places):
        raise read.refuse(f"{place}[1]", "places in the window")
    return read.whole(row[0], f"{place}[0]", 1), places


def _number(read: Rows, value: object, place: str) -> int | None:
    return None if value is None else read.whole(value, place, 1)


def _count(read: Rows, value: object, place: str) -> tuple[str | None, int]:
    row = read.several(value, place, lambda v, _: v)
    if len(row) != 2:
        raise read.refuse(place, "an id and a count")
    return read.text_or_none(row[0], f"{place}[0]"), read.whole(row[1], f"{place}[1]")


def _called(read: Rows, value: object, place: str) -> tuple[str, str]:
    row = read.several(value, place, read.text)
    if len(row) != 2:
        raise read.refuse(place, "an id and a tool")
    return row[0], row[1]
