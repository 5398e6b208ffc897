"""Replace a method of a class of somebody else's, and put the original back.

Rules
-----
- A replacement takes the original and the call's arguments, and stays inert once restored: a caller that kept the bound
  method, or a wrapper laid over ours, reaches the original through it.
- The original goes back only where ours is still the outermost; else ours is left in place, inert.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

_PATCH: Final = "_otel_footprint_patch"
"""Attribute of a replacement: its patch."""


class Patch:
    """One replaced attribute of a class or module. ``around(original, *args, **kwargs)`` is called in its place."""

    def __init__(self, owner: Any, name: str, around: Callable[..., Any]) -> None:
        self._owner = owner
        self._name = name
        self._around = around
        self._original = original = getattr(owner, name)
        self._own = owner.__dict__.get(name)
        self._active = True

        @functools.wraps(original)
        def replacement(*args: Any, **kwargs: Any) -> Any:
            if not self._active:
                return original(*args, **kwargs)
            return around(original, *args, **kwargs)

        setattr(replacement, _PATCH, self)
        self._replacement = replacement
        setattr(owner, name, replacement)

    def does(self, around: Callable[..., Any]) -> bool:
        """Whether it is in force and calls this very function."""
        return self._active and self._around is around

    def restore(self) -> None:
        """Put the original back, or leave an inert replacement under somebody else's wrapper. Can be called again."""
        self._active = False
        if self._owner.__dict__.get(self._name) is not self._replacement:
            return
        if self._own is None:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._own)


def replaced_by(function: Any, around: Callable[..., Any]) -> bool:
    """Whether this is a replacement in force that calls ``around``."""
    known = getattr(function, _PATCH, None)
    return isinstance(known, Patch) and known.does(around)
