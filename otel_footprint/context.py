"""The conversation handle in the OpenTelemetry Context.

A value of the Context and not a plain ContextVar: a stream's hook runs with the Context of its request, wherever the
stream is consumed, while a plain ContextVar would be the consumer's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from opentelemetry.context import Context, create_key, get_value, set_value

if TYPE_CHECKING:
    from otel_footprint.handle import Conversation

_KEY: Final = create_key("otel_footprint.conversation")


def with_conversation(handle: Conversation, context: Context | None = None) -> Context:
    """The context in which ``handle`` is the innermost conversation."""
    return set_value(_KEY, handle, context)


def current_conversation(context: Context | None = None) -> Conversation | None:
    """The innermost conversation handle of the context (default: the current one), or None outside of any."""
    return cast("Conversation | None", get_value(_KEY, context))  # only with_conversation writes this key
