"""``otel_footprint.check()``: a message list judged in memory, without OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping

from otel_footprint.core.errors import ConfigurationError, UnreadableInputError
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json
from otel_footprint.offline import format as formats
from otel_footprint.offline.document import ConversationDocument, conversation_document
from otel_footprint.offline.judge import judge


def check(
    messages: object, *, evidence: Evidence | None = None, system: object = None, arguments: bool = False
) -> ConversationDocument:
    """Judge every answer in a list of messages.

    It catches values that came from nowhere. It cannot catch a false claim built from real values, nor a true one about
    the wrong thing.

    Args:
        messages: OpenAI chat messages, Anthropic messages, OpenAI Responses items, Gemini contents, messages of Bedrock's
            Converse API, or an object that holds them under ``messages`` (``input``, ``contents``); dictionaries or the
            SDKs' own objects. Nothing in it is changed.
        evidence: how answers are judged; the defaults otherwise.
        system: the system instruction of Anthropic or Bedrock, where it is not in ``messages``.
        arguments: whether to judge what tool calls pass on too; it is listed with the answer that follows the calls (with
            the last answer where none does), and never changes a verdict.

    Returns:
        ``{"id", "answers": [{"message_index", "choice", "verdict", "reasons", "values": […], "arguments": []}]}``, with
        one entry per answer (an assistant message with text and without tool calls). Indices count from 0 in the list;
        ``spans`` are half-open code point offsets into that message's text.

    Raises:
        UnreadableInputError: what was given is no conversation; says which message, if one is to blame.
        ConfigurationError: ``evidence`` is not an ``Evidence``.
    """
    options = Evidence() if evidence is None else evidence
    if not isinstance(options, Evidence):
        raise ConfigurationError(f"check(evidence={evidence!r}): give an otel_footprint.Evidence(...)")
    value = plain(messages)
    if system is not None:
        given = plain(system)
        value = {**value, "system": given} if isinstance(value, dict) else {"messages": value, "system": given}
    conversation = formats.read(value)
    return conversation_document(conversation.id, judge(conversation, options, arguments=arguments))


def plain(value: object, depth: int = 0) -> Json:
    """JSON values from what may be SDK objects: models become dictionaries, tuples lists, anything else a string."""
    if depth > 200:
        raise UnreadableInputError("the messages are nested deeper than 200 levels")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    dump = getattr(value, "model_dump", None) or getattr(value, "to_dict", None) or getattr(value, "dict", None)
    if callable(dump) and not isinstance(value, type):
        dumped: object = dump()
        if isinstance(dumped, Mapping):
            return plain(dumped, depth + 1)
    if hasattr(value, "__iter__") and not isinstance(value, (bytes, bytearray)) and depth == 0:
        return [plain(item, depth + 1) for item in value]
    return str(value)
