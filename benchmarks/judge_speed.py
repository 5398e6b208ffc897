"""How fast one answer is judged against megabytes of results, beside a plain index and beside bare searching.

    python benchmarks/judge_speed.py [--megabytes 5] [--rounds 5] [--write-docs]

- Twenty values are asked of JSON results: identifiers and numbers, or one of every kind (money, dates, times, units too).
  Half of them are there. The results are one long one, or a hundred.
- *plain index*: the straightforward reading of the same results (the oracle of the tests), which knows tokens only.
- *str.find*: twenty passes over the same text, each for a spelling that is not there.
- All in one process, rounds interleaved, medians; only ratios are printed as figures. Memory is what judging allocates at its
  peak beyond the results themselves.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from quality_replay import ROOT
from quality_tables import table, write_between

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement
from otel_footprint.core.messages import ToolResult
from tests.core.evidence import oracle

PAGE = ROOT / "docs" / "evidence-quality.md"
_CITIES = ("Lisbon", "Osaka", "Quito", "Tromsø", "Leeds", "Accra", "Perth", "Turku")


@dataclass(frozen=True)
class Load:
    """Results and two answers about them, twenty values each."""

    name: str
    results: tuple[str, ...]
    first: str
    second: str
    values: tuple[str, ...]


def load(name: str, *, size: int, parts: int, every_kind: bool) -> Load:
    """Records of orders, about ``size`` characters of JSON in ``parts`` results."""
    rng = random.Random(11)
    rows: list[list[dict[str, object]]] = [[] for _ in range(parts)]
    length = place = 0
    while length < size:
        row: dict[str, object] = {
            "order_id": f"W{rng.randrange(10**6, 10**7)}",
            "device": f"naa.{rng.randrange(16**12):012x}",
            "city": rng.choice(_CITIES),
            "created_at": f"2025-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}T{rng.randrange(24):02d}:{rng.randrange(60):02d}:00",
            "total_usd": rng.randrange(10**4, 10**6) / 100,
            "size_bytes": rng.randrange(10**6, 10**9),
            "weight": f"{rng.randrange(1, 90)}.{rng.randrange(10)} kg",
        }
        rows[place * parts // max(1, size // 220) % parts].append(row)
        length += len(json.dumps(row)) + 2
        place += 1
    results = tuple(json.dumps(one) for one in rows if one)
    flat = [row for one in rows for row in one]
    answers, values = [], []
    for picked in (rng.sample(flat, 10), rng.sample(flat, 10)):
        there = [_spelled(row, every_kind, number) for number, row in enumerate(picked)]
        absent = [_spelled(_other(row, rng), every_kind, number) for number, row in enumerate(picked)]
        answers.append("\n".join(f"- {one}" for pair in zip(there, absent, strict=True) for one in pair))
        values.append((*there, *absent))
    return Load(name, results, answers[0], answers[1], values[0])


def _spelled(row: dict[str, object], every_kind: bool, number: int) -> str:
    day, clock = str(row["created_at"]).split("T")
    kinds = [str(row["order_id"]), str(row["device"]), str(row["size_bytes"])]
    if every_kind:
        month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[int(day[5:7]) - 1]
        hour = int(clock[:2])
        kinds = [
            kinds[0],
            f"${row['total_usd']:,.2f}",
            f"{month} {int(day[8:])}, {day[:4]}",
            f"{hour % 12 or 12}:{clock[3:5]} {'AM' if hour < 12 else 'PM'}",
            f"{int(str(row['size_bytes'])) / 1e6:.2f} MB",
        ]
    return kinds[number % len(kinds)]


def _other(row: dict[str, object], rng: random.Random) -> dict[str, object]:
    """A record that no result holds."""
    return {
        **row,
        "order_id": f"W{rng.randrange(10**7, 10**8)}",
        "device": f"naa.{rng.randrange(16**13, 16**14):x}",
        "created_at": str(row["created_at"]).replace("2025", "2031"),
        "total_usd": rng.randrange(10**6, 10**7) / 100,
        "size_bytes": rng.randrange(10**9, 10**10),
    }


def corpus_of(results: tuple[str, ...]) -> Corpus:
    """A conversation that read the results and judged nothing yet."""
    corpus = Corpus(Evidence())
    for place, content in enumerate(results):
        ref = f"call_{place}"
        corpus.result(ToolResult(ref, "find_orders", content), ref=ref, tool="find_orders", turn=1, served=None)
    return corpus


def timed(work: Callable[[], object]) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _index(results: tuple[str, ...], values: tuple[str, ...]) -> None:
    indexed = [oracle.index(content) for content in results]
    for value in values:
        any(value in forms for forms in indexed)


def _find(results: tuple[str, ...], values: tuple[str, ...]) -> None:
    for value in values:
        needle = f"{value}~"
        for content in results:
            content.find(needle)


def _judge(corpus: Corpus, text: str) -> Judgement:
    return corpus.judge(text, turn=1, tools_offered=True)


def measure(one: Load, rounds: int) -> list[str]:
    """One row of the table."""
    first, again, second, index, find = [], [], [], [], []
    for round_ in range(rounds):
        corpus = corpus_of(one.results)
        first.append(timed(partial(_judge, corpus, one.first)))
        again.append(timed(partial(_judge, corpus, one.first)))
        second.append(timed(partial(_judge, corpus, one.second)))
        find.append(timed(lambda: _find(one.results, one.values)))
        if round_ < 2:
            index.append(timed(lambda: _index(one.results, one.values)))
    corpus = corpus_of(one.results)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    judgement = _judge(corpus, one.first)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    middle = {
        name: statistics.median(times)
        for name, times in (("first", first), ("again", again), ("second", second), ("index", index), ("find", find))
    }
    accounted = sum(not value.flagged for value in judgement.values)
    return [
        one.name,
        f"{judgement.candidates} ({accounted} found)",
        f"{middle['first'] * 1000:.0f} ms",
        f"{middle['index'] / middle['first']:.0f} ×",
        f"{middle['first'] / middle['find']:.1f} ×",
        f"{middle['second'] * 1000:.1f} ms ({middle['second'] / middle['find']:.1f} ×)",
        f"{middle['again'] * 1000:.1f} ms",
        f"{(peak - before) / 1e6:.0f} MB ({(kept - before) / 1e6:.0f} MB kept)",
    ]


HEAD = (
    "results", "values", "first answer", "a plain index takes", "of 20 × str.find", "second answer, other values",
    "same values again", "memory at its peak",
)  # fmt: skip


def main() -> int:
    """Measure every load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write-docs", action="store_true", help="put the table into docs/evidence-quality.md")
    arguments = parser.parse_args()
    size = int(arguments.megabytes * 1e6)
    rows = []
    for parts in (1, 100):
        for every_kind in (False, True):
            kinds = "every kind" if every_kind else "identifiers and numbers"
            name = f"{arguments.megabytes:g} MB in {parts} result{'s' if parts > 1 else ''}, {kinds}"
            rows.append(measure(load(name, size=size, parts=parts, every_kind=every_kind), arguments.rounds))
    text = table(HEAD, rows)
    print(text)
    if arguments.write_docs:
        write_between(PAGE, "speed", text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
