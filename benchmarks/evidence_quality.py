"""How right the evidence check is on real conversations: flags, statuses, time per answer, and mutation recall.

    python benchmarks/evidence_quality.py [--data FOLDER] [--corpus NAME …] [--mutations N] [--flags]

- *flagged* and *inconclusive* are shares of the answers that hold data.
- *Mutation recall*: of each accounted value one digit is changed so that the new value stands nowhere in the
  conversation; the answer is judged again, and the changed value must be flagged (``derivable`` counts as missed).
- The seed is fixed, so two runs give the same figures; only the times differ.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from otel_footprint.core.evidence.corpus import Corpus  # noqa: E402
from otel_footprint.core.evidence.options import Evidence  # noqa: E402
from otel_footprint.core.evidence.verdicts import STATUSES, Judgement, Value  # noqa: E402
from otel_footprint.core.messages import ToolCall, ToolResult  # noqa: E402

ACCOUNTED = frozenset({"said", "read", "respelled", "computed", "echoed"})
CORPORA = {
    "tau_airline": "tau_airline/conversations.jsonl",
    "tau_retail": "tau_retail/conversations.jsonl",
    "tau2_airline": "tau2/airline.jsonl",
    "tau2_retail": "tau2/retail.jsonl",
    "tau_assertions": "tau_assertions/conversations.jsonl",
}


@dataclass
class Answer:
    """One judged answer and where it stands."""

    conversation: str
    index: int
    text: str
    corpus: Corpus
    turn: int
    everything: str
    judgement: Judgement
    seconds: float


@dataclass
class Report:
    """The figures of one corpus."""

    name: str
    answers: list[Answer] = field(default_factory=list)
    recall: dict[str, list[int]] = field(default_factory=dict)
    missed: list[tuple[str, str, str, str]] = field(default_factory=list)


def arguments_of(spelled: object) -> object:
    """Arguments as the providers give them: JSON text, a Python literal, or an object."""
    if not isinstance(spelled, str):
        return spelled
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(spelled)
        except (ValueError, SyntaxError):
            continue
    return spelled


def replay(messages: list[dict], name: str) -> Iterator[Answer]:
    """Feed one conversation through a corpus, message by message, judging every answer as it comes."""
    corpus = Corpus(Evidence())
    turn = 0
    open_calls: list[str] = []
    seen: Counter[str] = Counter()
    results = 0
    everything: list[str] = []
    for index, message in enumerate(messages):
        role, content = message["role"], message.get("content") or ""
        everything.append(content)
        if role in ("user", "system"):
            turn += role == "user"
            corpus.say(content)
        elif role == "assistant":
            calls = message.get("tool_calls") or []
            if not calls and content:
                start = time.perf_counter()
                judgement = corpus.judge(content, turn=turn, tools_offered=True)
                seconds = time.perf_counter() - start
                yield Answer(name, index, content, corpus, turn, "\n".join(everything), judgement, seconds)
            open_calls = []
            for place, call in enumerate(calls):
                id_ = call.get("id") or f"call:{index}:{place}"
                seen[id_] += 1
                ref = id_ if seen[id_] == 1 else f"{id_}#{seen[id_]}"
                open_calls.append(ref)
                everything.append(json.dumps(arguments_of(call["function"]["arguments"]), ensure_ascii=False))
                corpus.call(
                    ToolCall(id_, call["function"]["name"], arguments_of(call["function"]["arguments"])),
                    ref=ref,
                    turn=turn,
                    position=index,
                )
        elif role == "tool":
            results += 1
            wanted = message.get("tool_call_id")
            ref = next(
                (ref for ref in open_calls if wanted is None or ref.split("#")[0] == wanted), f"result:{results}"
            )
            if ref in open_calls:
                open_calls.remove(ref)
            corpus.result(
                ToolResult(wanted, message.get("name"), content),
                ref=ref,
                tool=message.get("name"),
                turn=turn,
                served=None,
                position=index,
            )


def mutation_class(value: Value) -> str | None:
    """The class a value's mutation counts in."""
    shape = value.shape
    if shape == "money":
        return "money, cents" if re.search(r"\.\d\d\b", value.text) else "money, whole"
    if shape in ("identifier", "percent", "date", "time", "phone", "datetime"):
        return {"datetime": "date"}.get(shape, shape)
    if shape in ("quantity", "duration"):
        return "number with unit"
    return "number" if shape == "number" else None


def mutated(value: Value, answer: Answer, rng: random.Random, cache: dict[int, Everything]) -> str | None:
    """The answer's text with one digit of the value changed wherever it stands; None when no change is new."""
    places = [place for place, char in enumerate(value.text) if char.isascii() and char.isdigit()]
    rng.shuffle(places)
    for place in places:
        digits = [digit for digit in "0123456789" if digit != value.text[place]]
        rng.shuffle(digits)
        for digit in digits:
            changed = value.text[:place] + digit + value.text[place + 1 :]
            if not _new(changed, answer, cache):
                continue
            text = answer.text
            for start, end in sorted(value.spans, reverse=True):
                if text[start:end] == value.text:
                    text = text[:start] + changed + text[end:]
            return text
    return None


def _new(changed: str, answer: Answer, cache: dict[int, Everything]) -> bool:
    """Whether the changed value stands nowhere before, in any spelling a reader would take for it."""
    everything = cache.get(id(answer))
    if everything is None:
        everything = cache[id(answer)] = Everything(answer.everything + "\n" + answer.text)
    return everything.lacks(changed)


class Everything:
    """All text up to an answer, with the dates, clock times and numbers in it, read without the product's help."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = text.lower()
        days = set(_days(text))
        self.days = days | {(0, day) for _, day in days}
        self.minutes = set(_minutes(text))
        self.numbers = {_plain(number) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}

    def lacks(self, changed: str) -> bool:
        """Whether neither the spelling nor the value stands in the text, and the value is one at all."""
        if changed.lower() in self.folded or re.match(r"\D*0\d", changed):
            return ":" in changed and changed.lower() not in self.folded and self._no_moment(changed)
        days, minutes = list(_days(changed)), list(_minutes(changed))
        if days or minutes:
            return self._no_moment(changed)
        if re.search(r"\d-\d|[A-Za-z]{3,9}\.? \d|\d(?:st|nd|rd|th)\b|\d:\d", changed):
            return False  # what was a date or a time is none any more
        found = re.findall(r"\d[\d,]*(?:\.\d+)?", changed)
        if len(found) == 1 and not re.search(r"[A-Za-z_-]\d|\d[A-Za-z_-]*\d*[A-Za-z_-]\d", changed):
            return _plain(found[0]) not in self.numbers and float(_plain(found[0]) or 0) != 0
        return True

    def _no_moment(self, changed: str) -> bool:
        days, minutes = list(_days(changed)), list(_minutes(changed))
        return bool(days or minutes) and (
            any(day not in self.days for day in days) or any(minute not in self.minutes for minute in minutes)
        )


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _days(text: str) -> Iterator[tuple[int, int]]:
    """Every (month, day) a text can be read to name."""
    for _, month, day in re.findall(r"(\d{4})[-/](\d\d?)[-/](\d\d?)", text):
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            yield int(month), int(day)
    for one, other in re.findall(r"(?<![\d/])(\d\d?)/(\d\d?)(?![\d])", text):
        yield int(one), int(other)
        yield int(other), int(one)
    word = "|".join(_MONTHS)
    for month, day, until in re.findall(
        rf"(?i)\b({word})[a-z]*\.?,? (\d\d?)(?:st|nd|rd|th)?(?:\s?[-–/]\s?(\d\d?))?\b", text
    ):
        for number in range(int(day), int(until or day) + 1):
            yield _MONTHS.index(month.lower()) + 1, number
    for day, month in re.findall(rf"(?i)\b(\d\d?)(?:st|nd|rd|th)? (?:of )?({word})[a-z]*", text):
        yield _MONTHS.index(month.lower()) + 1, int(day)
    for day in re.findall(r"(?i)\b(\d\d?)(?:st|nd|rd|th)\b", text):
        yield 0, int(day)


def _minutes(text: str) -> Iterator[int]:
    """Every minute of a day a text can be read to name."""
    for hour, minute, half in re.findall(r"(?i)(?<![\d:])(\d\d?):(\d\d)(?::\d\d)?(?:\s?([ap])\.?m)?", text):
        if int(hour) > 23 or int(minute) > 59:
            continue
        yield _of_day(int(hour), int(minute), half)
        if not half and int(hour) < 12:
            yield (int(hour) + 12) * 60 + int(minute)
    for hour, half in re.findall(r"(?i)(?<![\d:])(\d\d?)\s?([ap])\.?m\b", text):
        if int(hour) <= 12:
            yield _of_day(int(hour), 0, half)


def _of_day(hour: int, minute: int, half: str) -> int:
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return hour * 60 + minute


def _plain(number: str) -> str:
    plain = number.replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def mutate(report: Report, limit: int) -> None:
    """Fill in the report's recall, at most ``limit`` values of each class."""
    rng = random.Random(7)
    cache: dict[int, Everything] = {}
    pool: dict[str, list[tuple[Answer, Value]]] = {}
    for answer in report.answers:
        for value in answer.judgement.values:
            kind = mutation_class(value)
            if kind is not None and value.status in ACCOUNTED and len(value.spans) <= 4:
                pool.setdefault(kind, []).append((answer, value))
    for kind, cases in sorted(pool.items()):
        rng.shuffle(cases)
        done = hit = 0
        for answer, value in cases:
            if done == limit:
                break
            text = mutated(value, answer, rng, cache)
            if text is None:
                continue
            judged = answer.corpus.fork().judge(text, turn=answer.turn, tools_offered=True)
            start = value.spans[0][0]
            found = [
                one
                for one in judged.values
                for span in one.spans
                if span[0] < start + len(value.text) and span[1] > start
            ]
            done += 1
            if any(one.flagged for one in found):
                hit += 1
            else:
                states = ",".join(one.status for one in found) or "not data"
                derived = "; ".join(f"{one.derivation.name}{one.derivation.inputs}" for one in found if one.derivation)
                now = text[start : start + len(value.text)]
                report.missed.append(
                    (kind, value.text, now, f"{states} {derived} [{answer.conversation}:{answer.index}]")
                )
        report.recall[kind] = [hit, done]


def run(name: str, path: Path, mutations: int) -> Report:
    """Replay one corpus. Mutants are judged against the corpus as it stood, so they are made while replaying."""
    report = Report(name)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        conversation = json.loads(line)
        for answer in replay(conversation["messages"], str(number)):
            report.answers.append(
                Answer(
                    answer.conversation,
                    answer.index,
                    answer.text,
                    answer.corpus.fork() if mutations else answer.corpus,
                    answer.turn,
                    answer.everything,
                    answer.judgement,
                    answer.seconds,
                )
            )
    if mutations:
        mutate(report, mutations)
    return report


def show(report: Report, *, flags: bool) -> None:
    """Print one corpus."""
    judgements = [answer.judgement for answer in report.answers]
    data = [judgement for judgement in judgements if judgement.candidates]
    flagged = sum(judgement.verdict == "ungrounded" for judgement in data)
    inconclusive = sum(judgement.verdict == "inconclusive" for judgement in data)
    statuses = Counter(value.status for judgement in data for value in judgement.values)
    times = sorted(answer.seconds * 1000 for answer in report.answers)
    print(f"\n{report.name}: {len(judgements)} answers, {len(data)} with data")
    print(
        f"  flagged {flagged} ({flagged / max(len(data), 1):.1%})   inconclusive {inconclusive} "
        f"({inconclusive / max(len(data), 1):.1%})"
    )
    print("  values  " + "  ".join(f"{status} {statuses[status]}" for status in STATUSES if statuses[status]))
    print(
        f"  time    median {statistics.median(times):.2f} ms  p99 {times[int(len(times) * 0.99)]:.2f} ms  "
        f"total {sum(times) / 1000:.2f} s"
    )
    for kind, (hit, done) in report.recall.items():
        print(f"  recall  {kind}: {hit}/{done}" + (f" ({hit / done:.1%})" if done else ""))
    if flags:
        for answer in report.answers:
            for value in answer.judgement.values:
                if (
                    value.flagged
                    or value.status == "derivable"
                    or (answer.judgement.verdict == "inconclusive" and value.status == "unsupported")
                ):
                    start = value.spans[0][0]
                    around = answer.text[max(0, start - 60) : start + len(value.text) + 40].replace("\n", " ")
                    print(
                        f"    {value.status:13} {value.shape:10} {value.text!r} [{answer.conversation}:{answer.index}] …{around}…"
                    )
        for kind, before, after, states in report.missed:
            print(f"    missed {kind}: {before!r} -> {after!r}: {states}")


def show_totals(reports: list[Report]) -> None:
    """Print what holds over all corpora together."""
    recall: dict[str, list[int]] = {}
    for report in reports:
        for kind, (hit, done) in report.recall.items():
            for name in dict.fromkeys((kind, kind.partition(",")[0])):
                total = recall.setdefault(name, [0, 0])
                total[0] += hit
                total[1] += done
    if recall:
        print("\nall corpora together")
    for kind, (hit, done) in sorted(recall.items()):
        print(f"  recall  {kind}: {hit}/{done}" + (f" ({hit / done:.1%})" if done else ""))


def main() -> int:
    """Run the corpora that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("OTEL_FOOTPRINT_SHARED_DATA", ROOT.parent / "shared" / "data"))
    )
    parser.add_argument("--corpus", nargs="*", choices=sorted(CORPORA), default=list(CORPORA))
    parser.add_argument("--mutations", type=int, default=120, help="mutants of each class and corpus; 0 for none")
    parser.add_argument("--flags", action="store_true", help="list what is flagged, and the mutants that were missed")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"real data is not here: {arguments.data} (set OTEL_FOOTPRINT_SHARED_DATA)", file=sys.stderr)
        return 2
    reports = []
    for name in arguments.corpus:
        reports.append(run(name, arguments.data / CORPORA[name], arguments.mutations))
        show(reports[-1], flags=arguments.flags)
    show_totals(reports)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
