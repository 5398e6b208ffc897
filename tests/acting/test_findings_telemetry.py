"""Findings and standings as they go out, of agents on real SDKs: on the call, on the agent's span, in the metrics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import otel_footprint
from otel_footprint import Evidence, runtime
from otel_footprint.testing.provider import Error, ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import APIS, Agent

every_api = pytest.mark.parametrize("api", APIS)
CALL = ToolCalls([ToolUse("get_order", {"id": "1"}, "call_a")])
RIGHT = "Your order is W-5918442."
SECRET = "SECRET"


def first_ref(api: str) -> str:
    """How the first result is named: Google's calls get a name of their instrumentation's making."""
    return "get_order_0" if api.startswith("gemini") else "call_a"


def rests_on_noise(ref: str) -> Text:
    """The model answers with a value of a result that it calls noise."""
    previous = [{"toolCallId": ref, "standing": "noise", "line": f"{SECRET} says so"}]
    findings = {"basis": "direct", "proposition": f"{SECRET} order", "previous": previous, "odd": 1}
    return Text(json.dumps({"order": "W-5918442", "_findings": findings}))


def counted(sink: Sink, name: str) -> dict[str, float]:
    """What a metric counted, by its first label."""
    totals: dict[str, float] = {}
    for point in sink.metrics(f"agentfootprint.{name}"):
        word = str(point.attributes.get("standing") or point.attributes.get("reason"))
        totals[word] = totals.get(word, 0) + point.value
    return {word: total for word, total in totals.items() if total}


def agent_span(sink: Sink) -> Any:
    [span] = [span for span in sink.spans if span.name.startswith("invoke_agent")]
    return span


def event_names(span: Any) -> list[str]:
    return [event.name.removeprefix("agentfootprint.") for event in span.events]


def words(span: Any) -> dict[str, Any]:
    return {key.removeprefix("agentfootprint."): value for key, value in (span.attributes or {}).items()}


def everything(sink: Sink) -> str:
    """All that went out, as text."""
    spans = [(dict(s.attributes or {}), [(e.name, dict(e.attributes or {})) for e in s.events]) for s in sink.spans]
    logs = [(log.event_name, dict(log.attributes or {})) for log in sink.logs]
    return repr((spans, logs, sink.metrics()))


@every_api
def test_an_answer_that_rests_on_noise_is_contingent_on_every_span(api: str, act: Callable[..., Sink]) -> None:
    sink = act(findings=True, events="both")
    script = [CALL, rests_on_noise(first_ref(api))]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c", agent="desk"):
        Agent(api, provider).ask("Which order?")

    chat = [span for span in sink.spans if "agentfootprint.window.decision" in (span.attributes or {})][-1]
    for span in (chat, agent_span(sink)):
        assert words(span)["findings.declared"] == 1
        assert words(span)["findings.contingent"] == 1
        assert words(span)["answer.standing"] == "not-sure"
        assert words(span)["answer.reasons"] == ("value-contingent",)
    assert {"findings.standing", "findings.contingent"} <= set(event_names(chat))
    assert counted(sink, "findings") == {"noise": 1}
    assert counted(sink, "answer.standing") == {"not-sure": 1}
    assert counted(sink, "answer.reasons") == {"value-contingent": 1}
    assert SECRET not in everything(sink)


def test_under_capture_all_the_line_goes_out(act: Callable[..., Sink]) -> None:
    sink = act(findings=True, capture_values="all")
    with ScriptedProvider([CALL, rests_on_noise("call_a")]) as provider:
        Agent("openai-chat", provider).ask("Which order?")

    assert f"{SECRET} says so" in everything(sink)
    assert counted(sink, "answer.standing") == {"not-sure": 1}  # no conversation() is needed


def test_unsampled_the_same_is_counted(act: Callable[..., Sink]) -> None:
    sink = act(sampler=ALWAYS_OFF, findings=True)
    with ScriptedProvider([CALL, rests_on_noise("call_a")]) as provider, otel_footprint.conversation("c") as talk:
        Agent("openai-chat", provider).ask("Which order?")
        talk.validated(False, check="totals")

    assert sink.spans == ()
    assert counted(sink, "answer.standing") == {"not-sure": 1}
    assert counted(sink, "answer.reasons") == {"value-contingent": 1, "answer-check-failed": 1}


def test_what_the_application_says_is_on_the_agents_span_and_counted_once(act: Callable[..., Sink]) -> None:
    sink = act(findings=True)
    digest = hashlib.sha256(RIGHT.encode()).hexdigest()
    script: list[Step] = [CALL, Text(RIGHT), Text("Which of the two?")]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c") as talk:
        agent = Agent("openai-chat", provider)
        agent.ask("Which order?")
        talk.declare("call_a", "fact", f"{SECRET} line")
        talk.validated(True, check="same order", digest=digest)
        assert counted(sink, "answer.standing") == {}  # more may be said of it
        agent.ask("And the other?")
        assert counted(sink, "answer.standing") == {"known": 1}
        talk.asked()

    assert counted(sink, "answer.standing") == {"known": 1, "ask": 1}
    assert counted(sink, "findings") == {"fact": 1}
    span = agent_span(sink)
    assert words(span)["answer.standing"] == "ask"
    assert words(span)["totals.standing.known"] == 1
    assert words(span)["totals.standing.ask"] == 1
    assert event_names(span) == [
        "findings.standing",
        "answer.witness",
        "gen_ai.evaluation.result",
        "answer.witness",
        "gen_ai.evaluation.result",
    ]
    assert [
        words(chat)["answer.standing"]
        for chat in sink.chat_spans
        if "agentfootprint.answer.standing" in chat.attributes
    ] == [
        "consistent",
        "not-assessed",
    ]
    results = [log.attributes for log in sink.logs if log.event_name == "gen_ai.evaluation.result"]
    standings = [
        one["gen_ai.evaluation.score.label"]
        for one in results
        if one["gen_ai.evaluation.name"] == "agentfootprint.answer"
    ]
    assert sorted(standings) == ["ask", "consistent", "known", "not-assessed"]
    assert standings[-1] == "ask"
    assert SECRET not in everything(sink)


def test_the_agents_span_of_a_framework_says_the_last_word_too(act: Callable[..., Sink]) -> None:
    sink = act(findings=True)
    tracer = sink.tracer_provider.get_tracer("framework")
    with (
        ScriptedProvider([CALL, Text(RIGHT)]) as provider,
        tracer.start_as_current_span(
            "invoke_agent theirs", attributes={"gen_ai.operation.name": "invoke_agent"}
        ) as span,
    ):
        with otel_footprint.conversation("c") as talk:
            Agent("openai-chat", provider).ask("Which order?")
            talk.stopped_early("budget")
        running = runtime.current()
        assert running is not None
        running._agents.on_completion(span=span)  # as its instrumentation calls every hook

    assert words(agent_span(sink))["answer.standing"] == "not-sure"
    assert words(agent_span(sink))["answer.reasons"] == ("stopped-early",)


def test_what_is_said_after_the_end_is_logged_and_changes_no_count(act: Callable[..., Sink]) -> None:
    sink = act(findings=True, events="both")
    with ScriptedProvider([CALL, Text(RIGHT)]) as provider, otel_footprint.conversation("c") as talk:
        Agent("openai-chat", provider).ask("Which order?")
    talk.asked()
    talk.declare("call_a", "noise")

    assert talk.assessment is not None
    assert talk.assessment.standing == "ask"
    assert counted(sink, "answer.standing") == {"consistent": 1}
    assert counted(sink, "findings") == {"noise": 1}
    assert [log.event_name for log in sink.logs[-2:]] == [
        "agentfootprint.answer.witness",
        "agentfootprint.findings.standing",
    ]


def test_a_draft_has_no_standing_and_one_that_goes_out_after_all_has(act: Callable[..., Sink]) -> None:
    sink = act(findings=True, evidence=Evidence(posture="guard"))
    script: list[Step] = [CALL, Text("Your order is W-1111111."), Error(500)]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c"):
        Agent("openai-chat", provider).ask("Which order?")

    drafts = [span for span in sink.chat_spans if words(span).get("evidence.action") == "recheck"]
    assert len(drafts) == 1
    assert "answer.standing" not in words(drafts[0])
    assert counted(sink, "answer.standing") == {"not-sure": 1}
    assert counted(sink, "answer.reasons") == {"value-unsupported": 1}
    assert words(agent_span(sink))["answer.standing"] == "not-sure"


def test_a_tool_that_cannot_take_findings_is_named(act: Callable[..., Sink]) -> None:
    sink = act(findings=True)
    with ScriptedProvider([Text("Hello.")]) as provider:
        agent = Agent("openai-responses", provider)
        agent.api.tools = [{**agent.api.tools[0], "strict": True}]
        agent.ask("Hello?")

    [chat] = sink.chat_spans
    assert words(chat)["findings.undecorated"] == 1
    assert words(chat)["findings.undecorated_tools"] == ("get_order",)
