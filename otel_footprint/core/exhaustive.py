"""``assert_never`` for Python 3.10, which the core supports without a dependency."""

from __future__ import annotations

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """Fail loudly where a closed union grew a case that a ``match`` does not handle (a type error first)."""
    raise AssertionError(f"unhandled case: {value!r}")
