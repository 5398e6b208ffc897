"""Turn the official instrumentation of every SDK on, with our hook in it, and off again.

Rules
-----
- An SDK is never imported by us: its instrumentation is turned on at the end of the application's own first import.
- One that another instrumentation holds is left to it, with one warning, unless the application named it.
- One whose official instrumentation is on already, with another hook or none, is turned on anew with ours beside that
  hook, keeping its tracer, meter and logger; ``turn_off`` gives it back as it was.
- ``turn_off`` turns off only what ``turn_on`` turned on.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from wrapt import register_post_import_hook

from otel_footprint.boundary import guard
from otel_footprint.genai import upstream
from otel_footprint.genai.handlers import handlers_of, keep_providers
from otel_footprint.genai.hook import FootprintHook
from otel_footprint.genai.sdks import (
    BY_NAME,
    SDKS,
    Sdk,
    SdkState,
    being_turned_on,
    conflict,
    holder,
    installed,
    is_on,
    loaded,
)
from otel_footprint.genai.unwrapping import uninstrument

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

_logger = logging.getLogger("otel_footprint")

ANTHROPIC_SPANS: Final = "ANTHROPIC_OPEN_TELEMETRY"
"""Anthropic's SDK makes spans of its own unless this says ``false`` when a client is built."""


_EVENTS: Final = "OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT"


@dataclass(slots=True)
class _Turned:
    """An instrumentation that we turned on. ``before`` is the hook it was on with, for one that was on already."""

    instrumentor: Any
    was_on: bool = False
    before: Any = None


@dataclass(slots=True)
class _Active:
    """What is in force between ``turn_on`` and ``turn_off``. ``environment``: variables set, with before and during."""

    hook: FootprintHook
    named: frozenset[str] | None
    providers: dict[str, Any]
    states: dict[str, SdkState] = field(default_factory=dict)
    turned: dict[str, _Turned] = field(default_factory=dict)
    environment: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)


_lock = threading.RLock()
_registered: Final[set[str]] = set()
_warned: Final[set[str]] = set()
_active: _Active | None = None


def turn_on(
    names: Iterable[str] | None,
    *,
    hook: FootprintHook,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
) -> tuple[SdkState, ...]:
    """Have every model call of the installed SDKs reach ``hook``.

    Args:
        names: the SDKs wanted, also where something else holds them; None: all that nothing else holds.
        hook: receives the calls.
        tracer_provider, meter_provider, logger_provider: for the official instrumentations; None: the global ones.

    Returns:
        One state for each SDK we know, in the order of :data:`SDKS`.
    """
    global _active
    with _lock:
        if _active is not None:
            turn_off()
        _active = active = _Active(
            hook,
            None if names is None else frozenset(names),
            {
                "tracer_provider": tracer_provider,
                "meter_provider": meter_provider,
                "logger_provider": logger_provider,
            },
        )
        hook.resume()
        upstream.install(hook)
        for sdk in SDKS:
            active.states[sdk.name] = SdkState(
                sdk.name, sdk.distribution, None, sdk.instrumentation, on=False, why="its metadata cannot be read"
            )
            with guard(f"turn_on.{sdk.name}"):
                active.states[sdk.name] = _first_state(sdk, active)
        for sdk in SDKS:
            if not active.states[sdk.name].pending:
                continue
            if sdk.module in sys.modules and not _being_imported(sys.modules[sdk.module]):
                _meet(sdk, just_imported=False)
            elif sdk.name not in _registered:
                _registered.add(sdk.name)
                register_post_import_hook(_on_import(sdk), sdk.module)
        return states()


def settle() -> None:
    """Once ``opentelemetry-instrument`` has loaded every instrumentor: leave to others what they hold.

    It loads the official instrumentations by itself, since we bring them along, and whatever else is installed. Where
    both are on for one SDK, and the application did not name it, the official one is turned off again.
    """
    with _lock:
        if _active is None or _active.named is not None:
            return
        for sdk in SDKS:
            with guard(f"settle.{sdk.name}"):
                _settle(sdk, _active)


def _settle(sdk: Sdk, active: _Active) -> None:
    other = holder(sdk)
    if other is None or not is_on(sdk.instrumentor):
        return
    instrumentor = loaded(sdk.instrumentor)()
    if not any(map(upstream.is_there_because_of_us, handlers_of(sdk, instrumentor))):
        return
    uninstrument(sdk, instrumentor)
    active.turned.pop(sdk.name, None)
    active.states[sdk.name] = _held(sdk, other, replace(active.states[sdk.name], on=False, pending=False))


def _held(sdk: Sdk, other: str, state: SdkState) -> SdkState:
    _warn(
        sdk,
        f"{other} instruments it already, so its answers are not judged; "
        f"to have both, name it in OTEL_FOOTPRINT_INSTRUMENT",
    )
    return replace(state, held_by=other, why=f"held by {other}")


def turn_off() -> None:
    """Restore every SDK as it was before ``turn_on``. Does nothing when nothing is on."""
    global _active
    with _lock:
        active, _active = _active, None
        if active is None:
            return
        active.hook.pause()
        upstream.uninstall()
        for name, turned in active.turned.items():
            with guard(f"turn_off.{name}"):
                _give_back(name, turned)
        for variable, (before, during) in active.environment.items():
            if os.environ.get(variable) != during:
                continue  # somebody else has set it since
            if before is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = before


def states() -> tuple[SdkState, ...]:
    """What became of each SDK, as it is now; empty when nothing is on."""
    with _lock:
        if _active is None:
            return ()
        return tuple(_now(sdk, _active.states[sdk.name]) for sdk in SDKS)


def _now(sdk: Sdk, state: SdkState) -> SdkState:
    """The state, with what others did since."""
    if not state.on:
        if state.held_by is None and state.version is not None and is_on(sdk.instrumentor):
            return replace(state, on=True, why=None, note="turned on by something else")
        return state
    other = holder(sdk)
    if other is not None and not state.pending:
        return replace(state, note=f"{other} is on too, so a call may have two spans")
    return state


def _first_state(sdk: Sdk, active: _Active) -> SdkState:
    """From the package metadata alone: off with the reason, or pending."""
    version = installed(sdk.distribution)
    state = SdkState(sdk.name, sdk.distribution, version, sdk.instrumentation, on=False)
    if version is None:
        if active.named is not None and sdk.name in active.named:
            _warn(sdk, f"asked for by name, but {sdk.distribution} is not installed")
        return replace(state, why="not installed")
    if active.named is not None and sdk.name not in active.named:
        return replace(state, why="not selected")
    official = installed(sdk.instrumentation)
    if official is None:
        return replace(state, why=f"{sdk.instrumentation} is not installed")
    state = replace(state, instrumentation=f"{sdk.instrumentation} {official}")
    why = conflict(sdk, version, official)
    if why is not None:
        _warn(sdk, why)
        return replace(state, why=why)
    return replace(state, on=True, pending=True)


def _on_import(sdk: Sdk) -> Any:
    def met(_module: ModuleType) -> None:
        with guard(f"turn_on.{sdk.name}"):
            _meet(sdk, just_imported=True)

    return met


def _meet(sdk: Sdk, *, just_imported: bool) -> None:
    """The SDK is loaded: turn its instrumentation on, or say why not."""
    with _lock:
        active = _active
        state = active.states.get(sdk.name) if active is not None else None
        if active is None or state is None or not state.pending:
            return
        state = replace(state, pending=False, on=False)
        active.states[sdk.name] = replace(state, why="its instrumentation failed to start")
        with guard(f"turn_on.{sdk.name}"):
            active.states[sdk.name] = _instrument(sdk, active, state, just_imported=just_imported)


def _instrument(sdk: Sdk, active: _Active, state: SdkState, *, just_imported: bool) -> SdkState:
    if active.named is None:
        other = holder(sdk) or being_turned_on(sdk)
        if other is not None:
            return _held(sdk, other, state)
    note = _stop_anthropic_spans(active, clients=not just_imported) if sdk.name == "anthropic" else None
    module_name, _, class_name = sdk.instrumentor.partition(":")
    if _being_imported(sys.modules.get(module_name)):
        # Somebody is loading the official one just now and will turn it on; every handler it makes gets our hook.
        return replace(state, why="its official instrumentation is being loaded by something else")
    instrumentor = getattr(importlib.import_module(module_name), class_name)()
    if instrumentor.is_instrumented_by_opentelemetry:
        turned = _adopt(sdk, active, instrumentor)
        if turned is not None:
            active.turned[sdk.name] = turned
    else:
        events = os.environ.get(_EVENTS)
        with upstream.turning_on():
            instrumentor.instrument(skip_dep_check=True, completion_hook=active.hook, **active.providers)
        if os.environ.get(_EVENTS) != events:  # Google's sets it, and leaves it set
            active.environment[_EVENTS] = (events, os.environ.get(_EVENTS))
        active.turned[sdk.name] = _Turned(instrumentor)
    return replace(state, on=True, note=note)


def _adopt(sdk: Sdk, active: _Active, instrumentor: Any) -> _Turned | None:
    """The official instrumentation is on: see that our hook is in it. None where it is already."""
    handlers = handlers_of(sdk, instrumentor)
    before = next((hook for hook in map(upstream.hook_of, handlers) if hook is not None), None)
    if isinstance(before, FootprintHook):
        if before.same_sink(active.hook):
            return None
        before = next(iter(before.others), None)  # a hook of ours from an earlier start
    uninstrument(sdk, instrumentor)
    hook = active.hook if before is None else active.hook.beside(before)
    instrumentor.instrument(skip_dep_check=True, completion_hook=hook, **active.providers)
    keep_providers(handlers, handlers_of(sdk, instrumentor), given=active.providers)
    return _Turned(instrumentor, was_on=True, before=before)


def _give_back(name: str, turned: _Turned) -> None:
    sdk = BY_NAME[name]
    if not turned.instrumentor.is_instrumented_by_opentelemetry:
        return  # somebody turned it off meanwhile
    handlers = handlers_of(sdk, turned.instrumentor)
    uninstrument(sdk, turned.instrumentor)
    if turned.was_on:
        turned.instrumentor.instrument(skip_dep_check=True, completion_hook=turned.before)
        keep_providers(handlers, handlers_of(sdk, turned.instrumentor), given={})


def _being_imported(module: ModuleType | None) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _stop_anthropic_spans(active: _Active, *, clients: bool) -> str | None:
    """Clients built from now on make no spans of their own; says how many were built before and do, if there can be."""
    if ANTHROPIC_SPANS in os.environ:
        return None
    active.environment[ANTHROPIC_SPANS] = (os.environ.get(ANTHROPIC_SPANS), "false")
    os.environ[ANTHROPIC_SPANS] = "false"
    earlier = _clients_with_own_spans() if clients else 0
    if not earlier:
        return None
    if earlier == 1:
        return "1 client was built before and makes its own spans too: build it later, or with open_telemetry=False"
    return f"{earlier} clients were built before and make their own spans too: build them later, or with open_telemetry=False"


def _clients_with_own_spans() -> int:
    module = sys.modules.get("anthropic")
    kinds: set[type[Any]] = set()
    for name in ("Anthropic", "AsyncAnthropic"):
        _with_subclasses(getattr(module, name, None), kinds)
    if not kinds:
        return 0
    count = 0
    for candidate in gc.get_objects():
        if type(candidate) in kinds:
            options = getattr(candidate, "_open_telemetry", None)
            traces = options.get("traces") if isinstance(options, dict) else None
            count += bool(isinstance(traces, dict) and traces.get("enabled"))
    return count


def _with_subclasses(kind: Any, found: set[type[Any]]) -> None:
    if isinstance(kind, type) and kind not in found:
        found.add(kind)
        subclasses: list[type[Any]] = kind.__subclasses__()
        for subclass in subclasses:
            _with_subclasses(subclass, found)


def _warn(sdk: Sdk, why: str) -> None:
    if sdk.name not in _warned:
        _warned.add(sdk.name)
        _logger.warning("otel-footprint: %s: %s", sdk.name, why)


def _after_fork_in_child() -> None:
    """A thread that held the lock while it imported an SDK is not in the child."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
