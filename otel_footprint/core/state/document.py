"""The document of a conversation: one versioned JSON object that another process goes on with.

Rules
-----
- It is read as a whole before anything is made of it: what is malformed, a version or a kind of row that is not known, is
  refused with the place and what belongs there, and nothing is half restored.
- A field that this version does not write is refused too, and so is a text in a document that says it has none. What is at
  its default may be left out.
- A conversation of which nothing is known any more, though it had calls, goes on as one whose history was not seen.
- Without text there is no text of a message, a result or an argument in it, and none of a system instruction: of each its
  digest. What summaries say stays, since the windows could not go on without; so do the rows of findings, with what the model
  declared in them.
- The document of a window alone is taken too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.message_json import content_to_json
from otel_footprint.core.messages import Json
from otel_footprint.core.state.rows import Rows
from otel_footprint.core.state.thread_rows import thread_from_json, thread_to_json
from otel_footprint.core.state.values import SavedConversation, SavedSession
from otel_footprint.core.stubs import Content
from otel_footprint.core.window.saving import FORMAT as WINDOW_FORMAT
from otel_footprint.core.window.saving import WindowState

FORMAT: Final = "otel-footprint conversation"
VERSION: Final = 1
THREADS_LIMIT: Final = 256
_ID_CHARS: Final = 256
_DEPTH: Final = 20
"""Levels at which fields of ours may stand."""


def to_document(saved: SavedConversation) -> dict[str, Json]:
    """The document; ``json.dumps`` takes it as it is."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": saved.id,
        "named": saved.named,
        "text": saved.text,
        "calls": saved.calls if saved.session is None else saved.session.calls,
        "window": saved.window.to_dict(text=saved.text),
        "session": None if saved.session is None else _session_to_json(saved.session, text=saved.text),
    }


def from_document(document: object, place: str = "conversation(restore=…)") -> SavedConversation:
    """What a document says. Raises :class:`ConfigurationError` that names what is wrong with it; ``place`` is who asks."""
    if not isinstance(document, Mapping):
        raise ConfigurationError(
            f"{place} is {type(document).__name__}; give what to_dict() gave, as json.loads reads it"
        )
    if document.get("format") == WINDOW_FORMAT:
        alone = WindowState.from_dict(document, place)
        _refuse_unknown(document, alone.to_dict(), place, "")
        return SavedConversation(text=True, window=alone)
    if document.get("format") != FORMAT:
        raise ConfigurationError(f"{place}: format {_shown(document.get('format'))} is not {FORMAT!r}")
    version = document.get("version")
    if isinstance(version, bool) or version != VERSION:
        raise ConfigurationError(
            f"{place}: version {_shown(version)} is not known, only {VERSION}; save it with this version"
        )
    window: Any = document.get("window")
    for name, there in (("window", isinstance(window, Mapping)), ("session", "session" in document)):
        if not there:
            raise ConfigurationError(f"{place}: it has no {name}; give the whole of what to_dict() gave")
    read = Rows(place)
    id_ = read.text_or_none(document.get("id"), "id")
    if id_ is not None and not 0 < len(id_) <= _ID_CHARS:
        raise read.refuse("id", f"a string of 1 to {_ID_CHARS} characters")
    calls = read.whole(document.get("calls"), "calls")
    session = SavedSession(lost=True) if calls else None
    if document["session"] is not None:
        session = _session(read, document["session"], "session")
        if session.calls != calls:
            raise read.refuse("calls", f"the {session.calls} calls of the threads of its session", calls)
    saved = SavedConversation(
        id=id_,
        named=read.flag(document.get("named"), "named"),
        text=read.flag(document.get("text"), "text"),
        calls=calls,
        window=WindowState.from_dict(window, f"{place}: window"),
        session=session,
    )
    written = to_document(saved)
    _refuse_unknown(document, {**written, "session": None} if document["session"] is None else written, place, "")
    return saved


def _refuse_unknown(given: object, written: object, place: str, path: str, depth: int = 0) -> None:
    """Refuse what is given and not written again, unless it says nothing."""
    if depth > _DEPTH:  # in what a tool was given or gave back
        return
    if isinstance(given, Mapping) and isinstance(written, Mapping):
        for name, value in given.items():
            inner = f"{path}.{name}" if path else str(name)
            if name in written:
                _refuse_unknown(value, written[name], place, inner, depth + 1)
            elif value:
                raise ConfigurationError(
                    f"{place}: {inner[:200]} has no place in it; give what to_dict() gave, with texts only where text is true"
                )
    elif isinstance(given, (list, tuple)) and isinstance(written, list):
        for index, (one, other) in enumerate(zip(given, written, strict=False)):
            _refuse_unknown(one, other, place, f"{path}[{index}]", depth + 1)


def _session_to_json(session: SavedSession, *, text: bool) -> dict[str, Json]:
    return {
        "created": session.created,
        "tools_seen": session.tools_seen,
        "handed_in": [[name, content_to_json(content)] for name, content in session.handed_in],
        "said": [content_to_json(content) for content in session.said],
        "threads": [thread_to_json(thread, text=text) for thread in session.threads],
        **({"lost": True} if session.lost else {}),
    }


def _session(read: Rows, value: object, place: str) -> SavedSession:
    row = read.mapping(value, place)
    threads = read.several(row.get("threads"), f"{place}.threads", lambda v, p: thread_from_json(read, v, p))
    read.bounded(threads, f"{place}.threads", THREADS_LIMIT)
    if len({thread.number for thread in threads}) != len(threads):
        raise read.refuse(f"{place}.threads", "a list of threads with a number each of their own")
    return SavedSession(
        created=read.whole(row.get("created"), f"{place}.created"),
        tools_seen=read.flag(row.get("tools_seen"), f"{place}.tools_seen"),
        handed_in=read.several(row.get("handed_in"), f"{place}.handed_in", lambda v, p: _handed_in(read, v, p)),
        said=read.several(row.get("said"), f"{place}.said", read.content),
        threads=threads,
        lost=read.optional_flag(row.get("lost"), f"{place}.lost"),
    )


def _handed_in(read: Rows, value: object, place: str) -> tuple[str, Content]:
    row = read.several(value, place, lambda v, _: v)
    if len(row) != 2:
        raise read.refuse(place, "a name and a text")
    return read.text(row[0], f"{place}[0]"), read.content(row[1], f"{place}[1]")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
