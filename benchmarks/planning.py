"""What planning a window costs: one visit, from the list of messages to the strategy's answer.

    python benchmarks/planning.py [--messages 1000] [--rounds 41]

- An agent's window: a request, then steps of one call and its result. A visit reads the window, binds the refusal engine with
  both kinds of pins, and lets the strategy plan; the check of what it gives back is counted too.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from otel_footprint.core.call import CallRef
from otel_footprint.core.messages import Message, Text, ToolCall, ToolResult
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
        standing=lambda ref: "fact" if ref.endswith("7") else None,
    )
    result = strategy.plan(input)
    if result is None or not allowed(result, input):
        raise SystemExit("the visit did not plan a window")
    return result.record.removed_message_count


def one_pass(window: Sequence[Message]) -> int:
    """The plainest thing one can do with every message."""
    chars = 0
    for message in window:
        if message.role != "system":
            chars += message.chars
    return chars


def median_ms(rounds: int, *functions: Callable[[], object]) -> list[float]:
    """The median of each function's processor time in milliseconds, rounds interleaved."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, taken in zip(functions, times, strict=True):
            begun = time.thread_time()
            function()
            taken.append((time.thread_time() - begun) * 1000)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=41)
    options = parser.parse_args()
    loads = []
    for size in (options.messages, 2 * options.messages):
        window = agent_window(size)
        births = [
            Born(1_000.0 + i, CallRef(1, i + 1), i // 2, None if message.result is None else message.result.id)
            for i, message in enumerate(window)
        ]
        turns = (len(window) - 1) // 2 + 1
        loads.append((window, births, SlidingWindow(turns - 8), SlidingWindow(6)))
    (small, small_births, small_step, small_all), (large, large_births, large_step, large_all) = loads
    step, step_2, all_, all_2, plain = median_ms(
        options.rounds,
        lambda: visit(small, small_births, small_step),
        lambda: visit(large, large_births, large_step),
        lambda: visit(small, small_births, small_all),
        lambda: visit(large, large_births, large_all),
        lambda: one_pass(small),
    )
    print(f"{'':24}{'ms':>8}{'x one pass':>12}{'x at 2x messages':>18}")
    for name, once, twice in (("one step leaves", step, step_2), ("nearly all leave", all_, all_2)):
        print(f"{name:24}{once:8.2f}{once / plain:12.0f}{twice / once:18.2f}")
    print(f"{'one pass':24}{plain:8.3f}")


if __name__ == "__main__":
    main()
