"""How right the evidence check is on real answers: flags, statuses, time, mutation recall, and the same for its peers.

    make quality                                                       everything, peers in an environment of their own
    python benchmarks/evidence_quality.py --no-peers [--flags]         the product and the plain rule
    python benchmarks/evidence_quality.py --corpus tau2_airline --mutations 0 --no-peers --no-gold --flags

- *flagged* and *inconclusive* are shares of the answers that hold data.
- *Mutation recall*: of each accounted value one digit is changed so that the new value stands nowhere in the
  conversation; the answer is judged again, and the changed value must be flagged (``derivable`` counts as missed).
- Arguments of calls are judged beside the peer made for them, and every answer is judged by the oracle of the tests too.
- The seed is fixed, so two runs give the same figures; only the times differ.
- ``--write-docs`` puts the tables into docs/evidence-quality.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import quality_arguments
import quality_oracle
import quality_tables as tables
from quality_checkers import Checker, PlainRule, Product
from quality_figures import (
    CheckerFigures,
    OwnFigures,
    explain_missed,
    measure_answers,
    measure_mutants,
    own_figures,
)
from quality_gold import Score, d2t, rotowire
from quality_mutants import Mutant, mutants
from quality_peers import installed, told_the_fields
from quality_phones import phone_answers
from quality_replay import CORPORA, DATA, EXAMPLES, ROOT, Answer, answers_of

PAGE = ROOT / "docs" / "evidence-quality.md"


def show_flags(name: str, answers: Sequence[Answer]) -> None:
    """List what is flagged, derivable, or left open."""
    for answer in answers:
        judgement = answer.judgement
        for value in judgement.values:
            open_ended = judgement.verdict == "inconclusive" and value.status in ("unsupported", "argument_only")
            if value.flagged or value.status == "derivable" or open_ended:
                start = value.spans[0][0]
                around = answer.text[max(0, start - 60) : start + len(value.text) + 40].replace("\n", " ")
                where = f"[{name} {answer.conversation}:{answer.index}]"
                print(f"    {value.status:13} {value.shape:10} {value.text!r} {where} …{around}…")


def own(
    names: Sequence[str], data: Path, limit: int, *, flags: bool
) -> tuple[dict[str, list[Answer]], dict[str, str], list[Mutant]]:
    """The product on every corpus: its answers, the tables, and the mutants."""
    answers: dict[str, list[Answer]] = {}
    figures: dict[str, OwnFigures] = {}
    by_corpus: dict[str, CheckerFigures] = {}
    together = CheckerFigures("together")
    made: list[Mutant] = []
    product = Product()
    for name in names:
        answers[name] = answers_of(name, data)
        figures[name] = own_figures(answers[name])
        if flags and name in CORPORA:
            show_flags(name, answers[name])
        if limit:
            ours = mutants(answers[name], limit)
            by_corpus[name] = CheckerFigures(name)
            measure_mutants(product, ours, by_corpus[name])
            made += ours
            if flags:
                for mutant, _ in by_corpus[name].missed:
                    where = f"[{name} {mutant.answer.conversation}:{mutant.answer.index}]"
                    print(
                        f"    missed {mutant.kind}: {mutant.before!r} -> {mutant.after!r} {where} {explain_missed(mutant)}"
                    )
    if limit:
        phones = mutants(phone_answers(), limit)
        by_corpus["phones, made up"] = CheckerFigures("phones")
        measure_mutants(product, phones, by_corpus["phones, made up"])
    for one in by_corpus.values():
        for kind, (hit, done) in one.recall.items():
            so_far = together.recall.get(kind, (0, 0))
            together.recall[kind] = so_far[0] + hit, so_far[1] + done
    shown = {"corpora": tables.corpora(figures), "statuses": tables.statuses(figures)}
    if limit:
        shown["recall"] = tables.recall(by_corpus, together)
    return answers, shown, made


def compare(checkers: Sequence[Checker], answers: dict[str, list[Answer]], made: Sequence[Mutant]) -> dict[str, str]:
    """Every checker on the same answers and the same mutants."""
    conversations = [name for name in answers if name in CORPORA]
    measured: list[CheckerFigures] = []
    for checker in checkers:
        one = CheckerFigures(f"{checker.name} {checker.version}".strip())
        for name in conversations:
            measure_answers(checker, name, answers[name], one)
        measure_mutants(checker, made, one)
        measured.append(one)
        print(f"  measured {one.name}", file=sys.stderr, flush=True)
    shown = {}
    if conversations:
        shown["peers"] = tables.side_by_side(measured, conversations)
    if made:
        shown["peers-recall"] = tables.recall_side_by_side(measured)
    return shown


def against_gold(checkers: Sequence[Checker], data: Path) -> str:
    """Every checker against what people marked."""
    scores: dict[str, tuple[Score, Score]] = {}
    everyone = [("otel-footprint with misplaced", Product(misplaced=True))]
    everyone += [(f"{checker.name} {checker.version}".strip(), checker) for checker in checkers]
    for name, checker in everyone:
        scores[name] = d2t(checker, data), rotowire(checker, data)
    return tables.gold(scores)


def fewer(made: Sequence[Mutant], limit: int) -> list[Mutant]:
    """The first few of each class: what peers are measured on, being slower."""
    kept: dict[str, list[Mutant]] = {}
    for mutant in made:
        kept.setdefault(mutant.kind, []).append(mutant)
    return [one for ones in kept.values() for one in ones[:: max(1, len(ones) // limit)][:limit]]


def main() -> int:
    """Run the corpora that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--corpus", nargs="*", choices=[*CORPORA, *EXAMPLES], default=[*CORPORA, *EXAMPLES])
    parser.add_argument("--mutations", type=int, default=120, help="mutants of each class and corpus; 0 for none")
    parser.add_argument(
        "--peer-mutations", type=int, default=100, help="mutants of each class that peers are measured on"
    )
    parser.add_argument("--flags", action="store_true", help="list what is flagged, and the mutants that were missed")
    parser.add_argument("--no-peers", action="store_true", help="only the product and the plain rule")
    parser.add_argument("--no-gold", action="store_true", help="leave out the errors that people marked")
    parser.add_argument("--no-compare", action="store_true", help="leave out the answers and mutants side by side")
    parser.add_argument("--no-arguments", action="store_true", help="leave out the arguments of calls")
    parser.add_argument(
        "--no-oracle", action="store_true", help="leave out the comparison with the straightforward index"
    )
    parser.add_argument("--write-docs", action="store_true", help="put the tables into docs/evidence-quality.md")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"real data is not here: {arguments.data} (set OTEL_FOOTPRINT_SHARED_DATA)", file=sys.stderr)
        return 2
    peers, missing = ([], []) if arguments.no_peers else installed()
    if missing:
        print(f"not installed, left out: {', '.join(missing)} (make quality installs them)", file=sys.stderr)
    answers, shown, made = own(arguments.corpus, arguments.data, arguments.mutations, flags=arguments.flags)
    checkers: list[Checker] = [Product(), PlainRule(), *peers]
    if not arguments.no_compare:
        shown |= compare(checkers, answers, fewer(made, arguments.peer_mutations) if made else [])
    if not arguments.no_gold:
        shown["gold"] = against_gold([*checkers, *(told_the_fields() if peers else [])], arguments.data)
    runs = [name for name in arguments.corpus if name in CORPORA]
    if not arguments.no_arguments and runs:
        shown["arguments"] = quality_arguments.compare(runs, arguments.data, arguments.mutations)
        print("  measured arguments", file=sys.stderr, flush=True)
    if not arguments.no_oracle:
        compared = quality_oracle.rows(arguments.corpus, arguments.data, arguments.mutations // 6)
        shown["oracle"] = tables.table(quality_oracle.HEAD, compared)
    for name, text in shown.items():
        print(f"\n{name}\n\n{text}")
        if arguments.write_docs:
            tables.write_between(PAGE, name, text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
