"""Looking for typed values one by one in a long text equals asking an index of all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_footprint.core.evidence import typed
from otel_footprint.core.evidence.bulk import Bulk
from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.haystack import Haystack
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.typed_index import carries
from otel_footprint.core.messages import Json, ToolResult

ROWS: list[Json] = [
    {"created": "2024-05-20T07:05:00Z", "updated_at": 1716163200, "size_kb": 2048, "price": 121.20000000000005},
    {"when": "May 3rd, 2023", "until": "3/4/2022", "took": "15 minutes", "share": 0.725, "temp_c": -7.5},
    {
        "note": "about 1,234.50 dollars, due on 12 June at 5 pm",
        "phone": "+1 (555) 123-4567",
        "mac": "00:1b:44:11:3a:b7",
    },
    {"uuid": "123e4567-e89b-12d3-a456-426614174000", "latency_ms": 12.34, "weight": "2.5 kg", "amount": 2580},
]
ASKED = (
    "May 20, 2024; 7:05 AM; 2 MB; $121.20; May 3, 2023; 2022-04-03; 15 minutes; 72.5%; -7.5 °C; $1,234.50; June 12; 17:00; "
    "+15551234567; 001b44113ab7; 123e4567e89b12d3a456426614174000; 12.3 ms; 2,500 g; $2,580; May 21, 2024; 7:06 AM; 3 MB; "
    "$121.30; 16 minutes; 73.5%; $1,235.50; 18:00; 12.4 ms; 2,600 g; $2,581"
)


def every_year(_: int | None) -> bool:
    return True


def compare(text: str, answers: list[str]) -> int:
    bulk = Bulk(Haystack(text, result=True), result=True)
    index = typed.LeafIndex(typed.named_leaves(json.loads(text)))
    found = 0
    for answer in answers:
        for value in typed.find(answer):
            if not value.weak:
                expected = carries(index, value, every_year)
                assert bulk.match(value, every_year) == expected, value
                found += expected
    assert not bulk.take_bounded()
    return found


@pytest.mark.parametrize("separators", [None, (",", ":")])
def test_bulk_equals_the_index(separators: tuple[str, str] | None) -> None:
    assert compare(json.dumps(ROWS, separators=separators), [ASKED]) >= 15


def test_bulk_equals_the_index_on_real_results(shared_data: Path) -> None:
    found = 0
    for name in ("tau_airline/conversations.jsonl", "tau2/retail.jsonl"):
        for line in (shared_data / name).read_text(encoding="utf-8").splitlines()[:8]:
            messages = json.loads(line)["messages"]
            tools = [one["content"] for one in messages if one["role"] == "tool" and one["content"][:1] in ("{", "[")]
            answers = [one["content"] for one in messages if one["role"] == "assistant" and one.get("content")]
            found += compare("[" + ",".join(tools) + "]", answers)
    assert found > 100


def test_a_long_result_is_judged_like_a_short_one() -> None:
    filler: list[Json] = [{"id": f"FILL-{place:06d}", "seen": "2019-01-01T00:00:00Z"} for place in range(3000)]
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, [*filler, *ROWS]), ref="a", tool=None, turn=1, served=None)
    answer = "FILL-002999 was created on May 20, 2024 at 7:05 AM; FILL-003999 on May 21, 2024."
    values = corpus.judge(answer, turn=1, tools_offered=True).values
    assert [value.status for value in values] == ["read", "respelled", "respelled", "unsupported", "unsupported"]
    assert [value.flagged for value in values] == [False, False, False, True, True]


@pytest.mark.parametrize("at", ["2024-05-20 07:05:00+00:00", "2024-05-20 07:05 GMT", "2024-05-20 09:05:00+02:00"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_moment_in_a_list_of_a_long_result_is_read_as_a_leaf(at: str, *, apart: bool) -> None:
    table: Json = {"columns": ["at", "who"], "rows": [[at, "Ann"], ["2024-05-21 08:10:00+00:00", "Bob"]]}
    filler: list[Json] = [{"pad": "words", "n": place} for place in range(4000)]
    corpus = Corpus(Evidence())
    for place, content in enumerate([table, filler] if apart else [[table, *filler]]):
        corpus.result(ToolResult(f"r{place}", None, content), ref=f"r{place}", tool=None, turn=1, served=None)
    answer = "Ann's began at 2024-05-20T07:05:00Z, Bob's at 2024-05-21T09:10:00Z."
    values = corpus.judge(answer, turn=1, tools_offered=True).values
    assert [value.status for value in values] == ["respelled", "unsupported"]


def test_a_moment_between_quotes_of_a_text_is_no_leaf() -> None:
    for text in ('["2024-05-20 07:05:00Z", "Ann"]', 'It says ["2024-05-20 07:05:00Z", "Ann"]'):
        (asked,) = typed.find("2024-05-20T07:05:00Z")
        found = Bulk(Haystack(text, result=True), result=True).match(asked, every_year)
        assert found == text.startswith("[")


def test_arithmetic_over_too_much_is_bounded_and_accuses_nobody() -> None:
    rows: list[Json] = [{"id": f"R-{place:06d}", "price": place + 0.25} for place in range(20_000)]
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, rows), ref="a", tool=None, turn=1, served=None)
    judgement = corpus.judge("Together they cost $9,999,999.13.", turn=1, tools_offered=True)
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("work_bound",))
    assert not judgement.values[0].flagged
    judgement = corpus.judge("Together they cost $9,999,999.13, says R-999998.", turn=1, tools_offered=True)
    assert [value.flagged for value in judgement.values] == [False, True]
