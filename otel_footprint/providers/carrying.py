"""Carries to the completion hook what it cannot see: the wrappers below the official instrumentations.

The method of each SDK's client is wrapped through which every call passes to the network, whatever the application used:
create, parse, stream, retrieve, a tool runner, a raw or streaming response, a client of any kind and age. It runs inside
the official instrumentation's span, so the order of installation does not matter. No method is wrapped that an official
instrumentation wraps too: taking theirs out would leave ours bound to the class.

Rules
-----
- Nothing that the application can see changes: requests, responses, types, signatures, streams.
- No SDK is imported: an SDK that is not imported yet is wrapped when it is.
- Our code runs inside the guard, the SDK's outside of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, Protocol

import wrapt
from opentelemetry import trace

from otel_footprint.boundary import guard
from otel_footprint.providers import carrying_anthropic, carrying_bedrock, carrying_openai
from otel_footprint.providers.carrying_registry import Carried, Carrying, CarryRegistry
from otel_footprint.providers.carrying_seam import Seam, Wrapper

__all__ = ["Carried", "CarryRegistry", "install", "uninstall"]


class _Reader(Protocol):
    """What one SDK's module of facts offers."""

    def concerns(self, method: str, path: str) -> bool:
        """Whether a request is a call of a model."""
        ...

    def read_request(self, entry: Carrying, body: dict[str, Any]) -> None:
        """Note the facts of the request."""
        ...

    def read_response(self, entry: Carrying, result: Any) -> None:
        """Note the facts of the response."""
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    """A method to wrap: its module, its class, its name."""

    module: str
    owner: str
    method: str
    wrapper: Wrapper


_lock: Final = threading.RLock()
_seams: Final[dict[_Place, Seam]] = {}
_registry: CarryRegistry | None = None
_generation = 0


def install(registry: CarryRegistry) -> None:
    """Carry into ``registry`` from now on. A second call only changes the registry."""
    global _registry, _generation
    with _lock:
        first = _registry is None
        _registry = registry
        if not first:
            return
        _generation += 1
        for place in _PLACES:
            wrapt.register_post_import_hook(_when_imported(place, _generation), place.module)


def uninstall() -> None:
    """Restore the SDKs as they were. Does nothing when nothing is installed."""
    global _registry
    with _lock:
        _registry = None
        for seam in _seams.values():
            seam.unlink()


def _when_imported(place: _Place, generation: int) -> Callable[[ModuleType], None]:
    def imported(module: ModuleType) -> None:
        with guard("carrying.import"), _lock:
            # A hook that was registered before an uninstall cannot be taken back, so it looks whether it still counts.
            if _registry is None or generation != _generation:
                return
            if place not in _seams:
                _seams[place] = Seam(getattr(module, place.owner), place.method, place.wrapper)
            _seams[place].link()

    return imported


def _sync(reader: _Reader) -> Wrapper:
    def request(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        entry = _start(reader, args, kwargs)
        result = wrapped(*args, **kwargs)
        if entry is not None:
            _finish(reader, entry, result)
        return result

    return request


def _async(reader: _Reader) -> Wrapper:
    async def request(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        entry = _start(reader, args, kwargs)
        result = await wrapped(*args, **kwargs)
        if entry is not None:
            _finish(reader, entry, result)
        return result

    return request


def _bedrock(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with guard("carrying.request"):
        # The arguments are the operation, the request and a context; a closure on top of us may put the client first.
        if len(args) >= 3 and carrying_bedrock.concerns(args[-3]):
            entry = _entry()
            if entry is not None:
                carrying_bedrock.read_request(entry, args[-2])
    return wrapped(*args, **kwargs)


def _entry() -> Carrying | None:
    """Where the facts of the request that starts now go; None when its span is another request's."""
    registry = _registry
    if registry is None:
        return None
    span = trace.get_current_span().get_span_context()
    return registry.begin(span.trace_id, span.span_id)


def _start(reader: _Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Carrying | None:
    """Note what the request says; None for a request that is no call of a model, or whose span is another's."""
    with guard("carrying.request"):
        # Somebody's closure on top may call us with the client among the arguments, so the place does not tell. The options
        # come last of all; asking the class of the response, which comes before them, for an attribute is slow.
        options = kwargs.get("options") or next(arg for arg in reversed(args) if hasattr(arg, "json_data"))
        if not reader.concerns(options.method.lower(), options.url.partition("?")[0]):
            return None
        entry = _entry()
        body = options.json_data
        if entry is not None and isinstance(body, dict):
            extra = options.extra_json
            if extra:
                body = {**body, **extra}
            reader.read_request(entry, body)
        return entry
    return None


def _finish(reader: _Reader, entry: Carrying, result: Any) -> None:
    with guard("carrying.response"):
        reader.read_response(entry, result)


_PLACES: Final = (
    _Place("openai._base_client", "SyncAPIClient", "request", _sync(carrying_openai)),
    _Place("openai._base_client", "AsyncAPIClient", "request", _async(carrying_openai)),
    _Place("anthropic._base_client", "SyncAPIClient", "request", _sync(carrying_anthropic)),
    _Place("anthropic._base_client", "AsyncAPIClient", "request", _async(carrying_anthropic)),
    _Place("anthropic._response", "BaseAPIResponse", "_parse", carrying_anthropic.parse),
    _Place("anthropic._legacy_response", "LegacyAPIResponse", "_parse", carrying_anthropic.parse),
    _Place("botocore.client", "BaseClient", "_make_request", _bedrock),
)
