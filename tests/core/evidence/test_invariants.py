"""What holds for any conversation: nothing is raised, spans are true, a verdict follows from its values."""

from __future__ import annotations

import decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_footprint.core.evidence.corpus import Corpus
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import FLAGGED, Judgement
from otel_footprint.core.messages import Json, ToolCall, ToolResult

PIECES = st.sampled_from(
    [
        "AB-4417", "ab_4417_x", "$1,234.50", "$105", "98,304", "2024-05-20", "May 20", "7:05 AM", "16 GB", "72.5%", "24/7",
        "HAT035+HAT066", "i7/i9", "1) ", "- ", "\n", "= ", "+ ", "x 3 ", ". ", "card ending in 1784", "(", ")", "{", '"', "\\",
        "```\n", "5 to 7 business days", "\u0664\u0664\u0661\u0667", "0x1f", "1.12e-02", "W0000000", "total: ", "é", "\u200b",
    ]
)  # fmt: skip
answers = st.lists(PIECES, max_size=14).map(" ".join)
leaf = st.one_of(
    st.integers(-(10**6), 10**7), st.floats(allow_nan=False, allow_infinity=False), PIECES, st.none(), st.booleans()
)
results = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["id", "price", "at", "n"]), inner)
    ),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(answer=answers, result=results, said=answers, gone=results)
def test_a_judgement_is_consistent(answer: str, result: Json, said: str, gone: Json) -> None:
    corpus = Corpus(Evidence())
    corpus.say(said)
    corpus.call(ToolCall("a", "look", {"q": "AB-4417"}), ref="a", turn=1)
    corpus.result(ToolResult("a", "look", result), ref="a", tool="look", turn=1, served=None)
    corpus.result(ToolResult("b", "look", gone), ref="b", tool="look", turn=1, served=None)
    corpus.leave(["b"], decision="evict", decided_by="application", dropped=None)
    before = corpus.fork()
    judgement = corpus.judge(answer, turn=1, tools_offered=True)
    for value in judgement.values:
        assert value.spans
        start, end = value.spans[0]
        assert answer[start:end] == value.text
        assert all(0 <= left < right <= len(answer) for left, right in value.spans)
        assert value.flagged <= (value.status in FLAGGED)
        assert (value.evicted_by is not None) == (value.status == "evicted")
        assert value.derivation is not None or value.status not in ("computed", "derivable")
    flagged = any(value.flagged for value in judgement.values)
    assert flagged == (judgement.verdict == "ungrounded")
    assert (judgement.verdict == "no_claims") == (not judgement.values)
    assert bool(judgement.reasons) == (judgement.verdict == "inconclusive")
    assert judgement.candidates == len(judgement.values)
    # The same question on the same ground has the same answer.
    assert before.judge(answer, turn=1, tools_offered=True) == judgement


@settings(max_examples=150, deadline=None)
@given(answer=answers, result=results)
def test_more_evidence_never_accuses(answer: str, result: Json) -> None:
    """What was read stays read when another result arrives."""
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, "AB-4417 $105 2024-05-20"), ref="a", tool=None, turn=1, served=None)
    first = {
        value.text for value in corpus.fork().judge(answer, turn=1, tools_offered=True).values if value.status == "read"
    }
    corpus.result(ToolResult("b", None, result), ref="b", tool=None, turn=1, served=None)
    second = {value.text for value in corpus.judge(answer, turn=1, tools_offered=True).values if value.status == "read"}
    assert first <= second


@settings(max_examples=100, deadline=None)
@given(answer=st.text(max_size=200), result=st.text(max_size=200))
def test_any_text_is_judged(answer: str, result: str) -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, result), ref="a", tool=None, turn=1, served=None)
    corpus.judge(answer, turn=1, tools_offered=True)
    corpus.judge(result, turn=1, tools_offered=True)


@settings(max_examples=100, deadline=None)
@given(result=st.text(alphabet='AB417-_. ,"\\{}[]:', max_size=60))
def test_what_a_result_says_is_grounded_in_it(result: str) -> None:
    corpus = Corpus(Evidence())
    corpus.result(ToolResult("a", None, f"note {result}"), ref="a", tool=None, turn=1, served=None)
    judgement = corpus.judge(f"note {result}", turn=1, tools_offered=True)
    assert not any(value.flagged for value in judgement.values), judgement


def test_the_applications_own_decimal_arithmetic_changes_nothing() -> None:
    def judged() -> Judgement:
        corpus = Corpus(Evidence())
        corpus.result(
            ToolResult("a", "f", '{"a": "10:00", "b": "13:00", "price": 1234567.25}'),
            ref="a",
            tool="f",
            turn=1,
            served=None,
        )
        return corpus.judge("From 10:00 to 13:00: $2,469,134.50 for 2, 1234567.25 seconds.", turn=1, tools_offered=True)

    expected = judged()
    with decimal.localcontext(decimal.Context(prec=5, traps=[decimal.Inexact])) as own:
        assert judged() == expected
        assert decimal.getcontext() is own
