"""What planning a window costs: one visit, from the list of messages to the window that is sent.

    python benchmarks/planning.py [--messages 1000] [--rounds 41]

- An agent's window: a request, then steps of one call and its result.
- *engine*: reads the window, binds the refusal engine with both kinds of pins, and lets the strategy plan; the check of what
  it gives back is counted too. *planner*: the whole way, from the application's list to the items that are sent: the line
  the list goes on with is looked up, the engine is asked, the result is checked and kept (begin, plan, commit).
- *one step leaves*: the ordinary visit, in which all but the newest step were planned before. *nearly all leave*: the first
  visit on a long history.
- *one pass*: reading the role and the length of every message of the same list in a loop, in the same process. Figures are
  medians of interleaved rounds, in processor time; where others use the machine too the ratios say more.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from otel_footprint.core.call import Call, CallRef, Output
from otel_footprint.core.decisions import Decisions, WindowChange
from otel_footprint.core.findings.standing import Standing
from otel_footprint.core.messages import Message, Text, ToolCall, ToolResult
from otel_footprint.core.planner import Planned, Planner, PlanRequest
from otel_footprint.core.window.checking import allowed
from otel_footprint.core.window.reading import Born
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.core.window.visit import visit_input

TOOLS = ("search", "read_file", "list_orders", "get_user", "book")


def agent_window(messages: int) -> tuple[Message, ...]:
    """A request and steps of a call with its result, ``messages`` in all (rounded down to whole steps)."""
    window = [Message("user", (Text("Which of these orders are late?"),))]
    for step in range((messages - 1) // 2):
        call_id, tool = f"call_{step}", TOOLS[step % len(TOOLS)]
        window.append(Message("assistant", (ToolCall(call_id, tool, {"page": step}),)))
        window.append(Message("tool", (ToolResult(call_id, None, f"row {step}: " + "late " * 60),)))
    return tuple(window)


def visit(window: Sequence[Message], births: Sequence[Born], strategy: SlidingWindow) -> int:
    """One visit; how many messages left."""
    input = visit_input(
        window,
        births=births,
        call_number=900,
        iteration=900,
        run_id="run",
        now=2_000.0,
        standing=standing,
    )
    result = strategy.plan(input)
    if result is None or not allowed(result, input):
        raise SystemExit("the visit did not plan a window")
    return result.record.removed_message_count


def first_visit(window: tuple[Message, ...], strategy: SlidingWindow) -> Callable[[], object]:
    """The planner's way at the first call of a process that finds a long list."""
    planner = Planner(new_id=lambda: "run")
    return lambda: plan(planner, window, strategy)


def next_visit(window: tuple[Message, ...], strategy: SlidingWindow) -> Callable[[], object]:
    """The planner's way when the list has grown by one step."""
    planner = Planner(new_id=lambda: "run")
    planned = plan(planner, window[:-2], strategy)
    call = Call(messages=planned.window, outputs=(Output(window[-2]),), now=1_999.0, ref=CallRef(5, 7), input_tokens=9)
    change = WindowChange("start", "application", 0, len(planned.window), 0, 0)
    at = planned.turn, planned.iteration
    planner.complete(planned, call, Decisions("a", False, "explicit", 1, None, *at, change, 0))
    return lambda: plan(planner, window, strategy)


def plan(planner: Planner, window: tuple[Message, ...], strategy: SlidingWindow) -> Planned:
    """Begin, plan, commit."""
    request = PlanRequest(messages=window, tools=TOOLS, conversation_id="a", trace_id=5, now=2_000.0)
    visit = planner.begin(request, strategy=strategy, standings=lambda hint: standing)
    if visit.input is None:
        raise SystemExit("the strategy is not to be asked")
    planned = planner.commit(visit, strategy.plan(visit.input))
    if not planned.decided:
        raise SystemExit("the visit did not plan a window")
    return planned


def standing(ref: str) -> Standing | None:
    """Every tenth result was declared a fact."""
    return "fact" if ref.endswith("7") else None


def one_pass(window: Sequence[Message]) -> int:
    """The plainest thing one can do with every message."""
    chars = 0
    for message in window:
        if message.role != "system":
            chars += message.chars
    return chars


def median_ms(rounds: int, *made: Callable[[], Callable[[], object]]) -> list[float]:
    """The median of the processor time in milliseconds of what each of these makes, rounds interleaved.

    Making it is not counted.
    """
    times: list[list[float]] = [[] for _ in made]
    for number in range(rounds + 1):
        for make, taken in zip(made, times, strict=True):
            function = make()
            begun = time.thread_time()
            function()
            if number:  # the first round fills caches
                taken.append((time.thread_time() - begun) * 1000)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=41)
    options = parser.parse_args()
    names: list[str] = []
    made: list[Callable[[], Callable[[], object]]] = []
    small, large = agent_window(options.messages), agent_window(2 * options.messages)
    for name, left, step in (("one step leaves", False, next_visit), ("nearly all leave", True, first_visit)):
        names += [f"engine, {name}", f"planner, {name}"]
        made += [partial(engine, small, left), partial(engine, large, left)]
        made += [partial(step, window, strategy(window, left)) for window in (small, large)]
    *times, plain = median_ms(options.rounds, *made, lambda: partial(one_pass, small))
    print(f"{'':28}{'ms':>8}{'x one pass':>12}{'x at 2x messages':>18}")
    for name, once, twice in zip(names, times[::2], times[1::2], strict=True):
        print(f"{name:28}{once:8.2f}{once / plain:12.0f}{twice / once:18.2f}")
    print(f"{'one pass':28}{plain:8.3f}")


def strategy(window: Sequence[Message], nearly_all: bool) -> SlidingWindow:
    """One that lets nearly all of the window go, or only its oldest steps."""
    return SlidingWindow(6 if nearly_all else (len(window) - 1) // 2 - 7)


def engine(window: tuple[Message, ...], nearly_all: bool) -> Callable[[], object]:
    """The engine's part alone."""
    births = [Born(1_000.0 + i, CallRef(1, i + 1), i // 2) for i in range(len(window))]
    return partial(visit, window, births, strategy(window, nearly_all))


if __name__ == "__main__":
    main()
