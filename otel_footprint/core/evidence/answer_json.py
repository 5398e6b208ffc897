"""Read an answer that is JSON, with the place of every key and leaf in its text.

Rules
-----
- Only text that is wholly one JSON object or list (alone, or in one fence) counts as a JSON answer.
- A piece's span is that of its content in the answer's text, without quotes. Escapes keep their spelling in the text;
  ``value`` holds the decoded string.
- ``path`` names where a leaf stands: keys and list positions from the root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.messages import Json

_FENCED: Final = re.compile(r"\s*```[A-Za-z0-9]*\n(.*)\n\s*```\s*", re.DOTALL)
_PIECE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_FIELD: Final = re.compile(r'"[^"\\\n]{1,200}"\s*:')
_MEANT_FIELDS: Final = 3


@dataclass(frozen=True, slots=True)
class Piece:
    """A key or leaf of a JSON answer. ``key`` is the field a leaf stands in (for list items the list's field)."""

    start: int
    end: int
    key: str | None
    value: Json
    spelled: str
    is_key: bool
    path: tuple[str | int, ...]


def json_body(text: str) -> tuple[int, int] | None:
    """The half-open span of the JSON an answer wholly is, or means to be; None for prose."""
    start, end = 0, len(text)
    fenced = _FENCED.fullmatch(text)
    if fenced is not None:
        start, end = fenced.span(1)
    stripped = text[start:end].strip()
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return None
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        # Models write JSON with sums or comments in it: read all the same while it has the look of an object.
        if stripped[0] != "{" or len(_FIELD.findall(stripped)) < _MEANT_FIELDS:
            return None
    return start, end


def pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    """Every key and leaf of the JSON in that span, in order. What is no JSON literal is given as its text."""
    stack: list[str | int] = []  # the key or index that is open at each level
    kinds: list[str] = []
    awaiting_value = False
    for match in _PIECE.finditer(text, start, end):
        piece = match.group()
        if piece == "{":
            kinds.append(piece)
            stack.append("")
            awaiting_value = False
        elif piece == "[":
            kinds.append(piece)
            stack.append(0)
            awaiting_value = True
        elif piece in ("}", "]"):
            if kinds:
                kinds.pop()
                stack.pop()
        elif piece == ",":
            if kinds and kinds[-1] == "[":
                last = stack[-1]
                stack[-1] = last + 1 if isinstance(last, int) else 0
                awaiting_value = True
            else:
                awaiting_value = False
        elif piece == ":":
            awaiting_value = True
        else:
            quoted = len(piece) > 1 and piece[0] == '"' and piece[-1] == '"'
            left, right = (match.start() + 1, match.end() - 1) if quoted else match.span()
            value = _value(piece)
            if not awaiting_value and kinds and kinds[-1] == "{":
                stack[-1] = str(value)
                yield Piece(left, right, None, value, text[left:right], True, tuple(stack))
            else:
                yield Piece(left, right, _field(stack), value, text[left:right], False, tuple(stack))


def _value(piece: str) -> Json:
    try:
        value: Json = json.loads(piece, strict=False)
    except (ValueError, RecursionError):
        return piece.strip('"')
    return value


def _field(stack: list[str | int]) -> str | None:
    for step in reversed(stack):
        if isinstance(step, str):
            return step
    return None


def as_lines(text: str, found: Sequence[Piece]) -> str:
    """A JSON answer as text of the same length with a line for each object: its keys and leaves, at their places.

    An object around others is left out, so that a line speaks of one thing.
    """
    objects: dict[tuple[str | int, ...], list[Piece]] = {}
    for piece in found:
        objects.setdefault(_object_of(piece), []).append(piece)
    around = {path[:length] for path in objects for length in range(len(path))}
    lines = ["\n"] * len(text)
    for path, held in objects.items():
        if path in around:
            continue
        start, end = held[0].start, max(piece.end for piece in held)
        lines[start:end] = " " * (end - start)
        for piece in held:
            lines[piece.start : piece.end] = text[piece.start : piece.end].replace("\n", " ")
    return "".join(lines)


def _object_of(piece: Piece) -> tuple[str | int, ...]:
    """The path of the object a key or leaf is in; items of a list in it count too."""
    path = piece.path
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path[:-1]
