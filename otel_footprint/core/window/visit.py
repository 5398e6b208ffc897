"""One visit of a strategy: what it may look at, with the refusal engine and the provenance bound to this window.

Rules
-----
- The window is given without its leading system envelope, with one birth for each message.
- The engine is bound before the strategy sees it: a strategy asks, and is told. It is given no guards and no session.
- Nothing here keeps state: the same arguments give the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal

from otel_footprint.core.call import CallRef
from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.messages import Message
from otel_footprint.core.turns import Turn
from otel_footprint.core.window.pins import (
    KEEP_LAST_TOOL_RESULTS,
    KEEP_LEDGER_FACTS,
    last_result_candidates,
    ledger_fact_candidates,
    stands_down,
    turn_standings,
)
from otel_footprint.core.window.reading import Birth, Guards, Results, WindowReading, read_window
from otel_footprint.core.window.record import RemovalFacts, RemovalPlan, WindowEviction, WindowRecord
from otel_footprint.core.window.removal import PinRules, plan_removal
from otel_footprint.core.window.strategy import Measured, WindowStrategyInput


def call_directly(function: Callable[..., Any], *args: Any) -> Any:
    """The plainest ``as_child``: no span of its own."""
    return function(*args)


def never_cancelled() -> bool:
    """The plainest ``cancelled``."""
    return False


def visit_input(
    history: Sequence[Message],
    *,
    births: Sequence[Birth],
    refs: Sequence[str | None] | None = None,
    call_number: int,
    iteration: int,
    run_id: str,
    now: float,
    request: str | None = None,
    measured: Measured | None = None,
    unreported: Literal["stream", "stopped", "never"] | None = None,
    model: str | None = None,
    provider: str | None = None,
    keep_last_tool_results: int = KEEP_LAST_TOOL_RESULTS,
    keep_ledger_facts: int = KEEP_LEDGER_FACTS,
    standing: Callable[[str], Standing | None] | None = None,
    previous: Sequence[WindowRecord | None] = (),
    paused: Collection[str] = (),
    pending: Collection[str] = (),
    never_ran: Collection[str] = (),
    as_child: Callable[..., Any] = call_directly,
    cancelled: Callable[[], bool] = never_cancelled,
) -> WindowStrategyInput:
    """What a strategy is given at this call.

    - ``history`` is the window to plan, without its leading system envelope, with ``authored`` set on what nobody said;
      ``births`` has one entry for each message, ``refs`` the name in the conversation of the tool result it holds, None
      where it holds none. Without ``refs`` results are named by their place in this window.
    - ``call_number`` is the number of the call that is being planned in its thread (``births`` count the same way);
      ``iteration`` counts calls since the person's last message, from 1. ``now`` is Unix seconds.
    - ``request`` is the text the run is to answer, where the application said so.
    - ``keep_last_tool_results`` and ``keep_ledger_facts`` are the ceilings of the pins, 0 (or False) for none.
    - ``standing`` gives what the model declared last of a result, by its reference; None where findings are off.
    - ``previous`` are the records of the thread's visits before this one, oldest first, None for one without; the last two
      are looked at.
    - ``paused``, ``pending``: ids of tool calls the run is paused on, or that wait for consent. ``never_ran``: references
      of results that say that their call never ran.

    Raises ValueError where there is not one birth, or one reference, for each message.
    """
    if len(births) != len(history):
        raise ValueError(f"{len(history)} messages with {len(births)} births")
    if refs is not None and len(refs) != len(history):
        raise ValueError(f"{len(history)} messages with {len(refs)} references")
    window = tuple(history)
    reading = read_window(window, Guards(request, paused, pending, never_ran))
    results = Results(reading, refs)
    rules = PinRules(
        observations=last_result_candidates(reading, results) if keep_last_tool_results else (),
        keep_last_tool_results=int(keep_last_tool_results),
        facts=None
        if standing is None
        else ledger_fact_candidates(reading, results, standing)
        if keep_ledger_facts
        else (),
        keep_ledger_facts=int(keep_ledger_facts),
        stand_down=stands_down(previous),
    )

    plans: dict[int, RemovalPlan] = {}

    def bound_plan(keep_recent_turns: int, is_existing_summary: Callable[[Turn], bool] | None = None) -> RemovalPlan:
        if is_existing_summary is not None:
            return plan_removal(reading, rules, keep_recent_turns, is_existing_summary)
        if keep_recent_turns not in plans:
            plans[keep_recent_turns] = plan_removal(reading, rules, keep_recent_turns)
        return plans[keep_recent_turns]

    def bound_facts(indices: Sequence[int]) -> RemovalFacts:
        return removal_facts(reading, births, refs, indices, call_number=call_number, now=now)

    return WindowStrategyInput(
        history=window,
        turns=reading.turns,
        measured=measured,
        unreported=unreported,
        iteration=iteration,
        run_id=run_id,
        agent_model=model,
        provider_name=provider,
        now=now,
        plan_removal=bound_plan,
        removal_facts=bound_facts,
        standing_of=None if standing is None else turn_standings(reading.turns, results, standing),
        cancelled=cancelled,
        as_child=as_child,
        current_request=reading.request,
    )


_eviction: Final = tuple.__new__
"""Half the time of a named tuple's own constructor, where a thousand are made at one call."""


def removal_facts(
    reading: WindowReading,
    births: Sequence[Birth],
    refs: Sequence[str | None] | None,
    indices: Sequence[int],
    *,
    call_number: int,
    now: float,
) -> RemovalFacts:
    """Where the messages at ``indices`` were born, and one eviction for each, in the order given."""
    spans: list[int | None] = []
    evictions: list[WindowEviction] = []
    history, tools, call_ids = reading.history, reading.tools, reading.call_ids
    last: Birth | None = None
    born: CallRef | None = None
    span: int | None = None
    survival = lived = 0
    for index in indices:
        message, birth = history[index], births[index]
        if birth is not last:  # neighbours often share one
            last, born, born_at = birth, birth.born, birth.born_at
            span = None if born is None else born.span_id
            survival = 0 if born_at is None or born_at >= now else round((now - born_at) * 1000)
            lived = max(0, call_number - birth.born_call)
        spans.append(span)
        evictions.append(
            _eviction(
                WindowEviction,
                (
                    index,
                    message.role,
                    tools[index],
                    call_ids[index],
                    message.chars,
                    survival,
                    lived,
                    message.key,
                    born,
                    None if refs is None else refs[index],
                ),
            )
        )
    return RemovalFacts(tuple(spans), tuple(evictions))
