"""What a scripted provider answers: the steps of a script and the request it reads.

Rules
-----
- A step says what the model does, not how a provider spells it: the same script plays on every API.
- Whether an answer is streamed is the request's wish, never the step's.
- Everything is deterministic: ids count up from 1, times stand still, token counts follow from lengths.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

Finish: TypeAlias = Literal["stop", "tool_calls", "length"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call of the model. ``arguments`` is the object, or a string sent as it is; an id of None is made up."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str | None = None

    @property
    def arguments_json(self) -> str:
        """The arguments as the wire carries them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What every answer of a model can have.

    - ``finish`` None follows from the step; ``input_tokens`` and ``output_tokens`` None follow from the lengths.
    - ``pieces``: into how many pieces a stream splits the text; ``call_pieces``: each call's arguments, None as the API does.
    - ``delay``: seconds before the answer starts; ``pace``: seconds between two chunks of a stream.
    - ``break_after``: the connection breaks after so many chunks of a stream; of a plain answer, in the middle.
    - ``extra``: merged into the top level of the plain response; in an Anthropic stream into ``message_delta``.
    """

    finish: Finish | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    pieces: int = 3
    call_pieces: int | None = None
    delay: float = 0.0
    pace: float = 0.0
    break_after: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Text(Reply):
    """The model answers with text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalls(Reply):
    """The model asks for tools, in one message, with optional text before them."""

    calls: tuple[ToolUse, ...] | list[ToolUse]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Error:
    """The provider answers with an HTTP error, in its own shape. ``retry_after`` is in seconds."""

    status: int = 500
    message: str = "scripted error"
    retry_after: float | None = None
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Raw:
    """A response as recorded: bytes sent as they are. ``content_type`` None sends none.

    ``chunks`` sends the body in these pieces with chunked transfer encoding, as a stream does.
    """

    body: bytes | str = b""
    status: int = 200
    content_type: str | None = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    chunks: tuple[bytes, ...] = ()
    delay: float = 0.0
    pace: float = 0.0
    break_after: int | None = None


Step: TypeAlias = Text | ToolCalls | Error | Raw


@dataclass(frozen=True)
class Request:
    """A request that the provider got. ``path`` has the query; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        """The decoded body; None when there is none. Raises ``ValueError`` when it is not JSON."""
        return json.loads(self.body) if self.body else None


@dataclass(frozen=True, slots=True)
class Wire:
    """A response on its way out. ``chunks`` is None for a plain body.

    ``pace`` is the pause between two chunks in seconds; ``break_after`` cuts the connection after so many chunks.
    """

    body: bytes = b""
    chunks: tuple[bytes, ...] | None = None
    status: int = 200
    content_type: str | None = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    pace: float = 0.0
    break_after: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's step with everything settled that an API has to spell: what the dialects read."""

    text: str
    calls: tuple[ToolUse, ...]
    finish: Finish
    input_tokens: int
    output_tokens: int
    pieces: tuple[str, ...]
    extra: Mapping[str, Any]
    number: int
    model: str
    call_pieces: int | None = None

    @property
    def total_tokens(self) -> int:
        """Tokens in and out together."""
        return self.input_tokens + self.output_tokens

    def pieces_of(self, call: ToolUse, default: int) -> tuple[str, ...]:
        """The arguments of a call as a stream cuts them; into ``default`` pieces where the script does not say."""
        return _pieces(call.arguments_json, self.call_pieces or default)


def settle(step: Text | ToolCalls, *, number: int, model: str, request_bytes: int, first_call: int) -> Answer:
    """The step as an answer. ``number`` counts responses from 1; ``first_call`` numbers the first made-up call id."""
    calls: tuple[ToolUse, ...] = ()
    if isinstance(step, ToolCalls):
        calls = tuple(
            call if call.id is not None else replace(call, id=f"call_{first_call + index}")
            for index, call in enumerate(step.calls)
        )
    length = len(step.text) + sum(len(call.arguments_json) for call in calls)
    return Answer(
        text=step.text,
        calls=calls,
        finish=step.finish or ("tool_calls" if calls else "stop"),
        input_tokens=request_bytes // 4 if step.input_tokens is None else step.input_tokens,
        output_tokens=length // 4 + 1 if step.output_tokens is None else step.output_tokens,
        pieces=_pieces(step.text, step.pieces),
        extra=step.extra,
        number=number,
        model=model,
        call_pieces=step.call_pieces,
    )


def _pieces(text: str, count: int) -> tuple[str, ...]:
    if not text:
        return ()
    size = max(1, -(-len(text) // max(1, count)))
    return tuple(text[start : start + size] for start in range(0, len(text), size))


def compact(value: Any) -> bytes:
    """JSON bytes without spaces."""
    return json.dumps(value, separators=(",", ":")).encode()
