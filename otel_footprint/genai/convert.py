"""GenAI messages of the semantic conventions (objects, or mappings of the same form) to messages of the core.

Rules
-----
- Read by shape only (``role``, ``parts``, ``type``): importable without OpenTelemetry. Inputs are never changed, and
  nothing of them that can change is kept: structures are copied.
- An input message seen before gives the very :class:`Message` made then. It is found by a key of the strings it is made
  of; arguments and structured results stand in it as bytes, not as objects that may change.
- The table is bounded in bytes by two generations: what was not used while one filled up goes. It takes no lock, since
  a finaliser may convert while another conversion is under way: a race costs a second conversion, never a wrong one.
- What one message becomes is said in :mod:`otel_footprint.genai.shapes`.
- ``joined``: neighbouring assistant messages are one turn that the API splits into items (OpenAI Responses).
- Leading system messages are the system envelope; a system message further in stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from marshal import dumps as _dumps
from typing import Any, Final, TypeAlias

from otel_footprint.core.call import CUT_SHORT, Output
from otel_footprint.core.messages import Message, Text
from otel_footprint.genai.shapes import (
    PlainMessage,
    as_message,
    as_part,
    convert,
    opaque_kind,
    plain_copy,
    role_of,
)

_Key: TypeAlias = tuple[Any, ...]

_PER_MESSAGE_BYTES: Final = 500
"""What a converted message takes beside its text: the message, its parts, its key, its place in the table."""
_STRUCTURE_WEIGHT: Final = 5
"""How many bytes a structure and its key take for each byte of the key, about."""


class Converter:
    """Converts messages and remembers what it made. Safe for use by several threads and from finalisers.

    ``max_bytes`` bounds, about, what the table keeps alive beyond one message.
    """

    def __init__(self, *, max_bytes: int = 32_000_000) -> None:
        self._half = max_bytes // 2
        self._young: dict[_Key, tuple[Message, ...]] = {}
        self._old: dict[_Key, tuple[Message, ...]] = {}
        self._young_bytes = 0

    def messages(
        self,
        inputs: Sequence[Any],
        system_instruction: Sequence[Any] = (),
        *,
        joined: bool = False,
    ) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """``(system, rest)``: the system envelope, and the window as sent, in order.

        Args:
            inputs: messages of the conventions, objects or mappings.
            system_instruction: its parts (texts), which go first.
            joined: whether neighbouring assistant messages are one turn.
        """
        try:
            found = self._find(inputs)
        except AttributeError:  # mappings among them: give them the fields first, then the same way
            found = self._find([as_message(item) for item in inputs])
        system: list[Message] = []
        if system_instruction:
            system += self._instruction(system_instruction)
        leading = 0
        for message in found:
            if message.role != "system":
                break
            leading += 1
        system += found[:leading]
        rest = found[leading:] if leading else found
        if joined:
            rest = self._join_neighbours(rest)
        return tuple(system), tuple(rest)

    def outputs(
        self, outputs: Sequence[Any], *, joined: bool = False, failed: bool = False, streamed: bool = True
    ) -> tuple[Output, ...]:
        """The choices of a call.

        Args:
            outputs: output messages of the conventions, objects or mappings.
            joined: whether all of them together are one answer; else each is a choice of its own.
            failed: whether the call ended in an error, so that what there is is not all the model wrote.
            streamed: whether the answer came in pieces. The reason ``error`` stands for a missing one: of a stream, that
                it ended early; else, that the API gives none.
        """
        cut = CUT_SHORT if streamed else CUT_SHORT - {"error"}
        made: list[Output] = []
        for choice, item in enumerate(outputs):
            message = as_message(item)
            reason = message.finish_reason
            finish = reason if isinstance(reason, str) and reason else None
            for converted in self._convert_output(message):
                made.append(Output(converted, choice, finish, failed or finish in cut))
        if joined and len(made) > 1:
            # The pieces say "stop" each; the last reason that says more is the answer's.
            reasons = [output.finish_reason for output in made if output.finish_reason]
            finish = next((reason for reason in reasons if reason in cut), reasons[-1] if reasons else None)
            message = self._join(tuple(output.message for output in made))
            return (Output(message, 0, finish, any(output.partial for output in made)),)
        return tuple(made)

    @property
    def size_bytes(self) -> int:
        """About how many bytes the newer generation of the table keeps alive."""
        return self._young_bytes

    def _find(self, inputs: Sequence[Any]) -> list[Message]:
        # Keys start with a number by their kind; a plain text, the most frequent one, with its role.
        found: list[Message] = []
        append = found.append
        known = self._young.get
        for message in inputs:
            parts = message.parts
            if len(parts) == 1:
                part = parts[0]
                kind = part.type
                if kind == "text":
                    key: _Key = (message.role, message.name, part.content)
                elif kind == "tool_call":
                    key = (1, message.role, part.id, part.name, _frozen(part.arguments))
                elif kind == "tool_call_response":
                    response = part.response
                    key = (2, message.role, part.id, response if response.__class__ is str else _frozen(response))
                else:
                    key = _raw(message)
            else:
                key = _raw(message)
            try:
                entry = known(key)
            except TypeError:  # a field that should be a text is a structure
                found += convert(message)
                continue
            if entry is None:
                found += self._slowly(message, key)
            elif len(entry) == 1:
                append(entry[0])
            else:
                found += entry
        return found

    def _slowly(self, message: Any, key: _Key) -> tuple[Message, ...]:
        """From the older generation, or made anew."""
        entry = self._old.get(key)
        if entry is None:
            entry = convert(message)
        self._keep(key, entry)
        return entry

    def _keep(self, key: _Key, entry: tuple[Message, ...]) -> None:
        self._young[key] = entry
        self._young_bytes += _PER_MESSAGE_BYTES + sum([message.chars for message in entry])
        self._young_bytes += sum([_STRUCTURE_WEIGHT * len(piece) for piece in key if piece.__class__ is bytes])
        if self._young_bytes > self._half:
            self._old, self._young, self._young_bytes = self._young, {}, 0

    def _instruction(self, parts: Sequence[Any]) -> tuple[Message, ...]:
        plain = [as_part(part) for part in parts]
        texts = tuple(part.content for part in plain if part.type == "text" and isinstance(part.content, str))
        key: _Key = (5, *texts)
        entry = self._young.get(key)
        if entry is None:
            if not texts:
                return ()
            entry = (Message("system", tuple(Text(text) for text in texts)),)
            self._keep(key, entry)
        return entry

    def _join_neighbours(self, messages: list[Message]) -> list[Message]:
        joined: list[Message] = []
        run: list[Message] = []
        for message in messages:
            if message.role == "assistant":
                run.append(message)
                continue
            if run:
                joined.append(self._join(tuple(run)))
                run.clear()
            joined.append(message)
        if run:
            joined.append(self._join(tuple(run)))
        return joined

    def _join(self, run: tuple[Message, ...]) -> Message:
        if len(run) == 1:
            return run[0]
        key: _Key = (6, *(message.key for message in run))
        entry = self._young.get(key)
        if entry is None:
            whole = Message("assistant", tuple(part for message in run for part in message.parts), run[0].name)
            entry = (whole,)
            self._keep(key, entry)
        return entry[0]

    def _convert_output(self, message: Any) -> tuple[Message, ...]:
        """An answer is converted as the input message that the next call will show it as."""
        assistant = PlainMessage(message.role or "assistant", tuple(message.parts), getattr(message, "name", None))
        if assistant.role != "assistant" and role_of(assistant) != "assistant":
            assistant = PlainMessage("assistant", assistant.parts, assistant.name)
        if not assistant.parts:
            return (Message("assistant", ()),)
        try:
            return tuple(self._find([assistant]))
        except AttributeError:
            return tuple(self._find([as_message(assistant)]))


def _raw(message: Any) -> _Key:
    """What identifies a message of any parts."""
    key: list[Any] = [4, message.role, message.name]
    for part in message.parts:
        kind = part.type
        key.append(kind)
        if kind == "text" or kind == "reasoning":
            key.append(part.content)
        elif kind == "tool_call":
            key += (part.id, part.name, _frozen(part.arguments))
        elif kind == "tool_call_response":
            response = part.response
            key += (part.id, response if response.__class__ is str else _frozen(response))
        elif kind == "server_tool_call":
            key += (part.id, part.name, _frozen(part.server_tool_call))
        elif kind == "server_tool_call_response":
            key += (part.id, _frozen(part.server_tool_call_response))
        else:
            content = getattr(part, "content", None)
            key += (opaque_kind(part), content if content.__class__ is str else None)
    return tuple(key)


def _frozen(value: Any) -> bytes | None:
    """A structure as bytes that differ wherever it does, in values and in their types. Format 2 has no references."""
    if value is None:
        return None
    try:
        return _dumps(value, 2)
    except ValueError:  # it holds what JSON has no word for, or is too deep
        return _dumps(plain_copy(value, 0), 2)
