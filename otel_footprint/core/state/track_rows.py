"""The findings of a thread in a document: its rows, and what is known of its results."""

from __future__ import annotations

from dataclasses import asdict

from otel_footprint.core.assessment.scripts import Submission
from otel_footprint.core.findings.document import row_from_json, row_to_json
from otel_footprint.core.findings.ledger import ROWS_LIMIT, At
from otel_footprint.core.findings.rows import Row
from otel_footprint.core.findings.track import RESULTS_LIMIT, SCRIPTS_LIMIT, SavedTrack
from otel_footprint.core.messages import Json
from otel_footprint.core.state.rows import Rows, lean


def track_to_json(saved: SavedTrack) -> dict[str, Json]:
    """The row of a track."""
    answer: Json = None
    if saved.answer is not None:
        at, digest = saved.answer
        answer = [at.turn, at.iteration, digest]
    return lean(
        {
            "rows": [row_to_json(row) for row in saved.rows],
            "forgotten": saved.forgotten,
            "results": [[ref, tool, gaps] for ref, tool, gaps in saved.results],
            "scripts_turn": saved.scripts_turn,
            "scripts": [{"ref": ref, **asdict(submission)} for ref, submission in saved.scripts],
            "new": [row_to_json(row) for row in saved.new],
            "answer": answer,
            "awaited": [*saved.awaited],
            "at": [saved.at.turn, saved.at.iteration],
        }
    ) | ({} if saved.own is None else {"own": [*saved.own]})


def track_from_json(read: Rows, value: object, place: str) -> SavedTrack:
    """The track of a row."""
    row = read.mapping(value, place)
    rows = read.several(row.get("rows", ()), f"{place}.rows", lambda v, p: _row(read, v, p))
    new = read.several(row.get("new", ()), f"{place}.new", lambda v, p: _row(read, v, p))
    results = read.several(row.get("results", ()), f"{place}.results", lambda v, p: _result(read, v, p))
    scripts = read.several(row.get("scripts", ()), f"{place}.scripts", lambda v, p: _script(read, v, p))
    read.bounded(rows, f"{place}.rows", ROWS_LIMIT)
    read.bounded(new, f"{place}.new", ROWS_LIMIT)
    read.bounded(results, f"{place}.results", RESULTS_LIMIT)
    read.bounded(scripts, f"{place}.scripts", SCRIPTS_LIMIT)
    own = None if row.get("own") is None else read.several(row["own"], f"{place}.own", read.whole)
    if any(index >= len(rows) for index in own or ()):
        raise read.refuse(f"{place}.own", "places of rows")
    return SavedTrack(
        rows,
        read.optional_whole(row.get("forgotten"), f"{place}.forgotten"),
        results,
        read.optional_whole(row.get("scripts_turn"), f"{place}.scripts_turn"),
        scripts,
        new,
        None if row.get("answer") is None else _answer(read, row["answer"], f"{place}.answer"),
        own,
        read.several(row.get("awaited", ()), f"{place}.awaited", read.text),
        At(0, 1) if row.get("at") is None else _at(read, row["at"], f"{place}.at"),
    )


def _at(read: Rows, value: object, place: str) -> At:
    row = read.several(value, place, read.whole)
    if len(row) != 2:
        raise read.refuse(place, "a turn and a call of it")
    return At(*row)


def _row(read: Rows, value: object, place: str) -> Row:
    return row_from_json(value, f"{read.what}: {place}")  # type: ignore[arg-type]  # it checks what it is given


def _result(read: Rows, value: object, place: str) -> tuple[str, str | None, int]:
    row = read.several(value, place, lambda v, _: v)
    if len(row) != 3:
        raise read.refuse(place, "a name, a tool and a count")
    return (
        read.text(row[0], f"{place}[0]"),
        read.text_or_none(row[1], f"{place}[1]"),
        read.whole(row[2], f"{place}[2]"),
    )


def _script(read: Rows, value: object, place: str) -> tuple[str, Submission]:
    row = read.mapping(value, place)
    code = row.get("exit_code")
    if code is not None and (not isinstance(code, int) or isinstance(code, bool) or abs(code) > 2**53):
        raise read.refuse(f"{place}.exit_code", "a whole number or null", code)
    return read.text(row.get("ref"), f"{place}.ref"), Submission(
        script=read.text(row.get("script"), f"{place}.script"),
        tool=read.text(row.get("tool"), f"{place}.tool"),
        tool_call_id=read.text_or_none(row.get("tool_call_id"), f"{place}.tool_call_id"),
        dispatch=read.whole(row.get("dispatch"), f"{place}.dispatch"),
        done=read.flag(row.get("done"), f"{place}.done"),
        exit_code=code,
        is_error=read.flag(row.get("is_error"), f"{place}.is_error"),
    )


def _answer(read: Rows, value: object, place: str) -> tuple[At, str]:
    row = read.several(value, place, lambda v, _: v)
    if len(row) != 3:
        raise read.refuse(place, "a turn, a call of it and a digest")
    at = At(read.whole(row[0], f"{place}[0]"), read.whole(row[1], f"{place}[1]"))
    return at, read.text(row[2], f"{place}[2]")
