"""Takes the reserved argument out of messages as the core sees them, so that it is neither evidence nor identity.

Rules
-----
- Out of tool call arguments (an object, or text that begins as one), and out of a text that as a whole is a JSON object;
  both only of assistant messages. What a tool of the application's own takes under that name stays, unless it has the form
  of a declaration (an object with a basis or with standings): then it is read as one, wherever it came from.
- A message without it is given back as it is. A history that holds the model's own words and one that holds what the
  application saw of them are the same history.
- Each distinct message is looked at once; what was found is remembered for the ``REMEMBERED`` newest.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

from otel_footprint.core.findings.declaring import RAW_LIMIT, Declared, read_texts, read_value
from otel_footprint.core.findings.peeling import RESERVED, peel_text
from otel_footprint.core.messages import Json, Message, Part, Text, ToolCall

REMEMBERED: Final = 4096


@dataclass(frozen=True, slots=True)
class Emission:
    """A declaration the model made: with the tool call at ``call`` (its index among the message's calls), or, None, with
    its answer."""

    declared: Declared
    call: int | None


@dataclass(frozen=True, slots=True)
class Stripped:
    """A message without the reserved argument, and what was declared in it."""

    message: Message
    emissions: tuple[Emission, ...] = ()


class Stripper:
    """Strips the messages of one process or thread. Not thread-safe."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[bytes, frozenset[str]], Message] = OrderedDict()

    def window(self, messages: tuple[Message, ...], owned: frozenset[str]) -> tuple[Message, ...]:
        """A history without it; the same tuple where nothing had it."""
        stripped = [
            self._of_history(message, owned) if message.role == "assistant" else message for message in messages
        ]
        return messages if all(a is b for a, b in zip(messages, stripped, strict=True)) else tuple(stripped)

    def _of_history(self, message: Message, owned: frozenset[str]) -> Message:
        key = (message.key, owned)
        known = self._known.get(key)
        if known is None:
            known = strip(message, owned).message
            self._known[key] = known
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return message if known.key == message.key else known


def strip(message: Message, owned: frozenset[str] = frozenset()) -> Stripped:
    """One message without it; ``owned`` names the tools that take an argument of that name themselves."""
    emissions: list[Emission] = []
    parts: list[Part] = []
    number = 0
    texts = [part for part in message.parts if isinstance(part, Text)]
    for part in message.parts:
        match part:
            case ToolCall(name=name, arguments=arguments):
                arguments, declared = _strip_arguments(arguments, owned=name in owned)
                if declared is not None:
                    emissions.append(Emission(declared, number))
                    part = replace(part, arguments=arguments)
                number += 1
            case Text(text) if len(texts) == 1 and not message.tool_calls:
                seen, declared = strip_answer(text)
                if declared is not None:
                    emissions.append(Emission(declared, None))
                    part = Text(seen)
            case _:
                pass
        parts.append(part)
    if not emissions:
        return Stripped(message)
    return Stripped(replace(message, parts=tuple(parts)), tuple(emissions))


def _strip_arguments(arguments: Json, *, owned: bool) -> tuple[Json, Declared | None]:
    if isinstance(arguments, dict):
        if RESERVED not in arguments or (owned and not _is_declaration(arguments[RESERVED])):
            return arguments, None
        rest = {key: value for key, value in arguments.items() if key != RESERVED}
        return rest, read_value(arguments[RESERVED])
    if isinstance(arguments, str):
        seen, raw = peel_text(arguments)
        if not raw or (owned and not _is_declaration(_parsed(raw[-1]))):
            return arguments, None
        return seen, read_texts(raw)
    return arguments, None


def _is_declaration(value: Json) -> bool:
    return isinstance(value, dict) and ("basis" in value or "previous" in value)


def _parsed(text: str) -> Json:
    try:
        value: Json = json.loads(text) if len(text) <= RAW_LIMIT else None
    except (ValueError, RecursionError):
        return None
    return value


def strip_answer(text: str) -> tuple[str, Declared | None]:
    """An answer without the reserved member, where it is a JSON object as a whole; None where nothing was declared."""
    if RESERVED not in text and "\\u" not in text:
        return text, None
    if not text.lstrip().startswith("{"):
        return text, None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return text, None
    if not isinstance(whole, dict) or RESERVED not in whole:
        return text, None
    seen, raw = peel_text(text)
    return seen, read_texts(raw)
