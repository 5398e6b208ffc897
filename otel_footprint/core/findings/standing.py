"""What a result can be said to be, and how much that is worth to the window."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Standing: TypeAlias = Literal["fact", "open", "noise", "ruled-out"]
STANDINGS: Final[tuple[Standing, ...]] = get_args(Standing)
SET_ASIDE: Final[frozenset[Standing]] = frozenset({"open", "noise", "ruled-out"})
"""Standings under which a result carries no value on its own."""

CLOSED: Final[frozenset[Standing]] = frozenset({"noise", "ruled-out"})
"""Standings that are not offered to the model again."""
