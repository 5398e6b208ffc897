"""The one reader of tool results: which part of a text is JSON, what it holds, and what is left as text.

Rules
-----
- The JSON values a result opens with are walked: one, or several in a row, with whatever follows read as text.
- JSON cut short is read as far as its complete leaves, and the whole words of a string it was cut inside; the number,
  word or literal that the cut may have split is not read.
- Everything else is text, also when it opens with a brace.
- An absence loses ``looked_for``. Keys count as much as leaves.
- ``flat`` is the text with the JSON strings' escapes decoded. Cutting it into tokens gives the tokens of every key and
  leaf, since quotes, brackets, commas and white space all separate tokens.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from otel_footprint.core.absence import ABSENT, LOOKED_FOR, read_absence
from otel_footprint.core.evidence.normal import fold
from otel_footprint.core.evidence.pieces import gathered
from otel_footprint.core.evidence.typed import Gathered
from otel_footprint.core.messages import Json, canonical_json

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_SIMPLE_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\x02", "f": "\n", '"': "\x02", "/": "/", "\\": "\\"}
_PIECE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_LITERALS: Final = ("true", "false", "null")
_ELLIPSIS: Final = ("...", "…")
_ENDING: Final = 2_000
"""Characters from the end in which a tool says that it cut its own output."""
LONG: Final = 16_384
"""Characters from which on the numbers of JSON are kept when it is read to see whether it is JSON."""
_REMEMBERED_ESCAPES: Final = 2_048
QUOTE_INSIDE: Final = "\x02"
"""Stands in ``flat`` for a quote inside a JSON string, so that every ``"`` left opens or closes one."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How one result reads.

    ``values`` are the leading JSON values, ``tail`` the text after them (all of it when there are none). ``cut`` says that
    the JSON stopped before it closed.
    """

    values: tuple[Json, ...]
    tail: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Flat:
    """The text in which tokens are looked for. ``json_end`` is how far it is JSON (0: not at all).

    ``folded`` says that it is folded already; ``gathered`` is what long JSON with nothing behind it may carry.
    """

    text: str
    json_end: int
    folded: bool = False
    gathered: Gathered | None = None


def without_looked_for(content: str) -> str:
    """A result's text, or that of an absence without what it quotes from the arguments."""
    if ABSENT not in content:
        return content
    found = read_absence(content)
    if found is None:
        return content
    envelope = json.loads(content)
    envelope.pop(LOOKED_FOR, None)
    return canonical_json(envelope)


def read(content: str) -> Reading:
    """Read a result's text (after ``without_looked_for``)."""
    values, end, fault = _leading(content)
    if fault is not None:
        cut = _cut(content, end, fault)
        if cut is not None:
            stop = _last_leaf(content, end, cut)
            if stop is not None:
                return Reading((*values, stop.tree), f"{stop.words}\n{content[cut:]}", cut=True)
    return Reading(tuple(values), content[end:])


def flat(content: str) -> Flat:
    """The text of a result (after ``without_looked_for``) in which its tokens are looked for."""
    start = _skip(content, 0)
    if content[start : start + 1] not in ("{", "[", '"'):
        return Flat(content, 0)
    if len(content) > LONG and (found := gathered(content)) is not None:
        folded = folded_json(content)
        return Flat(folded, len(folded), folded=True, gathered=found)
    values, end, fault = _leading(content)
    cut = None if fault is None else _cut(content, end, fault)
    if cut is not None:
        stop = _last_leaf(content, end, cut)
        if stop is not None:
            head = _decoded(content[: stop.safe]) + "\n"
            return Flat(f"{head}{stop.words}\n{content[cut:]}", len(head))
    if not values:
        return Flat(content, 0)
    head = _decoded(content[:end])
    return Flat(head + content[end:], len(head))


def reads_as_it_stands(content: str) -> bool:
    """Whether the tokens of a result are those of its raw text, whatever it is: decided without parsing it.

    So it is unless JSON holds escapes, or may have been cut inside a leaf.
    """
    start = _skip(content, 0)
    if content[start : start + 1] not in ("{", "[", '"'):
        return True
    if "\\" in content or content.rstrip()[-1:] not in ("}", "]"):
        return False
    ending = content[-_ENDING:]
    return not ("..." in ending or "…" in ending)


def _leading(content: str) -> tuple[list[Json], int, json.JSONDecodeError | None]:
    """The JSON values the text opens with, where they end, and the fault that stopped the one after them."""
    values: list[Json] = []
    end = 0
    while True:
        start = _skip(content, end)
        # A bare word or number in front is text; only what is quoted or bracketed is taken for JSON.
        if start >= len(content) or content[start] not in '{["':
            return values, end, None
        try:
            value, end = _DECODER.raw_decode(content, start)
        except json.JSONDecodeError as fault:
            return values, end, fault
        except (RecursionError, ValueError):  # nested too deeply, or a number with more digits than Python converts
            return values, end, None
        values.append(value)


def is_beyond_reading(content: str) -> bool:
    """Whether a text opens with JSON that cannot be walked: nested too deeply, or a number with too many digits."""
    start = _skip(content, 0)
    if content[start : start + 1] not in ("{", "["):
        return False
    try:
        _DECODER.raw_decode(content, start)
    except json.JSONDecodeError:
        return False
    except (RecursionError, ValueError):
        return True
    return False


def _skip(content: str, start: int) -> int:
    match = _SPACE.match(content, start)
    return match.end() if match else start


def _cut(content: str, start: int, fault: json.JSONDecodeError) -> int | None:
    """Where JSON that starts after ``start`` was cut, when the fault means that; None when it is no JSON at all."""
    begin = _skip(content, start)
    if content[begin] == '"':
        return None  # a lone quoted text without its end is text
    at = fault.pos
    if fault.msg.startswith("Unterminated string"):
        return len(content)
    rest = content[at:].strip()
    if not rest or rest == "-" or any(word.startswith(rest) for word in _LITERALS):
        return len(content)
    if fault.msg.startswith("Invalid") and len(content) - at <= 6:
        return len(content)
    if rest.startswith(_ELLIPSIS) and at > begin + 1:
        return at
    return None


@dataclass(frozen=True, slots=True)
class _Stop:
    """Where cut JSON still holds: the end of its last complete leaf, the tree up to it, words of a string cut open."""

    safe: int
    tree: Json
    words: str


def _last_leaf(content: str, start: int, cut: int) -> _Stop | None:
    """Walk JSON that was cut; None when its brackets do not nest."""
    open_brackets: list[str] = []
    awaiting: list[bool] = []  # per open bracket: whether a value may stand here
    safe, closers, words = start, "", ""
    for match in _PIECE.finditer(content, start, cut):
        piece = match.group()
        if piece in ("{", "["):
            open_brackets.append("}" if piece == "{" else "]")
            awaiting.append(piece == "[")
        elif piece in ("}", "]"):
            if not open_brackets or open_brackets.pop() != piece:
                return None
            awaiting.pop()
        elif piece == ":":
            awaiting[-1:] = [True]
            continue
        elif piece == ",":
            awaiting[-1:] = [bool(open_brackets) and open_brackets[-1] == "]"]
            continue
        elif not awaiting or not awaiting[-1]:
            continue  # a key: it counts once its value does
        elif piece[0] == '"' and (len(piece) == 1 or not _closed(piece)):
            words = _decoded(re.sub(r"\S*\Z", "", piece[1:]))
            break
        elif piece[0] != '"' and match.end() >= cut:
            break
        safe, closers = match.end(), "".join(reversed(open_brackets))
    try:
        tree: Json = json.loads(content[start:safe] + closers)
    except (ValueError, RecursionError):
        return None
    return _Stop(safe, tree, words)


def _closed(piece: str) -> bool:
    """Whether a piece that starts with a quote ends with one that is not escaped."""
    body = piece[1:]
    return body.endswith('"') and (len(body) - 1 - len(body[:-1].rstrip("\\"))) % 2 == 0


def _decoded(text: str) -> str:
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def folded_json(content: str) -> str:
    """The folded text of whole JSON, its escapes decoded. What is ASCII but for its escapes is folded first, which is several times faster."""
    if not content.isascii():
        return fold(_decoded(content))
    lowered = content.lower()
    return _ESCAPE.sub(_decode_folded, lowered) if "\\" in lowered else lowered


def _decode_folded(match: re.Match[str]) -> str:
    return _folded_escape(match.group())


@lru_cache(maxsize=_REMEMBERED_ESCAPES)
def _folded_escape(escape: str) -> str:
    return fold(_unescaped(escape))


def _decode_escape(match: re.Match[str]) -> str:
    return _unescaped(match.group())


def _unescaped(escape: str) -> str:
    body = escape[1:]
    if body[0] != "u" or len(body) == 1:
        return _SIMPLE_ESCAPES.get(body, body)
    try:
        char: str = json.loads(f'"{escape}"')
    except ValueError:
        return " "
    return QUOTE_INSIDE if char == '"' else char
