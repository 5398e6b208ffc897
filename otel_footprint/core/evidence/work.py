"""What judging one answer may cost, counted and not timed: the same answer always stops at the same value.

Rules
-----
- The unit is one character searched, about; what else is done is put in those. The whole of it is some tenths of a second.
- Values are taken in order of appearance. The first that does not fit any more ends it: it and those after it are left open.
- A typed value is asked of each of a few short texts, and of many or long ones as if they were one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.asking import Asked
from otel_footprint.core.evidence.carried import BULK_CHARS, Carried
from otel_footprint.core.evidence.shelf import SMALL

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Ground

MAX_VALUES: Final = 500
"""Values of one answer that are judged."""
MAX_SCAN: Final = 800_000_000
"""Characters of results that the values of one answer may be searched in, all together."""
_VALUE: Final = 150_000
_SHORT_TYPED: Final = 12_000
_LONG_TYPED: Final = 3


class _Texts:
    """How much there is to search: ``spelled`` for one spelling, ``typed`` for a typed value."""

    __slots__ = ("spelled", "typed")

    def __init__(self, texts: Sequence[Carried]) -> None:
        self.spelled = sum([len(text.text) for text in texts])
        self.typed = _LONG_TYPED * self.spelled if self.spelled > SMALL else _SHORT_TYPED * len(texts)


class Work:
    """The room one answer has; each method takes from it and says whether there was enough."""

    def __init__(self, ground: Ground) -> None:
        self._room = MAX_SCAN
        self._said = _Texts([one for one in ground.said if len(one.text) > BULK_CHARS])
        self._window = _Texts([source.carried for source in ground.window])
        self._left = _Texts([source.carried for source in ground.left])
        self._calls = len(ground.calls)

    def spelled(self, asked: Asked) -> bool:
        """To look for a value in what was said, and for its spelling in the window."""
        typed = self._said.typed if asked.value is not None else 0
        return self._take(_VALUE + typed + (self._said.spelled + self._window.spelled) * asked.needles)

    def respelled(self, asked: Asked) -> bool:
        """To look for its typed value in the window."""
        return asked.value is None or self._take(self._window.typed)

    def gone(self, asked: Asked) -> bool:
        """To look for it in what left the window."""
        return self._take(self._left.spelled * asked.needles + (self._left.typed if asked.value is not None else 0))

    def argued(self, asked: Asked) -> bool:
        """To look for it in the arguments of calls."""
        return asked.value is None or self._take(self._calls * _SHORT_TYPED)

    def _take(self, cost: int) -> bool:
        self._room -= cost
        return self._room >= 0
