"""GenAI messages of the semantic conventions (objects, or the JSON that trace files hold) to messages of the core.

Rules
-----
- Read by shape only (``role``, ``parts``, ``type``): importable without OpenTelemetry. Inputs are never changed, and
  nothing of them that can change is kept: structures are copied.
- An input message seen before gives the very :class:`Message` made then. It is found by a key of the strings it is made
  of; arguments and structured results stand in it as bytes, not as objects that may change.
- The table is bounded in bytes by two generations: what was not used while one filled up goes. It takes no lock, since
  a finaliser may convert while another conversion is under way: a race costs a second conversion, never a wrong one.
- A message with several tool results becomes several messages; the rest of its parts stays with the last of them.
- ``joined``: neighbouring assistant messages are one turn that the API splits into items (OpenAI Responses).
- Leading system messages are the system envelope; a system message further in stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from marshal import dumps as _dumps
from typing import Any, Final, TypeAlias, cast

from otel_footprint.core.call import Output
from otel_footprint.core.messages import (
    Compaction,
    Json,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    ServerToolCall,
    ServerToolResult,
    Text,
    ToolCall,
    ToolResult,
)

_Key: TypeAlias = tuple[Any, ...]

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-response": "tool",
    "tool_response": "tool",
    "tool-call": "assistant",
    "tool_call": "assistant",
}

_OPAQUE_KINDS: Final = frozenset({"image", "audio", "video", "document"})
_CUT: Final = frozenset({"error", "length", "max_tokens", "incomplete", "content_filter"})
_PER_MESSAGE_BYTES: Final = 500
"""What a converted message takes beside its text: the message, its parts, its key, its place in the table."""
_MODELS_PARTS: Final = frozenset({"tool_call", "reasoning", "server_tool_call", "server_tool_call_response"})
_STRUCTURE_WEIGHT: Final = 5
"""How many bytes a structure and its key take for each byte of the key, about."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a trace file, with the fields that the objects of the conventions have."""

    type: str
    content: Any = None
    id: Any = None
    name: Any = None
    arguments: Any = None
    response: Any = None
    server_tool_call: Any = None
    server_tool_call_response: Any = None
    modality: Any = None
    mime_type: Any = None


@dataclass(frozen=True, slots=True)
class _Message:
    role: Any
    parts: tuple[Any, ...]
    name: Any = None
    finish_reason: Any = None


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
            found = self._find([_as_message(item) for item in inputs])
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
        cut = _CUT if streamed else _CUT - {"error"}
        made: list[Output] = []
        for choice, item in enumerate(outputs):
            message = _as_message(item)
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
                found += _convert(message)
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
            entry = _convert(message)
        self._keep(key, entry)
        return entry

    def _keep(self, key: _Key, entry: tuple[Message, ...]) -> None:
        self._young[key] = entry
        self._young_bytes += _PER_MESSAGE_BYTES + sum(message.chars for message in entry)
        self._young_bytes += sum(_STRUCTURE_WEIGHT * len(piece) for piece in key if piece.__class__ is bytes)
        if self._young_bytes > self._half:
            self._old, self._young, self._young_bytes = self._young, {}, 0

    def _instruction(self, parts: Sequence[Any]) -> tuple[Message, ...]:
        plain = [_as_part(part) for part in parts]
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
        assistant = _Message(message.role or "assistant", tuple(message.parts), getattr(message, "name", None))
        if _role_of(assistant) != "assistant":
            assistant = _Message("assistant", assistant.parts, assistant.name)
        if not assistant.parts:
            return (Message("assistant", ()),)
        try:
            return tuple(self._find([assistant]))
        except AttributeError:
            return tuple(self._find([_as_message(assistant)]))


def as_text_parts(instructions: Any) -> list[Any]:
    """The parts of a ``gen_ai.system_instructions`` value that was read from a trace file: a list, or one text."""
    if isinstance(instructions, str):
        return [_Part("text", content=instructions)]
    return list(instructions) if isinstance(instructions, Sequence) else []


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
            key += (_opaque_kind(part), content if content.__class__ is str else None)
    return tuple(key)


def _frozen(value: Any) -> bytes | None:
    """A structure as bytes that differ wherever it does, in values and in their types. Format 2 has no references."""
    if value is None:
        return None
    try:
        return _dumps(value, 2)
    except ValueError:  # it holds what JSON has no word for, or is too deep
        return _dumps(_copy(value, 0), 2)


def _convert(message: Any) -> tuple[Message, ...]:
    """One message of the conventions as one or more of the core; none where it has no parts."""
    role = _role_of(message)
    if role != "assistant" and len(message.parts) > 1 and any(part.type == "tool_call" for part in message.parts):
        return _convert_turns(message, role)
    name = message.name if isinstance(message.name, str) else None
    parts: list[Part] = []
    results: list[ToolResult] = []
    for part in message.parts:
        converted = _convert_part(part, role)
        if isinstance(converted, ToolResult):
            results.append(converted)
        elif converted is not None:
            parts.append(converted)
    if not results:
        if not parts:
            return ()
        if role == "tool":  # a result carried as plain text
            text = "".join(part.text for part in parts if isinstance(part, Text))
            unread = tuple(part for part in parts if not isinstance(part, Text))
            return (Message("tool", (ToolResult(None, name, text), *unread), name),)
        return (Message(role, tuple(parts), name),)
    alone = [Message("tool", (result,), name) for result in results[:-1]]
    return (*alone, Message("tool", (results[-1], *parts), name))


def _convert_turns(message: Any, role: Role) -> tuple[Message, ...]:
    """A message that holds turns of both sides, told apart by their parts."""
    turns: list[tuple[str, list[Any]]] = []
    for part in message.parts:
        side = "assistant" if part.type in _MODELS_PARTS else "user" if role == "tool" else role
        if not turns or turns[-1][0] != side:
            turns.append((side, []))
        turns[-1][1].append(part)
    return tuple(made for side, parts in turns for made in _convert(_Message(side, tuple(parts), message.name)))


def _convert_part(part: Any, role: Role) -> Part | None:
    kind = part.type
    if kind == "text":
        return Text(part.content) if isinstance(part.content, str) else None
    if kind == "reasoning":
        return Reasoning(part.content if isinstance(part.content, str) else "")
    if kind == "tool_call":
        return ToolCall(_text_or_none(part.id), str(part.name or ""), _arguments(part.arguments))
    if kind == "tool_call_response":
        content = _copy(part.response, 0)
        if role == "assistant":  # the outcome of a tool that the provider ran
            return ServerToolResult(_text_or_none(part.id), None, content)
        return ToolResult(_text_or_none(part.id), None, content)
    if kind == "server_tool_call":
        return ServerToolCall(_text_or_none(part.id), str(part.name or ""), _copy(part.server_tool_call, 0))
    if kind == "server_tool_call_response":
        payload = _copy(part.server_tool_call_response, 0)
        name = payload.get("type") if isinstance(payload, dict) else None
        readable = None if _has_encrypted(payload, 0) else payload
        return ServerToolResult(_text_or_none(part.id), name if isinstance(name, str) else None, readable)
    if kind == "compaction":
        content = getattr(part, "content", None)
        return Compaction(content if isinstance(content, str) else None)
    return Opaque(_opaque_kind(part))


def _role_of(message: Any) -> Role:
    raw = message.role
    name = str(getattr(raw, "value", raw) or "").rpartition(".")[2].lower()
    role = _ROLES.get(name)
    if role is not None and role not in ("user", "system"):
        return role
    kinds = {part.type for part in message.parts}
    if "tool_call_response" in kinds:
        return "tool"
    if role is None and "tool_call" in kinds:
        return "assistant"
    return role or "user"


def _opaque_kind(part: Any) -> str:
    if part.type in ("file", "uri"):
        return cast("str", part.type)
    if part.type == "blob":
        modality = str(getattr(part.modality, "value", part.modality) or "").lower()
        return modality if modality in _OPAQUE_KINDS else "file"
    return "unknown"


def _arguments(arguments: Any) -> Json:
    """None where the call has none, which some spell as an empty text."""
    copied = _copy(arguments, 0)
    return None if copied in ("", None) else copied


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _has_encrypted(value: Json, depth: int) -> bool:
    """Whether a server-side result carries text that only the model can read."""
    if depth > 4:
        return False
    if isinstance(value, dict):
        return any(
            (key.startswith("encrypted") and bool(item)) or _has_encrypted(item, depth + 1)
            for key, item in value.items()
        )
    if isinstance(value, list):
        return any(_has_encrypted(item, depth + 1) for item in value)
    return False


_MAX_DEPTH: Final = 64


def _copy(value: Any, depth: int) -> Any:
    """A JSON value of our own: what is not JSON becomes its text, bytes say only how many they are."""
    kind = value.__class__
    if kind is str or value is None or kind is int or kind is float or kind is bool:
        return value
    if depth > _MAX_DEPTH:
        return str(kind.__name__)
    if isinstance(value, Mapping):
        return {str(key): _copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_copy(item, depth + 1) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes>"
    if isinstance(value, (str, int, float)):  # enumerations and other subclasses
        plain = getattr(value, "value", value)
        return plain if plain.__class__ in (str, int, float, bool) else str(value)
    return str(value)


def _as_message(item: Any) -> Any:
    """A message with the fields that objects of the conventions have, whatever it came as."""
    if isinstance(item, Mapping):
        raw = item.get("parts")
        if raw is None and isinstance(item.get("content"), str):
            raw = ({"type": "text", "content": item["content"]},)
        parts = raw if isinstance(raw, Iterable) and not isinstance(raw, (str, bytes, Mapping)) else ()
        return _Message(item.get("role"), tuple(map(_as_part, parts)), item.get("name"), item.get("finish_reason"))
    parts = item.parts
    if any(isinstance(part, Mapping) for part in parts):
        return _Message(
            item.role,
            tuple(map(_as_part, parts)),
            getattr(item, "name", None),
            getattr(item, "finish_reason", None),
        )
    return item


def _as_part(part: Any) -> Any:
    if isinstance(part, str):
        return _Part("text", content=part)
    if not isinstance(part, Mapping):
        return part
    get = part.get
    return _Part(
        str(get("type") or "unknown"),
        content=get("content", get("text")),
        id=get("id"),
        name=get("name"),
        arguments=get("arguments"),
        response=get("response", get("result")),
        server_tool_call=get("server_tool_call"),
        server_tool_call_response=get("server_tool_call_response"),
        modality=get("modality"),
        mime_type=get("mime_type"),
    )
