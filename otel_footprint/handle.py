"""``conversation()``: names a conversation, spans it, and gives the application what was decided in it."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal

from opentelemetry import trace
from opentelemetry.context import attach, detach, get_current
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.types import Error

from otel_footprint import boundary, runtime
from otel_footprint.agent_spans import is_agent_span
from otel_footprint.config import checked_evidence, findings_of
from otel_footprint.context import current_conversation, with_conversation
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.state.document import from_document, to_document
from otel_footprint.core.state.values import SavedConversation
from otel_footprint.core.window.saving import WindowState
from otel_footprint.findings_verbs import Filed, FindingsVerbs
from otel_footprint.installing import checked_strategy
from otel_footprint.restoring import go_on, saved_of, windows_of
from otel_footprint.running import Providers, Runtime
from otel_footprint.telemetry.open_answers import OpenAnswer, OpenAnswers
from otel_footprint.telemetry.summary import Summary
from otel_footprint.window_view import Window

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span
    from opentelemetry.util.genai.invocation import LocalAgentInvocation

    from otel_footprint.config import Settings
    from otel_footprint.core.decisions import Decisions
    from otel_footprint.core.evidence.verdicts import Judgement
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.messages import Json
    from otel_footprint.core.window.record import WindowRecord
    from otel_footprint.core.window.strategy import WindowStrategy
    from otel_footprint.telemetry.emitter import Emission

_logger = logging.getLogger("otel_footprint")

_MAX_ID_CHARS: Final = 256
_REMEMBERED: Final = 1000


class Conversation(FindingsVerbs):
    """A handle on one conversation: a context manager, sync and async, entered once.

    Calls made inside it belong to the conversation ``id``, whatever their messages look like. It opens the standard
    ``invoke_agent`` span, or uses the one that a framework has opened around it, and writes the final summary on it.
    """

    def __init__(
        self,
        *,
        id: str | None,
        agent: str | None,
        request: str | None,
        evidence: Evidence | None,
        window: WindowStrategy | Literal[False] | None,
        findings: Findings | bool | None,
        restore: SavedConversation | None,
    ) -> None:
        given = id if id is not None or restore is None or not restore.named else restore.id
        known = None if restore is None else restore.id
        own = given if given is not None else known if known is not None else uuid.uuid4().hex
        super().__init__(own, named=given is not None)
        self.agent: Final = agent
        self.evidence_options: Final = evidence
        self._window: Final = window
        self._findings: Final = findings
        self.request: Final = request
        self._restore: Final = restore
        self._given_id: Final = given
        self._lock: Final = threading.RLock()
        self._decisions: Final[deque[Decisions]] = deque(maxlen=_REMEMBERED)
        self._summary = Summary()
        self._answers: Final = OpenAnswers()
        self._span: Span | None = None
        self._context: Context | None = None
        self._record: WindowRecord | None = None
        self._open = ExitStack()
        self._entered = False
        self._left = False
        self._told = False

    @property
    def acts(self) -> bool:
        """Whether its own settings ask for requests to be changed or asked again."""
        evidence = self.evidence_options
        acting = evidence is not None and evidence.posture != "assist"
        windows = self._window is not None and self._window is not False
        return windows or acting or bool(self._findings)

    def window_in(self, settings: Settings) -> WindowStrategy | None:
        """The window strategy in force: its own, none, or that of ``instrument()`` where it says nothing."""
        if self._window is None:
            return settings.window
        return None if self._window is False else self._window

    def findings_in(self, settings: Settings) -> Findings | None:
        """The findings in force: its own, or those of ``instrument()`` where it asks for none."""
        return settings.findings if self._findings is None else findings_of(self._findings, "findings")

    @property
    def answers(self) -> tuple[Judgement, ...]:
        """The judgements of the answers so far, oldest first, of the last 1,000 calls; without drafts that were revised."""
        return tuple(
            judgement
            for decisions in self.decisions
            for judgement in decisions.judgements
            if judgement.action != "recheck"
        )

    @property
    def window(self) -> Window:
        """What happened to the window at the last call, the last record of its strategy, and what was folded."""
        with self._lock:
            change = self._decisions[-1].window if self._decisions else None
            return Window(change, self._record, self._saved)

    def to_dict(self, text: bool = False) -> dict[str, Json]:
        """What another process needs to go on with this conversation, as JSON, for ``conversation(restore=…)``.

        Args:
            text: with the texts of messages and of tool results, so that the other process judges the next answer as this
                one would. Without them it recognises what the next calls show again; a value that it does not find then is
                ``inconclusive`` for ``unseen_history``.

        Without ``text`` it holds digests, ids, names of tools, counts; and in words only what summaries say and what the
        model declared in findings. Anyone who may read the document may read what it holds.
        """
        if not isinstance(text, bool):
            raise ConfigurationError(f"to_dict(text={text!r}): give True or False")
        running = runtime.current()
        named = self._given_id is not None
        before = 0 if self._restore is None else self._restore.calls
        saved = SavedConversation(id=self.id, named=named, text=text)
        if running is not None:
            saved = saved_of(running, self.id, named=named, text=text)
        return to_document(replace(saved, calls=before + len(self.decisions)))

    @property
    def decisions(self) -> tuple[Decisions, ...]:
        """Everything decided, one value per completed call, oldest first, of the last 1,000 calls."""
        with self._lock:
            return tuple(self._decisions)

    def evidence(self, text: str, *, name: str) -> None:
        """Hand in evidence that no tool returned, such as a retrieved document or a file. It never leaves the window.

        Args:
            text: what the model may read values from; JSON is read as JSON.
            name: how a carrier is named in the telemetry.
        """
        if not isinstance(text, str) or not isinstance(name, str):
            raise ConfigurationError(
                f"evidence({type(text).__name__}, name={type(name).__name__}): give two strings, the text and its name"
            )
        if (running := runtime.current()) is not None:
            running.hand_in(self.id, text, name)

    def record(self, decisions: Decisions) -> None:
        """Take note of one call's decisions. Called by the runtime, from any thread."""
        with self._lock:
            self._decisions.append(decisions)
            self._summary = self._summary.add(decisions)
            if decisions.findings is not None:
                self._tally = self._tally.add(decisions.findings)

    def stands(self, before: Decisions, after: Decisions) -> None:
        """Take note that the draft of a call goes out after all. Called by the runtime, from any thread."""
        with self._lock:
            for index in range(len(self._decisions) - 1, -1, -1):
                if self._decisions[index] is before:
                    self._decisions[index] = after
                    break
            self._summary = self._summary.add_answers(after)

    @property
    def open(self) -> bool:
        """Whether something may still be said of its last answer before it is counted."""
        return not self._left

    def answered(self, emission: Emission) -> None:
        """Take note of one call that was written down as open. Called by the runtime, from any thread."""
        with self._lock:
            settled = self._answers.given(emission)
            if self._left:  # meanwhile
                settled += self._answers.settle()
        self._count(settled)

    def filed(self, filed: Filed) -> None:
        with boundary.guard("conversation.filed"):
            with self._lock:
                self._told = True
                restood = None if filed.after is None else self._answers.restand(filed.thread, filed.after)
                self._summary = self._summary.filed(filed.rows)
                if restood is not None:
                    before, after = restood
                    self._summary = self._summary.restand(before.assessments, after.assessments)
            if (running := runtime.current()) is not None:
                running.emitter.told(filed.rows, self._span, self._context or get_current())
                if restood is not None:
                    running.restands(*restood)

    def _count(self, settled: tuple[OpenAnswer, ...]) -> None:
        if settled and (running := runtime.current()) is not None:
            for one in settled:
                running.emitter.settled(one.emission, self._span, changed=one.changed)

    def windowed(self, record: WindowRecord) -> None:
        """Take note of what a window strategy decided. Called by the runtime, from any thread."""
        with self._lock:
            self._record = record

    def _saved(self) -> WindowState:
        running = runtime.current()
        return windows_of(running, self.id) if running is not None else WindowState()

    def __enter__(self) -> Conversation:
        if self._entered:
            raise ConfigurationError("a conversation() is entered once; call conversation() again, with the same id")
        self._entered = True
        running = runtime.current()
        if running is None:
            _logger.warning("conversation() observes nothing before otel_footprint.instrument() is called")
        with boundary.guard("conversation.enter"):
            self._enter(running)
        return self

    def _enter(self, running: Runtime | None) -> None:
        span, context = trace.get_current_span(), get_current()
        if not is_agent_span(span):
            invocation = self._agent_invocation(running)
            self._open.push(_ending(invocation))
            # It leaves the context at once and we enter it with ours: one attachment, which only its own task undoes.
            invocation.suspend()
            span, context = invocation.span, invocation.context
        self._span, self._context = span, context
        token = attach(with_conversation(self, context))
        self._open.callback(self._leave, running, span, token)
        if running is not None and self.request is not None:
            running.say(self.id, self.request)
        if running is not None and (self.acts or (self._restore is not None and self._restore.window.lines)):
            running.act()
        if running is not None and self._restore is not None:
            go_on(running, self.id, self._restore, self.evidence_options)

    def _agent_invocation(self, running: Runtime | None) -> LocalAgentInvocation:
        providers = running.providers if running is not None else Providers()
        handler = TelemetryHandler(
            tracer_provider=providers.tracer,
            meter_provider=providers.meter,
            logger_provider=providers.logger,
            instrumentation_scope_name="otel_footprint",
        )
        return handler.invoke_local_agent(agent_name=self.agent, conversation_id=self._given_id)

    def _leave(self, running: Runtime | None, span: Span, token: Token[Context]) -> None:
        with boundary.guard("conversation.leave"):
            if current_conversation() is self:  # else: left in another task or thread, where nothing was attached
                detach(token)
            with self._lock:
                self._left = True
                settled = self._answers.settle()
            self._count(settled)
            if running is not None:
                running.emitter.summarise(span, self._summary)
                if self._told and self.named and running.sharing is not None:
                    running.sharing.told(self.id)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with boundary.guard("conversation.exit"):
            self._open.__exit__(kind, error, traceback)

    async def __aenter__(self) -> Conversation:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)


def _ending(
    invocation: LocalAgentInvocation,
) -> Callable[[type[BaseException] | None, BaseException | None, Any], None]:
    """Ends the agent's span. An error leaves its type there and not its text, which may quote the conversation."""

    def end(kind: type[BaseException] | None, error: BaseException | None, traceback: Any) -> None:
        if kind is None:
            invocation.stop()
        else:
            invocation.fail(Error(message=None, type=f"{kind.__module__}.{kind.__qualname__}"))

    return end


def conversation(
    id: str | None = None,
    *,
    agent: str | None = None,
    request: str | None = None,
    window: WindowStrategy | Literal[False] | None = None,
    evidence: Evidence | None = None,
    findings: Findings | bool | None = None,
    restore: Mapping[str, Json] | None = None,
) -> Conversation:
    """A conversation whose calls belong together: ``with conversation("order-4711", agent="support") as c: …``.

    Args:
        id: your name for it, exported as ``gen_ai.conversation.id``; calls of other processes may share it. None: the
            calls made inside belong together, and no id is exported.
        agent: the agent's name, on spans and metrics.
        request: what the person asked, where it is in no message; its words count as said.
        window: what may leave its window, where it differs from ``instrument(window=…)``; False: nothing.
        evidence: how its answers are judged, and what is done about a flagged one, where it differs from
            ``instrument(evidence=…)``.
        findings: whether the model may declare what results are, where it differs from ``instrument(findings=…)``.
        restore: what ``to_dict()`` gave in another process: the conversation goes on as it was, under the id it had where
            none is given.

    Raises:
        ConfigurationError: an argument that cannot be used.
    """
    for name, value in (("id", id), ("agent", agent), ("request", request)):
        if value is not None and not isinstance(value, str):
            raise ConfigurationError(f"conversation({name}={value!r}): give a string")
    if id is not None and not 0 < len(id) <= _MAX_ID_CHARS:
        raise ConfigurationError(f"conversation(id=…) has {len(id)} characters; give 1 to {_MAX_ID_CHARS}")
    if evidence is not None:
        checked_evidence(evidence, "conversation(…) evidence")
    if findings is not None:
        findings_of(findings, f"conversation(findings={findings!r})")
    if window is not None and window is not False:
        window = checked_strategy(window, "conversation(…) window")
    return Conversation(
        id=id,
        agent=agent,
        request=request,
        evidence=evidence,
        window=window,
        findings=findings,
        restore=from_document(restore) if restore is not None else None,
    )
