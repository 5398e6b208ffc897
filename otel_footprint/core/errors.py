"""The errors a person can meet: misconfiguration, raised at construction; and the two that a call may raise.

At call time nothing of ours reaches the application but :class:`UnsupportedValuesError` (posture ``rails``) and
:class:`WindowUnmeasurableError` (a token budget on a provider that reports no usage).
"""

from __future__ import annotations


class FootprintError(Exception):
    """Base of every error of this package."""


class ConfigurationError(FootprintError, ValueError):
    """A setting that cannot be used. The message names the setting, the value given and what to write instead."""


class UnreadableInputError(FootprintError, ValueError):
    """Input of an offline check that cannot be read. ``where`` is the file and line, or empty."""

    def __init__(self, reason: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.reason = reason
        self.where = where
