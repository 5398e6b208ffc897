"""What is running in a process: wires the core to its edges, and takes in every call that completes.

Rules
-----
- State belongs to it and not to a hook, since all instrumentors share it.
- The store is used under one lock. A finaliser (an abandoned stream) may call in while this very thread holds it: such
  a call waits until the call in progress is done, and is then judged without its span, which has ended by then.
- What acts on calls is loaded and wrapped when it is first asked for; a process that only observes has none of it.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from otel_footprint import boundary
from otel_footprint.acting_token import CHILD, Token, mark_of
from otel_footprint.agent_spans import AgentSpans
from otel_footprint.config import Settings
from otel_footprint.context import current_conversation
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.answers import answer_texts
from otel_footprint.core.findings.ledger import At
from otel_footprint.genai.hook import FootprintHook, HookCall, other_hooks
from otel_footprint.genai.instrumentation import turn_off, turn_on
from otel_footprint.genai.sdks import SdkState
from otel_footprint.providers import carrying
from otel_footprint.telemetry.emitter import Emission, Emitter

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from otel_footprint.acting import Director
    from otel_footprint.core.call import Call
    from otel_footprint.core.decisions import Decisions
    from otel_footprint.core.evidence.options import Evidence
    from otel_footprint.core.evidence.verdicts import Judgement
    from otel_footprint.core.findings.change import FindingsChange
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.findings.track import Track
    from otel_footprint.handle import Conversation
    from otel_footprint.sharing import Sharing

_logger = logging.getLogger("otel_footprint")


@dataclass(frozen=True, slots=True)
class Providers:
    """Where telemetry goes; None is OpenTelemetry's global one."""

    tracer: TracerProvider | None = None
    meter: MeterProvider | None = None
    logger: LoggerProvider | None = None

    def check(self) -> None:
        """Raise :class:`ConfigurationError` for what is no provider."""
        for name in ("tracer", "meter", "logger"):
            given = getattr(self, name)
            if given is not None and (isinstance(given, type) or not callable(getattr(given, f"get_{name}", None))):
                shown = given.__name__ if isinstance(given, type) else f"a {type(given).__name__}"
                raise ConfigurationError(
                    f"instrument({name}_provider=…) is {shown}, which has no get_{name}(); give the {name} provider itself, or "
                    "leave it out for OpenTelemetry's global one"
                )

    def difference(self, other: Providers) -> str | None:
        """The argument of ``instrument()`` whose provider is another object, or None."""
        names = {"tracer": "tracer_provider", "meter": "meter_provider", "logger": "logger_provider"}
        return next((arg for name, arg in names.items() if getattr(self, name) is not getattr(other, name)), None)


class _Exclusively:
    """The block of :meth:`Runtime.exclusively`; a class, since it is entered at every call."""

    __slots__ = ("_running",)

    def __init__(self, running: Runtime) -> None:
        self._running = running

    def __enter__(self) -> Conversations:
        self._running.lock.acquire()
        self._running._busy = True
        return self._running._store

    def __exit__(self, *_: object) -> None:
        self._running._busy = False
        self._running.lock.release()


class Runtime:
    """What is running: settings, the store of conversations, the emitter, the hook."""

    def __init__(
        self,
        settings: Settings,
        providers: Providers,
        *,
        implicit: bool = False,
    ) -> None:
        self.settings: Final = settings
        self.providers: Final = providers
        self.implicit: Final = implicit
        self.emitter: Final = Emitter(
            tracer_provider=providers.tracer,
            meter_provider=providers.meter,
            logger_provider=providers.logger,
            events=settings.events,
            capture_values=settings.capture_values,
            hash_key=settings.hash_key,
            posture=settings.evidence.posture,
        )
        self.carried: Final = carrying.CarryRegistry()
        self.states: tuple[SdkState, ...] = ()
        self._store: Final = Conversations(
            evidence=settings.evidence,
            limits=Limits(conversations=settings.conversation_limit),
            new_id=lambda: uuid.uuid4().hex,
        )
        self.lock = threading.RLock()
        self._busy = False
        self._dropped = 0
        self._waiting: Final[deque[HookCall]] = deque()
        self._agents: Final = AgentSpans(self.emitter)
        self.director: Director | None = None
        self.sharing: Sharing | None = None
        self.hook: Final = FootprintHook(self.complete, (self._agents, *other_hooks(settings.hooks)))
        self._stop_listening = boundary.listen(self.emitter.error)

    def start(self) -> None:
        """Wrap what the hook cannot see (below), then turn on the official instrumentations (above).

        Raises :class:`ConfigurationError` where the store says at once that its address cannot be used.
        """
        with boundary.guard("carrying.install"):
            carrying.install(self.carried)
        self.states = turn_on(
            self.settings.providers,
            hook=self.hook,
            tracer_provider=self.providers.tracer,
            meter_provider=self.providers.meter,
            logger_provider=self.providers.logger,
        )
        if self.settings.store is not None:
            from otel_footprint.sharing import Sharing

            self.sharing = Sharing(self, self.settings.store)
            self.sharing.start()
        if self.settings.acts or self.sharing is not None:
            self.act()

    def act(self) -> None:
        """From now on calls may be acted on: wrap them above the official instrumentations."""
        with self.lock:
            if self.director is not None:
                return
            with boundary.guard("acting.install"):
                from otel_footprint.acting import Director
                from otel_footprint.providers import acting as wrappers

                self.director = Director(self)
                wrappers.install(self.director)

    def stop(self) -> None:
        """Turn off what :meth:`start` turned on, in the reverse order."""
        if self.director is not None:
            with boundary.guard("acting.uninstall"):
                from otel_footprint.providers import acting as wrappers

                wrappers.uninstall()
        with boundary.guard("instrumentation.turn_off"):
            turn_off()
        with boundary.guard("carrying.uninstall"):
            carrying.uninstall()
        if self.sharing is not None:
            self.sharing.stop()
        self._stop_listening()

    def complete(self, hook_call: HookCall) -> None:
        """One call has completed: decide, and write it down. Called by the hook before the span ends."""
        with boundary.guard("runtime.complete"):
            self._complete(hook_call)

    def _complete(self, hook_call: HookCall) -> None:
        call = self._with_carried(hook_call.call)
        mark = mark_of(hook_call.context) if self.director is not None else None
        if mark is CHILD:
            return  # a call of ours on a strategy's behalf is no conversation
        token = mark if isinstance(mark, Token) else None
        if token is not None:
            call = replace(call, planned=token.facts)
        handle = current_conversation(hook_call.context)
        evidence = None
        if handle is not None:
            evidence = handle.evidence_options
            call = replace(
                call,
                conversation_id=handle.id,
                conversation_source="explicit",
                agent=call.agent or handle.agent,
            )
        findings = self.settings.findings if handle is None else handle.findings_in(self.settings)
        observed = self._observe(call, evidence, findings, hook_call, token)
        if observed is None:
            return
        call, decisions, seconds = observed
        emission = Emission(
            decisions=decisions,
            span=hook_call.span,
            context=hook_call.context,
            call=call,
            evidence_seconds=seconds,
            open=handle is not None and handle.open,
        )
        self.emitter.emit(emission)
        if token is not None:
            token.emission = emission
        self._count_dropped()
        self._agents.add(hook_call.span, decisions)
        if handle is not None:
            handle.record(decisions)
            if emission.open:
                handle.answered(emission)
        self.take_waiting()

    def take_waiting(self) -> None:
        """Take in the calls that came in while the store was half written."""
        while self._waiting and not self._busy:
            self._complete(replace(self._waiting.popleft(), span=None))

    def _observe(
        self,
        call: Call,
        evidence: Evidence | None,
        findings: Findings | None,
        hook_call: HookCall,
        token: Token | None,
    ) -> tuple[Call, Decisions, float] | None:
        with self.lock:
            if self._busy:  # only a finaliser on this thread gets here: the lock is ours
                self._waiting.append(replace(hook_call, call=call))  # with what was carried, which is given out once
                return None
            started = time.perf_counter()
            with self.exclusively() as store:
                call, declared = store.stripped(call) if findings is not None else (call, ())
                decisions = store.observe(call, evidence=evidence, findings=findings, declared=declared)
                if token is not None:
                    with boundary.guard("acting.complete"):
                        token.settle(call, decisions)
            return call, decisions, time.perf_counter() - started

    def exclusively(self) -> _Exclusively:
        """The store and the planner, half written inside the block: a call that comes in meanwhile has to wait."""
        return _Exclusively(self)

    def _count_dropped(self) -> None:
        if self._store.evicted_conversations == self._dropped:
            return
        with self.lock:
            dropped, self._dropped = (
                self._store.evicted_conversations - self._dropped,
                self._store.evicted_conversations,
            )
        if dropped:
            self.emitter.dropped(dropped)

    def _with_carried(self, call: Call) -> Call:
        """The call with what only a wrapper could see."""
        if call.ref is None:
            return call
        facts = self.carried.pop(call.ref.trace_id, call.ref.span_id)
        if facts is None:
            return call
        return replace(
            call,
            previous_response_id=call.previous_response_id or facts.previous_response_id,
            server_thread=call.server_thread or facts.server_thread,
            edits=call.edits + facts.edits,
            error_result_ids=call.error_result_ids | facts.error_result_ids,
        )

    def track_of(self, hint: tuple[str, int]) -> Track | None:
        """The findings of a thread. Called under the lock."""
        return self._store.track_of(*hint)

    @contextmanager
    def following(self, conversation_id: str) -> Iterator[tuple[tuple[int, Track], ...]]:
        """The findings of a conversation's threads, the one that was called last first; under the lock."""
        with self.exclusively() as store:
            yield store.tracks(conversation_id)
        self.take_waiting()

    def file_drafts(
        self, emission: Emission, judgements: Sequence[Judgement], evidence: Evidence
    ) -> FindingsChange | None:
        """File the findings of drafts that go out after all; None where none are followed."""
        decisions = emission.decisions
        with boundary.guard("runtime.file_drafts"), self.following(decisions.conversation) as tracks:
            track = dict(tracks).get(decisions.thread)
            if track is None or decisions.findings is None:
                return None
            texts = {output.choice: answer_texts(output.message, evidence) or "" for output in emission.call.outputs}
            told = [(judgement, texts.get(judgement.choice, "")) for judgement in judgements]
            return track.stands(told, At(decisions.turn, decisions.iteration))
        return None

    def stands(self, emission: Emission, decisions: Decisions, handle: Conversation | None) -> None:
        """A draft of this call goes out after all; ``decisions`` are the call's, with the action that was taken."""
        self._agents.stands(emission.span, decisions)
        if handle is not None:
            handle.stands(emission.decisions, decisions)
            if emission.open:
                handle.answered(replace(emission, decisions=decisions))

    def restands(self, before: Emission, after: Emission) -> None:
        """The answers of a call stand otherwise, by what the application said of them."""
        self._agents.restands(before.span, before.decisions, after.decisions)

    def hand_in(self, conversation_id: str, text: str, name: str) -> None:
        """Evidence that no tool returned: a retrieved document, a file."""
        with boundary.guard("runtime.hand_in"):
            with self.exclusively() as store:
                store.hand_in(conversation_id, text, name, now=time.time())
            self.take_waiting()

    def say(self, conversation_id: str, text: str) -> None:
        """Words of the person or the application that are in no message."""
        with boundary.guard("runtime.say"):
            with self.exclusively() as store:
                store.say(conversation_id, text, now=time.time())
            self.take_waiting()

    def after_fork_in_child(self) -> None:
        """The child's own lock; its store is a copy that was whole when the fork took the lock."""
        self.lock = threading.RLock()
        self._busy = False
        self._waiting.clear()
        if self.sharing is not None:
            self.sharing.after_fork_in_child()
