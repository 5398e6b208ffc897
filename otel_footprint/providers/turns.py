"""Turns that an application's list splits into several items, joined so that they leave together or not at all.

Rules
-----
- Neighbouring messages of the model are one turn where one in front of the last holds a tool call: a provider joins them
  itself and has their calls answered together, behind the last. Other neighbours stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from otel_footprint.core.messages import Message
from otel_footprint.providers.native import Native


def join_split_turns(natives: Iterable[Native]) -> list[Native]:
    """The same messages with split turns of the model joined, in order."""
    joined: list[Native] = []
    run: list[Native] = []
    for native in natives:
        if native.message.role == "assistant":
            run.append(native)
            continue
        joined += _closed(run)
        run = []
        joined.append(native)
    return joined + _closed(run)


def _closed(run: list[Native]) -> list[Native]:
    first = next((index for index, native in enumerate(run[:-1]) if native.message.tool_calls), None)
    if first is None:
        return run
    split = run[first:]
    positions: list[int] = []
    for native in split:
        positions += [position for position in native.positions if position not in positions]
    message = Message(
        "assistant", tuple(part for native in split for part in native.message.parts), split[0].message.name
    )
    at = next((native.at for native in split if native.message.text), split[0].at)
    return [*run[:first], Native(message, tuple(positions), at)]
