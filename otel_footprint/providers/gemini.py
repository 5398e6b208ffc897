"""Gemini contents read as core messages: everything that ``generate_content`` takes, and the JSON of a request.

Rules
-----
- A content is an object (the SDK's or a dictionary, in either spelling: ``function_call`` or ``functionCall``), a text, a
  part, or a list of parts. Loose parts that follow one another are one content, as the SDK joins them: a run with a
  function call is the model's, any other the person's. The SDK sends a loose run after the dictionaries that stand in
  front of its end; the order here is the order the model reads.
- A user content that holds function responses becomes one tool message per response; what else it holds stays with the
  last of them.
- Neighbouring contents of the model are one turn where an earlier one holds a call: they are answered together.
- Thoughts are reasoning; signatures are left out, as everywhere. Calls to code execution and to server tools are the
  server's. Media and files are opaque.
- Most models give calls no id. ``made_up_ids`` fills in the ones that the instrumentation makes (name and place of the
  part), so that both ways of reading agree; a response without its own then gets that of the call it answers.
- The system instruction stands outside the list, so its position is -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.madeup_ids import MadeUpIds
from otel_footprint.core.messages import (
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
from otel_footprint.providers.native import Native, kind_of, one, text_or_none
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.turns import join_split_turns

SYSTEM_POSITION: Final = -1

PARTS: Final = frozenset(
    {
        "function_call",
        "functionCall",
        "function_response",
        "functionResponse",
        "inline_data",
        "inlineData",
        "file_data",
        "fileData",
        "executable_code",
        "executableCode",
        "code_execution_result",
        "codeExecutionResult",
    }
)
"""Keys that only parts of Gemini's contents have: a list with one of them is in this format."""

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "model": "assistant",
    "assistant": "assistant",
    "function": "tool",
    "tool": "tool",
    "system": "system",
}


@dataclass(frozen=True, slots=True)
class Content:
    """One content as it is sent: its role (None where not said), its parts, and the items of the list it is made of."""

    role: str | None
    parts: tuple[object, ...]
    positions: tuple[int, ...]


def read(
    contents: object,
    system: object = None,
    *,
    made_up_ids: bool = False,
    remembered: Remembered[tuple[Message, ...]] | None = None,
) -> tuple[Native, ...]:
    """Read a history, with the system instruction (whatever the SDK takes for a content) in front.

    ``remembered`` spares reading again what was read before. Raises :class:`UnreadableInputError` naming the item that
    cannot be one (counted from 0).
    """
    natives: list[Native] = []
    instruction = _system(system)
    if instruction is not None:
        natives.append(one(instruction, SYSTEM_POSITION))
    ids = _Ids(made_up=made_up_ids)
    history: list[Native] = []
    for content in grouped(contents):
        at = content.positions[0]
        found = _messages(content, at, ids, remembered)
        history += [Native(message, content.positions, at) for message in found]
    return (*natives, *join_split_turns(history))


def grouped(contents: object) -> tuple[Content, ...]:
    """The contents in the order in which the SDK sends them."""
    if contents is None:
        return ()
    if not isinstance(contents, list):
        return (_content(contents, 0),)
    made: list[Content] = []
    run: list[tuple[int, object]] = []

    def close() -> None:
        if run:
            called = any(field(part, "function_call") for _, part in run)
            made.append(
                Content("model" if called else "user", tuple(part for _, part in run), tuple(at for at, _ in run))
            )
            run.clear()

    for at, item in enumerate(contents):
        if _is_part(item):
            if run and bool(field(item, "function_call")) != bool(field(run[-1][1], "function_call")):
                close()
            run.append((at, item))
            continue
        if not isinstance(item, Mapping):
            close()
        made.append(_content(item, at))
    close()
    return tuple(made)


def field(value: object, name: str) -> Any:
    """A field of an SDK object or of a dictionary, which may spell it ``function_call`` or ``functionCall``."""
    if type(value) is not dict and not isinstance(value, Mapping):
        return None if isinstance(value, str) else getattr(value, name, None)
    found = value.get(name)
    return value.get(_in_camel_case(name)) if found is None else found


@cache
def _in_camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _is_content(value: object) -> bool:
    if isinstance(value, Mapping):
        return not value or "parts" in value or "role" in value
    return hasattr(value, "parts") and hasattr(value, "role")


def _is_part(value: object) -> bool:
    return not isinstance(value, list) and not _is_content(value)


def _content(value: object, at: int) -> Content:
    if isinstance(value, (str, Mapping, list)) or hasattr(value, "__dict__") or hasattr(value, "__slots__"):
        if _is_content(value):
            role = field(value, "role")
            parts = field(value, "parts")
            if role is not None and not isinstance(role, str):
                raise UnreadableInputError(f"message {at} has {kind_of(role)} as its role")
            if parts is None:
                parts = ()
            if isinstance(parts, (str, Mapping)) or not isinstance(parts, Sequence):
                raise UnreadableInputError(f"message {at} has {kind_of(parts)} as its parts")
            return Content(role, tuple(parts), (at,))
        if isinstance(value, list):
            return Content("user", tuple(value), (at,))
        return Content("model" if field(value, "function_call") else "user", (value,), (at,))
    raise UnreadableInputError(f"message {at} is {kind_of(value)}, not a content")


def _system(system: object) -> Message | None:
    if system is None or system == "" or system == []:
        return None
    content = _content(system, SYSTEM_POSITION)
    identities = _identities(content.parts, _Ids(made_up=False))
    parts = tuple(
        part for raw, identity in zip(content.parts, identities, strict=True) for part in _parts(raw, identity)
    )
    return Message("system", parts) if parts else None


def _messages(
    content: Content, at: int, ids: _Ids, remembered: Remembered[tuple[Message, ...]] | None
) -> tuple[Message, ...]:
    role = _ROLES.get(content.role or "user")
    if role is None:
        raise UnreadableInputError(
            f"message {at} has the role {(content.role or '')[:40]!r}, which Gemini does not use"
        )
    if role == "assistant":
        ids.new_turn()
    # What is read of a content depends on nothing but itself and the ids, which depend on what stands before it.
    said = (role, content.parts, _identities(content.parts, ids))
    return _made(said) if remembered is None else remembered.find(said, _made, plain=_plain)


_Said: TypeAlias = tuple[Role, Sequence[object], Sequence[str | None]]


def _plain(said: _Said) -> _Said:
    """The same with the SDK's parts as dictionaries."""
    role, parts, identities = said
    return role, tuple([_fields(part) if type(part).__name__ == "Part" else part for part in parts]), identities


def _fields(value: object) -> object:
    """What is set of an object of the SDK, and of those in it."""
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "model_fields_set"):
        return value
    return {name: _fields(held) for name, held in vars(value).items() if held is not None}


def _made(said: _Said) -> tuple[Message, ...]:
    """The messages of one content: its role, its parts, and for each of these the id of the call that is meant."""
    role, raws, identities = said
    results: list[list[Part]] = []
    rest: list[Part] = []
    for raw, identity in zip(raws, identities, strict=True):
        response = field(raw, "function_response")
        if response is not None:
            results.append(_response(response, identity))
        else:
            rest += _parts(raw, identity)
    if not results:
        return (Message("user" if role == "tool" else role, tuple(rest)),)
    results[-1] += rest
    return tuple([Message("tool", tuple(parts)) for parts in results])


def _identities(parts: Sequence[object], ids: _Ids) -> list[str | None]:
    """For each part the id of the call that it is or answers; None where it is neither, or has none."""
    found: list[str | None] = []
    for index, raw in enumerate(parts):
        identity: str | None = None
        if (response := field(raw, "function_response")) is not None:
            identity = ids.response(_id_of(response), _name_of(response), index)
        elif (call := _call_of(raw)) is not None:
            identity = ids.call(_id_of(call), _name_of(call), index)
        found.append(identity)
    return found


def _call_of(raw: object) -> Any:
    """The call that a part is, None where it is something else. A part with a text is that text."""
    return None if isinstance(field(raw, "text"), str) else field(raw, "function_call")


def _id_of(call: object) -> str | None:
    return text_or_none(field(call, "id"))


def _name_of(call: object) -> str:
    return text_or_none(field(call, "name")) or ""


class _Ids:
    """The ids of calls and of the responses that answer them."""

    def __init__(self, *, made_up: bool) -> None:
        self._waiting = MadeUpIds() if made_up else None

    def new_turn(self) -> None:
        """A content of the model begins."""
        if self._waiting is not None:
            self._waiting.new_turn()

    def call(self, given: str | None, name: str, index: int) -> str | None:
        """The id of the call at place ``index`` of its content."""
        if self._waiting is None:
            return given
        identity = given or _made_up(name, index)
        self._waiting.call(identity, name)
        return identity

    def response(self, given: str | None, name: str, index: int) -> str | None:
        """The id of the response at place ``index`` of its content."""
        return given if self._waiting is None else self._waiting.result(given or _made_up(name, index))


def _made_up(name: str, index: int) -> str:
    return f"{name}_{index}" if name else str(index)


def _response(response: object, identity: str | None) -> list[Part]:
    content = field(response, "response")
    parts: list[Part] = [
        ToolResult(
            identity,
            _name_of(response) or None,
            content,
            is_error=isinstance(content, Mapping) and bool(content.get("error")) and "output" not in content,
        )
    ]
    for extra in field(response, "parts") or ():
        parts += _media(extra) or [Opaque("unknown")]
    return parts


def _parts(raw: object, identity: str | None) -> list[Part]:
    """One part; several or none where it holds more or nothing that the model reads. ``identity`` is that of a call."""
    if isinstance(raw, str):
        return [Text(raw)] if raw else []
    text = field(raw, "text")
    if isinstance(text, str):
        if field(raw, "thought"):
            return [Reasoning(text)]
        return [Text(text)] if text else []
    call = _call_of(raw)
    if call is not None:
        return [ToolCall(identity, _name_of(call), field(call, "args"))]
    media = _media(raw)
    if media:
        return media
    return _server_part(raw)


def _media(raw: object) -> list[Part]:
    inline = field(raw, "inline_data")
    if inline is not None:
        family = str(field(inline, "mime_type") or "").partition("/")[0]
        return [Opaque(family if family in ("image", "audio", "video") else "file")]
    if field(raw, "file_data") is not None:
        return [Opaque("uri")]
    if field(raw, "uri") is not None and field(raw, "mime_type") is not None:  # an uploaded file, handed in as it is
        return [Opaque("uri")]
    if "image" in type(raw).__name__.lower():
        return [Opaque("image")]
    return []


def _server_part(raw: object) -> list[Part]:
    code = field(raw, "executable_code")
    if code is not None:
        arguments: dict[str, Json] = {
            "type": "code_execution",
            "code": field(code, "code"),
            "language": _word(field(code, "language")),
        }
        return [ServerToolCall(text_or_none(field(code, "id")), "code_execution", arguments)]
    outcome = field(raw, "code_execution_result")
    if outcome is not None:
        found: dict[str, Json] = {
            "type": "code_execution",
            "outcome": _word(field(outcome, "outcome")),
            "output": field(outcome, "output"),
        }
        return [ServerToolResult(text_or_none(field(outcome, "id")), "code_execution", found)]
    call = field(raw, "tool_call")
    if call is not None:
        name = str(_word(field(call, "tool_type")) or "unknown").lower()
        arguments = {"type": name, "arguments": field(call, "args")}
        return [ServerToolCall(text_or_none(field(call, "id")), name, arguments)]
    response = field(raw, "tool_response")
    if response is not None:
        name = str(_word(field(response, "tool_type")) or "unknown").lower()
        found = {"type": name, "response": field(response, "response")}
        return [ServerToolResult(text_or_none(field(response, "id")), name, found)]
    if field(raw, "thought_signature") or field(raw, "thought"):
        return []  # a signature by itself
    return [Opaque("unknown")] if not isinstance(raw, Mapping) or raw else []


def _word(value: object) -> Any:
    """A word of an enumeration."""
    return getattr(value, "value", value)
