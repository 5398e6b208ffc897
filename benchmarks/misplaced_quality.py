"""How well misplaced values are found: RotoWire's gold, false alarms on real conversations, and recall on swapped rows.

RotoWire: each box score is the one tool result, each summary the answer. A number counts as found when a misplaced or a
flagged span overlaps a NUMBER error of the gold. Precision is given twice: strict (only NUMBER errors are right) and with
those beside a name that the gold calls wrong, since then the number is another's all the same.

Swaps: in real answers, a value that the named row carries is replaced by what another row carries in the same field. What
is not judged at all (two names in the sentence, values that stand elsewhere too) is listed as not reported.

Run it with ``python benchmarks/misplaced_quality.py [--list]``; it needs the real data (``--data`` or the environment
variable OTEL_FOOTPRINT_SHARED_DATA) and says so where that is absent.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from quality_replay import CORPORA, ROOT, replay

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement, Misplaced
from otel_footprint.core.messages import ToolResult


@dataclass(frozen=True)
class Error:
    """One error of the gold, with its span in the judged text."""

    kind: str
    start: int
    end: int
    correction: str | None


def gold(example: dict, text: str) -> list[Error]:
    """The errors of an example; their spans are those of the tokenised answer, moved to the judged text."""
    source = example["answer"]
    ours = [place for place, char in enumerate(text) if not char.isspace()]
    theirs = [place for place, char in enumerate(source) if not char.isspace()]
    moved: dict[int, int] = {}
    blocks = difflib.SequenceMatcher(
        None, [source[place] for place in theirs], [text[place] for place in ours], autojunk=False
    ).get_matching_blocks()
    for block in blocks:
        for step in range(block.size):
            moved[theirs[block.a + step]] = ours[block.b + step]
    errors = []
    for error in example["errors"]:
        places = [moved[place] for place in range(error["start"], error["end"]) if place in moved]
        if places:
            errors.append(Error(error["type"], places[0], places[-1] + 1, error["correction"]))
    return errors


def judged(source: str, answer: str) -> Judgement:
    """One answer about one tool result."""
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("call_1", "get", source), ref="call_1", tool="get", turn=1, served=None)
    return corpus.judge(answer, turn=1, tools_offered=True)


def places(judgement: Judgement) -> Iterator[Misplaced]:
    """Every misplaced occurrence of an answer."""
    for value in judgement.values:
        yield from value.misplaced


def rotowire(path: Path, *, listing: bool, field: str) -> None:
    """Print precision and recall against the gold."""
    hits = misses = beside_name = errors = found = nobody = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        example = json.loads(line)
        text = example[field]
        errors_here = gold(example, text)
        numbers = [error for error in errors_here if error.kind == "NUMBER"]
        names = [error for error in errors_here if error.kind == "NAME"]
        judgement = judged(json.dumps(example["source"]), text)
        reports = [(place.span, place) for place in places(judgement)]
        reports += [(span, None) for value in judgement.values if value.flagged for span in value.spans]
        covered: set[int] = set()
        for (start, end), place in reports:
            right = [number for number, error in enumerate(numbers) if error.start < end and start < error.end]
            covered.update(right)
            hits += bool(right)
            nobody += place is not None and not place.belongs_to
            if right:
                continue
            misses += 1
            sentence = text.rfind(". ", 0, start) + 1, text.find(". ", end) % (len(text) + 1)
            wrong_name = place is not None and any(
                sentence[0] <= error.start < sentence[1] and place.named in text[error.start : error.end]
                for error in names
            )
            beside_name += wrong_name
            if listing:
                why = "the name is wrong" if wrong_name else "no gold error"
                print(f"    {example['id']} {why}: {place} …{text[max(0, start - 90) : end + 30]}…")
        errors += len(numbers)
        found += len(covered)
    reported = hits + misses
    print(f"rotowire ({field}): {errors} NUMBER errors, {reported} reports ({nobody} of them nobody's)")
    print(f"  recall {found / errors:.1%}   precision {hits / reported:.1%} strict, ", end="")
    print(f"{(hits + beside_name) / reported:.1%} with numbers beside a wrong name")


def alarms(name: str, path: Path, *, listing: bool) -> None:
    """Print how often anything is reported on answers of real conversations."""
    answers, reports = 0, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        example = json.loads(line)
        if "messages" in example:
            judgements = [(one.text, one.judgement) for one in replay(example["messages"], str(number))]
        else:
            source = example["source"]
            given = source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
            judgements = [(example["answer"], judged(given, example["answer"]))]
        for text, judgement in judgements:
            answers += 1
            for place in places(judgement):
                reports += 1
                if listing:
                    start, end = place.span
                    around = text[max(0, start - 100) : end + 30].replace("\n", " ")
                    print(f"    {name}:{number} {place} …{around}…")
    print(f"{name}: {answers} answers, {reports} reported as misplaced")


def swaps(name: str, path: Path, *, listing: bool, limit: int = 300) -> None:
    """Print how many values that were swapped with another row's are reported."""
    rng = random.Random(7)
    done = reported = 0
    seconds: list[float] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        for answer in replay(json.loads(line)["messages"], str(number)):
            for text, span in _swapped(answer.text, answer.corpus, rng):
                if done == limit:
                    break
                start = time.perf_counter()
                judgement = answer.corpus.fork().judge(text, turn=answer.turn, tools_offered=True)
                seconds.append(time.perf_counter() - start)
                done += 1
                hit = any(place.span[0] < span[1] and span[0] < place.span[1] for place in places(judgement))
                reported += hit
                if listing and not hit:
                    around = text[max(0, span[0] - 100) : span[1] + 30].replace("\n", " ")
                    print(f"    not reported {name}:{number} {text[slice(*span)]!r} …{around}…")
    if done:
        median = statistics.median(seconds) * 1000
        print(
            f"{name}: {reported} of {done} swapped values reported ({reported / done:.1%}), {median:.1f} ms per answer"
        )


def _swapped(text: str, corpus: Corpus, rng: random.Random) -> Iterator[tuple[str, tuple[int, int]]]:
    """Answers in which one value of a named row is another row's of the same field."""
    for source in corpus._sources:
        for table in source.carried.tables.tables:
            for row in table.rows:
                names = [name for name in row.names if len(name) > 3 and name in text]
                for field, cells in row.cells.items() if names else ():
                    for cell in cells:
                        if cell in names or sum(char.isdigit() for char in cell) < 3 or text.count(cell) != 1:
                            continue
                        at = text.index(cell)
                        line = text[text.rfind("\n", 0, at) + 1 : at]
                        if not any(name in line for name in names) or text[at + len(cell)].isalnum():
                            continue
                        others = [
                            other.cells[field][0]
                            for other in table.rows
                            if other is not row and field in other.cells and other.cells[field][0] not in cells
                        ]
                        if others:
                            new = rng.choice(others)
                            yield text[:at] + new + text[at + len(cell) :], (at, at + len(new))


def main() -> int:
    """Run the corpora that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("OTEL_FOOTPRINT_SHARED_DATA", ROOT.parent / "shared" / "data"))
    )
    parser.add_argument("--list", action="store_true", help="list reports that look wrong, and swaps not reported")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"real data is not here: {arguments.data} (set OTEL_FOOTPRINT_SHARED_DATA)", file=sys.stderr)
        return 2
    for field in ("answer_detokenized", "answer"):
        rotowire(arguments.data / "rotowire" / "examples.dev.jsonl", listing=arguments.list, field=field)
    for name, path in {**CORPORA, "d2t": "d2t/examples.dev.jsonl"}.items():
        alarms(name, arguments.data / path, listing=arguments.list)
    for name, path in CORPORA.items():
        swaps(name, arguments.data / path, listing=arguments.list)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
