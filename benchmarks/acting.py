"""What acting on the window adds to a call, beside the same call that is only observed.

    python benchmarks/acting.py [--api openai] [--sizes 200 1000] [--rounds 5]

- Measured as in overhead.py: one process for each way, interleaved, the time between timers inside and outside of the
  instrumentation in the same call; CPU time of the calling thread.
- ``narrow``: ``SlidingWindow(12)``. Nearly all leaves at the first call of a conversation, one step at each later one; what
  is timed is a later one. ``wide``: a window that holds everything, so that every message is planned and all are sent.
- What is sent is smaller under a narrow window, so the rest (converting the messages for the hook) costs less than without.
"""

from __future__ import annotations

import argparse
import random
import statistics

from overhead import SAMPLES, Worker, spread

WAYS = {"observed": "footprint", "narrow": "footprint-window-12", "wide": "footprint-window-100000"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--api", choices=("openai", "anthropic"), default="openai")
    parser.add_argument("--sizes", nargs="+", type=int, default=[200, 1000])
    parser.add_argument("--kind", choices=("answer", "tool_call"), default="tool_call")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    workers = {way: Worker(variant, args.api) for way, variant in WAYS.items()}
    found: dict[tuple[str, int], list[float]] = {}
    order = random.Random(1)
    try:
        for worker in workers.values():
            worker.batch(args.sizes[0], args.kind, 2)
        for _ in range(args.rounds):
            jobs = [(way, size) for way in workers for size in args.sizes]
            order.shuffle(jobs)
            for way, size in jobs:
                times = workers[way].batch(size, args.kind, SAMPLES.get(size, 8))
                found.setdefault((way, size), []).append(statistics.median(times["cpu_added"]) / 1000)
    finally:
        for worker in workers.values():
            worker.close()
    print(f"| {args.api}, messages | way | added, µs | x observed |")
    print("|---:|---|---:|---:|")
    for size in args.sizes:
        observed = found["observed", size]
        for way in workers:
            middle, low, high = spread(found[way, size])
            ratio = statistics.median([mine / base for mine, base in zip(found[way, size], observed, strict=True)])
            print(f"| {size:,} | {way} | {middle:.0f} ({low:.0f} to {high:.0f}) | {ratio:.2f} |")


if __name__ == "__main__":
    main()
