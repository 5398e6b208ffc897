"""The console that prints for people: colours only where a terminal shows them, and any text can be printed."""

from __future__ import annotations

import sys

from rich.console import Console


def stdout_console() -> Console:
    """A console on standard output. Rich itself honours NO_COLOR and leaves colours out of a pipe."""
    width = None if sys.stdout.isatty() else 160  # a pipe has no width: do not wrap at 80
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=True, markup=False, emoji=False)
