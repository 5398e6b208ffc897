"""Facts of Anthropic calls that the completion hook cannot see.

- Request: the reply that a server-side thread continues from (``thread``), and which tool results are marked as errors.
- Response: the edits of the window that the provider made (``context_management.applied_edits``), in a plain message, in the
  ``message_delta`` of a stream, and in a raw response once the application has read it.

Rules
-----
- Clearing of thinking is no edit of the window: reasoning is no part of a message's identity.
- An edit of a kind we do not know is not guessed at.
- A stream is left alone unless the request asked for edits; then its private iterator is observed, not the stream.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

from otel_footprint.boundary import guard
from otel_footprint.core.call import EditKind, ProviderEdit
from otel_footprint.providers.carrying_registry import Carrying

_KINDS: Final[tuple[tuple[str, EditKind], ...]] = (("clear_tool_uses", "clear"), ("compact", "summarize"))


def concerns(method: str, path: str) -> bool:
    """Whether the request asks for a message of a model."""
    return method == "post" and path.endswith("/messages")


def read_request(entry: Carrying, body: dict[str, Any]) -> None:
    """Note the thread that the request continues and the results that it marks as errors."""
    thread = body.get("thread")
    if isinstance(thread, dict):
        previous = thread.get("previous_message_id")
        if isinstance(previous, str):
            entry.previous_response_id = previous
    entry.asked_for_edits = bool(body.get("context_management"))
    errors: list[str] = []
    messages = body.get("messages")
    if isinstance(messages, list):
        for message in messages:
            content = message.get("content") if isinstance(message, dict) else None
            if type(content) is list and message.get("role") == "user":
                errors += [id_ for block in content if (id_ := _error_id(block)) is not None]
    if errors:
        entry.error_result_ids = frozenset(errors)


def _error_id(block: Any) -> str | None:
    if not isinstance(block, dict) or not block.get("is_error"):
        return None
    id_ = block.get("tool_use_id")
    return id_ if isinstance(id_, str) else None


def read_response(entry: Carrying, result: Any) -> None:
    """Note applied edits of a plain message, or see to it that those of a stream or a raw response will be noted."""
    management = getattr(result, "context_management", None)
    if management is not None:
        entry.edits = applied(management)
    elif entry.asked_for_edits:
        if hasattr(result, "http_response"):
            _observe_raw(entry, result)
        elif hasattr(result, "_iterator"):
            _observe_stream(entry, result)


def applied(management: Any) -> tuple[ProviderEdit, ...]:
    """The edits of a ``context_management`` of a response: the SDK's object, or the JSON of it."""
    edits = _field(management, "applied_edits")
    return tuple(edit for item in edits or () if (edit := _edit(item)) is not None)


def _edit(item: Any) -> ProviderEdit | None:
    source = _field(item, "type")
    if not isinstance(source, str):
        return None
    kind = next((kind for prefix, kind in _KINDS if source.startswith(prefix)), None)
    if kind is None:
        return None
    count = _field(item, "cleared_tool_uses")
    return ProviderEdit(kind=kind, source=source, count=count if isinstance(count, int) else 0)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _observe_stream(entry: Carrying, stream: Any) -> None:
    inner = stream._iterator
    note = _Note(entry)
    stream._iterator = _AsyncObserved(inner, note) if hasattr(inner, "__anext__") else _Observed(inner, note)


def _observe_raw(entry: Carrying, raw: Any) -> None:
    """A raw response is read when the application wishes: then, or in the stream that it parses, we see the edits."""
    http_response = raw.http_response
    _unparsed[http_response] = entry
    alive = weakref.ref(http_response)
    entry.late = lambda: _edits_of_body(alive())


_unparsed: Final[weakref.WeakKeyDictionary[Any, Carrying]] = weakref.WeakKeyDictionary()
"""Raw responses of calls that asked for edits, by the HTTP response, for as long as that lives."""


def parse(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps the method by which a raw response makes the SDK's object: the stream it makes is observed."""
    parsed = wrapped(*args, **kwargs)
    with guard("carrying.anthropic.parse"):
        if _unparsed and hasattr(parsed, "_iterator"):
            raw = args[0] if instance is None else instance  # None under somebody's closure
            entry = _unparsed.pop(raw.http_response, None)
            if entry is not None:
                _observe_stream(entry, parsed)
    return parsed


def _edits_of_body(http_response: Any) -> tuple[ProviderEdit, ...]:
    # `_content` is there exactly when the body was read; asking for `content` before that raises.
    content = getattr(http_response, "_content", None)
    if not content or b'"context_management"' not in content:
        return ()
    try:
        body = json.loads(content)
    except ValueError:  # a stream's body
        return ()
    return applied(body.get("context_management")) if isinstance(body, dict) else ()


class _Note:
    """Takes the edits from the event that has them."""

    __slots__ = ("_entry",)

    def __init__(self, entry: Carrying) -> None:
        self._entry = entry

    def __call__(self, event: Any) -> None:
        with guard("carrying.anthropic.event"):
            if getattr(event, "type", None) == "message_delta":
                management = getattr(event, "context_management", None)
                if management is not None:
                    self._entry.edits = applied(management)


class _Observed:
    """The stream's own iterator, each event noted on its way. Everything else of it is passed through."""

    __slots__ = ("_inner", "_note")

    def __init__(self, inner: Any, note: Callable[[Any], None]) -> None:
        self._inner = inner
        self._note = note

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        event = self._inner.__next__()
        self._note(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _AsyncObserved:
    """As :class:`_Observed`, for an async stream."""

    __slots__ = ("_inner", "_note")

    def __init__(self, inner: Any, note: Callable[[Any], None]) -> None:
        self._inner = inner
        self._note = note

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        event = await self._inner.__anext__()
        self._note(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
