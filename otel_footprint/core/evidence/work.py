"""What judging one answer may cost, counted and not timed: the same answer always stops at the same value.

Rules
-----
- The unit is one character searched, about; what else is done is put in those. The whole of it is some tenths of a second.
- Values are taken in order of appearance. The first that does not fit any more ends it: it and those after it are left open.
- Short texts are found through an index, so a spelling is only searched for in long ones; typed values are asked of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from otel_footprint.core.evidence.asking import Asked
from otel_footprint.core.evidence.carried import BULK_CHARS, Carried
from otel_footprint.core.evidence.shelf import LONG

if TYPE_CHECKING:
    from otel_footprint.core.evidence.judge import Ground

MAX_VALUES: Final = 500
"""Values of one answer that are judged."""
MAX_SCAN: Final = 800_000_000
"""Characters of results that the values of one answer may be searched in, all together."""
_VALUE: Final = 150_000
_SHORT_TYPED: Final = 12_000
_SHORT_SPELLED: Final = 2_000
_LONG_TYPED: Final = 6


class _Texts:
    """How much there is to search: ``spelled`` for one spelling, ``each`` where no index helps, ``typed`` for a typed value."""

    __slots__ = ("each", "spelled", "typed")

    def __init__(self, texts: Sequence[Carried]) -> None:
        sizes = [len(text.text) for text in texts]
        long = sum([size for size in sizes if size > LONG])
        bulky = [size for size in sizes if size > BULK_CHARS]
        self.spelled = long
        self.each = long + _SHORT_SPELLED * len(sizes)
        self.typed = _LONG_TYPED * sum(bulky) + _SHORT_TYPED * (len(sizes) - len(bulky))


class Work:
    """The room one answer has; each method takes from it and says whether there was enough."""

    def __init__(self, ground: Ground) -> None:
        self._room = MAX_SCAN
        self._said = _Texts([one for one in ground.said if len(one.text) > LONG])
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
        return self._take(self._left.each * asked.needles + (self._left.typed if asked.value is not None else 0))

    def argued(self, asked: Asked) -> bool:
        """To look for it in the arguments of calls."""
        return asked.value is None or self._take(self._calls * _SHORT_TYPED)

    def _take(self, cost: int) -> bool:
        self._room -= cost
        return self._room >= 0
