"""The settings of the evidence check, validated where they are made.

Rules
-----
- A wrong setting raises :class:`ConfigurationError` at construction; its message names the setting, the value and the fix.
- A declared shape matches a whole token, without regard to case unless its own pattern says so. A pattern may not carry
  flags that change how text is cut (``MULTILINE``, ``VERBOSE``, ``DEBUG``, ``LOCALE``), nor a shape that backtracks
  without bound: a repeat of something that itself repeats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.evidence.patterns import runaway_part
from otel_footprint.core.evidence.verdicts import Posture

Check: TypeAlias = Literal["tools", "always"]

_STATEFUL: Final = re.MULTILINE | re.VERBOSE | re.DEBUG | re.LOCALE
_RESERVED_NAMES: Final = frozenset({"identifier", "number", "label"})
MAX_TOKEN: Final = 512
"""Characters of the longest token that is looked at; a longer one is no value a person reads."""


@dataclass(frozen=True)
class Shape:
    """A kind of value the application declares: a name and a regular expression for the whole token.

    A token that matches is data even without a digit; it is compared as spelled, never as a number. Raises
    ConfigurationError for an empty name, a pattern that does not compile, carries stateful flags, matches the empty
    token, or may backtrack without bound.
    """

    name: str
    pattern: str | re.Pattern[str]
    compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ConfigurationError(f"Shape name {self.name!r} is empty; give it a short name such as 'order'")
        if self.name in _RESERVED_NAMES:
            raise ConfigurationError(f"Shape name {self.name!r} is one of ours; choose another, such as 'order'")
        pattern = self.pattern
        if isinstance(pattern, re.Pattern):
            if not isinstance(pattern.pattern, str):
                raise ConfigurationError(f"Shape {self.name!r} has a bytes pattern; compile it from a str")
            stateful = pattern.flags & _STATEFUL
            if stateful:
                raise ConfigurationError(
                    f"Shape {self.name!r} carries the flags {re.RegexFlag(stateful)!r}; compile it without them: a shape "
                    "is matched against one whole token"
                )
            source, flags = pattern.pattern, pattern.flags
        elif isinstance(pattern, str):
            source, flags = pattern, re.IGNORECASE
        else:
            raise ConfigurationError(
                f"Shape {self.name!r} has the pattern {pattern!r}; write a regular expression as str"
            )
        try:
            compiled = re.compile(source, flags)
        except (re.error, RecursionError, OverflowError) as fault:
            raise ConfigurationError(
                f"Shape {self.name!r} does not compile ({fault}); fix the pattern {source!r}"
            ) from None
        if compiled.flags & _STATEFUL:
            raise ConfigurationError(
                f"Shape {self.name!r} sets stateful flags inside its pattern {source!r}; remove (?m), (?x) and (?L)"
            )
        part = runaway_part(source, compiled.flags)
        if part is not None:
            raise ConfigurationError(
                f"Shape {self.name!r} may backtrack without bound ({part} in {source!r}); bound one repeat, as in "
                "'[A-Z]{1,8}-[0-9]{1,8}'"
            )
        if compiled.fullmatch("") is not None:
            raise ConfigurationError(
                f"Shape {self.name!r} matches the empty token; make {source!r} require a character"
            )
        object.__setattr__(self, "compiled", compiled)


@dataclass(frozen=True)
class Evidence:
    """How answers are judged.

    - ``posture``: ``assist`` records and flags, ``guard`` asks for one revision, ``rails`` raises after it.
    - ``shapes``: declared kinds of values; ``exempt``: values never flagged, as text or as a compiled pattern for the
      whole token.
    - ``min_digits``: how many digits make a bare number data (1 to 15).
    - ``decimal_rounding``: scientific notation also states the exact decimal.
    - ``strict``: a value that only the model's own arguments carry is never ``echoed``.
    - ``check``: ``tools`` judges answers that had something to read, ``always`` plain chats too.
    - ``answer_tools``: names of tools whose call is the answer (``final_answer``).
    - ``code_blocks``: fenced code in an answer is data too.
    - ``hold_streams``: guard and rails hold a stream back until it is judged.
    - ``corpus_bytes``: bytes of result text kept for one conversation (at least 1,000).
    """

    posture: Posture = "assist"
    shapes: tuple[Shape, ...] = ()
    exempt: tuple[str | re.Pattern[str], ...] = ()
    min_digits: int = 4
    decimal_rounding: bool = True
    strict: bool = False
    check: Check = "tools"
    answer_tools: tuple[str, ...] = ()
    code_blocks: bool = False
    hold_streams: bool = False
    corpus_bytes: int = 16_000_000

    def __post_init__(self) -> None:
        _one_of("posture", self.posture, get_args(Posture))
        _one_of("check", self.check, get_args(Check))
        for name in ("decimal_rounding", "strict", "code_blocks", "hold_streams"):
            given = getattr(self, name)
            if not isinstance(given, bool):
                raise ConfigurationError(f"Evidence {name}={given!r} is not a bool; write True or False")
        _whole("min_digits", self.min_digits, 1, 15)
        _whole("corpus_bytes", self.corpus_bytes, 1_000, None)
        shapes = _several("shapes", self.shapes)
        for shape in shapes:
            if not isinstance(shape, Shape):
                raise ConfigurationError(f"Evidence shapes holds {shape!r}; write Shape(name, pattern)")
        names = [shape.name for shape in self.shapes]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ConfigurationError(
                f"Evidence shapes declares {doubled[0]!r} twice; give each shape a name of its own"
            )
        exempt = _several("exempt", self.exempt)
        for item in exempt:
            if isinstance(item, re.Pattern):
                Shape("exempt", item)
            elif not isinstance(item, str) or not item.strip():
                raise ConfigurationError(
                    f"Evidence exempt holds {item!r}; write a value as text, or a compiled pattern"
                )
        tools = _several("answer_tools", self.answer_tools)
        for tool in tools:
            if not isinstance(tool, str) or not tool:
                raise ConfigurationError(f"Evidence answer_tools holds {tool!r}; write names of tools")
        object.__setattr__(self, "shapes", shapes)
        object.__setattr__(self, "exempt", exempt)
        object.__setattr__(self, "answer_tools", tools)


def _one_of(name: str, given: object, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise ConfigurationError(f"Evidence {name}={given!r} is unknown; write one of {', '.join(map(repr, allowed))}")


def _whole(name: str, given: object, low: int, high: int | None) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or given < low or (high is not None and given > high):
        span = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise ConfigurationError(f"Evidence {name}={given!r} is out of range; write a whole number {span}")


def _several(name: str, given: object) -> tuple[object, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ConfigurationError(f"Evidence {name}={given!r} is not a list; write a tuple, as in {name}=(…,)")
    return tuple(given)
