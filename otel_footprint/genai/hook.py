"""The completion hook: each finished model call, as a call of the core, to one sink.

Rules
-----
- Model calls only: agents and workflows are never calls. A fetched response (``fetch_response``) is one where its answer
  was not seen before, with no window.
- One call is handed on once: of a framework's call and the SDK's inside it, the inner one, which ends first.
- Nothing of ours reaches the application: reading, the sink and each other hook are guarded one by one. The inputs are
  only read, since another hook may serialise them later.
- It may run in a finaliser on any thread, also in the middle of itself: no locks here, and no state that is ever half
  written.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final, Protocol

from opentelemetry.context import Context
from opentelemetry.trace import Span

from otel_footprint.boundary import guard
from otel_footprint.core.call import MODEL_OPERATIONS, Call, CallRef, Output
from otel_footprint.core.madeup_ids import paired
from otel_footprint.core.messages import Compaction, Message
from otel_footprint.core.per_call import per_call
from otel_footprint.genai.convert import Converter
from otel_footprint.genai.finishing import INVOCATION, OUTER_SPAN, WHOLE_INPUTS, Facts, facts_of, tools_run

if TYPE_CHECKING:
    from opentelemetry._logs import LogRecord

_logger = logging.getLogger("otel_footprint")

FETCH: Final = "fetch_response"
OUR_NAME: Final = "footprint"
SELECTED: Final = "OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK"
"""OpenTelemetry's own variable: the name of the one hook that its utilities load."""

HOOK_GROUP: Final = "opentelemetry_genai_completion_hook"
_CONFIGURED_BY: Final[Mapping[str, str]] = {"upload": "OTEL_INSTRUMENTATION_GENAI_UPLOAD_BASE_PATH"}
_REMEMBERED: Final = 4096
_COMPACTED: Final = Message("assistant", (Compaction(None),))
_MAKES_IDS_UP: Final = "generate_content"
"""The operation of Gemini, whose calls mostly have no id."""


class CompletionHook(Protocol):
    """What OpenTelemetry's GenAI utilities call when an operation has finished."""

    def on_completion(self, **kwargs: Any) -> None:
        """``inputs``, ``outputs``, ``system_instruction``, ``tool_definitions``, ``span``, ``log_record``."""


@per_call(frozen=True, slots=True)
class HookCall:
    """One finished call. ``span`` has not ended yet, and may not be recording; ``context`` is the call's own."""

    call: Call
    span: Span | None
    context: Context
    log_record: LogRecord | None = None


class FootprintHook:
    """Hands each finished model call to ``sink`` and everything to the ``others``, which work as if they were alone."""

    def __init__(self, sink: Callable[[HookCall], None], others: Sequence[CompletionHook] = ()) -> None:
        self._reader = _Reader(sink)
        self.others: tuple[CompletionHook, ...] = tuple(others)

    def beside(self, other: CompletionHook) -> FootprintHook:
        """A hook with the same sink and memory that calls ``other`` too, unless one of that kind is called already."""
        if any(type(known) is type(other) for known in self.others):
            return self
        both = FootprintHook.__new__(FootprintHook)
        both._reader = self._reader
        both.others = (*self.others, other)
        return both

    def same_sink(self, other: FootprintHook) -> bool:
        """Whether both hand calls to one sink."""
        return self._reader is other._reader

    def pause(self) -> None:
        """Hand nothing on any more. An instrumentation that others turned on may keep the hook; the others run on."""
        self._reader.paused = True

    def resume(self) -> None:
        """Hand calls on again."""
        self._reader.paused = False

    def on_completion(
        self,
        *,
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        system_instruction: Sequence[Any] = (),
        tool_definitions: Sequence[Any] | None = None,
        span: Span | None = None,
        log_record: LogRecord | None = None,
        **further: Any,
    ) -> None:
        """Called by an instrumentation, synchronously, before the span of the call ends."""
        with guard("hook"):
            self._reader.receive(inputs, outputs, system_instruction, tool_definitions, span, log_record)
        for other in self.others:
            with guard(f"hook.{type(other).__name__}"):
                other.on_completion(
                    inputs=inputs,
                    outputs=outputs,
                    system_instruction=system_instruction,
                    tool_definitions=tool_definitions,
                    span=span,
                    log_record=log_record,
                    **further,
                )

    def shutdown(self) -> None:
        """Tell the other hooks to finish, those that know how to."""
        for other in self.others:
            shutdown = getattr(other, "shutdown", None)
            if callable(shutdown):
                with guard(f"hook.{type(other).__name__}.shutdown"):
                    shutdown()


class _Reader:
    """Reads what a hook is given; remembers which answers were handed on."""

    def __init__(self, sink: Callable[[HookCall], None]) -> None:
        self._sink = sink
        self.paused = False
        self._converter = Converter()
        self._answered = _Recent()
        self._ended = _Recent()
        self._within = _Recent()

    def receive(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        system_instruction: Sequence[Any],
        tool_definitions: Sequence[Any] | None,
        span: Span | None,
        log_record: LogRecord | None,
    ) -> None:
        if self.paused:
            return
        framework = getattr(INVOCATION.get(), OUTER_SPAN, None)
        span = framework or span
        facts = facts_of(span)
        fetched = facts.operation == FETCH
        if not fetched and facts.operation not in MODEL_OPERATIONS:
            return
        if fetched and (not outputs or self._answered.get(facts.response_id) is not None):
            return
        now = time.time()
        ref = _ref(span)
        answers = self._converter.outputs(
            outputs,
            joined=facts.joined or fetched,
            failed=facts.failed and not fetched,
            streamed=facts.streamed,
        )
        if not fetched and (self._is_the_frameworks(ref, framework) or self._is_a_second_view(facts, ref, answers)):
            return
        if outputs and facts.response_id is not None:
            self._answered.put(facts.response_id, now)
        whole = getattr(INVOCATION.get(), WHOLE_INPUTS, None) or getattr(inputs, WHOLE_INPUTS, None)
        if whole is None:
            run = tools_run(facts.context)
            whole = [*inputs, *_as_messages(run)] if run else inputs
        system, messages = self._converter.messages(whole, system_instruction, joined=facts.joined)
        if facts.operation == _MAKES_IDS_UP:
            messages = paired(messages)
        if facts.compacted and not any(_is_compaction(message) for message in messages):
            messages = (_COMPACTED, *messages)
        self._sink(
            HookCall(
                call=Call(
                    messages=messages,
                    system=system,
                    outputs=answers,
                    now=now,
                    started_at=facts.started_at,
                    ref=ref,
                    operation=facts.operation or "chat",
                    provider=facts.provider,
                    model=facts.model,
                    agent=facts.agent,
                    tools=_tool_names(tool_definitions),
                    conversation_id=facts.conversation_id,
                    conversation_source="ambient" if facts.conversation_id is not None else None,
                    response_id=facts.response_id,
                    previous_response_id=facts.previous_response_id,
                    input_tokens=facts.input_tokens,
                    output_tokens=facts.output_tokens,
                ),
                span=span,
                context=facts.context,
                log_record=log_record,
            )
        )

    def _is_the_frameworks(self, ref: CallRef | None, framework: Span | None) -> bool:
        """Whether a call of the SDK's inside this one was handed on, on this very span."""
        if ref is None:
            return False
        key = (ref.trace_id, ref.span_id)
        if framework is None:
            return self._within.get(key) is not None
        self._within.put(key, 0.0)
        return False

    def _is_a_second_view(self, facts: Facts, ref: CallRef | None, answers: tuple[Output, ...]) -> bool:
        """Whether a call inside this one handed the same response on: same trace, id and texts, and it began later."""
        if facts.response_id is None or ref is None or facts.started_at is None:
            return False
        texts = hash(tuple([answer.message.text for answer in answers]))  # not the texts: they would be kept alive
        key = (ref.trace_id, facts.response_id, texts)
        inner_start = self._ended.get(key)
        if inner_start is not None and facts.started_at < inner_start:
            return True
        self._ended.put(key, facts.started_at)
        return False


class _Recent:
    """A bounded memory without a lock: of two generations the older one goes when the newer one is full."""

    def __init__(self) -> None:
        self._young: dict[Any, float] = {}
        self._old: dict[Any, float] = {}

    def get(self, key: Any) -> float | None:
        value = self._young.get(key)
        return value if value is not None else self._old.get(key)

    def put(self, key: Any, value: float) -> None:
        self._young[key] = value
        if len(self._young) > _REMEMBERED:
            self._old, self._young = self._young, {}


def other_hooks(names: Sequence[str] | None, *, environ: Mapping[str, str] | None = None) -> tuple[CompletionHook, ...]:
    """The completion hooks of others that are to run beside ours.

    Args:
        names: their entry points; None: those that are installed and have been configured, which is known of
            ``upload`` only. The one that OpenTelemetry's own variable selects is always among them. Names that are not
            installed, and hooks that cannot be made, are said once and left out.
    """
    env = os.environ if environ is None else environ
    wanted = [name for name, setting in _CONFIGURED_BY.items() if env.get(setting)] if names is None else list(names)
    wanted.append(env.get(SELECTED, "").strip() or OUR_NAME)
    wanted = [name for name in dict.fromkeys(wanted) if name != OUR_NAME]
    if not wanted:
        return ()
    found = {point.name: point for point in entry_points(group=HOOK_GROUP)}
    made: list[CompletionHook] = []
    for name in wanted:
        if name not in found:
            _logger.warning("otel-footprint: no completion hook named %r is installed", name)
            continue
        with guard(f"hook.{name}.start"):
            hook = found[name].load()()
            if callable(getattr(hook, "on_completion", None)):
                made.append(hook)
    return tuple(made)


def _as_messages(tools: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The calls and results of tools that an SDK ran between the requests of one call, which it may keep to itself."""
    for number, tool in enumerate(tools):
        name = str(getattr(tool, "name", "") or "")
        key = f"{name}_{number}"
        call = {"type": "tool_call", "id": key, "name": name, "arguments": getattr(tool, "arguments", None)}
        yield {"role": "assistant", "parts": [call]}
        result = {"type": "tool_call_response", "id": key, "response": getattr(tool, "tool_result", None)}
        yield {"role": "tool", "parts": [result]}


def _is_compaction(message: Message) -> bool:
    return any(isinstance(part, Compaction) for part in message.parts)


def _ref(span: Span | None) -> CallRef | None:
    context = span.get_span_context() if span is not None else None
    if context is None or not context.is_valid:
        return None
    return CallRef(context.trace_id, context.span_id, int(context.trace_flags))


def _tool_names(definitions: Sequence[Any] | None) -> tuple[str, ...] | None:
    if definitions is None:
        return None
    names = [item.get("name") if isinstance(item, Mapping) else getattr(item, "name", None) for item in definitions]
    return tuple([name for name in names if isinstance(name, str) and name])
