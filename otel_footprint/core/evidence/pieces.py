"""Long JSON read piece by piece: the same values as reading it whole, without its whole tree in memory.

Rules
-----
- A text is one list or one object and nothing else; anything else raises ValueError, and is read whole by the caller.
- A piece is an item of the list, or of a list that the object holds, with the name of that list. What an object holds beside
  lists comes last, as one object.
- Up to ``AT_ONCE`` characters are one piece: reading them at once is several times faster, and its tree still small.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import Final

from otel_footprint.core.evidence.typed import Gathered
from otel_footprint.core.evidence.typed.naming import LONGEST_NAME
from otel_footprint.core.messages import Json

AT_ONCE: Final = 6_000_000
"""Characters whose tree may be in memory for a moment: some 25 MB."""
_BATCH: Final = 4_096
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def pieces(text: str) -> Iterator[tuple[str | None, Json]]:
    """The pieces with their names. Raises ValueError (or RecursionError) where it is not JSON after all."""
    at = _skip(text, 0)
    if text.startswith("[", at):
        at = yield from _items(text, at, None)
    elif text.startswith("{", at):
        at = yield from _pairs(text, at)
    else:
        raise ValueError("neither a list nor an object")
    if _skip(text, at) != len(text):
        raise ValueError("something follows")


def values_of(text: str) -> Iterator[tuple[str | None, Json]]:
    """The same values in as few pieces as memory allows. Raises as ``pieces`` does."""
    if len(text) > AT_ONCE:
        yield from pieces(text)
        return
    yield None, tree_of(text)


def tree_of(text: str) -> Json:
    """The list or object that a text is, and nothing else. Raises ValueError (or RecursionError) for any other text."""
    value: Json = json.loads(text)
    if not isinstance(value, (list, dict)):
        raise ValueError("neither a list nor an object")
    return value


def gathered(text: str) -> Gathered | None:
    """What a text may carry; None where it is not one list or object and nothing else."""
    found = Gathered()
    batch: list[Json] = []
    of: str | None = None
    try:
        for name, value in values_of(text):
            if batch and (name != of or len(batch) >= _BATCH):
                found.add(batch, _short(of))
                batch = []
            of = name
            batch.append(value)
        found.add(batch, _short(of))
    except (ValueError, RecursionError):
        return None
    return found


def _short(name: str | None) -> str | None:
    return name if name is None or len(name) <= LONGEST_NAME else None


def _items(text: str, at: int, name: str | None) -> Generator[tuple[str | None, Json], None, int]:
    at = _skip(text, at + 1)
    if text.startswith("]", at):
        return at + 1
    while True:
        item, at = _DECODER.raw_decode(text, at)
        yield name, item
        at = _skip(text, at)
        if text.startswith("]", at):
            return at + 1
        at = _skip(text, _past(text, at, ","))


def _pairs(text: str, at: int) -> Generator[tuple[str | None, Json], None, int]:
    rest: dict[str, Json] = {}
    at = _skip(text, at + 1)
    closed = text.startswith("}", at)
    while not closed:
        name, at = _DECODER.raw_decode(text, at)
        if not isinstance(name, str):
            raise ValueError("no name")
        at = _skip(text, _past(text, _skip(text, at), ":"))
        if text.startswith("[", at):
            at = yield from _items(text, at, name)
        else:
            rest[name], at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        closed = text.startswith("}", at)
        if not closed:
            at = _skip(text, _past(text, at, ","))
    yield None, rest
    return at + 1


def _past(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise ValueError(f"no {mark}")
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
