"""The checks on what a person writes into a strategy: every refusal names the option, the value and what to write instead."""

from __future__ import annotations

from otel_footprint.core.errors import ConfigurationError


def whole_number(owner: str, option: str, value: object, *, least: int, example: int, why: str) -> int:
    """A whole number of at least ``least``. ``why`` says what the number is, in a few words."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(
            f"{owner}: {option}={value!r} is not a whole number of at least {least}; it is {why}: "
            f"write for example {option}={example}"
        )
    return value


def one_of(owner: str, option: str, value: object, choices: tuple[str, ...]) -> None:
    """One of a few words."""
    if value not in choices:
        words = " or ".join(f'"{choice}"' for choice in choices)
        raise ConfigurationError(f"{owner}: {option}={value!r} is not known; write {words}")


def plain_text(owner: str, option: str, value: object, *, example: str, why: str) -> str:
    """A short text of one line that is not empty."""
    if not isinstance(value, str) or not value.strip() or len(value) > 256 or not value.isprintable():
        raise ConfigurationError(
            f"{owner}: {option}={value!r} does not say {why}; write for example {option}={example!r}"
        )
    return value


def check_budget(owner: str, threshold_tokens: object, keep_recent_turns: object) -> None:
    """Check the numbers of a strategy with a token budget. Raises ConfigurationError."""
    whole_number(
        owner,
        "threshold_tokens",
        threshold_tokens,
        least=1,
        example=120_000,
        why="how many reported input tokens are too many",
    )
    whole_number(
        owner,
        "keep_recent_turns",
        keep_recent_turns,
        least=1,
        example=6,
        why="how many of the last turns always stay",
    )
