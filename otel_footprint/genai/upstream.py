"""What we add to OpenTelemetry's GenAI utilities while we are on, and the cures for defects of the instrumentations.

Rules
-----
- Nothing an application can see changes, but spans that were missing or misplaced.
- Every hook an instrumentation is given, by whoever turns it on and whenever, keeps working beside ours.
- A method that a later version no longer has is left out; what depends on it falls back (see ``finishing``).
- Nothing here imports the utilities: each module is met when an instrumentation imports it.

The cures
---------
- A stream that is handed to the application must not leave its span current: otherwise a call of another SDK inside it
  passes for a part of it and gets no span, and a stream that ends in another thread or task leaves its context behind.
  The OpenAI and Google instrumentations suspend their invocation there; those of Anthropic and Bedrock do not.
- A framework's own span of a model call (of a framework that does not use the utilities) and the SDK's inside it are one
  call: the instrumentations that are there because of us make no second span of it, and what we find goes on the
  framework's.
- A tool that runs inside a model call (automatic function calling) is not a part of that call: a model call in it is
  one of its own.
- Of the requests that automatic function calling makes inside one call, the hook is given the first request and the last
  answer; what the tools returned in between is in the response, and is kept for our hook. So are the steps of a request
  of Google's interactions API that the instrumentation leaves out.
- The history is read once and not anew for every call (``remembering``).
- A fault of an instrumentation while it reads a request, a response or a chunk does not reach the application (``faults``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import partial
from types import ModuleType
from typing import Any, Final

from opentelemetry.context import Context, get_value, set_value
from opentelemetry.metrics import NoOpMeter
from opentelemetry.trace import NoOpTracer, Span, get_current_span
from wrapt import register_post_import_hook

from otel_footprint.boundary import guard
from otel_footprint.core.call import MODEL_OPERATIONS
from otel_footprint.genai import faults
from otel_footprint.genai.finishing import (
    AGENT_KEY,
    INFERENCE_KEY,
    INVOCATION,
    OUTER_SPAN,
    TOOLS_RUN,
    WHOLE_INPUTS,
    WITHIN_KEY,
)
from otel_footprint.genai.google_steps import steps_as_messages
from otel_footprint.genai.hook import FootprintHook
from otel_footprint.genai.patching import Patch, replaced_by
from otel_footprint.genai.remembering import Remembered
from otel_footprint.genai.sdks import on_stack

_HANDLER: Final = "opentelemetry.util.genai.handler"
_INVOCATION: Final = "opentelemetry.util.genai._invocation"
_STREAM: Final = "opentelemetry.util.genai.stream"
_GOOGLE: Final = "opentelemetry.instrumentation.google_genai.generate_content"
_INTERACTIONS: Final = "opentelemetry.instrumentation.google_genai.interactions"
_GOOGLE_MESSAGE: Final = "opentelemetry.instrumentation.google_genai.message"
_ANTHROPIC: Final = "opentelemetry.instrumentation.genai.anthropic.patch"
_ANTHROPIC_RAW: Final = "opentelemetry.instrumentation.genai.anthropic._raw_response"
_OPENAI: Final = "opentelemetry.instrumentation.genai.openai."

_LOADER: Final = "opentelemetry.instrumentation.auto_instrumentation"
_YIELDS: Final = "otel_footprint_yields"
"""Attribute of a handler that makes no span where a framework has made one: it is there because of us."""

_turning_on: Final[ContextVar[bool]] = ContextVar("otel_footprint_turning_on", default=False)
_hook: FootprintHook | None = None
_patches: Final[dict[str, list[Patch]]] = {}
_registered: Final[set[str]] = set()


def install(hook: FootprintHook) -> None:
    """Add ours to every handler made from now on, and the cures. A second call replaces the hook."""
    global _hook
    _hook = hook
    for name in _PATCHERS:
        if name not in _registered:
            _registered.add(name)
            register_post_import_hook(_met, name)
        elif name not in _patches and name in sys.modules:
            _met(sys.modules[name])


def uninstall() -> None:
    """Put everything back."""
    global _hook
    _hook = None
    for patches in _patches.values():
        for patch in patches:
            patch.restore()
    _patches.clear()


def _met(module: ModuleType) -> None:
    name = module.__name__
    if _hook is None or name in _patches:
        return
    with guard(f"upstream.{name.rpartition('.')[2]}"):
        patches = [patch for patch in _PATCHERS[name](module) if patch is not None]
        if patches:  # none: the module is being imported just now, and is met again when that is done
            _patches[name] = patches


def _patch(owner: Any, name: str, around: Callable[..., Any]) -> Patch | None:
    """None where there is nothing to replace, or it is replaced already where the module imported it from."""
    if owner is None or not hasattr(owner, name) or replaced_by(getattr(owner, name), around):
        return None
    return Patch(owner, name, around)


def _patch_handler(module: ModuleType) -> list[Patch | None]:
    handler = getattr(module, "TelemetryHandler", None)
    return [
        _patch(handler, "__init__", _make_handler),
        _patch(handler, "inference", _start_inference),
        _patch(handler, "tool", _start_tool),
        _patch(handler, "invoke_local_agent", _start_agent),
    ]


def _patch_invocation(module: ModuleType) -> list[Patch | None]:
    invocation = getattr(module, "GenAIInvocation", None)
    return [_patch(invocation, "_call_completion_hook", _call_hook), _patch(invocation, "_finish", faults.finish)]


def _patch_streams(module: ModuleType) -> list[Patch | None]:
    names = ("SyncStreamWrapper", "AsyncStreamWrapper")
    return [_patch(getattr(module, name, None), "__init__", _make_stream) for name in names]


def _patch_anthropic_raw(module: ModuleType) -> list[Patch | None]:
    return [_patch(getattr(module, "RawResponseProxy", None), "__init__", _make_raw_response)]


def _patch_google(module: ModuleType) -> list[Patch | None]:
    return [_patch(module, "_apply_response_attributes", _read_google_response)]


def _patch_interactions(module: ModuleType) -> list[Patch | None]:
    return [_patch(module, "_interactions_input_to_messages", _read_steps)]


def _patch_openai_utils(module: ModuleType) -> list[Patch | None]:
    make = getattr(module, "ToolCallRequestPart", None)
    return [
        _patch(module, "extract_tool_calls_new", partial(faults.read_tool_calls, make)),
        _patch(module, "_prepare_input_messages", _remembering()),
        _patch(module, "_prepare_output_messages", faults.read_each),
        _patch(module, "_prepare_tool_definitions", faults.read_or(None)),
    ]


def _patch_openai(module: ModuleType) -> list[Patch | None]:
    return [
        _patch(module, "_set_response_properties", faults.read_into),
        _patch(module, "_prepare_output_messages", faults.read_each),
    ]


def _patch_responses(module: ModuleType) -> list[Patch | None]:
    """The Responses API. The functions are imported by name into two modules, and each holds some of them."""
    names = ("apply_request_attributes", "set_invocation_response_attributes", "set_fetch_response_attributes")
    return [
        *(_patch(module, name, faults.read_into) for name in names if getattr(module, name, None) is not None),
        _patch(module, "_parse_tool_call_arguments", faults.read_arguments),
    ]


def _patch_openai_buffers(module: ModuleType) -> list[Patch | None]:
    choice = getattr(module, "ChoiceBuffer", None)
    return [
        _patch(choice, "append_text_content", faults.append_text),
        _patch(choice, "append_tool_call", faults.append_tool_call),
        _patch(getattr(module, "ToolCallBuffer", None), "append_arguments", faults.append_arguments),
    ]


def _patch_anthropic(module: ModuleType) -> list[Patch | None]:
    return [_patch(module, "get_input_messages", _remembering())]


def _remembering() -> Callable[..., Any]:
    """Each message is read once, and one that cannot be read is left out."""
    remembered = Remembered()

    def read(original: Callable[..., list[Any]], items: Any) -> list[Any]:
        return faults.read_each(partial(remembered, original), items)

    return read


_PATCHERS: Final[dict[str, Callable[[ModuleType], list[Patch | None]]]] = {
    _HANDLER: _patch_handler,
    _INVOCATION: _patch_invocation,
    _STREAM: _patch_streams,
    _ANTHROPIC: _patch_anthropic,
    _ANTHROPIC_RAW: _patch_anthropic_raw,
    _GOOGLE: _patch_google,
    _INTERACTIONS: _patch_interactions,
    _OPENAI + "utils": _patch_openai_utils,
    _OPENAI + "patch": _patch_openai,
    _OPENAI + "patch_responses": _patch_responses,
    _OPENAI + "response_wrappers": _patch_responses,
    _OPENAI + "response_extractors": _patch_responses,
    _OPENAI + "chat_buffers": _patch_openai_buffers,
}


def _make_handler(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
    with guard("upstream.handler"):
        kwargs = with_our_hook(args, kwargs)
    original(self, *args, **kwargs)
    with guard("upstream.handler"):
        if _turning_on.get() or on_stack(_LOADER):
            setattr(self, _YIELDS, True)


@contextmanager
def turning_on() -> Iterator[None]:
    """Handlers made inside the block are there because of us."""
    token = _turning_on.set(True)
    try:
        yield
    finally:
        _turning_on.reset(token)


def is_there_because_of_us(handler: Any) -> bool:
    """Whether we, or ``opentelemetry-instrument``, which finds what we bring along, turned its instrumentation on."""
    return bool(getattr(handler, _YIELDS, False))


def _start_inference(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    outer = None
    with guard("upstream.inference"):
        if is_there_because_of_us(self):
            outer = model_call_span(kwargs.get("context"))
    if outer is None:
        return original(self, *args, **kwargs)
    quiet = copy(self)
    quiet._tracer = NoOpTracer()  # its spans are the framework's: same ids, and all that is set on them is dropped
    if get_value(WITHIN_KEY, kwargs.get("context")) and hasattr(quiet, "_instruments"):
        quiet._instruments = type(quiet._instruments)(NoOpMeter(""))  # the framework's call is measured already
    invocation = original(quiet, *args, **kwargs)
    with guard("upstream.inference"):
        setattr(invocation, OUTER_SPAN, outer)
    return invocation


def model_call_span(context: Context | None) -> Span | None:
    """The current span, where it is a framework's span of a model call: the SDK's call inside it is the same call."""
    if get_value(INFERENCE_KEY, context) is not None:
        return None  # the utilities see to it themselves
    span = get_current_span(context)
    attributes = getattr(span, "attributes", None)
    if not span.is_recording() or not isinstance(attributes, Mapping):
        return None
    operation, kind = attributes.get("gen_ai.operation.name"), attributes.get("openinference.span.kind")
    return span if operation in MODEL_OPERATIONS or kind == "LLM" else None


_HOOK_POSITION: Final = 3


def with_our_hook(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments for a handler so that our hook is called, with the one it was given beside it."""
    if _hook is None or len(args) > _HOOK_POSITION:
        return kwargs
    given = bare_hook(kwargs.get("completion_hook"))
    if isinstance(given, FootprintHook):
        return kwargs
    return {**kwargs, "completion_hook": _hook if given is None else _hook.beside(given)}


def bare_hook(hook: Any) -> Any:
    """The hook itself, without OpenTelemetry's safety wrapper; None where there is none."""
    for _ in range(3):
        kind = type(hook).__name__
        if hook is None or kind == "_NoOpCompletionHook":
            return None
        if kind != "_SafeCompletionHook":
            break
        hook = getattr(hook, "_wrapped", None)
    return hook


def _start_tool(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    call = None
    with guard("upstream.tool"):
        call = get_value(INFERENCE_KEY, kwargs.get("context"))
        if call is not None:
            kwargs = {**kwargs, "context": set_value(INFERENCE_KEY, None, kwargs.get("context"))}
    tool = original(self, *args, **kwargs)
    if call is not None:
        with guard("upstream.tool"):
            setattr(call, TOOLS_RUN, [*getattr(call, TOOLS_RUN, ()), tool])
    return tool


def _start_agent(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    with guard("upstream.agent"):
        name = kwargs.get("agent_name")
        if isinstance(name, str) and name:
            kwargs = {**kwargs, "context": set_value(AGENT_KEY, name, kwargs.get("context"))}
    return original(self, *args, **kwargs)


def _call_hook(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
    token = INVOCATION.set(self)
    try:
        original(self, *args, **kwargs)
    finally:
        INVOCATION.reset(token)


def _make_stream(original: Callable[..., None], self: Any, stream: Any, invocation: Any = None, **kwargs: Any) -> None:
    original(self, stream, invocation, **kwargs)
    with guard("upstream.stream"):
        _suspend(invocation)
        _forgive(type(self))


def _forgive(kind: type[Any]) -> None:
    """A class of streams that is used for the first time: its faults are no concern of the application's."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if _hook is None or name in _patches:
        return
    around = {
        "_process_chunk": faults.process_chunk,
        "_on_stream_end": faults.end_stream,
        "_on_stream_error": faults.end_stream,
    }
    _patches[name] = [patch for method, of in around.items() if (patch := _patch(kind, method, of)) is not None]


def _make_raw_response(
    original: Callable[..., None], self: Any, raw: Any, invocation: Any, *args: Any, **kwargs: Any
) -> None:
    original(self, raw, invocation, *args, **kwargs)
    with guard("upstream.raw_response"):
        _suspend(invocation)


def _read_google_response(
    original: Callable[..., None], response: Any, finish_reasons: Any, invocation: Any, *args: Any, **kwargs: Any
) -> None:
    original(response, finish_reasons, invocation, *args, **kwargs)
    with guard("upstream.google"):
        history = getattr(response, "automatic_function_calling_history", None)
        convert = getattr(sys.modules.get(_GOOGLE_MESSAGE), "to_input_messages", None)
        if history and convert is not None:
            setattr(invocation, WHOLE_INPUTS, convert(contents=history))


class _Inputs(list[Any]):
    """The messages that an instrumentation made, with what was sent beside them, for our hook alone."""

    otel_footprint_inputs: Any = None


def _read_steps(original: Callable[..., Any], request_input: Any, *args: Any, **kwargs: Any) -> Any:
    messages = original(request_input, *args, **kwargs)
    with guard("upstream.interactions"):
        to_part = getattr(sys.modules.get(_INTERACTIONS), "_interaction_item_to_part", None)
        whole = None if to_part is None else steps_as_messages(request_input, to_part)
        if whole is not None:
            carrier = _Inputs(messages)
            setattr(carrier, WHOLE_INPUTS, whole)
            return carrier
    return messages


def _suspend(invocation: Any) -> None:
    suspend = getattr(invocation, "suspend", None)
    if callable(suspend):
        suspend()


def handler_type() -> type[Any] | None:
    """The utilities' handler class where it is loaded."""
    return getattr(sys.modules.get(_HANDLER), "TelemetryHandler", None)


def hook_of(handler: Any) -> Any:
    """The completion hook that a handler calls; None where it has none."""
    return bare_hook(getattr(handler, "_completion_hook", None))
