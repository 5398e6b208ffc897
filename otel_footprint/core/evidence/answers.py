"""Which output is an answer, and what its text is.

Rules
-----
- An answer is an assistant message with text and without tool calls. Text beside tool calls is a draft.
- A call of a declared answer tool is the answer when all calls of the message are such calls: its text is the arguments,
  a single text argument by itself.
"""

from __future__ import annotations

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, Message, canonical_json


def answer_texts(message: Message, options: Evidence) -> str | None:
    """The text to judge; None when the message is no answer."""
    if message.role != "assistant":
        return None
    calls = message.tool_calls
    if not calls:
        return message.text if message.text.strip() else None
    if not options.answer_tools or any(call.name not in options.answer_tools for call in calls):
        return None
    return "\n".join(_argument_text(call.arguments) for call in calls)


def _argument_text(arguments: Json) -> str:
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict) and len(arguments) == 1:
        (only,) = arguments.values()
        if isinstance(only, str):
            return only
    return "" if arguments is None else canonical_json(arguments)
