"""What is known about a call when its completion hook runs: from its span, its invocation and its Context.

Rules
-----
- An unsampled span has no attributes, so the invocation that is finishing is asked first; OpenTelemetry's GenAI
  utilities do not hand it to a hook, so :mod:`otel_footprint.genai.upstream` leaves it in a context variable around the
  (synchronous) call of the hook. Where a future version makes that impossible, the span's attributes remain.
- The Context is the invocation's own: a hook may run in another one (a stream that is closed elsewhere, a finaliser).
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

from opentelemetry.context import Context, create_key, get_current, get_value, set_value
from opentelemetry.trace import Span, StatusCode

from otel_footprint.core.per_call import per_call

INVOCATION: Final[ContextVar[Any]] = ContextVar("otel_footprint_finishing_invocation", default=None)
"""The invocation whose completion hook is being called, or None."""

WHOLE_INPUTS: Final = "otel_footprint_inputs"
"""Attribute of an invocation, or of its inputs: what was sent in the end, where that is more than a hook is given."""

TOOLS_RUN: Final = "otel_footprint_tools"
"""Attribute of the mark of a model call in the Context: the invocations of the tools that ran inside the call."""

OUTER_SPAN: Final = "otel_footprint_outer_span"
"""Attribute of an invocation that has no span of its own: the framework's span of the same call."""

AGENT_KEY: Final = create_key("otel_footprint.agent")
"""Where the name of the agent that makes a call is in the Context: its span is a parent, out of reach of the hook."""

INFERENCE_KEY: Final = "opentelemetry.genai.client.inference.context"
"""Where the GenAI utilities mark in the Context that a model call is under way."""

WITHIN_KEY: Final = create_key("otel_footprint.within")
"""Where the Context says that a model call is a framework's, which the utilities measure, and that the SDK's inside it is to
be seen too: it is the one whose requests are acted on."""

_OPERATION: Final = "gen_ai.operation.name"
_PROVIDER: Final = "gen_ai.provider.name"
_REQUEST_MODEL: Final = "gen_ai.request.model"
_RESPONSE_MODEL: Final = "gen_ai.response.model"
_RESPONSE_ID: Final = "gen_ai.response.id"
_CONVERSATION_ID: Final = "gen_ai.conversation.id"
_AGENT: Final = "gen_ai.agent.name"
_PREVIOUS: Final = "gen_ai.request.previous_response.id"
_COMPACTED: Final = "gen_ai.conversation.compacted"
_ERROR: Final = "error.type"
_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
_API_TYPE: Final = "openai.api.type"
_STREAM: Final = "gen_ai.request.stream"
_NOTHING: Final[Mapping[str, Any]] = {}


@per_call(frozen=True, slots=True, kw_only=True)
class Facts:
    """About one call. ``started_at`` in Unix seconds; ``joined``: its output items are one answer.

    ``input_tokens`` and ``output_tokens`` are what the provider reported.
    """

    operation: str | None
    provider: str | None
    model: str | None
    response_id: str | None
    conversation_id: str | None
    previous_response_id: str | None
    agent: str | None
    compacted: bool
    joined: bool
    failed: bool
    streamed: bool
    input_tokens: int | None
    output_tokens: int | None
    started_at: float | None
    context: Context


def facts_of(span: Span | None) -> Facts:
    """Everything known about the call whose completion hook is running."""
    invocation = INVOCATION.get()
    attributes = _attributes(span)
    present = frozenset(attributes)  # what is not there is asked for most often, and the mapping raises inside for it
    data = getattr(invocation, "data", None)
    extra = getattr(invocation, "attributes", None)
    if not isinstance(extra, Mapping):
        extra = _NOTHING
    context = getattr(invocation, "context", None)
    if context is None:
        context = get_current()

    def found(field: str, name: str) -> Any:
        value = getattr(data, field, None)
        if value is None:
            value = attributes[name] if name in present else extra.get(name)
        return value

    def known(field: str, name: str) -> str | None:
        value = found(field, name)
        return str(value) if value is not None else None

    def counted(field: str, name: str) -> int | None:
        value = found(field, name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    api = attributes[_API_TYPE] if _API_TYPE in present and _API_TYPE not in extra else extra.get(_API_TYPE)
    operation = getattr(invocation, "_operation_name", None) or known("operation_name", _OPERATION)
    if operation is None and get_value(INFERENCE_KEY, context) is not None:
        operation = "chat"
    conversation = getattr(invocation, "conversation_id", None) or known("conversation_id", _CONVERSATION_ID)
    failed = _ERROR in extra or _ERROR in present or _status_is_error(span)
    return Facts(
        operation=operation,
        provider=known("provider_name", _PROVIDER),
        model=known("request_model", _REQUEST_MODEL) or known("response_model", _RESPONSE_MODEL),
        response_id=known("response_id", _RESPONSE_ID),
        conversation_id=conversation if isinstance(conversation, str) else None,
        previous_response_id=known("request_previous_response_id", _PREVIOUS),
        agent=known("agent_name", _AGENT) or agent_of(context),
        compacted=bool(
            getattr(data, "conversation_compacted", None) or (_COMPACTED in present and attributes[_COMPACTED])
        ),
        joined=api == "responses" or operation == "interactions.create",
        failed=failed,
        streamed=bool(
            getattr(data, "request_stream", None)
            or getattr(invocation, "_request_stream", None)
            or (attributes[_STREAM] if _STREAM in present else invocation is None)
        ),
        input_tokens=counted("usage_input_tokens", _INPUT_TOKENS),
        output_tokens=counted("usage_output_tokens", _OUTPUT_TOKENS),
        started_at=_started_at(span, invocation),
        context=context,
    )


def tools_run(context: Context) -> Sequence[Any]:
    """The invocations of the tools that ran inside the call of this context, in order."""
    tools = getattr(get_value(INFERENCE_KEY, context), TOOLS_RUN, ())
    return tools if isinstance(tools, list) else ()


def seen_within(context: Context) -> Context:
    """The context in which the SDK's call inside a framework's is handed to the completion hook as well, without a span."""
    if get_value(INFERENCE_KEY, context) is None:
        return context
    return set_value(WITHIN_KEY, True, set_value(INFERENCE_KEY, None, context))


def agent_of(context: Context) -> str | None:
    """The name of the innermost agent that is running in the context."""
    name = get_value(AGENT_KEY, context)
    return name if isinstance(name, str) else None


def _attributes(span: Span | None) -> Mapping[str, Any]:
    """A recording span of the SDK has them; any other span has none."""
    attributes = getattr(span, "attributes", None)
    return attributes if isinstance(attributes, Mapping) else _NOTHING


def _status_is_error(span: Span | None) -> bool:
    status = getattr(span, "status", None)
    return getattr(status, "status_code", None) is StatusCode.ERROR


def _started_at(span: Span | None, invocation: Any) -> float | None:
    start = getattr(span, "start_time", None)
    if isinstance(start, int):
        return start / 1e9
    monotonic = getattr(invocation, "_monotonic_start_s", None)
    if isinstance(monotonic, float):
        return time.time() - max(timeit.default_timer() - monotonic, 0.0)
    return None
