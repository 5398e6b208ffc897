"""Findings in streams: the application is given what it would be given without them, and the model gets its own words back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import otel_footprint
from otel_footprint import Evidence
from otel_footprint.testing.provider import ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.streaming_agents import WAYS, Spoken

every_way = pytest.mark.parametrize("way", WAYS)
every_cut = pytest.mark.parametrize("pieces", [1, 7, 1000])

SEEN = Spoken('{"id": "1", "n": 1.50}', '{"id": "2"}', '{"order": "W-5918442", "total": 12.50}')
FIRST = '{"basis": "exploratory", "proposition": "an \\"order\\", {there}"}'
SECOND = '{"basis": "direct"}'
third = '{"basis": "direct", "previous": [{"toolCallId": "%s", "standing": "fact"}]}'


def written(ref: str) -> Spoken:
    return Spoken(
        f'{{"id": "1", "_findings": {FIRST}, "n": 1.50}}',
        f'{{"\\u005ffindings" : {SECOND} ,"id": "2"}}',
        f'{{"order": "W-5918442", "total": 12.50, "_findings": {third % ref}}}',
    )


def script(spoken: Spoken, way: str, pieces: int) -> list[Step]:
    ids = ("g_a", "g_b") if way.startswith("gemini") else ("call_a", "call_b")
    cut: Any = {"pieces": pieces, "call_pieces": pieces, "input_tokens": 9, "output_tokens": 9}
    uses = [
        ToolUse("get_order", arguments, id_) for arguments, id_ in zip((spoken.first, spoken.second), ids, strict=True)
    ]
    return [ToolCalls(uses, **cut), Text(spoken.answer, **cut), Text("Yes, W-5918442.", **cut)]


def first_ref(way: str) -> str:
    return "g_a" if way.startswith("gemini") else "call_a"


@every_cut
@every_way
def test_a_stream_is_what_it_would_be_without_findings(way: str, pieces: int, act: Callable[..., Sink]) -> None:
    with ScriptedProvider(script(SEEN, way, pieces)) as provider:
        without = WAYS[way](provider).talk(SEEN)
    act(findings=True)
    own = written(first_ref(way))
    with ScriptedProvider(script(own, way, pieces)) as provider, otel_footprint.conversation("c") as conversation:
        talker = WAYS[way](provider)
        given = talker.talk(SEEN)
        sent = [talker.words(request.json) for request in provider.requests]
    for (told, final), (told_without, final_without) in zip(given, without, strict=True):
        assert told == told_without
        assert final == final_without
    exact = not way.startswith(("anthropic", "gemini", "bedrock"))
    words = [own.first, own.second, own.answer]
    assert [len(one) for one in sent] == [0, 2, 3]
    for one in sent[1:]:
        for text, word in zip(one, words, strict=False):
            assert text == word if exact else json.loads(text) == json.loads(word)
    rows = conversation.findings.rows
    assert [row.kind for row in rows] == ["basis", "basis", "standing", "grounded", "grounded"]
    assert conversation.findings.standing_of(first_ref(way)) == "fact"
    assert [one.window.decision for one in conversation.decisions] == ["start", "append", "append"]


@every_way
def test_a_held_stream_is_peeled_too_when_it_is_played(way: str, act: Callable[..., Sink]) -> None:
    with ScriptedProvider(script(SEEN, way, 7)) as provider:
        without = WAYS[way](provider).talk(SEEN)
    act(findings=True, evidence=Evidence(posture="guard", hold_streams=True))
    own = written(first_ref(way))
    with ScriptedProvider(script(own, way, 7)) as provider:
        assert WAYS[way](provider).talk(SEEN) == without
