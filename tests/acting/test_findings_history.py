"""Findings over a history: facts that a strategy keeps, ids that come twice, forks, and a process that goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai

import otel_footprint
from otel_footprint import Findings, SlidingWindow
from otel_footprint.testing.provider import ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import MODEL, NO_PARAMETERS, sent, text_of

TOOLS: Any = [{"type": "function", "function": {"name": "get_order", "parameters": NO_PARAMETERS}}]


def call(id_: str, *previous: tuple[str, str]) -> ToolCalls:
    findings = {"basis": "direct", "previous": [{"toolCallId": ref, "standing": word} for ref, word in previous]}
    return ToolCalls([ToolUse("get_order", {"_findings": findings}, id_)])


class Talk:
    """A tool loop on OpenAI chat whose n-th result is what it is told."""

    def __init__(self, provider: ScriptedProvider, results: list[str]) -> None:
        self.client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        self.results = iter(results)
        self.messages: list[Any] = []

    def ask(self, question: str) -> str:
        self.messages.append({"role": "user", "content": question})
        while True:
            completion = self.client.chat.completions.create(model=MODEL, messages=self.messages, tools=TOOLS)
            message = completion.choices[0].message
            self.messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            for made in message.tool_calls:
                self.messages.append({"role": "tool", "tool_call_id": made.id, "content": next(self.results)})


def orders(count: int) -> list[str]:
    return [json.dumps({"order": f"W-59184{number:02}"}) for number in range(count)]


def kept(provider: ScriptedProvider, at: int = -1) -> list[str]:
    return [message["tool_call_id"] for message in sent(provider)[at] if message["role"] == "tool"]


def last_window(act: Callable[..., Sink], findings: Findings) -> list[str]:
    """The results in the last window of a long turn in which the second and the fourth were declared facts."""
    act(findings=findings, window=SlidingWindow(6), keep_last_tool_results=0)
    script: list[Step] = [call("c0")]
    script += [call(f"c{n}", *([(f"c{n - 1}", "fact")] if n in (2, 4) else [])) for n in range(1, 12)]
    with ScriptedProvider([*script, Text("Done.")]) as provider, otel_footprint.conversation():
        Talk(provider, orders(12)).ask("Which order?")
        return kept(provider)


NEWEST = ["c6", "c7", "c8", "c9", "c10", "c11"]


def test_a_window_strategy_keeps_the_turns_of_facts(act: Callable[..., Sink]) -> None:
    assert last_window(act, Findings()) == ["c1", "c3", *NEWEST]


def test_it_keeps_the_newest_of_them_up_to_the_ceiling(act: Callable[..., Sink]) -> None:
    assert last_window(act, Findings(keep_ledger_facts=1)) == ["c3", *NEWEST]


def test_and_none_where_it_is_told_so(act: Callable[..., Sink]) -> None:
    assert last_window(act, Findings(keep_ledger_facts=0)) == NEWEST


def test_a_result_whose_id_comes_twice_has_a_name_of_its_own(act: Callable[..., Sink]) -> None:
    act(findings=True)
    script: list[Step] = [call("c"), call("c"), call("d", ("c#2", "noise")), Text("It is W-5918401.")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation() as conversation:
        Talk(provider, orders(3)).ask("Which order?")
        offered = provider.requests[2].json["tools"][0]["function"]["parameters"]["properties"]["_findings"]
        names = offered["properties"]["previous"]["items"]["properties"]["toolCallId"]["enum"]
        assert names == ["c#2", "c"]
        found = conversation.findings
        assert (found.standing_of("c#2"), found.standing_of("c")) == ("noise", None)
        assert [row.ref for row in found.rows if row.kind == "basis"] == ["c", "c#2", "d"]
        assert [row.carriers for row in found.contingent] == [("c#2",)]


def test_a_fork_has_its_own_findings(act: Callable[..., Sink]) -> None:
    act(findings=True)
    script: list[Step] = [call("a"), call("b", ("a", "noise")), Text("It is W-5918400."), Text("It is W-5918400.")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation() as conversation:
        talk = Talk(provider, orders(2))
        talk.ask("Which order?")
        assert conversation.findings.standing_of("a") == "noise"
        assert conversation.assessment is not None
        assert conversation.assessment.standing == "not-sure"
        other = [*talk.messages[:3], {"role": "user", "content": "Which one is it?"}]
        talk.client.chat.completions.create(model=MODEL, messages=other, tools=TOOLS)
        assert [one.forked_from for one in conversation.decisions][-1] == 1
        assert "b" not in [getattr(row, "ref", None) for row in conversation.findings.rows]
        assert [row.kind for row in conversation.findings.contingent] == []


def test_findings_go_on_in_another_process(act: Callable[..., Sink]) -> None:
    act(findings=True)
    with ScriptedProvider([call("a"), call("b", ("a", "noise")), Text("It is W-5918401.")]) as provider:
        with otel_footprint.conversation("c") as first:
            talk = Talk(provider, orders(2))
            talk.ask("Which order?")
        document = json.loads(json.dumps(first.to_dict(text=True)))
    otel_footprint.uninstrument()
    act(findings=Findings(serve=True))
    with ScriptedProvider([Text("It is W-5918400.")]) as provider:
        with otel_footprint.conversation(restore=document) as second:
            assert second.findings.standing_of("a") == "noise"
            assert second.assessment == first.assessment or first.assessment is None
            again = Talk(provider, [])
            again.messages = talk.messages
            again.ask("And the first?")
            assert "collapsed" in text_of(sent(provider)[0])
        assert second.findings.standing_of("a") == "noise"


def test_a_value_the_person_said_rests_on_no_result(act: Callable[..., Sink]) -> None:
    act(findings=True)
    script: list[Step] = [call("a"), call("b", ("a", "noise")), Text("It is W-5918400.")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation() as conversation:
        Talk(provider, orders(2)).ask("Is it W-5918400?")
        assert conversation.findings.contingent == ()
