"""A window strategy at the door: read from a word of the environment, and checked however it comes in.

Rules
-----
- Every door (an argument of ``instrument()`` or ``conversation()``, the environment) refuses the same things, in words that
  name the setting, the value and the fix.
- A summariser that is a provider's client is made a function here, so that the strategy need not know any SDK.
- The same word gives the same strategy each time, so that reading the environment again changes no setting.
"""

from __future__ import annotations

from functools import cache
from typing import Final, cast

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.strategy import WindowStrategy
from otel_footprint.core.window.summarize_oldest import SummarizeOldest
from otel_footprint.core.window.token_budget import TokenBudget
from otel_footprint.summariser import summariser_of

_SPELLINGS: Final = (
    "sliding-window:12 (turns kept), token-budget:120000 (tokens) or token-budget:120000:6 (and turns kept)"
)
_MAX_DIGITS: Final = 12
_MAX_NAME: Final = 128
_MAX_PINS: Final = 1_000


def checked_strategy(given: object, setting: str) -> WindowStrategy:
    """``given`` where it can be a window strategy, ready to be asked.

    Raises :class:`ConfigurationError` that quotes ``setting`` otherwise.
    """
    shown = f"{setting}={_shown(given)}"
    if isinstance(given, type):
        raise ConfigurationError(f"{shown} is a class; give an instance, such as SlidingWindow(12)")
    if isinstance(given, str):
        raise ConfigurationError(
            f"{shown} is a string, which only the variable OTEL_FOOTPRINT_WINDOW takes; give a strategy, such as "
            "SlidingWindow(12)"
        )
    name = getattr(given, "name", None)
    if not isinstance(name, str) or not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise ConfigurationError(
            f"{shown} has no name; a window strategy has a name of 1 to {_MAX_NAME} printable characters, such as "
            "SlidingWindow(12) has"
        )
    if not callable(getattr(given, "plan", None)):
        raise ConfigurationError(
            f"{shown} has no plan(input); a window strategy decides there, as SlidingWindow(12) does"
        )
    if isinstance(given, SummarizeOldest) and not callable(given.summarizer):
        summariser = summariser_of(given.summarizer, given.model)
        given = given.asking(summariser, provider=summariser.provider)
    billing = getattr(given, "billing", None)
    if billing is not None:
        _check_billing(billing, shown)
    return cast("WindowStrategy", given)


def _check_billing(billing: object, shown: str) -> None:
    model, provider = getattr(billing, "model", None), getattr(billing, "provider", None)
    if not isinstance(model, str) or not model.strip():
        raise ConfigurationError(
            f"{shown} bills a model call, and its billing names the model {model!r}; name the model that is paid for"
        )
    if provider is not None and (not isinstance(provider, str) or not provider.strip()):
        raise ConfigurationError(
            f"{shown} bills a model call, and its billing names the provider {provider!r}; give its name, or None"
        )


def strategy_of(word: str, setting: str) -> WindowStrategy:
    """The strategy that a word of the environment names. Raises :class:`ConfigurationError` that quotes ``setting``."""
    try:
        return _strategy(word)
    except ConfigurationError as error:
        raise ConfigurationError(f"{setting}={word!r}: {error}") from None


@cache
def _strategy(word: str) -> WindowStrategy:
    name, *numbers = (part.strip() for part in word.split(":"))
    for number in numbers:
        if not (number.isascii() and number.isdecimal() and len(number) <= _MAX_DIGITS):
            raise ConfigurationError(f"{number!r} is not a whole number; write {_SPELLINGS}")
    match name.lower(), [int(number) for number in numbers]:
        case "sliding-window", [turns]:
            return SlidingWindow(turns)
        case "token-budget", [tokens]:
            return TokenBudget(tokens)
        case "token-budget", [tokens, turns]:
            return TokenBudget(tokens, turns)
        case "summarize-oldest", _:
            raise ConfigurationError("summarize-oldest needs a summariser, so it is given in code; write " + _SPELLINGS)
        case _:
            raise ConfigurationError(f"write {_SPELLINGS}")


def checked_pins(given: object, setting: str) -> int:
    """How many last tool results are pinned; False is none. Raises :class:`ConfigurationError` that quotes ``setting``."""
    if given is False:
        return 0
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= _MAX_PINS:
        raise ConfigurationError(
            f"{setting}={given!r}: give a whole number from 0 to {_MAX_PINS}; 0 or False turns the pins off"
        )
    return given


def pins_of(word: str, setting: str) -> int:
    """The same from a word of the environment."""
    if word.lower() in ("false", "off"):
        return 0
    if not (word.isascii() and word.isdecimal() and len(word) <= _MAX_DIGITS):
        raise ConfigurationError(f"{setting}={word!r} is not a whole number; write for example 2, or 0 for none")
    return checked_pins(int(word), setting)


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 200 else text[:199] + "…"
