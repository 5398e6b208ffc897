"""A planned window as a list of native items, for the APIs that put several messages into one item or want roles in order.

Rules
-----
- An item from which several messages were read is the very object where all of them stay, else what ``part`` makes of it.
- Items that the application itself put side by side are left as they are. Where we brought two of one role together, they
  are joined in a copy, or parted by a sentence of ours where the API takes no joined ones.
- A window that would open with the model's words, where the application's did not, opens with a sentence of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from otel_footprint.core.messages import Message
from otel_footprint.core.window.items import Item, Kept, Put
from otel_footprint.providers.native import Native
from otel_footprint.providers.surface import Reading

OPENING: Final = "[Earlier messages are no longer in this window.]"
"""Said by the user in front of an answer whose question left without a notice in its place."""

PARTING: Final = "[An earlier answer is no longer in this window.]"
"""Said by the model between a tool's result and a person's words that had an answer between them."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A native item and its index in the application's list; None where it is ours."""

    item: object
    position: int | None = None


def rewritten(
    reading: Reading,
    items: Sequence[Item],
    *,
    written: Callable[[Message], object],
    part: Callable[[object, Sequence[bool]], object],
) -> list[Placed]:
    """The items behind the envelope, in order.

    ``written`` builds the item of a message of ours. ``part`` copies an item with some of the messages read from it: one
    flag for each of them, in order.
    """
    kept = {item.index for item in items if isinstance(item, Kept)}
    placed: list[Placed] = []
    done: set[int] = set()
    for item in items:
        match item:
            case Kept(index=index):
                for position in reading.natives[index].positions:
                    if position in done:
                        continue
                    done.add(position)
                    stays = [reader in kept for reader in _readers(reading.natives, index, position)]
                    source = reading.source[position]
                    placed.append(Placed(source if all(stays) else part(source, stays), position))
            case Put(message=message, native=given):
                placed += [Placed(own) for own in given or (written(message),)]
    return placed


def _readers(natives: Sequence[Native], index: int, position: int) -> range:
    """The messages that were read from the item at ``position``: neighbours, the one at ``index`` among them."""
    first = last = index
    while first and position in natives[first - 1].positions:
        first -= 1
    while last + 1 < len(natives) and position in natives[last + 1].positions:
        last += 1
    return range(first, last + 1)


def opened(placed: list[Placed], reading: Reading, role: Callable[[object], str], opening: object) -> list[Placed]:
    """The same list with ``opening`` in front where it would now begin with the model's words and did not before."""
    if not placed or role(placed[0].item) != "assistant":
        return placed
    own = reading.natives[0].message.role if reading.natives else "user"
    return placed if own == "assistant" else [Placed(opening), *placed]


def joined(
    placed: Sequence[Placed],
    role: Callable[[object], str],
    join: Callable[[object, object], Sequence[object]],
) -> list[object]:
    """The items with those of one role that we brought together put through ``join``, which gives what stands for both."""
    made: list[Placed] = []
    for one in placed:
        last = made[-1] if made else None
        if last is None or role(last.item) != role(one.item) or _were_neighbours(last, one):
            made.append(one)
            continue
        made.pop()
        made += [Placed(item, one.position) for item in join(last.item, one.item)]
    return [one.item for one in made]


def _were_neighbours(before: Placed, after: Placed) -> bool:
    return before.position is not None and after.position == before.position + 1
