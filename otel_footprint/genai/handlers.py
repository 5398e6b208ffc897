"""Find the handlers that an official instrumentation made, and carry over where they send their telemetry.

The instrumentations keep their handler in the closures of the wrappers they lay on the SDK's methods, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from otel_footprint.genai.sdks import Sdk, loaded
from otel_footprint.genai.upstream import handler_type

_DEPTH: Final = 5
_ATTRIBUTES: Final = {"tracer_provider": "_tracer", "meter_provider": "_instruments", "logger_provider": "_logger"}


def handlers_of(sdk: Sdk, instrumentor: Any) -> list[Any]:
    """The distinct handlers behind the SDK's methods, outermost wrapper first; empty where none can be found."""
    kind = handler_type()
    if kind is None:
        return []
    found: list[Any] = []
    own = getattr(instrumentor, "_handler", None)
    if isinstance(own, kind):
        found.append(own)
    for method in sdk.methods:
        target = loaded(method)
        layers = 0
        while target is not None and layers < 16:
            layers += 1
            for handler in _in_closures(getattr(target, "_self_wrapper", None), kind, _DEPTH):
                if not any(handler is known for known in found):
                    found.append(handler)
            target = getattr(target, "__wrapped__", None)
    return found


def _in_closures(function: Any, kind: type[Any], depth: int) -> Iterator[Any]:
    if depth == 0:
        return
    for cell in getattr(function, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        if isinstance(content, kind):
            yield content
        elif getattr(content, "__closure__", None):
            yield from _in_closures(content, kind, depth - 1)


def keep_providers(before: Sequence[Any], after: Sequence[Any], *, given: Mapping[str, Any]) -> None:
    """Let the new handlers send where the old ones did, except to the providers given now."""
    if not before:
        return
    for handler in after:
        for argument, attribute in _ATTRIBUTES.items():
            if given.get(argument) is None and hasattr(before[0], attribute) and hasattr(handler, attribute):
                setattr(handler, attribute, getattr(before[0], attribute))
