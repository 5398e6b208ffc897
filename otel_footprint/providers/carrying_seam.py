"""Wraps one method of one class, and takes the wrapper out again wherever it ended up.

Rules
-----
- The wrapper does nothing once unlinked, whoever still holds it.
- Unlinking restores the original. Where somebody wrapped on top of ours meanwhile with a wrapt proxy, ours is taken out of
  their chain; where their wrapper is a closure, which nobody can change, ours stays in it and only passes calls on.
- Linking again uses a wrapper that is still in the chain, so that no number of rounds makes the chain grow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import wrapt

Wrapper: TypeAlias = Callable[[Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]
"""wrapt's form: the method, the instance, the arguments, the keyword arguments."""

PROXY: Final[type[Any]] = getattr(wrapt, "BaseObjectProxy", wrapt.ObjectProxy)
"""The base of all proxies, by wrapt's version."""


class Seam:
    """A method that can be wrapped and restored."""

    def __init__(self, owner: type, name: str, wrapper: Wrapper) -> None:
        self._owner = owner
        self._name = name
        self._wrapper = wrapper
        self._original: Any = None
        self._proxy: Any = None
        self._active = False

    def link(self) -> None:
        """Wrap. Does nothing when wrapped. Raises ``KeyError`` when the class itself has no such method."""
        if self._active:
            return
        current = vars(self._owner)[self._name]
        self._active = True
        if self._proxy is not None and any(self._is_ours(layer) for layer in layers(current)):
            return
        self._original = current
        self._proxy = wrapt.FunctionWrapper(current, self._call)
        setattr(self._owner, self._name, self._proxy)

    def unlink(self) -> None:
        """Take the wrapper out, as far as others allow."""
        self._active = False
        current = vars(self._owner).get(self._name)
        if self._is_ours(current):
            setattr(self._owner, self._name, self._original)
            self._proxy = None
            return
        for layer in layers(current):
            if is_proxy(layer) and self._is_ours(layer.__wrapped__):
                layer.__wrapped__ = self._original
                self._proxy = None
                return

    def _is_ours(self, function: Any) -> bool:
        return self._proxy is not None and unbound(function) is self._proxy

    def _call(self, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._active:
            return wrapped(*args, **kwargs)
        return self._wrapper(wrapped, instance, args, kwargs)


def is_proxy(layer: Any) -> bool:
    """Whether this is a wrapt proxy, which can be given something else to wrap."""
    return isinstance(layer, PROXY)


def unbound(function: Any) -> Any:
    """The wrapper itself where it is bound to the class, as OpenTelemetry's ``unwrap`` of another one leaves it."""
    return function._self_parent if isinstance(function, wrapt.BoundFunctionWrapper) else function


def layers(function: Any) -> list[Any]:
    """The function and what it wraps, from the outside in."""
    found: list[Any] = []
    while function is not None and len(found) < 100:
        found.append(function)
        function = getattr(function, "__wrapped__", None)
    return found
