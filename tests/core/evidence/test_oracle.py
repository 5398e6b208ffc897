"""The product judges as the straightforward index does: random conversations, and recorded ones.

By default every eighth recorded conversation is compared; ``OTEL_FOOTPRINT_ALL_DATA=1`` compares all, as ``make quality`` does.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.messages import Json, ToolCall, ToolResult
from tests.core.evidence.oracle import OracleText, as_long, oracle_of

STEP = 1 if os.environ.get("OTEL_FOOTPRINT_ALL_DATA") else 8
RUNS = (
    "tau_airline/conversations.jsonl",
    "tau_retail/conversations.jsonl",
    "tau2/airline.jsonl",
    "tau2/retail.jsonl",
    "tau_assertions/conversations.jsonl",
)
SPELLED = st.sampled_from(
    [
        "AB-4417", "ab_4417_x", "gift_card_7504069", "7504069", "$1,234.50", "1234.5", "$105", "98,304", "2024-05-20", "May 20",
        "May 20, 2024", "20.05.2024", "2024-05-20T07:05:00Z", "2024-05-20T09:05:00+02:00", "7:05 AM", "07:05", "07:05:00+1",
        "9:05 AM CEST", "16 GB", "16384 MB", "2.5 kg", "2,500 g", "72.5%", "0.725", "15 minutes", "HAT035+HAT066", "i5/16GB/512GB",
        "card ending in 4069", "+1 (555) 123-4567", "5551234567", "00:1b:44:11:3a:b7", "001b44113ab7", "1.12e-02", "0.0112",
        "three bags", "1716163200", "1716188700", "https://x.example/a/4417", "#W3916020", "4.417 thousand", "about $1,200",
        "2024-05-20 07:05:00+00:00", "2024-05-20 07:05:00", "2024-05-20 07:05 UTC", "2024-05-20 07:05:00Z",
        '1.7" inches', "1.7-inch", 'a 27" screen\nwith 16 GB', "27-inch",
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    ["id", "price", "total_usd", "size_kb", "created_at", "at", "weight", "unit", "phone", "share", "n", "note"]
)
LEAVES = st.one_of(
    SPELLED,
    st.integers(0, 20_000),
    st.sampled_from([1234.5, 0.725, 16.0, 121.20000000000005, 1716188700]),
    st.none(),
    st.booleans(),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


@st.composite
def results(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["json", "json", "rows", "text", "tail", "cut"]))
    if kind == "text":
        return " ".join(draw(st.lists(SPELLED, max_size=5)))
    if kind == "rows":
        fields = draw(st.lists(KEYS, min_size=1, max_size=3, unique=True))
        rows = draw(st.lists(st.tuples(*[LEAVES for _ in fields]), max_size=5))
        return json.dumps([dict(zip(fields, row, strict=True)) for row in rows])
    spelled = json.dumps(draw(TREES), ensure_ascii=draw(st.booleans()))
    return spelled + "\n" + draw(SPELLED) if kind == "tail" else spelled[:-3] if kind == "cut" else spelled


@settings(max_examples=150, deadline=None)
@given(
    said=st.lists(SPELLED, max_size=2),
    called=st.lists(SPELLED, max_size=2),
    read=st.lists(results(), max_size=4),
    left=st.lists(results(), max_size=2),
    answer=st.lists(SPELLED, min_size=1, max_size=6),
)
def test_random_conversations(
    said: list[str], called: list[str], read: list[str], left: list[str], answer: list[str]
) -> None:
    corpus = Corpus(Evidence())
    for text in said:
        corpus.say(text)
    for place, text in enumerate(called):
        corpus.call(ToolCall(f"c{place}", "look", {"q": text}), ref=f"c{place}", turn=1)
    for place, content in enumerate([*left, *read]):
        ref = f"r{place}"
        corpus.result(ToolResult(ref, "look", content), ref=ref, tool="look", turn=1, served=None)
        if place < len(left):
            corpus.leave([ref], decision="evict", decided_by="application", dropped=None)
    compare(corpus, "; ".join(answer), {}, each=False)


def compare(corpus: Corpus, answer: str, known: dict[tuple[str, bool], OracleText], *, each: bool = True) -> None:
    expected = oracle_of(corpus, known).judge(answer, turn=1, tools_offered=True)
    assert corpus.fork().judge(answer, turn=1, tools_offered=True) == expected
    with as_long(corpus, each=each) as long:
        assert long.judge(answer, turn=1, tools_offered=True) == expected


@pytest.mark.parametrize("name", RUNS)
def test_recorded_conversations(shared_data: Path, name: str) -> None:
    compared = 0
    known: dict[tuple[str, bool], OracleText] = {}
    for line in (shared_data / name).read_text(encoding="utf-8").splitlines()[::STEP]:
        corpus = Corpus(Evidence())
        for place, message in enumerate(json.loads(line)["messages"]):
            content, ref = message.get("content") or "", str(place)
            if message["role"] in ("user", "system"):
                corpus.say(content)
            elif message["role"] == "tool":
                corpus.result(ToolResult(ref, None, content), ref=ref, tool=None, turn=1, served=None)
            elif message.get("tool_calls"):
                for call in message["tool_calls"]:
                    corpus.call(ToolCall(ref, "look", call["function"]["arguments"]), ref=ref, turn=1)
            elif content:
                compare(corpus, content, known)
                corpus.judge(content, turn=1, tools_offered=True)
                compared += 1
    assert compared > 10


@pytest.mark.parametrize(("name", "field"), [("d2t", "answer"), ("rotowire", "answer_detokenized")])
def test_texts_about_data(shared_data: Path, name: str, field: str) -> None:
    for line in (shared_data / name / "examples.dev.jsonl").read_text(encoding="utf-8").splitlines()[::STEP]:
        example = json.loads(line)
        source: Json = example["source"]
        corpus = Corpus(Evidence())
        corpus.result(ToolResult("a", "get", source), ref="a", tool="get", turn=1, served=None)
        compare(corpus, example[field], {})
