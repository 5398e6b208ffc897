"""Wraps one method of one class above whatever else wraps it, and can be lifted off while others work on it.

OpenTelemetry's ``unwrap`` takes the outermost wrapper, whosever it is, and Google's instrumentation puts back what it found:
with a lid on top, ours would go in place of theirs. So a lid is lifted while an instrumentation is turned on or off, and put
back on top when that is done.

Rules
-----
- A lid that is off passes calls on, whoever still holds it.
- Taken off, it leaves the method as it was. Where somebody wrapped on top of it with a wrapt proxy, it is taken out of their
  chain; where theirs is a closure, which nobody can change, it stays in there and passes calls on.
- Put on again where it still is in a chain, it is used there: no number of rounds makes the chain grow.
- A method that a bound method or a raw-response helper of the SDK has kept goes on through the lid while it is on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import wrapt

from otel_footprint.providers.carrying_seam import Wrapper, is_proxy, layers, unbound


class Lid:
    """The outermost wrapper of a method."""

    def __init__(self, owner: type, name: str, wrapper: Wrapper) -> None:
        self._owner = owner
        self._name = name
        self._wrapper = wrapper
        self._proxy: Any = None
        self._layer: object = None
        self._on = False

    def put_on(self) -> None:
        """Wrap, outermost. Does nothing when it is outermost. Raises ``KeyError`` when the class has no such method."""
        current = vars(self._owner)[self._name]
        self._on = True
        if self._is_ours(current):
            setattr(self._owner, self._name, self._proxy)
            return
        if not self._take_out(current) and self._is_inside(current):
            return  # under somebody's closure: it works from there
        current = vars(self._owner)[self._name]
        if self._proxy is None or self._is_inside(current):
            layer = object()
            self._layer = layer
            self._proxy = wrapt.FunctionWrapper(current, functools.partial(self._call, layer))
        else:
            # The same one again, so that what others remember of the method stays true.
            self._proxy.__wrapped__ = current
        setattr(self._owner, self._name, self._proxy)

    def lift(self) -> None:
        """Take it off the class for a while; bound methods that were made before go on through it."""
        current = vars(self._owner).get(self._name)
        if self._is_ours(current):
            setattr(self._owner, self._name, self._proxy.__wrapped__)
        elif not self._take_out(current) and self._proxy is not None and not self._is_inside(current):
            self._proxy = self._layer = None  # somewhere where nobody sees it: it must not act beside the next one

    def take_off(self) -> None:
        """Restore the method, as far as others allow."""
        self._on = False
        self.lift()

    def _take_out(self, current: Any) -> bool:
        """Take it out from under others' proxies; whether it was found there."""
        for layer in layers(current):
            if is_proxy(layer) and self._is_ours(layer.__wrapped__):
                layer.__wrapped__ = self._proxy.__wrapped__
                return True
        return False

    def _is_inside(self, current: Any) -> bool:
        return any(self._is_ours(layer) for layer in layers(current))

    def _is_ours(self, function: Any) -> bool:
        return self._proxy is not None and unbound(function) is self._proxy

    def _call(
        self,
        layer: object,
        wrapped: Callable[..., Any],
        instance: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if not self._on or layer is not self._layer:
            return wrapped(*args, **kwargs)
        return self._wrapper(wrapped, instance, args, kwargs)


def unlayered(value: Any) -> Any:
    """What stands under the proxies around a value."""
    for _ in range(100):
        if not is_proxy(value):
            break
        value = value.__wrapped__
    return value
