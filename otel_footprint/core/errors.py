"""The errors a person can meet: a setting that cannot be used, and input of an offline check that cannot be read.

At call time none of them reaches the application.
"""

from __future__ import annotations


class FootprintError(Exception):
    """Base of every error of this package."""


class ConfigurationError(FootprintError, ValueError):
    """A setting that cannot be used. The message names the setting, the value given and what to write instead."""


class UnreadableInputError(FootprintError, ValueError):
    """Input of an offline check that cannot be read. ``reason`` says why, in one line without file or line number."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
