"""Findings on every API: offered to tools, taken out of calls before the application sees them, put back, and filed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import otel_footprint
from otel_footprint.core.findings.options import Findings
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import APIS, Agent, sent, text_of

every_api = pytest.mark.parametrize("api", APIS)
FIRST = {"id": "1", "_findings": {"basis": "exploratory"}}


def asks(findings: dict[str, Any], id_: str = "call_b") -> ToolCalls:
    return ToolCalls([ToolUse("get_order", {"id": "2", "_findings": findings}, id_)])


def standing(ref: str, word: str) -> dict[str, Any]:
    return {"basis": "direct", "previous": [{"toolCallId": ref, "standing": word}]}


def first_ref(api: str) -> str:
    """How the first result is named: Google's calls get a name of their instrumentation's making."""
    return "get_order_0" if api.startswith("gemini") else "call_a"


def kinds(conversation: Any) -> list[str]:
    return [row.kind for decisions in conversation.decisions for row in decisions.findings.rows]


@every_api
def test_the_application_never_sees_it_and_the_model_always_does(api: str, act: Callable[..., Sink]) -> None:
    act(findings=True)
    script = [
        ToolCalls([ToolUse("get_order", FIRST, "call_a")]),
        asks(standing(first_ref(api), "noise")),
        Text("Your order is W-5918442."),
    ]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider)
        assert agent.ask("Which order?") == "Your order is W-5918442."
        assert "_findings" not in str(agent.history)
        assert all("_findings" not in str(response) for response in agent.responses)
        windows = sent(provider)
        assert "_findings" not in text_of(windows[0])
        for window in windows[1:]:
            assert "exploratory" in text_of(window)
        offered = [
            json.dumps(request.json.get("tools") or request.json.get("toolConfig")) for request in provider.requests
        ]
        assert all('"_findings"' in tools for tools in offered)
        assert first_ref(api) in offered[1]
        assert kinds(conversation)[:3] == ["basis", "basis", "standing"]
        assert conversation.decisions[-1].window.decision == "append"


@every_api
def test_an_answer_that_rests_on_a_result_set_aside_is_contingent(api: str, act: Callable[..., Sink]) -> None:
    act(findings=True)
    declared = {**standing(first_ref(api), "ruled-out")}
    script = [
        ToolCalls([ToolUse("get_order", FIRST, "call_a")]),
        Text(json.dumps({"order": "W-5918442", "_findings": declared})),
    ]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider)
        assert json.loads(agent.ask("Which order?")) == {"order": "W-5918442"}
        assert kinds(conversation) == ["basis", "standing", "contingent", "grounded"]
        (assessment,) = conversation.decisions[-1].findings.assessments
        assert assessment.standing == "not-sure"


@every_api
def test_what_is_set_aside_is_served_as_a_ticket_and_the_history_stays(api: str, act: Callable[..., Sink]) -> None:
    act(findings=Findings(serve=True))
    script = [
        ToolCalls([ToolUse("get_order", FIRST, "call_a")]),
        asks(standing(first_ref(api), "noise")),
        Text("None."),
        Text("Still none."),
    ]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider)
        agent.ask("Which order?")
        agent.ask("And now?")
        for request in provider.requests[2:]:
            assert "collapsed" in json.dumps(request.json) or api.startswith("gemini")
        assert "collapsed" not in str(agent.history)
        assert [one.window.decision for one in conversation.decisions] == ["start", "append", "append", "append"]
        assert conversation.decisions[-1].window.rewrites == ()
