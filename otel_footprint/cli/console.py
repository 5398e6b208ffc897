"""The console that prints for people: colours only where a terminal shows them, and any text can be printed."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console

NARROWEST = 100


def stdout_console() -> Console:
    """A console on standard output. Rich itself honours NO_COLOR and leaves colours out of a pipe."""
    return _console(sys.stdout)


def stderr_console() -> Console:
    """A console on standard error."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else 160  # a pipe has no width: do not wrap at 80
    return Console(file=stream, width=width, highlight=False, soft_wrap=True, markup=False, emoji=False)
