"""Gemini's ``generate_content`` as a surface: ``contents`` read, and written with another window.

Rules
-----
- ``contents`` may be one text, part, file or content, or a list that mixes them. A content that stays is the very object;
  loose parts that the SDK would make one content of are put into one list, so that nothing else is joined to them.
- The system instruction is in ``config``, outside the list. A cached content holds a beginning that we do not see; the list
  is what comes after it, and the window.
- Where we bring two contents of one role together they are joined in a copy that holds their very parts, signatures with
  them, since some models want roles to alternate. A person's words are never joined to function responses: newer models
  then answer nothing.
- Under automatic function calling the SDK makes several calls of one: the window is planned once, for the first of them.
- A failed answer goes back as the content it came as, signatures with it. A call of a declared answer tool goes back as
  text, since a call without a response would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from otel_footprint.core.messages import Message, canonical_json
from otel_footprint.core.window.items import Item
from otel_footprint.providers import gemini
from otel_footprint.providers.gemini import Content, field
from otel_footprint.providers.native_values import value_of, word_of
from otel_footprint.providers.remembered import Remembered
from otel_footprint.providers.rewriting import OPENING, Placed, joined, opened, rewritten
from otel_footprint.providers.surface import Draft, Reading


class GeminiGenerateContent:
    """``models.generate_content`` and its stream, which chats go through too."""

    name: Final = "gemini.generate_content"

    def __init__(self) -> None:
        self._remembered: Final = Remembered[tuple[Message, ...]]()

    def settle(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`. The SDK takes lists only."""
        return dict(kwargs)

    def read(self, kwargs: Mapping[str, Any]) -> Reading | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        contents = value_of(kwargs, "contents")
        if contents is None or isinstance(contents, (tuple, bytes)):
            return None
        config = value_of(kwargs, "config")
        natives = gemini.read(
            contents, field(config, "system_instruction"), made_up_ids=True, remembered=self._remembered
        )
        leading = 1 if natives and natives[0].at == gemini.SYSTEM_POSITION else 0
        return Reading(
            provider="gemini",
            source=contents if isinstance(contents, list) else [contents],
            natives=natives[leading:],
            system=tuple(native.message for native in natives[:leading]),
            tools=_tools(field(config, "tools")),
            model=word_of(kwargs, "model"),
        )

    def write(self, kwargs: Mapping[str, Any], reading: Reading, items: Sequence[Item]) -> dict[str, Any]:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        copy = dict(kwargs)
        if reading.is_whole(items):
            return copy
        whole = {content.positions[0]: content for content in gemini.grouped(list(reading.source))}
        placed = rewritten(reading, items, written=_written, part=_part)
        sent = [
            Placed(_sent(one, whole[one.position]), whole[one.position].positions[-1])
            if one.position is not None and one.position in whole
            else one
            for one in placed
            if one.position is None or one.position in whole
        ]
        sent = opened(sent, reading, _role, _text_content(OPENING))
        copy["contents"] = joined(sent, _role, _join)
        return copy

    def draft(self, kwargs: Mapping[str, Any], response: Any, choice: int = 0) -> Draft | None:
        """See :class:`~otel_footprint.providers.surface.Surface`."""
        candidates = field(response, "candidates") or ()
        for place, candidate in enumerate(candidates):
            index = field(candidate, "index")
            if (place if index is None else index) == choice:
                return _draft(field(candidate, "content"))
        return None

    def merge(self, kwargs: Mapping[str, Any], events: Sequence[Any]) -> Any | None:
        """See :class:`~otel_footprint.providers.surface.Surface`. The parts stay as many as came, signatures at their place."""
        parts: dict[int, list[Any]] = {}
        finished: dict[int, Any] = {}
        for event in events:
            for place, candidate in enumerate(field(event, "candidates") or ()):
                given = field(candidate, "index")
                index = place if given is None else given
                parts.setdefault(index, []).extend(field(field(candidate, "content"), "parts") or ())
                finished[index] = field(candidate, "finish_reason") or finished.get(index)
        if not finished or any(reason is None for reason in finished.values()):
            return None
        return {
            "candidates": [
                {
                    "index": index,
                    "finish_reason": finished[index],
                    "content": {"role": "model", "parts": [part for part in parts[index] if not _is_empty(part)]},
                }
                for index in sorted(parts)
            ]
        }


def _text_content(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


def _written(message: Message) -> dict[str, Any]:
    return {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.text}]}


def _sent(placed: Placed, content: Content) -> object:
    """A content in a form that the SDK joins nothing to."""
    if len(content.positions) == 1 and (_has_parts(placed.item) or isinstance(placed.item, list)):
        return placed.item
    if content.role == "model":
        return {"role": "model", "parts": list(content.parts)}
    return list(content.parts)


def _has_parts(item: object) -> bool:
    return ("parts" in item or "role" in item) if isinstance(item, Mapping) else hasattr(item, "parts")


def _role(item: object) -> str:
    role = None if isinstance(item, list) else field(item, "role")
    return "assistant" if role in ("model", "assistant") else "user"


def _parts_of(item: object) -> list[Any]:
    return list(item) if isinstance(item, list) else list(field(item, "parts") or ())


def _responds(part: object) -> bool:
    return field(part, "function_response") is not None


def _part(item: object, stays: Sequence[bool]) -> object:
    """A copy with the responses that stay; what stands beside the responses belongs to the last of them."""
    flags = iter(stays)
    parts = [part for part in _parts_of(item) if (next(flags, False) if _responds(part) else stays[-1])]
    if isinstance(item, list):
        return parts
    if isinstance(item, Mapping):
        return {**item, "parts": parts}
    return {"role": field(item, "role"), "parts": parts}


def _join(before: object, after: object) -> Sequence[object]:
    first, second = _parts_of(before), _parts_of(after)
    if any(map(_responds, first)) or any(map(_responds, second)):
        return before, after
    parts = [{"text": part} if isinstance(part, str) else part for part in first + second]
    if all(isinstance(part, Mapping) or hasattr(part, "function_call") for part in parts):
        return ({"role": "model" if _role(before) == "assistant" else "user", "parts": parts},)
    return before, after  # pictures and files as the SDK takes them, which only stand in lists


def _draft(content: object) -> Draft | None:
    parts = [part for part in _parts_of(content) if not _is_empty(part)]
    if not parts:
        return None
    native: object = content
    if any(field(part, "function_call") is not None for part in parts):
        native = {"role": "model", "parts": [_sendable(part) for part in parts]}
    elif isinstance(content, Mapping) or len(parts) != len(_parts_of(content)):
        native = {"role": "model", "parts": parts}
    read = gemini.read([native])
    return Draft(read[0].message, (native,)) if read and read[0].message.role == "assistant" else None


def _is_empty(part: object) -> bool:
    return field(part, "text") == "" and not field(part, "thought_signature")


def _sendable(part: object) -> object:
    call = field(part, "function_call")
    return part if call is None else {"text": canonical_json(field(call, "args"))}


def _tools(tools: object) -> tuple[str, ...] | None:
    """Names of declared functions and of Python functions; a built-in tool goes by its key; None for what asks a server."""
    if tools is None:
        return ()
    if not isinstance(tools, (list, tuple)):
        return None
    names: list[str] = []
    for tool in tools:
        declared = field(tool, "function_declarations")
        if declared:
            names += [str(field(function, "name")) for function in declared]
        elif isinstance(tool, Mapping):
            names += [str(key) for key in tool]
        elif hasattr(tool, "model_fields_set"):
            names += sorted(name for name in tool.model_fields_set if getattr(tool, name) is not None)
        elif callable(tool) and isinstance(getattr(tool, "__name__", None), str):
            names.append(tool.__name__)
        else:
            return None
    return tuple(names)
