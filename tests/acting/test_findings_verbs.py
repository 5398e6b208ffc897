"""What an application sees of findings, and says of results and of its answers itself."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest

import otel_footprint
from otel_footprint import ConfigurationError, Evidence, Findings, absent, findings_verbs
from otel_footprint.testing.provider import Error, ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import NO_PARAMETERS, Agent

CALL = ToolCalls([ToolUse("get_order", {"id": "1"}, "call_a")])
RIGHT = "Your order is W-5918442."


def declares(standing: str, **more: Any) -> dict[str, Any]:
    return {"basis": "direct", "previous": [{"toolCallId": "call_a", "standing": standing, **more}]}


def again(findings: dict[str, Any], id_: str = "call_b") -> ToolCalls:
    return ToolCalls([ToolUse("get_order", {"id": "2", "_findings": findings}, id_)])


def talk(script: list[Step], results: Any = None, question: str = "Which order?") -> Any:
    """A conversation that has had its answer."""
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
        Agent("openai-chat", provider, results).ask(question)
    return conversation


def standing(conversation: Any) -> str:
    word: str = conversation.assessment.standing
    return word


def codes(conversation: Any) -> list[str]:
    return [reason.code for reason in conversation.assessment.reasons]


def test_what_was_declared_can_be_asked_for(act: Callable[..., Sink]) -> None:
    act(findings=True)
    said = [{"subject": {"kind": "order", "id": "W"}, "predicate": "total", "value": value} for value in (1, 2)]
    script: list[Step] = [
        CALL,
        again(declares("fact", assertions=said[:1], line="the order")),
        again(
            {"basis": "exploratory", "expect": "much", "previous": [{"toolCallId": "x", "standing": "noise"}]}, "call_c"
        ),
        again(
            {"basis": "direct", "previous": [{"toolCallId": "call_b", "standing": "fact", "assertions": said[1:]}]}, "d"
        ),
        again({"basis": "direct", "previous": [{"toolCallId": "call_c", "standing": "open"}]}, "e"),
        Text(RIGHT),
    ]
    found = talk(script).findings
    assert [row.ref for row in found.facts] == ["call_a", "call_b"]
    assert (found.facts[0].line, found.facts[0].provenance) == ("the order", "tool:call_a")
    assert [row.ref for row in found.open] == ["call_c"]
    assert (found.noise, found.ruled_out) == ((), ())
    assert [row.ref for row in found.unknown] == ["x"]
    assert (found.standing_of("call_a"), found.standing_of("x"), found.standing_of("nobody")) == ("fact", None, None)
    assert [row.witnesses for row in found.conflicts] == [("call_a", "call_b")]
    assert (found.declared, found.malformed, found.forgotten) == (4, 1, 0)
    assert found.undecorated == {}
    assert found.rows[0].kind == "basis"


def test_an_application_says_what_a_result_is(act: Callable[..., Sink]) -> None:
    act(findings=True)
    conversation = talk([CALL, Text(RIGHT)])
    assert conversation.assessment.standing == "consistent"
    value = {"subject": {"kind": "order", "id": "1"}, "predicate": "name", "value": "W-5918442"}
    conversation.declare("call_a", "fact", "seen", assertions=[value], sought="the order", settles="its name")
    (row,) = conversation.findings.facts
    assert (row.declared_by, row.line, row.assertions[0].value) == ("application", "seen", "W-5918442")
    conversation.declare("call_a", "ruled-out")
    assert conversation.findings.standing_of("call_a") == "ruled-out"
    conversation.declare("nobody", "noise")
    assert [row.ref for row in conversation.findings.unknown] == ["nobody"]


def test_a_result_may_be_judged_before_it_is_sent(act: Callable[..., Sink]) -> None:
    act(findings=Findings(serve=True))
    with ScriptedProvider([CALL, Text(RIGHT)]) as provider, otel_footprint.conversation("c") as conversation:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        tools: Any = [{"type": "function", "function": {"name": "get_order", "parameters": NO_PARAMETERS}}]
        messages: list[Any] = [{"role": "user", "content": "Which order?"}]
        message = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
        conversation.declare("call_a", "noise")
        messages += [message, {"role": "tool", "tool_call_id": "call_a", "content": '{"order": "W-5918442"}'}]
        client.chat.completions.create(model="m", messages=messages, tools=tools)
        assert "collapsed" in provider.requests[-1].json["messages"][-1]["content"]
        assert codes(conversation) == ["value-contingent"]


def test_only_a_validation_of_these_bytes_makes_an_answer_known(act: Callable[..., Sink]) -> None:
    act(findings=True)
    conversation = talk([CALL, Text(RIGHT)])
    conversation.validated(True, check="tie")
    conversation.validated(True, check="other", digest="0" * 64)
    assert conversation.assessment.standing == "consistent"
    assert [one.check for one in conversation.assessment.checked] == ["names-and-numbers", "tie"]
    conversation.validated(True, check="tie", digest=hashlib.sha256(RIGHT.encode()).hexdigest())
    assert conversation.assessment.standing == conversation.assessment.assessment == "known"
    assert [row.check for row in conversation.assessment.support] == ["tie"]
    conversation.validated(False, check="sum")
    assert codes(conversation) == ["answer-check-failed"]


def test_how_a_turn_ended_counts_for_its_answer_and_not_for_the_next(act: Callable[..., Sink]) -> None:
    act(findings=True)
    with (
        ScriptedProvider([CALL, Text(RIGHT), Text(RIGHT)]) as provider,
        otel_footprint.conversation("c") as conversation,
    ):
        agent = Agent("openai-chat", provider)
        agent.ask("Which order?")
        conversation.stopped_early("iterations")
        conversation.steps("refund", [(1, "refund"), (2, "mail")], 3, "cut-short")
        conversation.steps("refund", [(2, "mail")], 3, "cut-short")
        conversation.steps("refund", [], 3, "accepted")
        assert codes(conversation) == ["stopped-early", "steps-unfinished"]
        (row,) = [row for row in conversation.findings.rows if row.kind == "steps-unfinished"]
        assert [(step.index, step.tool) for step in row.remaining] == [(1, "refund"), (2, "mail")]
        conversation.asked()
        assert standing(conversation) == "ask"
        agent.ask("And now?")
        assert standing(conversation) == "consistent"


def test_what_results_say_about_nothing_is_a_reason(act: Callable[..., Sink]) -> None:
    act(findings=True)
    nothing = absent(checked=["orders of this year"], not_checked=["the archive"])
    assert codes(talk([CALL, Text("There is no order.")], nothing)) == ["declared-absent"]
    assert codes(talk([CALL, Text("There is no order.")], [], "Nothing?")) == ["empty-undeclared"]


def test_a_draft_whose_revision_fails_is_assessed_as_the_answer_it_is(act: Callable[..., Sink]) -> None:
    act(findings=True, evidence=Evidence(posture="guard"))
    conversation = talk([CALL, Text("Your order is W-5918449."), Error(400, "not now")])
    assert [row.kind for row in conversation.findings.rows] == ["flagged"]
    assert codes(conversation) == ["value-unsupported"]
    made = [one for decisions in conversation.decisions if decisions.findings for one in decisions.findings.assessments]
    assert made == [conversation.assessment]


def test_code_that_is_shown_is_compared_with_what_was_run(act: Callable[..., Sink]) -> None:
    act(findings=Findings(code_tools=("get_order",)))
    run = ToolCalls([ToolUse("get_order", {"code": "print(1)"}, "call_a")])
    assert codes(talk([run, Text("I ran\n```\nprint(1)\n```")])) == []
    assert codes(talk([run, Text("I ran\n```\nprint(2)\n```")], question="Again?")) == ["script-unmatched"]


@pytest.fixture
def quiet() -> Iterator[None]:
    findings_verbs._said.clear()
    yield
    findings_verbs._said.clear()


@pytest.mark.usefixtures("quiet")
def test_where_findings_are_off_a_verb_warns_once_and_breaks_nothing(
    act: Callable[..., Sink], caplog: pytest.LogCaptureFixture
) -> None:
    act()
    caplog.set_level(logging.WARNING, "otel_footprint")
    conversation = talk([CALL, Text(RIGHT)])
    for _ in range(2):
        conversation.asked()
        conversation.declare("call_a", "noise")
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == [
        f"conversation().{verb}() says nothing where findings are off" for verb in ("asked", "declare")
    ]
    assert conversation.findings.rows == ()
    assert conversation.assessment is None
    with pytest.raises(ConfigurationError):
        conversation.stopped_early("")


@pytest.mark.usefixtures("quiet")
def test_before_the_first_call_there_is_nothing_to_say_it_of(
    act: Callable[..., Sink], caplog: pytest.LogCaptureFixture
) -> None:
    act(findings=True)
    with otel_footprint.conversation() as conversation:
        conversation.asked()
        assert conversation.assessment is None
    assert "before the first call" in caplog.text
    assert otel_footprint.conversation().findings.standing_of("x") is None


WRONG: dict[str, Callable[[Any], None]] = {
    "''": lambda one: one.declare("", "fact"),
    "7": lambda one: one.declare(7, "fact"),
    "'true'": lambda one: one.declare("a", "true"),
    "declare(line=3": lambda one: one.declare("a", "fact", 3),
    "declare(assertions=…) is 'x'": lambda one: one.declare("a", "fact", assertions="x"),
    "'total'": lambda one: one.declare("a", "fact", assertions=[{"total": 1}]),
    "nan": lambda one: one.declare(
        "a", "fact", assertions=[{"subject": {"kind": "k", "id": "i"}, "predicate": "p", "value": float("nan")}]
    ),
    "noise has no assertions": lambda one: one.declare(
        "a", "noise", assertions=[{"subject": {"kind": "k", "id": "i"}, "predicate": "p", "value": 1}]
    ),
    "'yes'": lambda one: one.validated("yes", check="c"),
    "validated(check=…)": lambda one: one.validated(True, check=""),
    "'abc'": lambda one: one.validated(True, check="c", digest="abc"),
    "stopped_early(…) is None": lambda one: one.stopped_early(None),
    "steps(skill=…)": lambda one: one.steps("", [], 1, "accepted"),
    "(3, 'a')": lambda one: one.steps("s", [(3, "a")], 3, "accepted"),
    "'mail'": lambda one: one.steps("s", ["mail"], 3, "accepted"),
    "steps(total=True": lambda one: one.steps("s", [], True, "accepted"),
    "'done'": lambda one: one.steps("s", [], 3, "done"),
}


@pytest.mark.parametrize("named", WRONG)
def test_wrong_arguments_are_refused_with_their_value_and_the_fix(named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        WRONG[named](otel_footprint.conversation())
    assert named in str(caught.value)
    assert "give" in str(caught.value) or "leave" in str(caught.value)
