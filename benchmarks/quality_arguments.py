"""The values that tool calls pass on: what is unaccounted in recorded runs, and which changed digits are found out.

    python benchmarks/quality_arguments.py [--corpus tau2_airline ...] [--mutations 60] [--flags]

Every call of a run is judged when it is emitted, against what was read and said by then. *Changed digits*: in a value that the
product accounts for one digit is changed so that the new value stands nowhere before; the call is judged again. ``figured``'s run
monitor, the peer made for the same job, gets the same runs and the same changed calls, with its defaults.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parent))

from quality_mutants import ACCOUNTED, Everything
from quality_replay import CORPORA, DATA, arguments_of, examples
from quality_tables import percent, table

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import CallJudgement
from otel_footprint.core.messages import ToolCall, ToolResult

_CLASS_OF_SHAPE = {
    "identifier": "identifiers, addresses",
    "uuid": "identifiers, addresses",
    "money": "amounts, numbers",
    "number": "amounts, numbers",
    "quantity": "amounts, numbers",
    "percent": "amounts, numbers",
    "date": "dates, times",
    "datetime": "dates, times",
    "time": "dates, times",
}
CLASSES = ("identifiers, addresses", "amounts, numbers", "dates, times")


@dataclass(frozen=True)
class Emitted:
    """One call of a run as it was emitted. ``corpus`` is the evidence by then, ``messages[:index]`` what stood before."""

    corpus_name: str
    conversation: str
    messages: list[dict]
    index: int
    place: int
    tool: str
    arguments: object
    corpus: Corpus
    turn: int
    before: str

    def judge(self) -> CallJudgement:
        """Judge it by the product."""
        return self.corpus.judge_call(ToolCall("next", self.tool, self.arguments), turn=self.turn)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Changed:
    """A call with one digit of a value changed."""

    kind: str
    value: str
    call: Emitted


def emitted(name: str, data: Path) -> Iterator[Emitted]:
    """The calls of a corpus."""
    for number, conversation in enumerate(examples(data / CORPORA[name])):
        yield from _of_run(name, str(number), conversation["messages"])


def _of_run(name: str, conversation: str, messages: list[dict]) -> Iterator[Emitted]:
    corpus = Corpus(Evidence())
    turn = results = calls_made = 0
    waiting: list[tuple[str, str | None]] = []
    before: list[str] = []
    for index, message in enumerate(messages):
        content = message.get("content") or ""
        before.append(content)
        if message["role"] in ("user", "system"):
            turn += message["role"] == "user"
            corpus.say(content)
        elif message["role"] == "tool":
            results += 1
            wanted = message.get("tool_call_id")
            paired = next((one for one in waiting if wanted is None or one[1] == wanted), None)
            if paired is not None:
                waiting.remove(paired)
            ref = paired[0] if paired is not None else f"result:{results}"
            corpus.result(
                ToolResult(wanted, message.get("name"), content),
                ref=ref,
                tool=message.get("name"),
                turn=turn,
                served=None,
            )
        else:
            calls = message.get("tool_calls") or []
            if content and not calls:
                corpus.judge(content, turn=turn, tools_offered=True)  # what an answer worked out is known from then on
            spelled = [
                (call["function"]["name"], arguments_of(call["function"]["arguments"]), call.get("id"))
                for call in calls
            ]
            for place, (tool, arguments, _) in enumerate(spelled):
                yield Emitted(
                    name, conversation, messages, index, place, tool, arguments, corpus.fork(), turn, "\n".join(before)
                )
            waiting = []
            for tool, arguments, id_ in spelled:
                calls_made += 1
                ref = f"call:{calls_made}"
                waiting.append((ref, id_))
                before.append(json.dumps(arguments, ensure_ascii=False))
                corpus.call(ToolCall(id_, tool, arguments), ref=ref, turn=turn)


class ArgumentChecker(Protocol):
    """Says which values of an emitted call nothing accounts for, as spelled, and how many it looked at."""

    name: str

    def check(self, call: Emitted) -> tuple[list[str], int]: ...


class Product:
    """The check of arguments of this project."""

    name = "otel-footprint"

    def check(self, call: Emitted) -> tuple[list[str], int]:
        """The unaccounted values."""
        values = call.judge().values
        return [value.text for value in values if value.unaccounted], len(values)


class FiguredRun:
    """``figured.agents.RunMonitor``: ``before_call`` after it was fed what stood before."""

    def __init__(self) -> None:
        self.name = f"figured, run monitor {metadata.version('figured')}"
        self._monitor = import_module("figured.agents").RunMonitor

    def check(self, call: Emitted) -> tuple[list[str], int]:
        """Values that are not sourced; those of a call it knows as harmless it does not look at."""
        monitor = self._monitor()
        for message in call.messages[: call.index]:
            _feed(monitor, message)
        before = call.messages[call.index]
        if before.get("content"):
            monitor.assistant(before["content"])
        for other in (before.get("tool_calls") or [])[: call.place]:
            monitor.before_call(
                other["function"]["name"], arguments_of(other["function"]["arguments"]), other.get("id")
            )
        checks = monitor.before_call(call.tool, call.arguments, "next").checks
        return [str(one.value) for one in checks if one.status != "sourced"], len(checks)


def _feed(monitor: object, message: dict) -> None:
    content = message.get("content") or ""
    match message["role"]:
        case "system":
            monitor.system(content)  # type: ignore[attr-defined]
        case "user":
            monitor.user(content)  # type: ignore[attr-defined]
        case "tool":
            monitor.tool_result(message.get("name") or "", content, message.get("tool_call_id"))  # type: ignore[attr-defined]
        case _:
            if content:
                monitor.assistant(content)  # type: ignore[attr-defined]
            for call in message.get("tool_calls") or []:
                function = call["function"]
                monitor.before_call(function["name"], arguments_of(function["arguments"]), call.get("id"))  # type: ignore[attr-defined]


def changed_calls(calls: Sequence[Emitted], limit: int, *, seed: int = 7) -> list[Changed]:
    """At most ``limit`` calls of each class with a digit changed."""
    rng = random.Random(seed)
    pool: dict[str, list[tuple[Emitted, str]]] = {}
    for call in calls:
        for value in call.judge().values:
            kind = _CLASS_OF_SHAPE.get(value.shape)
            if kind is not None and value.status in ACCOUNTED and any(map(str.isdigit, value.text)):
                pool.setdefault(kind, []).append((call, value.text))
    made: list[Changed] = []
    for kind, cases in sorted(pool.items()):
        rng.shuffle(cases)
        done = 0
        for call, spelled in cases:
            if done == limit:
                break
            one = _change(kind, call, spelled, rng)
            if one is not None:
                made.append(one)
                done += 1
    return made


def _change(kind: str, call: Emitted, spelled: str, rng: random.Random) -> Changed | None:
    everything = Everything(f"{call.before}\n{json.dumps(call.arguments, ensure_ascii=False)}")
    places = [place for place, char in enumerate(spelled) if char.isascii() and char.isdigit()]
    rng.shuffle(places)
    for place in places:
        for digit in rng.sample("0123456789", 10):
            after = spelled[:place] + digit + spelled[place + 1 :]
            if digit == spelled[place] or not everything.lacks(after):
                continue
            arguments = _replaced(call.arguments, spelled, after)
            if arguments != call.arguments:
                return Changed(kind, after, replace(call, arguments=arguments))
    return None


def _replaced(value: object, before: str, after: str) -> object:
    """The arguments with a spelling changed wherever it stands."""
    if isinstance(value, dict):
        return {key: _replaced(inner, before, after) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, before, after) for inner in value]
    if isinstance(value, str):
        return value.replace(before, after)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and str(value) == before:
        return json.loads(after)
    return value


def compare(names: Sequence[str], data: Path, limit: int, *, flags: bool = False) -> str:
    """The table: a row for each checker, the product first; the peer where it is installed."""
    calls = {name: list(emitted(name, data)) for name in names}
    made = [one for ofone in calls.values() for one in changed_calls(ofone, limit)]
    checkers: list[ArgumentChecker] = [Product()]
    try:
        checkers.append(FiguredRun())
    except (ImportError, metadata.PackageNotFoundError):
        print("figured is not installed, left out", file=sys.stderr)
    rows = []
    for checker in checkers:
        looked_at = unaccounted = 0
        times = []
        for call in (one for ofone in calls.values() for one in ofone):
            start = time.perf_counter()
            found, seen = checker.check(call)
            times.append((time.perf_counter() - start) * 1000)
            looked_at += seen
            unaccounted += len(found)
            if flags and found:
                print(f"    {checker.name} {call.corpus_name} {call.conversation}:{call.index} {call.tool} {found}")
        caught: Counter[str] = Counter()
        for one in made:
            found, _ = checker.check(one.call)
            hit = any(one.value in spelled or spelled in one.value for spelled in found)
            caught[one.kind] += hit
            if flags and not hit:
                print(
                    f"    {checker.name} missed {one.value!r} {one.call.corpus_name} {one.call.conversation}:{one.call.index}"
                )
        of = Counter(one.kind for one in made)
        rows.append(
            [
                checker.name,
                str(sum(map(len, calls.values()))),
                str(looked_at),
                f"{unaccounted} ({percent(unaccounted, looked_at)})",
            ]
            + [f"{caught[kind]} of {of[kind]} ({percent(caught[kind], of[kind])})" for kind in CLASSES]
            + [f"{statistics.median(times):.2f} ms"]
        )
    head = ("checker", "calls", "values looked at", "unaccounted", *(f"changed: {kind}" for kind in CLASSES), "median")
    return table(head, rows)


def main() -> int:
    """Measure the corpora that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--corpus", nargs="*", choices=[*CORPORA], default=[*CORPORA])
    parser.add_argument("--mutations", type=int, default=60)
    parser.add_argument("--flags", action="store_true")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"real data is not here: {arguments.data} (set OTEL_FOOTPRINT_SHARED_DATA)", file=sys.stderr)
        return 2
    print(compare(arguments.corpus, arguments.data, arguments.mutations, flags=arguments.flags))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
