"""What goes with a call through the OpenTelemetry Context, so that its completion hook knows what was decided before it.

Rules
-----
- A value of the Context and nothing else: it reaches the hook of a stream, of another task and of another thread.
- A call that we make ourselves on a strategy's behalf carries :data:`CHILD`: it is not planned, judged or matched.
- A call inside another one that is acted on has a mark of its own, or :data:`None`, never the outer one's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from opentelemetry.context import Context, create_key, get_value, set_value

if TYPE_CHECKING:
    from otel_footprint.core.call import Call, PlannedFacts
    from otel_footprint.core.decisions import Decisions
    from otel_footprint.telemetry.emitter import Emission

_KEY: Final = create_key("otel_footprint.acting")


class Child:
    """The mark of a call of our own."""


CHILD: Final = Child()


class Token:
    """One call that is acted on: ``facts`` go with it to the hook, and what was decided about it comes back.

    ``facts`` are None where nothing was planned: it is only to be known when the call has completed.
    ``emission`` is what was written down about the call, None until its hook has run; ``settled`` is called once, by the
    runtime and under its lock, with the call and the decisions.
    """

    __slots__ = ("_settled", "emission", "facts")

    def __init__(self, facts: PlannedFacts | None, settled: Callable[[Call, Decisions], None]) -> None:
        self.facts: Final[PlannedFacts | None] = facts
        self.emission: Emission | None = None
        self._settled: Callable[[Call, Decisions], None] | None = settled

    @property
    def is_open(self) -> bool:
        """Whether nothing was observed of the call yet."""
        return self._settled is not None

    def settle(self, call: Call, decisions: Decisions) -> None:
        """The call has completed."""
        settled, self._settled = self._settled, None
        if settled is not None:
            settled(call, decisions)


Mark: TypeAlias = Token | Child


def with_mark(mark: Mark | None, context: Context | None = None) -> Context:
    """The context in which calls carry this mark; None takes an outer one away."""
    return set_value(_KEY, mark, context)


def mark_of(context: Context | None = None) -> Mark | None:
    """The mark of calls that are made in this context (default: the current one)."""
    return cast("Mark | None", get_value(_KEY, context))  # only with_mark writes this key
