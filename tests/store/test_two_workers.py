"""Two worker processes that share a Redis server go on with one conversation as one process would."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from redis_server import RedisServer

from otel_footprint.testing.provider import ScriptedProvider, Step, Text, ToolCalls, ToolUse

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
    "D": [],
}
SCRIPT = [
    calls("A", "call_1"),
    Text("Order W-5918442 comes to 84.50."),
    calls("B", "call_2", says("call_1", "fact", assertions=[{**FACT, "value": 84.5}])),
    Text("W-7731901 comes to 99.25, both together to 183.75."),
    calls("C", "call_1", says("call_2", "fact", assertions=[{**FACT, "value": 99.25}])),
    Text("W-4410277 comes to 12.75."),
    calls("D", "call_4", says("call_1#2", "noise")),
    calls("B", "call_5", says("call_4", "ruled-out")),
    calls("A", "call_6", says("call_5", "open")),
    Text("It was W-7731901, I think."),
    Text("And W-5918442 before."),
    Text("There was no W-9999999."),
]
QUESTIONS = ["What is A?", "And B?", "And C?", "And D?", "Which was first?", "Another?"]


class Workers:
    """Some processes of one application, and the provider that they talk to."""

    def __init__(self, *stores: str | None) -> None:
        self._script: list[Step] = []
        self.provider = ScriptedProvider(lambda _: self._script.pop(0))
        self.processes = [
            subprocess.Popen(
                [sys.executable, str(WORKER), json.dumps({"store": store, "provider": self.provider.openai_url})],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for store in stores
        ]
        for process in self.processes:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "ready"

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.provider.close()

    def converse(self, order: Sequence[int], window: int | None) -> list[dict[str, Any]]:
        """A conversation of its own, each question to the worker that ``order`` names; what was decided about all calls."""
        self._script[:] = SCRIPT
        history: list[Any] = []
        decided: list[dict[str, Any]] = []
        for question, which in zip(QUESTIONS, itertools.cycle(order)):
            given = {
                "id": f"order-{window}",
                "window": window,
                "question": question,
                "history": history,
                "results": RESULTS,
                "declare": ["call_2", "open"] if question == "And C?" else None,
            }
            stdin, stdout = self.processes[which].stdin, self.processes[which].stdout
            assert stdin is not None
            assert stdout is not None
            stdin.write(json.dumps(given) + "\n")
            stdin.flush()
            found = json.loads(stdout.readline())
            assert found["faults"] == {}
            history, decided = found["history"], decided + found["decided"]
        assert len(decided) == len(SCRIPT)
        return decided


WINDOWS = (None, 3)


@pytest.fixture(scope="module")
def alone() -> dict[int | None, list[dict[str, Any]]]:
    """What one process decides that shares with nobody."""
    with Workers(None) as one:
        return {window: one.converse([0], window) for window in WINDOWS}


def test_with_texts_everything_is_decided_as_in_one_process(
    redis_server: RedisServer, alone: dict[int | None, list[dict[str, Any]]]
) -> None:
    store = redis_server.url + "?text=1&wait_ms=20000"
    with Workers(store, store) as two:
        for window in WINDOWS:
            assert two.converse([0, 1], window) == alone[window]
            assert any(one["evicted"] for one in alone[window]) == (window is not None)
            rows = [row for one in alone[window] for row in one["rows"]]
            assert {row["kind"] for row in rows} >= {"conflict", "contingent", "empty-undeclared"}


def test_without_texts_turns_evictions_and_findings_agree(
    redis_server: RedisServer, alone: dict[int | None, list[dict[str, Any]]]
) -> None:
    store = redis_server.url + "?wait_ms=20000"
    with Workers(store, store) as two:
        for window in WINDOWS:
            here, there = alone[window], two.converse([0, 0, 1], window)
            told = ("turn", "iteration", "thread", "decision", "by", "evicted")
            assert [[one[name] for name in told] for one in there] == [[one[name] for name in told] for one in here]
            assert [declared(one) for one in there] == [declared(one) for one in here]
            for one, other in zip(here, there, strict=True):
                verdicts = zip(one["verdicts"], other["verdicts"], other["reasons"], strict=True)
                for (was, _), (now, _), reasons in verdicts:
                    assert now == was or (now == "inconclusive" and "unseen_history" in reasons)
            assert here[-1]["verdicts"][0][0] == "ungrounded"
            assert there[-1]["verdicts"][0][0] == "inconclusive"


def declared(one: dict[str, Any]) -> list[Any]:
    """The rows that rest on what was declared and on results, not on verdicts."""
    return [row for row in one["rows"] if row["kind"] in ("basis", "standing", "conflict", "empty-undeclared")]
