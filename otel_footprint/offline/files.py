"""Input files of a check: what is in them, one conversation at a time, and what could not be read.

Rules
-----
- A file is JSON lines (each a conversation, a message, or an OTLP export request) or one JSON document (a message list,
  a list of conversations, a conversation, or an export). The first line decides: if it is JSON by itself, lines are read.
- Messages on lines of their own that follow one another are one conversation.
- Nothing that is unreadable stops the rest: it is a :class:`Problem` with its line and reason, never a traceback.
- Conversations are yielded as they are read; only a trace is collected, since its calls belong together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeAlias

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.offline import format as formats
from otel_footprint.offline import otlp
from otel_footprint.offline.format import Conversation
from otel_footprint.offline.otlp import Log, Span

MAX_LINE_BYTES: Final = 512_000_000
"""A longer line is no JSON line that fits into memory."""

_SNIFF_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read. ``line`` counts from 1; None when no line is to blame."""

    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class TraceFile:
    """The spans and log records of a file, in the order they were written."""

    spans: tuple[Span, ...]
    logs: tuple[Log, ...]


Item: TypeAlias = Conversation | Problem | TraceFile


def read(file: BinaryIO) -> Iterator[Item]:
    """Everything in a file, in order; a trace comes last, once."""
    reader = _Reader()
    lines = _lines(file)
    first = next((line for line in lines if not isinstance(line, _Line) or line.data), None)
    if first is None:
        yield Problem(None, "the file is empty")
        return
    if isinstance(first, Problem):
        yield first
        return
    if b"\x00" in first.data[:_SNIFF_BYTES]:
        yield Problem(None, "not text: a binary file")
        return
    value, problem = _decode(first)
    if problem is None:
        yield from reader.value(value, first.number)
        yield from _json_lines(lines, reader)
    else:
        yield from _document(first, lines, problem, reader)
    yield from reader.close()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    data: bytes


def _lines(file: BinaryIO) -> Iterator[_Line | Problem]:
    number = 0
    while True:
        try:
            data = file.readline(MAX_LINE_BYTES)
        except OSError as error:
            yield Problem(number + 1, error.strerror or str(error))
            return
        if not data:
            return
        number += 1
        if len(data) >= MAX_LINE_BYTES and not data.endswith(b"\n"):
            yield Problem(number, f"a line longer than {MAX_LINE_BYTES:,} bytes")
            return
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        yield _Line(number, data.rstrip())


def _decode(line: _Line) -> tuple[object, Problem | None]:
    try:
        return json.loads(line.data.decode("utf-8")), None
    except json.JSONDecodeError as error:
        return None, Problem(line.number, f"not JSON: {_why(error)}, at character {error.pos + 1}")
    except UnicodeDecodeError as error:
        return None, Problem(line.number, f"not UTF-8 text: byte 0x{line.data[error.start]:02x} at {error.start + 1}")
    except RecursionError:
        return None, Problem(line.number, "JSON nested too deeply")
    except ValueError:  # an integer with more digits than Python converts
        return None, Problem(line.number, "not JSON: a number with too many digits")


def _json_lines(lines: Iterator[_Line | Problem], reader: _Reader) -> Iterator[Item]:
    for line in lines:
        if isinstance(line, Problem):
            yield line
        elif line.data:
            value, problem = _decode(line)
            if problem is not None:
                yield problem
            else:
                yield from reader.value(value, line.number)


def _document(first: _Line, rest: Iterator[_Line | Problem], problem: Problem, reader: _Reader) -> Iterator[Item]:
    """The whole file as one document; where it is none, the lines that can be read by themselves."""
    lines: list[_Line] = [first]
    beyond: list[Problem] = []
    for line in rest:
        if isinstance(line, Problem):
            beyond.append(line)
        else:
            lines.append(line)
    whole, whole_problem = _decode_document(lines)
    if whole_problem is None:
        yield from reader.value(whole, None)
        yield from beyond
        return
    decoded = [(line, *_decode(line)) for line in lines[1:] if line.data]
    if not any(fault is None and isinstance(value, (dict, list)) and value for _, value, fault in decoded):
        yield whole_problem if len(lines) > 1 else problem
        return
    yield problem
    for line, value, fault in decoded:
        if fault is not None:
            yield fault
        else:
            yield from reader.value(value, line.number)
    yield from beyond


def _decode_document(lines: list[_Line]) -> tuple[object, Problem | None]:
    # Lines were stripped, which cannot change JSON: a string holds no raw line break.
    try:
        return json.loads(b"\n".join(line.data for line in lines).decode("utf-8")), None
    except json.JSONDecodeError as error:
        place = lines[min(error.lineno, len(lines)) - 1].number
        return None, Problem(place, f"not JSON: {_why(error)}, at column {error.colno}")
    except UnicodeDecodeError:
        return None, Problem(None, "not UTF-8 text")
    except RecursionError:
        return None, Problem(None, "JSON nested too deeply")
    except ValueError:
        return None, Problem(None, "not JSON: a number with too many digits")


def _why(error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
        return "it ends too early"
    return error.msg[:1].lower() + error.msg[1:]


class _Reader:
    """Turns decoded values into conversations; collects message lines and traces."""

    def __init__(self) -> None:
        self._messages: list[object] = []
        self._messages_line: int | None = None
        self._spans: list[Span] = []
        self._logs: list[Log] = []
        self._traced = False

    def value(self, value: object, line: int | None) -> Iterator[Item]:
        if formats.is_message(value) and not formats.is_conversation(value):
            if not self._messages:
                self._messages_line = line
            self._messages.append(value)
            return
        yield from self._flush()
        if otlp.is_export(value):
            yield from self._export(value, line)
        elif isinstance(value, list) and value and all(otlp.is_export(item) for item in value):
            for item in value:
                yield from self._export(item, line)
        elif isinstance(value, list) and value and not any(formats.is_message(item) for item in value):
            yield from self._list(value, line)
        else:
            yield self._conversation(value, line)

    def _list(self, values: list[object], line: int | None) -> Iterator[Item]:
        """A list that holds no message holds conversations, unless nothing in it could be one."""
        if not any(isinstance(item, (list, Mapping)) for item in values):
            yield Problem(line, "not a conversation: a list that holds neither messages nor conversations")
            return
        for number, item in enumerate(values):
            yield self._conversation(item, line, f"conversation {number}: ")

    def _conversation(self, value: object, line: int | None, place: str = "") -> Conversation | Problem:
        try:
            return formats.read(value)
        except UnreadableInputError as error:
            return Problem(line, place + error.reason)
        except RecursionError:
            return Problem(line, place + "nested too deeply")

    def _export(self, value: object, line: int | None) -> Iterator[Item]:
        self._traced = True
        try:
            export = otlp.read(value)
        except UnreadableInputError as error:
            yield Problem(line, error.reason)
            return
        self._spans += [span for span in export.spans if _of_interest(span.attributes) or _has_messages(span)]
        self._logs += [log for log in export.logs if log.name.startswith(("gen_ai.", "agentfootprint."))]

    def _flush(self) -> Iterator[Item]:
        if self._messages:
            messages, self._messages = self._messages, []
            yield self._conversation(messages, self._messages_line)

    def close(self) -> Iterator[Item]:
        yield from self._flush()
        if self._traced:
            yield TraceFile(tuple(self._spans), tuple(self._logs))


def _of_interest(attributes: Mapping[str, object]) -> bool:
    return any(key.startswith(("gen_ai.", "agentfootprint.")) for key in attributes)


def _has_messages(span: Span) -> bool:
    return any(event.name.startswith("gen_ai.") for event in span.events)
