"""Guard and rails on every API: one revision, never in the application's list, and what stands in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import otel_footprint
from otel_footprint import Evidence, UnsupportedValuesError
from otel_footprint.core.revision import CORRECTION_PREFIX
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import APIS, Agent, sent, text_of

READ = ToolCalls([ToolUse("get_order")])
WRONG = Text("Your order is W-5918449.")
WRONG_AGAIN = Text("It is surely W-5918448.")
RIGHT = Text("Your order is W-5918442.")
PREFIX = CORRECTION_PREFIX.split(";")[0]

every_api = pytest.mark.parametrize("api", APIS)


def guard(**more: Any) -> Evidence:
    return Evidence(posture="guard", **more)


def rails(**more: Any) -> Evidence:
    return Evidence(posture="rails", **more)


def verdicts(sink: Sink) -> list[tuple[Any, Any]]:
    """Verdict and action on each chat span, in order."""
    spans = sorted(sink.chat_spans, key=lambda span: span.start_time or 0)
    names = ("agentfootprint.evidence.verdict", "agentfootprint.evidence.action")
    return [tuple((span.attributes or {}).get(name) for name in names) for span in spans]  # type: ignore[misc]


def counted(sink: Sink, metric: str, label: str) -> dict[str, float]:
    """What was counted, by one label."""
    counts: dict[str, float] = {}
    for point in sink.metrics(metric):
        if point.value:
            counts[point.attributes[label]] = counts.get(point.attributes[label], 0) + point.value
    return counts


@every_api
def test_an_answer_with_a_value_from_nowhere_is_sent_back_once(api: str, act: Callable[..., Sink]) -> None:
    sink = act(evidence=guard())
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider)
        assert agent.ask("Which order?") == RIGHT.text
        *_, judged, revised = sent(provider)
        # the failed answer, then the correction with its values last
        assert revised[: len(judged)] == judged
        draft, correction = text_of(revised[-2]), text_of(revised[-1])
        assert WRONG.text in draft
        assert PREFIX in correction
        assert "W-5918449" in correction
        assert "tools" in provider.requests[-1].json or "toolConfig" in provider.requests[-1].json
        # nothing of it is the application's
        assert all(PREFIX not in str(message) and WRONG.text not in str(message) for message in agent.history)
        assert [(one.verdict, one.action) for one in conversation.answers] == [("grounded", "grounded")]
    assert verdicts(sink) == [(None, None), ("ungrounded", "recheck"), ("grounded", "grounded")]
    assert all((span.attributes or {})["gen_ai.usage.input_tokens"] for span in sink.chat_spans)
    assert counted(sink, "agentfootprint.answers", "verdict") == {"grounded": 1}
    assert counted(sink, "agentfootprint.evidence.revisions", "outcome") == {"grounded": 1}
    assert {s.attributes.get("agentfootprint.turn") for s in sink.chat_spans if s.attributes} == {1}


@every_api
def test_guard_ships_what_is_still_wrong(api: str, act: Callable[..., Sink]) -> None:
    sink = act(evidence=guard())
    with ScriptedProvider([READ, WRONG, WRONG_AGAIN]) as provider:
        assert Agent(api, provider).ask("Which order?") == WRONG_AGAIN.text
        assert len(provider.requests) == 3
    assert verdicts(sink)[1:] == [("ungrounded", "recheck"), ("ungrounded", "flagged")]
    assert counted(sink, "agentfootprint.answers", "verdict") == {"ungrounded": 1}
    assert counted(sink, "agentfootprint.evidence.revisions", "outcome") == {"flagged": 1}


@every_api
def test_rails_refuse_what_is_still_wrong(api: str, act: Callable[..., Sink]) -> None:
    sink = act(evidence=rails())
    with ScriptedProvider([READ, WRONG, WRONG_AGAIN]) as provider:
        agent = Agent(api, provider)
        with pytest.raises(UnsupportedValuesError) as caught:
            agent.ask("Which order?")
        assert caught.value.values == ("W-5918448",)
        history: list[Any] = []
        text, calls = agent.api.take(caught.value.response, history)
        assert (text, calls) == (WRONG_AGAIN.text, [])
        assert caught.value.__cause__ is None
    assert verdicts(sink)[1:] == [("ungrounded", "recheck"), ("ungrounded", "refused")]
    assert counted(sink, "agentfootprint.evidence.revisions", "outcome") == {"refused": 1}


@every_api
def test_rails_hand_out_what_is_right_the_second_time(api: str, act: Callable[..., Sink]) -> None:
    act(evidence=rails())
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider:
        assert Agent(api, provider).ask("Which order?") == RIGHT.text


@every_api
def test_a_revision_that_asks_for_tools_is_handed_out_and_stays_in_the_turn(api: str, act: Callable[..., Sink]) -> None:
    sink = act(evidence=guard())
    script = [READ, WRONG, READ, WRONG_AGAIN, Text("You are welcome.")]
    with ScriptedProvider(script) as provider:
        agent = Agent(api, provider)
        # the one revision of the turn is spent, so the next answer goes out flagged
        assert agent.ask("Which order?") == WRONG_AGAIN.text
        *_, revision, after = sent(provider)
        assert after[: len(revision)] == revision
        assert WRONG.text in text_of(after[len(revision) - 2])
        assert len(after) > len(revision)
        # with the person's next message the failed answer and its correction are gone
        agent.ask("Thank you.")
        assert PREFIX not in text_of(sent(provider)[-1])
        assert WRONG.text not in text_of(sent(provider)[-1])
        assert len(provider.requests) == 5
    assert verdicts(sink)[1:4] == [("ungrounded", "recheck"), (None, None), ("ungrounded", "flagged")]
    assert counted(sink, "agentfootprint.evidence.revisions", "outcome") == {"tool_calls": 1}
    assert counted(sink, "agentfootprint.answers", "verdict") == {"ungrounded": 1, "no_claims": 1}


@every_api
def test_each_turn_has_a_revision_of_its_own(api: str, act: Callable[..., Sink]) -> None:
    act(evidence=guard())
    with ScriptedProvider([READ, WRONG, RIGHT, WRONG, RIGHT]) as provider:
        agent = Agent(api, provider)
        assert [agent.ask("Which order?"), agent.ask("Which was it again?")] == [RIGHT.text, RIGHT.text]
        window = text_of(sent(provider)[3])  # the first call of the second turn
        assert PREFIX not in window
        assert "W-5918449" not in window


@every_api
@pytest.mark.parametrize("posture", ["guard", "rails"])
def test_where_the_revision_fails_the_first_answer_stands(api: str, posture: Any, act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture=posture))
    failing = [READ, WRONG, *[Error(400, "not now")] * 5]
    with ScriptedProvider(failing) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent(api, provider)
        if posture == "guard":
            assert agent.ask("Which order?") == WRONG.text
        else:
            with pytest.raises(UnsupportedValuesError) as caught:
                agent.ask("Which order?")
            assert "not now" in str(caught.value.__cause__)
            assert agent.api.take(caught.value.response, [])[0] == WRONG.text
        action = "flagged" if posture == "guard" else "refused"
        assert [(one.verdict, one.action) for one in conversation.answers] == [("ungrounded", action)]
    assert verdicts(sink)[1:] == [("ungrounded", "recheck"), (None, None)]
    assert counted(sink, "agentfootprint.answers", "verdict") == {"ungrounded": 1}
    assert counted(sink, "agentfootprint.evidence.revisions", "outcome") == {"failed": 1}
    agent_span = next(span for span in sink.spans if "invoke_agent" in span.name)
    assert (agent_span.attributes or {})["agentfootprint.evidence.verdict"] == "ungrounded"
    assert (agent_span.attributes or {})["agentfootprint.evidence.action"] == action


@every_api
def test_an_error_of_the_first_call_is_the_applications(api: str, act: Callable[..., Sink]) -> None:
    sink = act(evidence=rails())
    with ScriptedProvider([*[Error(400, "not now")] * 5]) as provider:
        agent = Agent(api, provider)
        with pytest.raises(Exception, match="not now") as caught:
            agent.ask("Which order?")
        assert not type(caught.value).__module__.startswith("otel_footprint")
    assert len(sink.chat_spans) == 1


@every_api
@pytest.mark.parametrize("answer", ["Hello there.", "It is W-5918442.", "You said W-1234567."])
def test_what_is_accounted_for_is_never_sent_back(api: str, answer: str, act: Callable[..., Sink]) -> None:
    act(evidence=rails())
    with ScriptedProvider([READ, Text(answer)]) as provider:
        assert Agent(api, provider).ask("Is it W-1234567?") == answer
        assert len(provider.requests) == 2


@every_api
def test_under_assist_nothing_is_asked_again(api: str, act: Callable[..., Sink]) -> None:
    sink = act()
    with ScriptedProvider([READ, WRONG]) as provider:
        assert Agent(api, provider).ask("Which order?") == WRONG.text
        assert len(provider.requests) == 2
    assert verdicts(sink)[-1] == ("ungrounded", "flagged")


def test_a_conversation_may_ask_for_it_alone(act: Callable[..., Sink]) -> None:
    act()
    with ScriptedProvider([READ, WRONG, READ, WRONG, RIGHT, READ, WRONG]) as provider:
        assert Agent("openai-chat", provider).ask("Which order?") == WRONG.text
        with otel_footprint.conversation(evidence=guard()):
            assert Agent("openai-chat", provider).ask("Which order?") == RIGHT.text
        assert Agent("openai-chat", provider).ask("Which order?") == WRONG.text


def test_a_conversation_may_do_without_it(act: Callable[..., Sink]) -> None:
    act(evidence=rails())
    with ScriptedProvider([READ, WRONG]) as provider, otel_footprint.conversation(evidence=Evidence()):
        assert Agent("openai-chat", provider).ask("Which order?") == WRONG.text


def test_an_answer_that_could_not_be_wholly_judged_goes_out(act: Callable[..., Sink]) -> None:
    """Inconclusive behaves as assist: the window holds an image that nobody could read."""
    sink = act(evidence=rails())
    with ScriptedProvider([Text("It is W-5918449.")]) as provider:
        agent = Agent("openai-chat", provider)
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        agent.history.append({"role": "user", "content": [{"type": "text", "text": "What is on it?"}, image]})
        agent.api.call(agent.history)
        assert len(provider.requests) == 1
    assert verdicts(sink) == [("inconclusive", "none")]


def test_metrics_and_refusals_do_not_depend_on_sampling(act: Callable[..., Sink]) -> None:
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    sink = act(sampler=ALWAYS_OFF, evidence=rails())
    with ScriptedProvider([READ, WRONG, WRONG_AGAIN]) as provider, pytest.raises(UnsupportedValuesError):
        Agent("openai-chat", provider).ask("Which order?")
    assert not sink.spans
    assert counted(sink, "agentfootprint.answers", "verdict") == {"ungrounded": 1}
