"""Every status, verdict and reason is reached, each by the smallest conversation that shows it."""

from __future__ import annotations

import pytest

from otel_footprint.core.call import CallRef
from otel_footprint.core.evidence import work
from otel_footprint.core.evidence.corpus import MAX_CALLS, MAX_LEFT, Corpus
from otel_footprint.core.evidence.extract import MAX_NUMERALS
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.evidence.verdicts import Judgement, Reason
from otel_footprint.core.evidence.work import MAX_VALUES
from otel_footprint.core.messages import Json, ServerToolResult, ToolCall, ToolResult


def corpus_of(*results: Json, said: str = "", options: Evidence | None = None) -> Corpus:
    corpus = Corpus(options or Evidence())
    if said:
        corpus.say(said)
    for number, content in enumerate(results):
        ref = f"c{number}"
        corpus.call(ToolCall(ref, "look", {}), ref=ref, turn=1)
        corpus.result(ToolResult(ref, "look", content), ref=ref, tool="look", turn=1, served=None)
    return corpus


def judge(
    corpus: Corpus, text: str, *, turn: int = 1, tools: bool = True, blind: frozenset[Reason] = frozenset()
) -> Judgement:
    return corpus.judge(text, turn=turn, tools_offered=tools, blind=blind)


def statuses(judgement: Judgement) -> dict[str, str]:
    return {value.text: value.status for value in judgement.values}


def test_said_read_and_unsupported() -> None:
    corpus = corpus_of({"id": "ARR-2291"}, said="Check WX-4417 please")
    judgement = judge(corpus, "WX-4417 sits on ARR-2291, not on ARR-2292.")
    assert statuses(judgement) == {"WX-4417": "said", "ARR-2291": "read", "ARR-2292": "unsupported"}
    assert judgement.verdict == "ungrounded"
    assert [value.text for value in judgement.values if value.flagged] == ["ARR-2292"]
    assert judgement.looked_up == 2
    assert judgement.action == "flagged"


def test_read_names_its_carriers_and_their_turn() -> None:
    corpus = corpus_of("node 88123", "node 88123")
    (value,) = judge(corpus, "It is 88123.", turn=2).values
    assert [carrier.ref for carrier in value.carriers] == ["c0", "c1"]
    assert value.turn == 1
    assert judge(corpus, "It is 88123.", turn=2).earlier_turns_only == 1
    assert judge(corpus, "It is 88123.", turn=1).earlier_turns_only == 0


def test_more_than_eight_carriers_are_cut() -> None:
    corpus = corpus_of(*["node 88123"] * 9)
    (value,) = judge(corpus, "It is 88123.").values
    assert len(value.carriers) == 8
    assert value.carriers_cut


def test_segment_of_a_compound_identifier_is_respelled_and_a_substring_is_not() -> None:
    corpus = corpus_of({"payment": "gift_card_7504069", "port": "naa.0xef0101ab"})
    judgement = judge(corpus, "Certificate 7504069, not 750406, not 0xef0101.")
    assert statuses(judgement) == {"7504069": "respelled", "750406": "unsupported", "0xef0101": "unsupported"}


def test_evicted_names_the_decision() -> None:
    corpus = corpus_of("serial QX-7781")
    served, dropped = CallRef(1, 2), CallRef(1, 3)
    corpus.serve(["c0"], turn=1, served=served)
    corpus.leave(["c0"], decision="evict", decided_by="application", dropped=dropped)
    (value,) = judge(corpus, "The serial is QX-7781.").values
    assert value.status == "evicted"
    assert value.flagged
    assert value.evicted_by is not None
    assert (value.evicted_by.decision, value.evicted_by.decided_by) == ("evict", "application")
    assert (value.evicted_by.served, value.evicted_by.dropped) == (served, dropped)
    corpus.serve(["c0"], turn=2, served=CallRef(1, 4))
    assert judge(corpus, "The serial is QX-7781.").verdict == "grounded"


def test_rewritten_result_leaves_its_old_content_evicted() -> None:
    corpus = corpus_of("serial QX-7781")
    corpus.leave(["c0"], decision="clear", decided_by="application", dropped=None)
    corpus.result(ToolResult("c0", "look", "[cleared QX-1234]"), ref="c0", tool="look", turn=1, served=None)
    assert statuses(judge(corpus, "QX-7781 and QX-1234")) == {"QX-7781": "evicted", "QX-1234": "read"}


def arguments(outcome: Json, *, options: Evidence | None = None, is_error: bool = False) -> str:
    corpus = Corpus(options or Evidence())
    corpus.call(ToolCall("a", "find", {"order": "ZX-9981"}), ref="a", turn=1)
    corpus.result(ToolResult("a", "find", outcome, is_error=is_error), ref="a", tool="find", turn=1, served=None)
    (value,) = judge(corpus, "Order ZX-9981 is on its way.").values
    return value.status


def test_arguments_echo_only_when_every_call_was_accepted() -> None:
    assert arguments("on its way") == "echoed"
    assert arguments("on its way", options=Evidence(strict=True)) == "argument_only"
    assert arguments("[]") == "argument_only"
    assert arguments("no such thing", is_error=True) == "argument_only"
    assert arguments("Error: no such order") == "argument_only"
    assert arguments({"af_absent": True, "checked": ["orders"], "looked_for": "ZX-9981"}) == "argument_only"


def test_a_call_without_its_result_echoes_nothing() -> None:
    corpus = Corpus(Evidence())
    corpus.call(ToolCall("a", "find", {"order": "ZX-9981"}), ref="a", turn=1)
    assert statuses(judge(corpus, "Order ZX-9981")) == {"ZX-9981": "argument_only"}


def test_absence_grounds_all_but_what_was_looked_for() -> None:
    corpus = corpus_of({"af_absent": True, "checked": ["share-4401"], "looked_for": "ZX-9981", "known": ["ZX-7755"]})
    judgement = judge(corpus, "ZX-9981 is not on share-4401; there is ZX-7755.")
    assert statuses(judgement) == {"ZX-9981": "unsupported", "share-4401": "read", "ZX-7755": "read"}


def test_verdicts_without_anything_to_read() -> None:
    corpus = Corpus(Evidence())
    assert judge(corpus, "Hello there.").verdict == "no_claims"
    plain = judge(corpus, "Try AB-1234.", tools=False)
    assert plain.verdict == "not_applicable"
    assert not any(value.flagged for value in plain.values)
    assert judge(corpus, "Try AB-1234.", tools=True).verdict == "ungrounded"
    assert judge(Corpus(Evidence(check="always")), "Try AB-1234.", tools=False).verdict == "ungrounded"


def test_handed_in_evidence_is_read_and_makes_a_chat_judgeable() -> None:
    corpus = Corpus(Evidence())
    corpus.hand_in("The part is AB-1234.", "manual")
    judgement = judge(corpus, "Use AB-1234, never AB-1235.", tools=False)
    assert statuses(judgement) == {"AB-1234": "read", "AB-1235": "unsupported"}
    assert judgement.verdict == "ungrounded"
    assert judgement.values[0].carriers[0].ref == "manual"


def test_a_window_not_wholly_seen_accuses_nobody() -> None:
    corpus = corpus_of("node 1")
    judgement = judge(corpus, "See AB-1234.", blind=frozenset({"unseen_history"}))
    assert judgement.verdict == "inconclusive"
    assert judgement.reasons == ("unseen_history",)
    assert (judgement.values[0].status, judgement.values[0].flagged) == ("unsupported", False)


def long_run(calls: int, *, leaving: bool) -> Corpus:
    corpus = Corpus(Evidence())
    for number in range(calls):
        ref = f"c{number}"
        corpus.call(ToolCall(ref, "look", {"order": f"W{7_700_000 + number}"}), ref=ref, turn=1)
        corpus.result(
            ToolResult(ref, "look", {"id": f"R-{100_000 + number}"}), ref=ref, tool="look", turn=1, served=None
        )
        if leaving:
            corpus.leave([ref], decision="trim", decided_by="application", dropped=None)
    return corpus


def test_of_results_that_left_only_the_newest_are_kept_and_what_was_forgotten_accuses_nobody() -> None:
    short = long_run(50, leaving=True)
    assert statuses(judge(short, "R-100000 and R-999999.")) == {"R-100000": "evicted", "R-999999": "unsupported"}
    assert judge(short, "R-100000.").verdict == "ungrounded"
    corpus = long_run(3 * MAX_LEFT, leaving=True)
    assert len(corpus._sources) <= MAX_LEFT
    assert len(corpus._calls) <= MAX_CALLS
    assert corpus.calls_made == 3 * MAX_LEFT
    newest = f"R-{100_000 + 3 * MAX_LEFT - 1}"
    judgement = judge(corpus, f"R-100000 and {newest}.")
    assert statuses(judgement) == {"R-100000": "unsupported", newest: "evicted"}
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("corpus_bound",))
    assert not any(value.flagged for value in judgement.values)
    assert judge(corpus.fork(), "R-100000.").reasons == ("corpus_bound",)
    assert corpus.size_bytes <= 10_000 * MAX_LEFT


def test_of_calls_only_the_newest_are_remembered() -> None:
    corpus = long_run(MAX_CALLS + 1, leaving=False)
    assert judge(corpus, "R-100000.").verdict == "grounded"
    assert statuses(judge(corpus, f"W{7_700_000 + MAX_CALLS}."))[f"W{7_700_000 + MAX_CALLS}"] == "echoed"
    assert judge(corpus, "W7700000.").reasons == ("corpus_bound",)
    assert long_run(MAX_CALLS, leaving=False)._calls_forgotten == 0


def test_what_is_kept_is_counted_with_what_was_read_from_it() -> None:
    rows: Json = [{"id": f"R-{1000 + place}", "price": 10.5 + place, "quantity": place} for place in range(100)]
    corpus = corpus_of(rows)
    before = corpus.size_bytes
    judge(corpus, "R-1001 and R-1002 come to $9,999.00.")
    read = corpus.size_bytes
    assert read > before + 50_000
    corpus.leave(["c0"], decision="trim", decided_by="application", dropped=None)
    judge(corpus, "Done.")
    assert before < corpus.size_bytes < read


def test_values_of_an_answer_beyond_the_bound_of_work_are_left_open() -> None:
    corpus = corpus_of([{"id": f"R-{1000 + place}"} for place in range(MAX_VALUES + 10)])
    names = [f"R-{1000 + place}" for place in range(MAX_VALUES + 10)]
    assert judge(corpus, ", ".join(names[:MAX_VALUES])).verdict == "grounded"
    judgement = judge(corpus, ", ".join(names))
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("work_bound",))
    assert [value.status for value in judgement.values] == ["read"] * MAX_VALUES + ["unsupported"] * 10
    assert not any(value.flagged for value in judgement.values)
    wrong = judge(corpus, ", ".join(["R-9999", *names]))
    assert [value.text for value in wrong.values if value.flagged] == ["R-9999"]


def test_an_answer_with_more_numbers_than_are_read_is_left_open() -> None:
    corpus = corpus_of({"id": "R-1001", "price": 77.31})
    assert judge(corpus, "$77.31 " * MAX_NUMERALS).verdict == "grounded"
    judgement = judge(corpus, "$77.31 " * MAX_NUMERALS + "$77.32")
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("work_bound",))
    assert statuses(judgement) == {"$77.31": "read"}
    assert judge(corpus, "$77.32 " + "$77.31 " * MAX_NUMERALS).verdict == "ungrounded"
    assert judge(corpus, "word " * 30_000).verdict == "no_claims"
    assert judge(corpus, "word " * 30_000 + "R-1009").reasons == ("work_bound",)


def test_texts_longer_than_may_be_searched_leave_values_open(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of("x" * 100_000 + " AB-1234")
    assert judge(corpus, "It is AB-1234, not AB-1235.").verdict == "ungrounded"
    monkeypatch.setattr(work, "MAX_SCAN", 300_000)
    judgement = judge(corpus, "It is AB-1234, not AB-1235.")
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("work_bound",))


def nested(leaf: Json, depth: int) -> Json:
    for _ in range(depth):
        leaf = {"a": leaf}
    return leaf


def test_a_structure_too_deep_to_spell_makes_what_is_not_found_inconclusive() -> None:
    leaf: Json = {"order": "W7712345"}
    corpus = corpus_of({"id": "ARR-2291"}, nested(leaf, 100_000))
    judgement = judge(corpus, "ARR-2291 is W7712345.")
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("opaque_content",))
    assert statuses(judgement)["ARR-2291"] == "read"
    assert not any(value.flagged for value in judgement.values)
    as_block = corpus_of([{"type": "text", "text": "ok"}, {"json": nested(leaf, 100_000)}])
    assert judge(as_block, "It is W7712345.").reasons == ("opaque_content",)
    shallow = corpus_of({"id": "ARR-2291"}, nested(leaf, 100))
    assert judge(shallow, "It is W7712345.").verdict == "grounded"
    assert judge(shallow, "It is W7712346.").verdict == "ungrounded"
    assert judge(corpus_of("<unspelled dict of 1>"), "It is W7712346.").verdict == "ungrounded"


def test_a_text_too_deep_to_walk_is_read_as_text_and_its_sums_are_left_open() -> None:
    deep = '{"a":' * 100_000 + '[{"id": "R-1001", "price": 105}, {"id": "R-1002", "price": 102}]' + "}" * 100_000
    assert judge(corpus_of(deep), "R-1001 is $105, R-1002 is $102.").verdict == "grounded"
    total = judge(corpus_of(deep), "R-1001 and R-1002 come to $207.")
    assert (total.verdict, total.reasons) == ("inconclusive", ("work_bound",))
    assert judge(corpus_of(deep), "It is R-1003.").verdict == "ungrounded"


def test_more_numbers_than_arithmetic_looks_at_leave_a_sum_open() -> None:
    assert judge(corpus_of({"price": [1] * 20_500}), "It comes to $20,500.").reasons == ("work_bound",)
    assert judge(corpus_of({"price": [1] * 19_000}), "It comes to $20,500.").verdict == "ungrounded"


def test_an_unreadable_server_result_makes_it_inconclusive() -> None:
    corpus = Corpus(Evidence())
    corpus.result(ServerToolResult("s", "search", None), ref="s", tool="search", turn=1, served=None)
    assert judge(corpus, "See AB-1234.").reasons == ("opaque_content",)


def test_the_bound_forgets_what_left_first_and_then_says_so() -> None:
    corpus = Corpus(Evidence(corpus_bytes=1000))
    corpus.result(ToolResult("a", None, "AB-1111 " + "x" * 600), ref="a", tool=None, turn=1, served=None)
    corpus.leave(["a"], decision="evict", decided_by="application", dropped=None)
    corpus.result(ToolResult("b", None, "AB-2222 " + "x" * 600), ref="b", tool=None, turn=1, served=None)
    assert statuses(judge(corpus, "AB-1111 and AB-2222")) == {"AB-1111": "unsupported", "AB-2222": "read"}
    corpus.result(ToolResult("c", None, "AB-3333 " + "x" * 600), ref="c", tool=None, turn=1, served=None)
    judgement = judge(corpus, "AB-2222 and AB-3333")
    assert (judgement.verdict, judgement.reasons) == ("inconclusive", ("corpus_bound",))
    assert corpus.size_bytes <= 8 * 1000


def test_a_sibling_lends_its_results() -> None:
    mine, other = Corpus(Evidence()), corpus_of("found QX-7781")
    assert mine.judge("QX-7781", turn=1, tools_offered=True).verdict == "ungrounded"
    assert mine.judge("QX-7781", turn=1, tools_offered=True, siblings=(other,)).verdict == "grounded"


def test_a_fork_goes_its_own_way() -> None:
    corpus = corpus_of("serial QX-7781")
    fork = corpus.fork()
    corpus.leave(["c0"], decision="evict", decided_by="application", dropped=None)
    assert statuses(judge(corpus, "QX-7781")) == {"QX-7781": "evicted"}
    assert statuses(judge(fork, "QX-7781")) == {"QX-7781": "read"}


def test_exempt_and_declared_shapes() -> None:
    from otel_footprint.core.evidence.options import Shape

    options = Evidence(shapes=(Shape("zone", "[A-Z]{3}-[A-Z]{3}"),), exempt=("AB-1234",))
    corpus = corpus_of("in ABC-DEF", options=options)
    judgement = judge(corpus, "AB-1234 is in ABC-DEF, not ABC-XYZ.")
    assert statuses(judgement) == {"AB-1234": "said", "ABC-DEF": "read", "ABC-XYZ": "unsupported"}
    assert judgement.values[1].shape == "zone"


def test_a_sum_of_what_left_the_window_is_evicted() -> None:
    corpus = corpus_of({"rows": [{"id": "R-1001", "price": 120.35}, {"id": "R-1002", "price": 80.15}]})
    text = "R-1001 costs $120.35 and R-1002 costs $80.15, in total $200.50."
    assert statuses(judge(corpus, text))["$200.50"] == "computed"
    fresh = corpus_of({"rows": [{"id": "R-1001", "price": 120.35}, {"id": "R-1002", "price": 80.15}]})
    fresh.leave(["c0"], decision="evict", decided_by="application", dropped=None)
    judgement = judge(fresh, text)
    assert set(statuses(judgement).values()) == {"evicted"}
    total = judgement.values[-1]
    assert total.evicted_by is not None
    assert total.evicted_by.tool_call_id == "c0"
    assert total.derivation is not None
    assert statuses(judge(fresh, text.replace("$200.50", "$200.60")))["$200.60"] == "unsupported"
