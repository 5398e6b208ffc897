"""A call as it is observed with findings on: without the reserved argument, without our texts, with the results themselves.

Rules
-----
- What the model declared in its outputs is taken out of them and handed on; out of the history it is only taken.
- Texts of ours in the system part are nobody's words and no part of it: a part that is one of them goes; one that ends with
  them, joined to the application's by an empty line, loses its end.
- A result that was served as a ticket is the result: setting it aside on the wire does not change the history.
"""

from __future__ import annotations

from dataclasses import replace

from otel_footprint.core.call import Call, FindingsFacts
from otel_footprint.core.findings.stripping import Emission, Stripper, strip
from otel_footprint.core.messages import Message, Part, Text, content_text

NOTHING_OFFERED = FindingsFacts()


def as_observed(call: Call, stripper: Stripper) -> tuple[Call, tuple[tuple[Emission, ...], ...]]:
    """The call to observe, and what was declared in each of its outputs."""
    facts = call.planned.findings if call.planned is not None and call.planned.findings is not None else NOTHING_OFFERED
    stripped = [strip(output.message, facts.owned) for output in call.outputs]
    outputs = tuple(
        output if one.message is output.message else replace(output, message=one.message)
        for output, one in zip(call.outputs, stripped, strict=True)
    )
    messages = call.messages
    if facts.served:
        messages = tuple(_unserved(message, facts) for message in messages)
    return (
        replace(
            call,
            outputs=outputs,
            messages=stripper.window(messages, facts.owned),
            system=_without_texts(call.system, facts.texts),
        ),
        tuple(one.emissions for one in stripped),
    )


def _unserved(message: Message, facts: FindingsFacts) -> Message:
    result = message.result
    if result is None:
        return message
    return facts.served.get(content_text(result.content), message)


def _without_texts(system: tuple[Message, ...], texts: tuple[str, ...]) -> tuple[Message, ...]:
    if not texts:
        return system
    kept: list[Message] = []
    for message in system:
        parts = tuple(part for one in message.parts for part in _theirs(one, texts))
        if len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True)):
            kept.append(message)
        elif parts:
            kept.append(replace(message, parts=parts))
    return tuple(kept)


def _theirs(part: Part, texts: tuple[str, ...]) -> tuple[Part, ...]:
    """What of a system part is the application's."""
    if not isinstance(part, Text):
        return (part,)
    text = part.text
    for ours in reversed(texts):
        if text == ours:
            return ()
        text = text.removesuffix("\n\n" + ours)
    return (part,) if text == part.text else (Text(text),)
