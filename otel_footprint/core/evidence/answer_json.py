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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.messages import Json

_FENCED: Final = re.compile(r"\s*```[A-Za-z0-9]*\n(.*)\n\s*```\s*", re.DOTALL)
_PIECE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


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
    """The half-open span of the JSON an answer wholly is; None for prose."""
    start, end = 0, len(text)
    fenced = _FENCED.fullmatch(text)
    if fenced is not None:
        start, end = fenced.span(1)
    body = text[start:end]
    stripped = body.strip()
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return None
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return start, end


def pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    """Every key and leaf of the valid JSON in that span, in order."""
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
            value: Json = json.loads(piece)
            quoted = piece[0] == '"'
            left, right = (match.start() + 1, match.end() - 1) if quoted else match.span()
            spelled = text[left:right]
            if not awaiting_value and kinds and kinds[-1] == "{":
                stack[-1] = str(value)
                yield Piece(left, right, None, value, spelled, True, tuple(stack))
            else:
                yield Piece(left, right, _field(stack), value, spelled, False, tuple(stack))


def _field(stack: list[str | int]) -> str | None:
    for step in reversed(stack):
        if isinstance(step, str):
            return step
    return None
