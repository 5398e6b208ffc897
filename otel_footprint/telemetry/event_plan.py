"""Events before they are written: planned, chosen by importance, made.

A span takes 64 of our events. Where there are more, the most important ones stay, in the order they were planned in, and the
remainder is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from otel_footprint.core.per_call import per_call
from otel_footprint.telemetry import names
from otel_footprint.telemetry.attributes import Attributes
from otel_footprint.telemetry.limits import MAX_EVENTS


class MakesAttributes(Protocol):
    """Makes the attributes of one event, when they are needed."""

    def __call__(self) -> Attributes: ...


class PlannedEvent(NamedTuple):
    """An event before its attributes are made: most of a great many are never made."""

    name: str
    importance: int
    attributes: MakesAttributes


class Event(NamedTuple):
    """One event, as it goes onto the span and into the log. ``kept`` is False for one that the span has no room for."""

    name: str
    attributes: Attributes
    kept: bool = True

    @property
    def is_result(self) -> bool:
        """Whether it is the standard evaluation result, which goes into the log in any case."""
        return self.name == names.EVENT_GEN_AI_EVALUATION_RESULT


@per_call(frozen=True, slots=True)
class Events:
    """``made`` are the events that go out, in order: those of the span, and every evaluation result.

    ``dropped`` counts those that the span has no room for.
    """

    made: tuple[Event, ...] = ()
    dropped: int = 0


NO_EVENTS: Final = Events()


def within_limit(planned: Sequence[PlannedEvent]) -> Events:
    """The most important of these events, as many as a span takes, in their order."""
    if len(planned) <= MAX_EVENTS:
        return Events(tuple([Event(name, attributes()) for name, _, attributes in planned]))
    kept = set(sorted(range(len(planned)), key=lambda index: planned[index].importance)[:MAX_EVENTS])
    return Events(
        made=tuple(
            Event(event.name, event.attributes(), index in kept)
            for index, event in enumerate(planned)
            if index in kept or event.name == names.EVENT_GEN_AI_EVALUATION_RESULT
        ),
        dropped=len(planned) - len(kept),
    )


def plan_event(name: str, attributes: MakesAttributes) -> PlannedEvent:
    """An event whose importance is that of its name."""
    return PlannedEvent(name, names.IMPORTANCE[name], attributes)
