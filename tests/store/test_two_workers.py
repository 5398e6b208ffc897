"""Two worker processes that share a Redis server go on with one conversation as one process would."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from redis_server import RedisServer

from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse

WORKER = Path(__file__).with_name("store_worker.py")
FACT = {"subject": {"kind": "order", "id": "A"}, "predicate": "total"}


def calls(order: str, id_: str, findings: dict[str, Any] | None = None) -> ToolCalls:
    arguments: dict[str, Any] = {"id": order}
    return ToolCalls([ToolUse("get_order", {**arguments, "_findings": findings} if findings else arguments, id_)])


def says(id_: str, standing: str, **more: Any) -> dict[str, Any]:
    return {"basis": "direct", "previous": [{"toolCallId": id_, "standing": standing, **more}]}


RESULTS = {
    "A": {"order": "W-5918442", "total": 84.5},
    "B": {"order": "W-7731901", "total": 99.25},
    "C": {"order": "W-4410277", "total": 12.75},
    "D": {"order": "W-8810355", "items": []},
}
SCRIPT = [
    calls("A", "call_1"),
    Text("Order W-5918442 comes to 84.50."),
    calls("B", "call_2", says("call_1", "fact", assertions=[{**FACT, "value": 84.5}])),
    Text("W-7731901 comes to 99.25, both together to 183.75."),
    calls("C", "call_1", says("call_2", "fact", assertions=[{**FACT, "value": 99.25}])),
    Text("W-4410277 comes to 12.75."),
    calls("D", "call_4", says("call_1#2", "noise")),
    Text("It was W-4410277, I think."),
    Text("And W-5918442 before."),
    Text("There was no W-9999999."),
]
QUESTIONS = ["What is A?", "And B?", "And C?", "And D?", "Which was first?", "Another?"]


@contextmanager
def worker(**settings: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(WORKER), json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        yield process
    finally:
        process.kill()
        process.wait()


def ask(process: subprocess.Popen[str], given: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(given) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def converse(stores: Sequence[str | None], order: Sequence[int], window: int | None) -> list[dict[str, Any]]:
    """The questions, each to the worker that ``order`` names; what was decided about all calls."""
    history: list[Any] = []
    decided: list[dict[str, Any]] = []
    with ExitStack() as stack:
        provider = stack.enter_context(ScriptedProvider(SCRIPT))
        workers = [
            stack.enter_context(worker(store=store, provider=provider.openai_url, window=window, findings=True))
            for store in stores
        ]
        for question, which in zip(QUESTIONS, itertools.cycle(order)):
            found = ask(workers[which], {"id": "order-1", "question": question, "history": history, "results": RESULTS})
            assert found["faults"] == {}
            history, decided = found["history"], decided + found["decided"]
    assert len(decided) == len(SCRIPT)
    return decided


@cache
def alone_with(window: int | None) -> list[dict[str, Any]]:
    """What one process decides that shares with nobody."""
    return converse([None], [0], window)


@pytest.mark.parametrize("window", [None, 3])
def test_with_texts_everything_is_decided_as_in_one_process(redis_server: RedisServer, window: int | None) -> None:
    store = redis_server.url + "?text=1&wait_ms=20000"
    alone = alone_with(window)
    assert converse([store, store], [0, 1], window) == alone
    assert any(one["evicted"] for one in alone) == (window is not None)
    assert any(row["kind"] == "conflict" for one in alone for row in one["rows"])


@pytest.mark.parametrize("window", [None, 3])
def test_without_texts_turns_evictions_and_findings_agree(redis_server: RedisServer, window: int | None) -> None:
    store = redis_server.url + "?wait_ms=20000"
    alone = alone_with(window)
    apart = converse([store, store], [0, 0, 1], window)
    told = ("turn", "iteration", "thread", "decision", "by", "evicted")
    assert [[one[name] for name in told] for one in apart] == [[one[name] for name in told] for one in alone]
    model = [[row for row in one["rows"] if row["kind"] in ("basis", "standing", "conflict")] for one in apart]
    assert model == [[row for row in one["rows"] if row["kind"] in ("basis", "standing", "conflict")] for one in alone]
    for here, there in zip(alone, apart, strict=True):
        for (was, _), (now, _), reasons in zip(here["verdicts"], there["verdicts"], there["reasons"], strict=True):
            assert now == was or (now == "inconclusive" and "unseen_history" in reasons)
    assert alone[-1]["verdicts"][0][0] == "ungrounded"
    assert apart[-1]["verdicts"][0][0] == "inconclusive"
