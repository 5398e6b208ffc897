"""Which call a result belongs to, where ids repeat or are missing; and the name each result gets.

Rules
-----
- A call with an id is named by it, from the second on ``<id>#<n>``; a call without one ``result:<n>``, n counting those.
- A result takes the oldest open call with its id. Without an id (or with one no call has) it takes the oldest open call
  of the turn with its tool name, else the oldest open one: order is what is left.
- An assistant message closes the earlier calls that have no id: their results would be in front of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(slots=True)
class _Open:
    id: str | None
    name: str | None
    ref: str


class Pairing:
    """The pairing of one conversation, fed in order."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._nameless = 0
        self._open: list[_Open] = []

    def assistant(self) -> None:
        """An assistant message begins."""
        self._open = [call for call in self._open if call.id is not None]

    def call(self, id: str | None, name: str | None) -> str:
        """The name of a call's result to come."""
        ref = self._name(id)
        self._open.append(_Open(id, name, ref))
        return ref

    def result(self, id: str | None, name: str | None) -> tuple[str, str | None]:
        """A result's name and its tool's name, None where nobody says it."""
        found = self._match(id, name)
        if found is None:
            return self._name(id), name
        self._open.remove(found)
        return found.ref, name or found.name or None

    def _match(self, id: str | None, name: str | None) -> _Open | None:
        if id is not None:
            same = next((call for call in self._open if call.id == id), None)
            if same is not None:
                return same
        candidates = self._open if id is None else [call for call in self._open if call.id is None]
        if name is not None:
            named = next((call for call in candidates if call.name == name), None)
            if named is not None:
                return named
            candidates = [call for call in candidates if not call.name]
        return next(iter(candidates), None)

    def _name(self, id: str | None) -> str:
        if id is None:
            self._nameless += 1
            return f"result:{self._nameless}"
        self._seen[id] += 1
        count = self._seen[id]
        return id if count == 1 else f"{id}#{count}"
