"""The composition root: one runtime per process, which :func:`instrument` starts and :func:`uninstrument` stops.

Rules
-----
- One runtime per process, whoever asks for it: the application, or an environment that starts it without code.
- A fork takes the locks first, so that the child never inherits a half-written store or a lock that nobody will release.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from otel_footprint import boundary
from otel_footprint.config import misspelled, resolve, unread
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.running import Providers, Runtime

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from otel_footprint.core.evidence.options import Evidence
    from otel_footprint.core.findings.options import Findings
    from otel_footprint.core.window.strategy import WindowStrategy
    from otel_footprint.store import Store

_logger = logging.getLogger("otel_footprint")

_start_lock: Final = threading.RLock()
_current: Runtime | None = None
_said: Final[set[str]] = set()


def current() -> Runtime | None:
    """The runtime of this process, if one was started."""
    return _current


def instrument(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    providers: Iterable[str] | None = None,
    evidence: Evidence | None = None,
    window: WindowStrategy | None = None,
    keep_last_tool_results: int | bool | None = None,
    findings: Findings | bool | None = None,
    store: Store | str | None = None,
    events: str | None = None,
    capture_values: str | None = None,
    conversation_limit: int | None = None,
) -> None:
    """Turn observation on for every provider SDK that is, or will be, imported in this process.

    With a ``window`` strategy, or an ``evidence`` whose posture is ``guard`` or ``rails``, it also acts on calls; else no
    request is ever changed.

    Each argument but the three providers of OpenTelemetry has an environment variable; the argument wins. The providers
    default to OpenTelemetry's global ones. A second call with the same settings does nothing.

    Args:
        tracer_provider, meter_provider, logger_provider: where spans, metrics and log events go.
        providers: names of the SDKs to instrument, of ``openai``, ``anthropic``, ``google-genai``, ``bedrock``,
            ``langchain``; default: all that are installed and that no other instrumentation holds. A name given here
            is instrumented also where another instrumentation holds it. ``OTEL_FOOTPRINT_INSTRUMENT``.
        evidence: how answers are judged, and what is done about a flagged one (``OTEL_FOOTPRINT_POSTURE``, ``OTEL_FOOTPRINT_CHECK``).
        window: what may leave the windows that are sent, such as ``SlidingWindow(12)`` (``OTEL_FOOTPRINT_WINDOW``:
            ``sliding-window:12``, ``token-budget:120000``).
        keep_last_tool_results: how many latest results of tools a strategy may not remove, 0 or False for none
            (``OTEL_FOOTPRINT_KEEP_LAST_TOOL_RESULTS``).
        findings: True or ``Findings(…)``: the model may declare what results are, in an optional argument of each tool that is
            taken out before the application sees it (``OTEL_FOOTPRINT_FINDINGS``: ``1``, ``serve``).
        store: where conversations with an id are kept so that other workers go on with them, such as
            ``redis://host:6379/0`` (``OTEL_FOOTPRINT_STORE``); texts of messages and of results only with ``?text=1``.
        events: ``span``, ``log`` or ``both`` (``OTEL_FOOTPRINT_EVENTS``).
        capture_values: ``none``, ``flagged`` or ``all`` (``OTEL_FOOTPRINT_CAPTURE_VALUES``).
        conversation_limit: how many live conversations are held (``OTEL_FOOTPRINT_CONVERSATION_LIMIT``).

    Raises:
        ConfigurationError: a value that cannot be used, or settings other than those already in force.
    """
    settings = resolve(
        providers=providers,
        evidence=evidence,
        window=window,
        keep_last_tool_results=keep_last_tool_results,
        findings=findings,
        store=store,
        events=events,
        capture_values=capture_values,
        conversation_limit=conversation_limit,
    )
    given = Providers(tracer_provider, meter_provider, logger_provider)
    given.check()
    global _current
    with _start_lock:
        running = _current
        if running is not None:
            difference = given.difference(running.providers) or settings.difference(running.settings)
            if difference is None:
                return
            if not running.implicit:
                raise ConfigurationError(
                    f"instrument() was called before with another {difference}; call uninstrument() first, "
                    f"or give the same {difference}"
                )
            running.stop()  # zero code started it; what the application asks for wins
        _say_misspelled()
        for name in unread(evidence):
            _logger.warning("otel-footprint: %s is not read, since instrument(evidence=…) sets it", name)
        _current = _started(Runtime(settings, given))


def _started(running: Runtime) -> Runtime:
    """The runtime where it could be started; nothing of it stays where not."""
    try:
        running.start()
    except ConfigurationError:
        running.stop()
        raise
    return running


def start_implicitly() -> Runtime:
    """The runtime of this process, started from the environment alone where nobody has started one.

    Raises:
        ConfigurationError: a variable of ours that cannot be used.
    """
    global _current
    with _start_lock:
        if _current is None:
            settings = resolve()
            _say_misspelled()
            _current = _started(Runtime(settings, Providers(), implicit=True))
        return _current


def _say_misspelled() -> None:
    for name, meant in misspelled().items():
        if name not in _said:
            _said.add(name)
            _logger.warning("otel-footprint: %s is no setting; did you mean %s?", name, meant)


def uninstrument() -> None:
    """Restore every SDK as it was and forget all conversations. Does nothing when nothing is on."""
    global _current
    with _start_lock:
        running, _current = _current, None
        if running is not None:
            running.stop()


def _before_fork() -> None:
    _start_lock.acquire()
    if _current is not None:
        _current.lock.acquire()


def _after_fork_in_parent() -> None:
    if _current is not None:
        _current.lock.release()
    _start_lock.release()


def _after_fork_in_child() -> None:
    _start_lock.release()
    boundary.after_fork_in_child()
    if _current is not None:
        _current.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
