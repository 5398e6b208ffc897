"""A recording is judged as the same calls are judged live: list by list, answer by answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from otel_footprint.core.call import Call, Output
from otel_footprint.core.conversations import Conversations, Limits
from otel_footprint.core.decisions import Decisions
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import CallJudgement, Judgement
from otel_footprint.offline import format as formats
from otel_footprint.offline.judge import judge

Facts = tuple[Any, ...]


def facts(judgement: Judgement) -> Facts:
    """Everything but positions, which only a recording has, and refs, which only name results."""
    values = [
        (
            value.text,
            value.spans,
            value.shape,
            value.status,
            value.flagged,
            value.derivation,
            value.turn,
            [carrier.tool for carrier in value.carriers],
        )
        for value in judgement.values
    ]
    return judgement.verdict, judgement.reasons, judgement.candidates, judgement.earlier_turns_only, values


def argument_facts(call: CallJudgement) -> Facts:
    """Everything but positions."""
    values = [
        (
            value.text,
            value.paths,
            value.shape,
            value.status,
            value.unaccounted,
            value.derivation,
            value.turn,
            [carrier.tool for carrier in value.carriers],
        )
        for value in call.values
    ]
    return call.tool, call.tool_call_id, call.reasons, values


def live(conversation: formats.Conversation) -> Iterator[Decisions]:
    """One call per assistant message, each with everything in front of it."""
    messages = [native.message for native in conversation.natives]
    system = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    calls_tools = any(message.tool_calls or message.result for message in messages)
    ids = count()
    store = Conversations(evidence=Evidence(), limits=Limits(), new_id=lambda: str(next(ids)))
    for at, message in enumerate(messages):
        if message.role == "assistant":
            call = Call(
                system=tuple(messages[:system]),
                messages=tuple(messages[system:at]),
                outputs=(Output(message),),
                now=float(at),
                conversation_id="c",
                conversation_source="explicit",
                tools=("some",) if calls_tools else (),
            )
            yield store.observe(call)


@pytest.mark.parametrize("name", ["tau_airline", "tau_retail", "tau_assertions", "tau2/airline.jsonl"])
def test_real_runs(shared_data: Path, name: str) -> None:
    path = shared_data / name
    with (path if path.is_file() else path / "conversations.jsonl").open() as file:
        lines = [line for line, _ in zip(file, range(30), strict=False)]
    answers = passed_on = 0
    for line in lines:
        conversation = formats.read(json.loads(line))
        plain = judge(conversation, Evidence())
        found = judge(conversation, Evidence(), arguments=True)
        decided = list(live(conversation))

        offline = [facts(answer.judgement) for answer in found.answers]
        assert offline == [facts(judgement) for decisions in decided for judgement in decisions.judgements]
        assert offline == [facts(answer.judgement) for answer in plain.answers], "arguments change no verdict"

        calls = [call for answer in found.answers for call in answer.calls] + [*found.calls_after]
        arguments = [argument_facts(call) for call in calls]
        assert arguments == [argument_facts(call) for decisions in decided for call in decisions.calls]
        answers += len(offline)
        passed_on += sum(len(call.values) for call in calls)
    assert answers > 100
    assert passed_on > 100
