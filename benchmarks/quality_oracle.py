"""Hold the product path equal to the straightforward index, on every answer of every corpus.

    python benchmarks/quality_oracle.py [--corpus tau2_airline ...] [--changed 2]

Each answer is judged twice: as the product does it, and by the oracle of the tests, which reads every text whole and files all
that it carries. The whole judgements must be equal: verdict, reasons, and of every value status, carriers, derivation, advice.
``--changed`` compares as many changed answers of each as well: one digit of an accounted value is another.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from quality_mutants import mutants
from quality_replay import CORPORA, DATA, EXAMPLES, Answer, answers_of
from quality_tables import NAMES, table

from otel_footprint.core.evidence.verdicts import Judgement
from tests.core.evidence.oracle import OracleText, as_long, oracle_of


@dataclass
class Compared:
    """How many judgements were compared, and those that differ."""

    answers: int = 0
    values: int = 0
    different: list[tuple[Answer, Judgement, Judgement]] = field(default_factory=list)


def compare(answers: Iterable[Answer], *, bulky: bool = False) -> Compared:
    """Judge answers by both. ``bulky`` has the product read the results as it reads very many and very long ones."""
    compared = Compared()
    known: dict[tuple[str, bool], OracleText] = {}
    for answer in answers:
        expected = oracle_of(answer.corpus, known).judge(answer.text, turn=answer.turn, tools_offered=True)
        if bulky:
            with as_long(answer.corpus, each=True) as corpus:
                found = corpus.judge(answer.text, turn=answer.turn, tools_offered=True)
        else:
            found = answer.judge()
        compared.answers += 1
        compared.values += len(found.values)
        if found != expected:
            compared.different.append((answer, found, expected))
    return compared


def with_changes(name: str, answers: Sequence[Answer], limit: int) -> Iterator[Answer]:
    """The answers, and as many of each class with a digit changed."""
    yield from answers
    if limit:
        yield from (mutant.answer for mutant in mutants(answers, limit))


def shown(one: Compared) -> Iterator[str]:
    """The differences, a line each."""
    for answer, found, expected in one.different:
        yield f"    [{answer.conversation}:{answer.index}] {found.verdict} {found.reasons}, oracle {expected.verdict} {expected.reasons}"
        for ours, theirs in zip(found.values, expected.values, strict=False):
            if ours != theirs:
                yield f"      {ours.text!r} {ours.status} {ours.derivation} oracle {theirs.status} {theirs.derivation}"
                if ours.status == theirs.status:
                    yield f"        {ours}\n        {theirs}"


HEAD = ("corpus", "judgements", "values", "equal", "equal, every result read as a long one")


def rows(names: Sequence[str], data: Path, limit: int, *, explain: bool = False) -> list[list[str]]:
    """A row of the table for each corpus."""
    found = []
    for name in names:
        answers = answers_of(name, data)
        plain = compare(with_changes(name, answers, limit))
        long = compare(with_changes(name, answers, limit), bulky=True)
        if explain:
            print(name, *shown(plain), "  as long:", *shown(long), sep="\n")
        found.append(
            [NAMES[name], str(plain.answers), str(plain.values)]
            + [f"{one.answers - len(one.different)} of {one.answers}" for one in (plain, long)]
        )
    return found


def main() -> int:
    """Compare; 1 when anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--corpus", nargs="*", choices=[*CORPORA, *EXAMPLES], default=[*CORPORA, *EXAMPLES])
    parser.add_argument("--changed", type=int, default=0)
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"real data is not here: {arguments.data} (set OTEL_FOOTPRINT_SHARED_DATA)", file=sys.stderr)
        return 2
    found = rows(arguments.corpus, arguments.data, arguments.changed, explain=True)
    print(table(HEAD, found))
    return int(any(row[3].split(" of ")[0] != row[1] or row[4].split(" of ")[0] != row[1] for row in found))


if __name__ == "__main__":
    raise SystemExit(main())
