"""The errors a person can meet: a setting that cannot be used, input of an offline check that cannot be read, and the two
that reach an application at call time because it asked for them.

Rules
-----
- At call time only :class:`UnsupportedValuesError` (posture ``rails``) and :class:`WindowUnmeasurableError` (a strategy
  with a token budget) reach the application.
- The message of an error never quotes the conversation: exceptions end up in logs and on spans.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MAX_VALUES: Final = 12
"""How many values an :class:`UnsupportedValuesError` names."""

MAX_VALUE_CHARS: Final = 64
"""Characters of one value there; a longer one ends in ``…``."""


class FootprintError(Exception):
    """Base of every error of this package."""


class ConfigurationError(FootprintError, ValueError):
    """A setting that cannot be used. The message names the setting, the value given and what to write instead."""


class UnreadableInputError(FootprintError, ValueError):
    """Input of an offline check that cannot be read. ``reason`` says why, in one line without file or line number."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnsupportedValuesError(FootprintError):
    """Posture ``rails``: an answer states values that nothing accounts for, also after the one revision it is given.

    ``values`` are those values as the answer spells them, at most 12 of at most 64 characters each; ``count`` is how many
    there are in all. ``response`` is the provider's own object, the answer included, so that nothing is lost; None in a
    copy that was pickled. Where the revision failed with an error of the provider, that error is ``__cause__``.
    """

    def __init__(self, values: Iterable[str], response: object = None) -> None:
        found = tuple(values)
        self.count: int = len(found)
        self.values: tuple[str, ...] = tuple(cut_value(value) for value in found[:MAX_VALUES])
        self.response = response
        plural = "value" if self.count == 1 else "values"
        super().__init__(
            f"the answer states {self.count} {plural} that no tool result in the window carries; "
            "see .values for them and .response for the answer"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # A provider's response may hold what cannot be pickled, so a copy goes without it.
        return _unsupported, (self.values, self.count)


def _unsupported(values: tuple[str, ...], count: int) -> UnsupportedValuesError:
    error = UnsupportedValuesError((*values, *[""] * (count - len(values))))
    error.values = values
    return error


class WindowUnmeasurableError(FootprintError):
    """A window strategy works by the tokens that the provider reports, and this provider reported none.

    ``strategy`` is its name, ``provider`` the provider's, None where it is not known. Use ``SlidingWindow``, which counts
    turns, or have the provider report usage.
    """

    def __init__(self, strategy: str, provider: str | None = None) -> None:
        self.strategy = strategy
        self.provider = provider
        super().__init__(strategy, provider)

    def __str__(self) -> str:
        return (
            f"the strategy {self.strategy!r} works by reported tokens, and {self.provider or 'the provider'} reported no "
            "usage for a completed call; use SlidingWindow(keep_recent_turns=…), or have the provider report usage"
        )


def cut_value(value: str) -> str:
    """A value of an answer at the length we pass on."""
    return value if len(value) <= MAX_VALUE_CHARS else value[: MAX_VALUE_CHARS - 1] + "…"
