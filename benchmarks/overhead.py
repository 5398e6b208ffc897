"""Added time per call of this project and of its peers, at several lengths of the conversation.

Rules
-----
- Every way of instrumenting runs in a process of its own, started once; the batches of all of them are interleaved in an
  order drawn anew each round, so that a busy machine hits all alike.
- Added time of a call = the time between two timers, inside and outside of the instrumentation, in the same call; minus the
  same without instrumentation (the timers' own). Subtracting whole calls of two processes instead (``--method between``)
  asks the same, but drowns in noise on long conversations, where the SDK itself takes hundreds of times longer.
- A round's figure is the median of its samples, a ratio is made inside a round; what is printed is the median over the
  rounds with the quartiles.
- Nothing is asserted: timings are not tests. Figures go to ``--json`` and as a table to stdout.

Run it with ``make bench``, or ``python benchmarks/overhead.py --rounds 3 --sizes 6 22`` for a quick look.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

VARIANTS = ("none", "official", "official-hook", "openllmetry", "openllmetry-no-content", "openinference", "footprint")
SIZES = (6, 22, 200, 1000)
KINDS = ("answer", "tool_call", "invented")
SAMPLES = {6: 16, 22: 16, 200: 6, 1000: 2}


class Worker:
    """One process that measures one variant."""

    def __init__(self, variant: str, api: str) -> None:
        script = Path(__file__).with_name("overhead_worker.py")
        self.variant = variant
        self.acts = variant.startswith("footprint-window-")  # a span for each visit that did something, too
        self.process = subprocess.Popen(
            [sys.executable, str(script), variant, api], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.what = self._read()["ready"]
        self.calls = 0

    def batch(self, size: int, kind: str, samples: int) -> dict[str, list[int]]:
        """Times in nanoseconds of ``samples`` calls."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"size": size, "kind": kind, "samples": samples}) + "\n")
        self.process.stdin.flush()
        self.calls += samples * (3 if size >= 6 else 2)
        answer = self._read()
        expected = 0 if self.variant == "none" else self.calls
        if answer["spans"] != expected and not (self.acts and answer["spans"] > expected):
            raise SystemExit(
                f"{self.variant}: {answer['spans']} spans for {expected} calls: the figures would mean nothing"
            )
        return answer

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker for {self.variant} ended with code {self.process.wait()}")
        return dict(json.loads(line))

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=60)


Medians = dict[tuple[str, int, str], list[float]]
"""Microseconds per round, by variant, size and kind."""


def run(args: argparse.Namespace) -> tuple[Medians, dict[tuple[int, str], list[float]], dict[str, str]]:
    """All rounds: the medians of each, those of the whole bare call, and what each variant was."""
    workers = [Worker(variant, args.api) for variant in args.variants]
    order = random.Random(args.seed)
    found: Medians = {}
    bare: dict[tuple[int, str], list[float]] = {}
    try:
        for worker in workers:  # imports, caches, the allocator: not what is asked for
            for size in args.sizes:
                worker.batch(size, "answer", 2)
        for number in range(args.rounds):
            jobs = [(worker, size, kind) for worker in workers for size in args.sizes for kind in args.kinds]
            order.shuffle(jobs)
            for worker, size, kind in jobs:
                times = worker.batch(size, kind, SAMPLES.get(size, 8))
                key = worker.variant, size, kind
                field = args.clock if args.method == "between" else f"{args.clock}_added"
                found.setdefault(key, []).append(statistics.median(times[field]) / 1000)
                if worker.variant == "none":
                    bare.setdefault((size, kind), []).append(statistics.median(times[args.clock]) / 1000)
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr)
    finally:
        for worker in workers:
            worker.close()
    return found, bare, {worker.variant: worker.what for worker in workers}


def spread(values: list[float]) -> tuple[float, float, float]:
    """Median, lower and upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def added(found: Medians, variant: str, size: int, kind: str) -> list[float]:
    """Added microseconds of each round."""
    return [mine - bare for mine, bare in zip(found[variant, size, kind], found["none", size, kind], strict=True)]


def tables(
    found: Medians, bare: dict[tuple[int, str], list[float]], what: dict[str, str], args: argparse.Namespace
) -> str:
    """The report in Markdown."""
    lines = [f"{args.api}; clock {args.clock}, method {args.method}, {args.rounds} rounds.", ""]
    lines += [f"- {variant}: {name}" for variant, name in what.items()]
    others = [variant for variant in args.variants if variant != "none"]
    for kind in args.kinds:
        noun = {"answer": "an answer", "tool_call": "a tool call", "invented": "an answer with an invented value"}[kind]
        lines += ["", f"Added microseconds of a call that returns {noun}: median (quartiles over the rounds)", ""]
        lines += ["| messages | bare call | " + " | ".join(others) + " |", "|---:" * (len(others) + 2) + "|"]
        for size in args.sizes:
            cells = [_cell(added(found, variant, size, kind), "{:.0f}") for variant in others]
            lines.append(f"| {size:,} | {statistics.median(bare[size, kind]):.0f} | " + " | ".join(cells) + " |")
    if {"footprint", "openllmetry", "official-hook"} <= set(args.variants):
        lines += [
            "",
            "Ratios and our own part (beyond the official instrumentation with a hook that does nothing):",
            "",
        ]
        lines += ["| messages | returns | ÷ OpenLLMetry | ÷ OpenInference | own part, µs | own part per message, µs |"]
        lines += ["|---:|---|---:|---:|---:|---:|"]
        lines += [_ratio_row(found, size, kind, args) for kind in args.kinds for size in args.sizes]
        lines += _slopes(found, args)
    return "\n".join(lines)


def own(found: Medians, size: int, kind: str) -> list[float]:
    """Microseconds beyond the official instrumentation with a hook that does nothing, of each round.

    With any hook the official one converts the messages for it: that is its own time, and the largest part of all.
    """
    mine, official = found["footprint", size, kind], found["official-hook", size, kind]
    return [a - b for a, b in zip(mine, official, strict=True)]


def _slopes(found: Medians, args: argparse.Namespace) -> list[str]:
    lines = []
    for low, high in itertools.pairwise(args.sizes):
        for kind in args.kinds:
            pairs = zip(own(found, low, kind), own(found, high, kind), strict=True)
            slope = _cell([(b - a) / (high - low) for a, b in pairs], "{:.2f}")
            lines += ["", f"Own part per further message from {low:,} to {high:,} messages ({kind}): {slope} µs"]
    return lines


def _ratio_row(found: Medians, size: int, kind: str, args: argparse.Namespace) -> str:
    cells = []
    mine = added(found, "footprint", size, kind)
    for peer in ("openllmetry", "openinference"):
        theirs = added(found, peer, size, kind) if peer in args.variants else []
        cells.append(_cell([a / b for a, b in zip(mine, theirs, strict=True) if b > 0], "{:.2f}") if theirs else "")
    part = own(found, size, kind)
    cells += [_cell(part, "{:.0f}"), _cell([value / size for value in part], "{:.2f}")]
    return f"| {size:,} | {kind} | " + " | ".join(cells) + " |"


def _cell(values: list[float], form: str) -> str:
    if not values:
        return "not measurable"
    middle, low, high = (form.format(value) for value in spread(values))
    return f"{middle} ({low} to {high})"


def put(report: str, page: Path, api: str) -> None:
    """Replace what stands between the marks of the page."""
    begin, end = f"<!-- figures: {api} -->", "<!-- end of figures -->"
    head, mark, rest = page.read_text().partition(begin)
    _, closing, tail = rest.partition(end)
    if not mark or not closing:
        raise SystemExit(f"{page}: no {begin} … {end} to put the figures between")
    page.write_text(f"{head}{begin}\n{report}\n{closing}{tail}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--api", choices=("openai", "anthropic"), default="openai")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--clock", choices=("cpu", "wall"), default="cpu", help="CPU time of the calling thread, or wall time"
    )
    parser.add_argument("--method", choices=("inside", "between"), default="inside")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, help="put the tables between this page's marks for the API")
    parser.add_argument("--json", type=Path, help="write the medians of every round here")
    args = parser.parse_args()
    if any(size % 2 or size < 2 for size in args.sizes):
        parser.error("--sizes takes even numbers from 2: every even size ends on a message that the model answers")
    if "none" not in args.variants:
        args.variants.insert(0, "none")
    found, bare, what = run(args)
    report = tables(found, bare, what, args)
    print(report)
    if args.page:
        put(report, args.page, args.api)
    if args.json:
        rows = [{"variant": v, "size": s, "kind": k, "us": values} for (v, s, k), values in found.items()]
        args.json.write_text(
            json.dumps({"clock": args.clock, "method": args.method, "api": args.api, "what": what, "rounds": rows})
        )


if __name__ == "__main__":
    main()
