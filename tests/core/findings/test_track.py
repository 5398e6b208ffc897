"""One history followed: results, declarations, answers; and what an answer's standing comes to."""

import json

from otel_footprint.core.absence import absent
from otel_footprint.core.assessment.verdict_rows import AskedRow, ValidatedRow, digest_of
from otel_footprint.core.evidence.verdicts import Carrier, Judgement, Value
from otel_footprint.core.findings.declaring import DeclaredStanding
from otel_footprint.core.findings.ledger import At
from otel_footprint.core.findings.options import Findings
from otel_footprint.core.findings.stripping import Stripped, Stripper, strip
from otel_footprint.core.findings.track import Track
from otel_footprint.core.messages import Message, Text, ToolCall

AT = At(1, 2)


def judgement(verdict="grounded", *, carriers=("a",), action="grounded", choice=0):
    values = (
        Value(
            "1234",
            ((0, 4),),
            "number",
            "read" if verdict == "grounded" else "unsupported",
            verdict == "ungrounded",
            tuple(Carrier(ref, ref, "t", 1) for ref in carriers),
        ),
    )
    return Judgement(choice, verdict, (), values, 1, 1, 0, "assist", action)


def output(*, findings=None, text=None, call=None):
    parts = []
    if text is not None:
        parts.append(Text(text))
    if call is not None:
        parts.append(ToolCall("c9", call, {"q": 1, **({"_findings": findings} if findings else {})}))
    stripped = strip(Message("assistant", tuple(parts)))
    return stripped.message, stripped.emissions


def track(**options):
    made = Track(Findings(**options))
    made.served("a", "search", {"total": 1234}, AT, is_error=False)
    return made


def kinds(change):
    return [row.kind for row in change.rows]


def test_a_declared_call_and_a_clean_answer():
    one = track()
    declared = {"basis": "direct", "previous": [{"toolCallId": "a", "standing": "fact"}]}
    assert kinds(one.completed([output(call="book", findings=declared)], [], [], AT)) == ["basis", "standing"]
    change = one.completed([output(text="1234")], [(judgement(), "1234")], [], At(1, 3))
    assert kinds(change) == ["grounded"]
    assert change.assessments[0].standing == "consistent"


def test_a_value_whose_only_carrier_is_set_aside_is_contingent_and_not_sure():
    one = track()
    one.declare(DeclaredStanding("a", "noise"), AT)
    change = one.completed([output(text="1234")], [(judgement(), "1234")], [], AT)
    assert kinds(change) == ["contingent", "grounded"]
    assert [reason.code for reason in change.assessments[0].reasons] == ["value-contingent"]


def test_results_that_say_nothing_are_filed_once_in_their_turn():
    one = track()
    envelope = json.dumps(absent(checked=["x"], not_checked=["y"]))
    for _ in range(2):
        one.served("b", "search", envelope, AT, is_error=False)
        one.served("c", "search", [], AT, is_error=False)
        one.served("d", "search", [], AT, is_error=True)
    change = one.completed([output(text="none")], [(judgement("no_claims", action="none"), "none")], [], AT)
    assert kinds(change) == ["declared-absent", "empty-undeclared"]
    assert change.assessments[0].standing == "not-sure"
    assert kinds(one.completed([output(text="x")], [(judgement(), "x")], [], At(2, 1))) == ["grounded"]
    one.declare(DeclaredStanding("b", "ruled-out"), At(2, 1))
    assert one.ledger.rows[-1].kind == "unsettled-by-absence"


def test_the_application_may_judge_a_result_that_has_not_come_yet_and_the_model_may_not():
    one = track()
    early = {"basis": "direct", "previous": [{"toolCallId": "c9", "standing": "noise"}]}
    one.completed([output(call="book", findings=early)], [], [], AT)
    assert one.standing_of("c9") is None
    assert one.ledger.rows[-1].unknown_id
    one.served("c9", "book", "1234", AT, is_error=False)
    assert one.standing_of("c9") is None, "what was said before it was seen is no standing"
    other = track()
    other.completed([output(call="book")], [], [], AT)
    assert not other.declare(DeclaredStanding("c9", "ruled-out"), AT)[0].unknown_id
    assert other.declare(DeclaredStanding("c8", "noise"), AT)[0].unknown_id
    other.served("c9", "book", absent(checked=["x"], not_checked=["y"]), AT, is_error=False)
    assert other.standing_of("c9") == "ruled-out"
    assert [row.kind for row in other.ledger.rows][-2:] == ["unsettled-by-absence", "declared-absent"]


def test_a_draft_that_was_to_be_revised_and_stands_after_all_is_filed_then():
    one = track()
    draft = judgement("ungrounded", action="recheck")
    assert one.completed([output(text="9")], [(draft, "9")], [], AT).rows == ()
    change = one.stands([(judgement("ungrounded", action="flagged"), "9")], AT)
    assert kinds(change) == ["flagged"]
    assert [reason.code for reason in change.assessments[0].reasons] == ["value-unsupported"]
    assert one.reassessed() == change.assessments[0]


def test_a_call_that_was_made_once_more_is_assessed_by_its_own_answer():
    one = track()
    one.completed([output(text="9")], [(judgement("ungrounded", action="flagged"), "9")], [], AT)
    again = one.completed([output(text="1234")], [(judgement(), "1234")], [], AT)
    assert again.assessments[0].standing == one.reassessed().standing == "consistent"


def test_a_fork_knows_what_was_filed_before_it_left_and_what_is_in_its_window():
    one = track()
    one.served("e", "search", [], At(1, 2), is_error=False)
    one.served("f", "search", [], At(1, 2), is_error=False)
    one.completed([output(text="9")], [(judgement("ungrounded", action="flagged"), "9")], [], At(1, 3))
    fork = one.fork(At(1, 1), {"f"})
    assert [(row.kind, getattr(row, "ref", None)) for row in fork.ledger.rows] == [("empty-undeclared", "e")]
    assert fork.refs == ("a", "e")
    assert fork.reassessed() is None
    change = fork.completed([output(text="1234")], [(judgement(), "1234")], [], At(1, 3))
    assert [reason.code for reason in change.assessments[0].reasons] == ["empty-undeclared"]


def test_what_is_said_after_the_answer_is_filed_with_it():
    one = track()
    one.completed([output(call="book")], [], [], At(1, 1))
    assert one.said_at == At(1, 1)
    one.completed([output(text="1234")], [(judgement(), "1234")], [], AT)
    assert one.said_at == AT
    one.completed([output(call="book")], [], [], At(2, 1))
    assert one.said_at == At(2, 1)
    assert one.say(AskedRow(turn=2, iteration=1)) == (one.ledger.rows[-1],)
    assert kinds(one.completed([], [], [], At(2, 2))) == [], "no call filed it"


def test_a_draft_that_is_sent_back_files_nothing():
    one = track()
    change = one.completed([output(text="9")], [(judgement("ungrounded", action="recheck"), "9")], [], AT)
    assert change.rows == ()
    assert change.assessments == ()
    change = one.completed(
        [output(text="9")], [(judgement("ungrounded", action="flagged"), "9")], [], AT, after_revision=True
    )
    assert [reason.code for reason in change.assessments[0].reasons] == ["value-survived-revision"]


def test_each_choice_is_assessed_by_its_own_rows():
    one = track()
    change = one.completed(
        [output(text="9"), output(text="1234")],
        [(judgement("ungrounded", action="flagged"), "9"), (judgement(choice=1), "1234")],
        [],
        AT,
    )
    assert [one.standing for one in change.assessments] == ["not-sure", "consistent"]


def test_code_that_was_run_and_code_that_was_not():
    one = track(code_tools=("python",))
    one.called(ToolCall("c1", "python", {"code": "x = 1"}), "c1", AT)
    one.called(ToolCall("c2", "other", {"code": "y = 1"}), "c2", AT)
    one.served("c1", "python", {"exit_code": 0}, AT, is_error=False)
    text = "```python\nx = 1\n```\n```python\ny = 1\n```"
    change = one.completed([output(text=text)], [(judgement(), text)], [], AT)
    assert [(row.label, row.tool_call_id) for row in change.rows if row.kind == "script-shown"] == [
        ("ran", "c1"),
        ("unmatched", None),
    ]
    assert change.assessments[0].standing == "not-sure"


def test_what_the_application_says_afterwards_counts():
    one = track()
    assert one.reassessed() is None
    one.completed([output(text="1234")], [(judgement(), "1234")], [], AT)
    one.ledger.file([ValidatedRow(turn=1, iteration=2, ok=True, check="total", digest=digest_of("1234"))])
    assert one.reassessed().standing == "known"
    one.ledger.file([AskedRow(turn=1, iteration=2)])
    assert one.reassessed().standing == "ask"


def test_a_fork_goes_its_own_way():
    one = track()
    other = one.fork()
    other.declare(DeclaredStanding("a", "noise"), AT)
    assert one.standing_of("a") is None
    assert other.standing_of("a") == "noise"
    assert other.offer().ids == ()
    assert one.offer().ids == ("a",)


def test_a_history_with_the_models_own_words_is_the_history_the_application_saw():
    mine = Message("assistant", (ToolCall("c", "t", {"q": 1, "_findings": {"basis": "direct"}}),))
    seen = Message("assistant", (ToolCall("c", "t", {"q": 1}),))
    answer = Message("assistant", (Text('{"a": 1, "_findings": {"basis": "direct"}}'),))
    prose = Message("assistant", (Text('see {"_findings": 1}'),))
    person = Message("user", (Text('{"_findings": 1}'),))
    stripper = Stripper()
    window = (mine, answer, prose, person)
    for _ in range(2):
        stripped = stripper.window(window, frozenset())
        assert stripped[0] == seen
        assert stripped[1].text == '{"a": 1}'
        assert stripped[2] is prose
        assert stripped[3] is person
    assert stripper.window((seen, person), frozenset()) == (seen, person)


def test_what_a_tool_of_the_application_takes_is_read_where_it_is_a_declaration_and_else_left_alone():
    owned = frozenset({"t"})
    mine = Message("assistant", (ToolCall("c", "t", {"q": 1, "_findings": {"basis": "direct"}}),))
    text = Message("assistant", (ToolCall("c", "t", '{"q": 1, "_findings": {"previous": []}}'),))
    for message in (mine, text):
        found = strip(message, owned)
        assert len(found.emissions) == 1
        assert "_findings" not in str(found.message.tool_calls[0].arguments)
    for value in ("a note", {"note": 1}, None, [{"basis": "direct"}]):
        theirs = Message("assistant", (ToolCall("c", "t", {"q": 1, "_findings": value}),))
        assert strip(theirs, owned) == Stripped(theirs)
    broken = Message("assistant", (ToolCall("c", "t", '{"_findings": {"basis": "dir'),))
    assert strip(broken, owned).message is broken
