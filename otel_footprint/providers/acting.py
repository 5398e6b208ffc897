"""Acts on calls of models: the wrappers above the official instrumentations, put on and taken off.

Rules
-----
- The wrappers are outermost: the official instrumentation under them sees, records and hands to the completion hook what is
  really sent. They are lifted while any instrumentation is turned on or off, so that each finds its own wrapper, and put
  back on top.
- No SDK is imported: a method is wrapped when its module is.
- A method that the SDK's version does not have is left out.
- Everything is restored by :func:`uninstall`, in whatever order the official instrumentations are turned off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import wrapt

from otel_footprint.boundary import guard
from otel_footprint.providers import acting_anthropic, acting_bedrock, acting_google, acting_openai
from otel_footprint.providers.acting_places import Place, wrapper_of
from otel_footprint.providers.acting_seam import Lid
from otel_footprint.providers.carrying_seam import Seam
from otel_footprint.providers.surface import Director

PLACES: Final[tuple[Place, ...]] = (
    *acting_openai.PLACES,
    *acting_anthropic.PLACES,
    *acting_google.PLACES,
    *acting_bedrock.PLACES,
)

_INSTRUMENTOR: Final = "opentelemetry.instrumentation.instrumentor"

_lock: Final = threading.RLock()
_lids: Final[dict[Place, Lid]] = {}
_watches: Final[list[Seam]] = []
_director: Director | None = None
_generation = 0
_working = 0  # how many instrumentations are being turned on or off just now


def install(director: Director) -> None:
    """Ask ``director`` about every call from now on. A second call only changes the director."""
    global _director, _generation
    with _lock:
        first = _director is None
        _director = director
        if not first:
            return
        _generation += 1
        wrapt.register_post_import_hook(_watch(_generation), _INSTRUMENTOR)
        for place in PLACES:
            wrapt.register_post_import_hook(_when_imported(place, _generation), place.module)


def uninstall() -> None:
    """Restore the SDKs as they were. Does nothing when nothing is installed."""
    global _director
    with _lock:
        _director = None
        for lid in _lids.values():
            lid.take_off()
        for seam in _watches:
            seam.unlink()


def installed() -> Director | None:
    """Who is asked now."""
    return _director


def _counts(generation: int) -> bool:
    """A hook that was registered before an uninstall cannot be taken back, so it looks whether it still counts."""
    return _director is not None and generation == _generation


def _when_imported(place: Place, generation: int) -> Callable[[ModuleType], None]:
    def imported(module: ModuleType) -> None:
        with guard("acting.import"), _lock:
            owner = getattr(module, place.owner, None)
            if not _counts(generation) or not isinstance(owner, type) or place.method not in vars(owner):
                return
            if place not in _lids:
                _lids[place] = Lid(owner, place.method, wrapper_of(place, installed))
            if not _working:
                _lids[place].put_on()

    return imported


def _watch(generation: int) -> Callable[[ModuleType], None]:
    def imported(module: ModuleType) -> None:
        with guard("acting.import"), _lock:
            if not _counts(generation):
                return
            if not _watches:
                kind = module.BaseInstrumentor
                _watches.extend(Seam(kind, name, _around) for name in ("instrument", "uninstrument"))
            for seam in _watches:
                seam.link()

    return imported


def _around(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An instrumentation is turned on or off: with the lids lifted meanwhile."""
    global _working
    with guard("acting.lift"), _lock:
        _working += 1
        if _working == 1:
            for lid in _lids.values():
                lid.lift()
    try:
        return wrapped(*args, **kwargs)
    finally:
        with guard("acting.put_on"), _lock:
            _working -= 1
            if not _working and _director is not None:
                for lid in _lids.values():
                    lid.put_on()
