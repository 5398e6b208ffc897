"""How fast one answer is judged against megabytes of results, beside the straightforward index and beside bare searching.

    python benchmarks/judge_speed.py [--megabytes 5] [--rounds 5] [--write-docs]

- Twenty values of every kind (identifiers, numbers, money, dates, times, units) are asked of JSON results by a conversation
  that has judged nothing yet. Half of them are there. Then the same is asked again, then twenty others, by the same
  conversation. The results are one long one, a hundred, or a thousand.
- *oracle*: the straightforward index of the tests. It reads every result whole, files every token with its segments and every
  typed value, and then judges the same answer; the two judgements must be equal.
- *str.find*: twenty passes over the same text, each for a spelling that is not there.
- All in one process, rounds interleaved, medians of processor time; only ratios to what was measured in the same run are figures. Memory is what
  judging allocates at its peak beyond the results themselves.
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


def load(name: str, *, size: int, parts: int) -> Load:
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
        there = [_spelled(row, number) for number, row in enumerate(picked)]
        absent = [_spelled(_other(row, rng), number) for number, row in enumerate(picked)]
        answers.append("\n".join(f"- {one}" for pair in zip(there, absent, strict=True) for one in pair))
        values.append((*there, *absent))
    return Load(name, results, answers[0], answers[1], values[0])


def _spelled(row: dict[str, object], number: int) -> str:
    day, clock = str(row["created_at"]).split("T")
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[int(day[5:7]) - 1]
    hour = int(clock[:2])
    kinds = [
        str(row["order_id"]),
        f"${row['total_usd']:,.2f}",
        f"{month} {int(day[8:])}, {day[:4]}",
        str(row["size_bytes"]),
        f"{hour % 12 or 12}:{clock[3:5]} {'AM' if hour < 12 else 'PM'}",
        str(row["device"]),
        f"{int(str(row['size_bytes'])) / 1e6:.2f} MB",
    ]
    return kinds[number % len(kinds)]


def _other(row: dict[str, object], rng: random.Random) -> dict[str, object]:
    """A record that no result holds."""
    return {
        **row,
        "order_id": f"W{rng.randrange(10**7, 10**8)}",
        "device": f"naa.{rng.randrange(16**13, 16**14):x}",
        "created_at": f"2031{str(row['created_at'])[4:11]}{rng.randrange(24):02d}:{rng.randrange(60):02d}:07",
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
    start = time.process_time()
    work()
    return time.process_time() - start


def _by_oracle(results: tuple[str, ...], text: str) -> Judgement:
    return _judge(oracle.oracle_of(corpus_of(results)), text)


def _find(results: tuple[str, ...], values: tuple[str, ...]) -> None:
    for value in values:
        needle = f"{value}~"
        for content in results:
            content.find(needle)


def _judge(corpus: Corpus, text: str) -> Judgement:
    return corpus.judge(text, turn=1, tools_offered=True)


def measure(one: Load, rounds: int) -> list[str]:
    """One row of the table."""
    first, again, second, find = [], [], [], []
    for _ in range(rounds):
        corpus = corpus_of(one.results)
        first.append(timed(partial(_judge, corpus, one.first)))
        again.append(timed(partial(_judge, corpus, one.first)))
        second.append(timed(partial(_judge, corpus, one.second)))
        find.append(timed(lambda: _find(one.results, one.values)))
    start = time.process_time()
    expected = _by_oracle(one.results, one.first)
    by_oracle = time.process_time() - start
    corpus = corpus_of(one.results)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    judgement = _judge(corpus, one.first)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    if judgement != expected:
        raise AssertionError("the oracle judges otherwise")
    of_find = statistics.median(find)
    ratio = {
        name: statistics.median(times) / of_find
        for name, times in (("first", first), ("again", again), ("second", second))
    }
    accounted = sum(not value.flagged for value in judgement.values)
    return [
        one.name,
        f"{judgement.candidates} ({accounted} found)",
        f"{by_oracle / statistics.median(first):.0f} ×",
        f"{ratio['first']:.1f} ×",
        f"{ratio['second']:.1f} ×",
        f"{ratio['again']:.1f} ×",
        f"{(peak - before) / 1e6:.0f} MB ({(kept - before) / 1e6:.0f} MB kept)",
        f"{statistics.median(first) * 1000:.0f} ms",
    ]


HEAD = (
    "results", "values", "the oracle takes", "first answer, of 20 × str.find", "20 other values after it", "the same values again",
    "memory at its peak", "first answer",
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
    for parts in (1, 100, 1000):
        name = f"{arguments.megabytes:g} MB in {parts:,} result{'s' if parts > 1 else ''}"
        rows.append(measure(load(name, size=size, parts=parts), arguments.rounds))
    text = table(HEAD, rows)
    print(text)
    if arguments.write_docs:
        write_between(PAGE, "speed", text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
