"""What an instrumentation cannot read is missing from its span: its fault never reaches the application.

Servers that only speak like a provider, and applications that only nearly do, send what the official instrumentations do
not expect: arguments that are no string, tool calls of a stream without an index, usage in words. Bare, the SDKs pass it
on; instrumented, the call would raise, before the request or after an answer that has been paid for.

Rules
-----
- Only functions that read are replaced here; the provider's call, and what it raises, never runs inside the guard.
- What can be read of a list is: its items are read one by one where all together fail.
- A stream or a call always ends its span, also where its end could not be written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from otel_footprint.boundary import guard

MAX_INDEX: Final = 1024
"""The highest index of a choice or a tool call of a stream: the instrumentation makes room for all below it."""


def read_each(original: Callable[..., list[Any]], items: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """Read a list; where that fails, its items one by one, leaving out those that fail."""
    with guard("upstream.read"):
        return original(items, *args, **kwargs)
    read: list[Any] = []
    for item in items if isinstance(items, (list, tuple)) else ():
        with guard("upstream.read_one"):
            read += original([item], *args, **kwargs)
    return read


def read_tool_calls(make: Any, original: Callable[..., list[Any]], calls: Any) -> list[Any]:
    """Read tool calls. Of one that fails: its id, its name and its arguments as they are. ``make`` makes the part."""
    with guard("upstream.tool_calls"):
        return original(calls)
    read: list[Any] = []
    for call in calls if isinstance(calls, (list, tuple)) else ():
        part: list[Any] = []
        with guard("upstream.tool_call"):
            part = original([call])
        if not part:
            with guard("upstream.tool_call"):
                function = _field(call, "function")
                part = [
                    make(
                        id=_field(call, "id"),
                        name=_field(function, "name") or "",
                        arguments=_field(function, "arguments"),
                    )
                ]
        read += part
    return read


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def read_or(default: Any) -> Callable[..., Any]:
    """A replacement of a function that reads: ``default`` where it fails."""

    def read(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with guard("upstream.read"):
            return original(*args, **kwargs)
        return default

    return read


def read_into(original: Callable[..., Any], invocation: Any, *args: Any, **kwargs: Any) -> Any:
    """A replacement of a function that reads into an invocation and gives it back."""
    with guard("upstream.read"):
        return original(invocation, *args, **kwargs)
    return invocation


def read_arguments(original: Callable[..., Any], arguments: Any) -> Any:
    """Read the arguments of a tool call; as they are where that fails."""
    with guard("upstream.arguments"):
        return original(arguments)
    return arguments


def finish(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
    """End an invocation. The utilities end its span also where this fails."""
    with guard("upstream.finish"):
        original(self, *args, **kwargs)


def process_chunk(original: Callable[..., None], self: Any, chunk: Any) -> None:
    """Read a chunk of a stream."""
    with guard("upstream.chunk"):
        if all(_in_reach(choice) for choice in getattr(chunk, "choices", None) or ()):
            original(self, chunk)


def _in_reach(choice: Any) -> bool:
    index = getattr(choice, "index", None)
    return isinstance(index, int) and 0 <= index <= MAX_INDEX


def end_stream(original: Callable[..., None], self: Any, *args: Any) -> None:
    """End a stream, with the error it broke with where there is one."""
    with guard("upstream.stream_end"):
        original(self, *args)
        return
    invocation = getattr(self, "_self_invocation", None)
    if invocation is not None:
        with guard("upstream.stream_end"):
            invocation.fail(args[0]) if args else invocation.stop()


def append_text(original: Callable[..., None], self: Any, text: Any) -> None:
    """Add a piece of text of a stream; what is no text is left out."""
    if isinstance(text, str):
        original(self, text)


def append_arguments(original: Callable[..., None], self: Any, arguments: Any) -> None:
    """Add a piece of a tool call's arguments; what is no text is left out."""
    if arguments is None or isinstance(arguments, str):
        original(self, arguments)


def append_tool_call(original: Callable[..., None], self: Any, call: Any) -> None:
    """Add a piece of a tool call. Without an index it begins a call where it has an id, else it goes on with the last."""
    index = call.index
    if index is None:
        begun = len(self.tool_calls_buffers)
        call = call.model_copy(update={"index": begun if call.id or not begun else begun - 1})
    elif not isinstance(index, int) or not 0 <= index <= MAX_INDEX:
        return
    original(self, call)
