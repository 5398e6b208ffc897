"""What carries a value, as the verdicts name it: results, those of the newest turn first, and what dropped them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from otel_footprint.core.evidence.sources import Source
from otel_footprint.core.evidence.verdicts import Carrier, EvictedBy

MAX_CARRIERS: Final = 8


class Support(NamedTuple):
    """The results that carry a value, whether more do than are named, the turn that last served it, what dropped it."""

    carriers: tuple[Carrier, ...]
    cut: bool
    turn: int | None
    evicted_by: EvictedBy | None


_NONE: Final = Support((), False, None, None)


class Supports:
    """The supports of one answer's values: many values have the same results, which are looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], Support] = {}

    def of(self, sources: Sequence[Source], gone: Source | None) -> Support:
        """The support of one value, as ``support_of`` gives it."""
        if gone is not None:
            return support_of(sources, gone)
        names = tuple(map(id, sources))
        known = self._known.get(names)
        if known is None:
            known = self._known[names] = support_of(sources, None)
        return known


def support_of(sources: Sequence[Source], gone: Source | None) -> Support:
    """The support of a value that these results carry; ``gone`` is the one that left, for an evicted value."""
    ordered: Sequence[Source] = sources
    newest: int | None = None
    if len(sources) == 1:
        newest = None if sources[0].handed_in else sources[0].turn
    elif sources:
        newest = max([source.turn for source in sources if not source.handed_in], default=None)
        ordered = sorted(sources, key=lambda source: source.turn != newest)
    elif gone is None:
        return _NONE
    return Support(
        tuple([source.carrier() for source in ordered[:MAX_CARRIERS]]),
        len(ordered) > MAX_CARRIERS,
        newest,
        None
        if gone is None
        else EvictedBy(
            decision=gone.decision,
            decided_by=gone.decided_by,
            tool_call_id=gone.call_id,
            tool=gone.tool,
            dropped=gone.dropped,
            served=gone.served,
        ),
    )
