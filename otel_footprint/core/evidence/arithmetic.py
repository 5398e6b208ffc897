"""Judging with a decimal arithmetic of its own, whatever precision or traps the application has set for itself."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, DivisionByZero, InvalidOperation, Overflow, localcontext
from functools import wraps
from typing import Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_CONTEXT: Final = Context(prec=28, traps=[InvalidOperation, DivisionByZero, Overflow])


def exactly(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run a function with 28 digits, rounded as usual; the caller's own context is left as it is."""

    @wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with localcontext(_CONTEXT):
            return function(*args, **kwargs)

    return run
