"""Decides which calls are acted on, and holds what that takes: the planner, beside the runtime's store and under its lock.

Rules
-----
- Where no window strategy, no posture that acts and no findings are in force, a call is not taken up at all.
- A request that cannot be read, and any fault of ours, lets the call through as the application made it: counted, and said
  once.
- The innermost ``conversation(window=…, evidence=…)`` wins over ``instrument(…)``.
- Of a call that is not to be changed, in a conversation that a store shares, only the state is read and written.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.context import Context, get_current

from otel_footprint import boundary
from otel_footprint.acting_call import ActingCall
from otel_footprint.acting_token import CHILD, mark_of, with_mark
from otel_footprint.context import current_conversation
from otel_footprint.core.conversations import Limits
from otel_footprint.core.errors import UnreadableInputError
from otel_footprint.core.planner import Planner, PlanRequest
from otel_footprint.genai.ambient import ambient_conversation
from otel_footprint.genai.finishing import agent_of, seen_within
from otel_footprint.providers.findings_form import EmissionMemory

if TYPE_CHECKING:
    from otel_footprint.core.evidence.options import Evidence
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.findings.standing import Standing
    from otel_footprint.core.window.strategy import WindowStrategy
    from otel_footprint.handle import Conversation
    from otel_footprint.providers.surface import Delivery, Reading, Surface
    from otel_footprint.running import Runtime
    from otel_footprint.sharing import SharedCall

_logger = logging.getLogger("otel_footprint")

_UNTOUCHED: Final = "the call goes on as the application made it, and further ones are only counted"
_REMEMBERED: Final = 1024


@dataclass(frozen=True, slots=True)
class Options:
    """What is in force for one call."""

    strategy: WindowStrategy | None
    evidence: Evidence
    keep_last_tool_results: int
    findings: Findings | None
    handle: Conversation | None
    shared: SharedCall | None = None

    @property
    def act(self) -> bool:
        """Whether the call may be changed or asked again."""
        return self.strategy is not None or self.evidence.posture != "assist" or self.findings is not None


class Director:
    """What the wrappers above the official instrumentations ask; one for each runtime."""

    def __init__(self, running: Runtime) -> None:
        self.running: Final = running
        self.planner: Final = Planner(
            limits=Limits(conversations=running.settings.conversation_limit), new_id=lambda: uuid.uuid4().hex
        )
        self.memory: Final = EmissionMemory()
        self._warned: Final[OrderedDict[tuple[str, str, str], None]] = OrderedDict()

    def acts(self) -> bool:
        """Whether any call made here and now may be acted on."""
        if self.running.settings.acts:
            return True
        handle = current_conversation()
        if handle is not None and (handle.acts or (handle.named and self.running.sharing is not None)):
            return True
        return mark_of() is not None

    def begin(self, surface: Surface, kwargs: Mapping[str, Any], delivery: Delivery) -> ActingCall | None:
        """Take up one call; None leaves it alone."""
        with boundary.guard("acting.begin", _UNTOUCHED):
            return self._begin(surface, kwargs, delivery)
        return None

    def _begin(self, surface: Surface, kwargs: Mapping[str, Any], delivery: Delivery) -> ActingCall | None:
        context = get_current()
        outer = mark_of(context)
        if outer is CHILD:
            return None
        options = self._options(context)
        if not options.act and outer is None and options.shared is None:
            return None
        reading = self._read(surface, kwargs) if options.act else None
        if reading is None and outer is None and options.shared is None:
            return None
        context = seen_within(context)  # of a framework's call and the SDK's inside it, the latter is acted on
        if outer is not None:  # a call inside another one, such as a tool's: it is not the outer one's
            context = with_mark(None, context)
        return ActingCall(self, surface, kwargs, reading, delivery, options, context)

    def _options(self, context: Context) -> Options:
        settings, handle = self.running.settings, current_conversation(context)
        strategy, evidence, findings = settings.window, settings.evidence, settings.findings
        if handle is not None:
            strategy = handle.window_in(settings)
            evidence = evidence if handle.evidence_options is None else handle.evidence_options
            findings = handle.findings_in(settings)
        sharing = self.running.sharing
        shared = sharing.call(handle.id) if sharing is not None and handle is not None and handle.named else None
        return Options(strategy, evidence, settings.keep_last_tool_results, findings, handle, shared)

    def _read(self, surface: Surface, kwargs: Mapping[str, Any]) -> Reading | None:
        reading = None
        with boundary.guard(f"acting.read.{surface.name}", _UNTOUCHED):
            reading = surface.read(kwargs)
            if reading is None:
                raise UnreadableInputError("the request cannot be read")
        return reading

    def request(self, call: ActingCall, reading: Reading) -> PlanRequest:
        """The call as the planner is asked about it."""
        handle = call.options.handle
        span = trace.get_current_span(call.context).get_span_context()
        return PlanRequest(
            messages=reading.messages,
            system=reading.system,
            tools=reading.tools,
            model=reading.model,
            provider=reading.provider,
            agent=agent_of(call.context) or (handle.agent if handle is not None else None),
            conversation_id=handle.id if handle is not None else ambient_conversation(call.context),
            trace_id=span.trace_id or None,
            now=time.time(),
            request=handle.request if handle is not None else None,
            streamed=call.delivery.streamed,
            server_held=reading.server_held,
        )

    def standings(self, hint: tuple[str, int] | None) -> Callable[[str], Standing | None] | None:
        """What results of a history are declared to be. Called under the runtime's lock."""
        track = None if hint is None else self.running.track_of(hint)
        return None if track is None else track.standing_of

    def warn(self, run_id: str, strategy: str, warning: str) -> None:
        """Say what a strategy warns of, once a run."""
        key = (run_id, strategy, warning)
        with self.running.lock:
            known = key in self._warned
            self._warned[key] = None
            while len(self._warned) > _REMEMBERED:
                self._warned.popitem(last=False)
        if not known:
            _logger.warning("otel-footprint: %s: %s", strategy, warning)
