"""Hostile text cannot make the scan slow: shown by the shape of its patterns and by counting steps, not by a clock."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from types import FrameType

import pytest

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.typed import find

if sys.version_info >= (3, 11):
    from re import _constants as constants
    from re import _parser as parser
else:
    import sre_constants as constants
    import sre_parse as parser

LONGEST = 2000
"""Characters that one attempt of a pattern may look at, at most."""

SCANNED = {
    "_DIGITS",
    "NUMBER_WORDS",
    "_ENTITY",
    "_TAG",
    "_LATEX",
    "_NOT_ASCII",
    "DAY_CLOCK",
    "_DIGIT",
    "_WORDY",
    "_WORDS",
}
"""Patterns that are searched for in whole texts; all others are tried at one place."""

UNBOUNDED = {"_DIGITS", "_REST", "_WORDS", "_SPLIT", "_WORDY", "_TOKEN"}
"""Patterns that run over a single class of characters as far as it goes, each place once."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(typed.__path__):
        namespace = vars(importlib.import_module(f"{typed.__name__}.{module.name}"))
        for name, value in namespace.items():
            if isinstance(value, re.Pattern):
                yield f"{module.name}.{name}", value


def repeats(parsed: object, inside: int = 1) -> Iterator[int]:
    """How often what is innermost can be repeated, along every path of nested repeats."""
    if isinstance(parsed, parser.SubPattern):
        for operator, argument in parsed.data:
            if operator in (constants.MAX_REPEAT, constants.MIN_REPEAT):
                _, most, body = argument
                count = inside * (10**9 if most is constants.MAXREPEAT else int(most))
                yield count
                yield from repeats(body, count)
            else:
                yield from repeats(argument, inside)
    elif isinstance(parsed, (tuple, list)):
        for part in parsed:
            yield from repeats(part, inside)


@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*each, id=each[0]) for each in patterns()])
def test_a_pattern_looks_at_a_bounded_stretch(name: str, pattern: re.Pattern[str]) -> None:
    if name.rsplit(".", 1)[-1] in UNBOUNDED:
        return
    assert max(repeats(parser.parse(pattern.pattern, pattern.flags)), default=1) <= LONGEST


_UNITS = (
    "1 1$ 1% $1 1h 1' 1- 1/ 1: 1. 1, aa: ab- +1 (1 e1 0x ff PT P1 ** <b> < & &nbsp; \\text{ May 2024- 12:3 +1(555) 1-1- "
    "twenty- one\u00a0 \u2009 1\u00a0 about USD 1.1 1,1 1'1 2024-05-19/ 1to 1and May1, 1May- 1:1: \u0663 \u00b0 ~"
)
HOSTILE = _UNITS.split(" ")


def steps(text: str) -> int:
    """Python lines and calls that a scan takes."""
    count = 0

    def tick(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(tick)
    try:
        find(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("joint", ["", " "])
def test_twice_the_text_takes_twice_the_steps(unit: str, joint: str) -> None:
    short = (unit + joint) * 150
    assert steps(short * 4) <= 4.4 * steps(short) + 200


@pytest.mark.parametrize("unit", HOSTILE)
def test_much_of_it_is_read_with_true_spans(unit: str) -> None:
    text = unit * (10_000 // len(unit))
    assert all(text[value.start : value.end] == value.text for value in find(text))
