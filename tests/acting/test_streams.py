"""Streams and raw responses under guard and rails: what is handed out cannot be unsaid, unless it was held back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest

import otel_footprint
from otel_footprint import Evidence, SlidingWindow, UnsupportedValuesError
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import MODEL, Agent, run, sent, text_of

READ = ToolCalls([ToolUse("get_order")])
WRONG = Text("Your order is W-5918449.")
WRONG_AGAIN = Text("It is surely W-5918448.")
RIGHT = Text("Your order is W-5918442.")


class Talk:
    """A conversation on OpenAI chat that has read an order, and asks for the answer in some way."""

    def __init__(self, provider: ScriptedProvider, *, asynchronous: bool = False) -> None:
        self.agent = Agent("openai-chat", provider)
        self.agent.history.append(self.agent.api.say("Which order?"))
        response = self.agent.api.call(self.agent.history)
        self.agent._take(response)
        kind: Any = openai.AsyncOpenAI if asynchronous else openai.OpenAI
        self.client: Any = kind(base_url=provider.openai_url, api_key="x", max_retries=0)
        self.request: dict[str, Any] = {
            "model": MODEL,
            "messages": self.agent.history,
            "tools": self.agent.api.tools,  # type: ignore[attr-defined]
        }

    @property
    def completions(self) -> Any:
        return self.client.chat.completions


def told(chunks: Any) -> str:
    """What a stream of chat chunks says."""
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def last(sink: Sink, *names: str) -> tuple[Any, ...]:
    span = max(sink.chat_spans, key=lambda span: span.start_time or 0)
    return tuple((span.attributes or {}).get(f"agentfootprint.evidence.{name}") for name in names)


def answers(sink: Sink) -> dict[str, float]:
    counts: dict[str, float] = {}
    for point in sink.metrics("agentfootprint.answers"):
        if point.value:
            key = f"{point.attributes['verdict']} {point.attributes['posture']}"
            counts[key] = counts.get(key, 0) + point.value
    return counts


@pytest.mark.parametrize("posture", ["guard", "rails"])
def test_a_stream_that_is_not_held_is_recorded_as_assist_and_said_so(posture: Any, act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture=posture))
    with ScriptedProvider([READ, WRONG]) as provider:
        talk = Talk(provider)
        assert told(talk.completions.create(**talk.request, stream=True)) == WRONG.text
        assert len(provider.requests) == 2
    assert last(sink, "verdict", "action", "posture", "stream_unheld") == ("ungrounded", "flagged", "assist", True)
    assert answers(sink) == {"ungrounded assist": 1}


def test_a_held_stream_is_asked_again_and_played_back(act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture="guard", hold_streams=True))
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider:
        talk = Talk(provider)
        with talk.completions.create(**talk.request, stream=True) as stream:
            assert isinstance(stream, openai.Stream)
            assert told(stream) == RIGHT.text
        assert [request.json.get("stream") for request in provider.requests] == [None, True, True]
        assert WRONG.text in text_of(sent(provider)[-1][-2])
    assert last(sink, "verdict", "action", "posture") == ("grounded", "grounded", "guard")
    assert answers(sink) == {"grounded guard": 1}


def test_rails_refuse_a_held_stream(act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture="rails", hold_streams=True))
    with ScriptedProvider([READ, WRONG, WRONG_AGAIN]) as provider:
        talk = Talk(provider)
        with pytest.raises(UnsupportedValuesError) as caught:
            talk.completions.create(**talk.request, stream=True)
        assert told(caught.value.response) == WRONG_AGAIN.text
    assert last(sink, "action") == ("refused",)


async def _held_async(talk: Talk) -> str:
    stream = await talk.completions.create(**talk.request, stream=True)
    return told([chunk async for chunk in stream])


def test_a_held_stream_of_an_asynchronous_client(act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture="rails", hold_streams=True))
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider:
        assert run(_held_async(Talk(provider, asynchronous=True))) == RIGHT.text
    assert last(sink, "action") == ("grounded",)


def test_a_held_stream_helper(act: Callable[..., Sink]) -> None:
    act(evidence=Evidence(posture="guard", hold_streams=True))
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider:
        talk = Talk(provider)
        with talk.completions.stream(**talk.request) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_completion()
        assert final.choices[0].message.content == RIGHT.text
        assert "content.delta" in kinds
        assert len(provider.requests) == 3


@pytest.mark.parametrize("held", [False, True])
def test_a_stream_whose_revision_fails_goes_out_as_it_is(held: bool, act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture="guard", hold_streams=held))
    with ScriptedProvider([READ, WRONG, Error(400, "not now")]) as provider:
        talk = Talk(provider)
        assert told(talk.completions.create(**talk.request, stream=True)) == WRONG.text
        assert len(provider.requests) == 2 + held
    assert list(answers(sink).values()) == [1]


def test_a_held_anthropic_stream(act: Callable[..., Sink]) -> None:
    act(evidence=Evidence(posture="guard", hold_streams=True))
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider:
        agent = Agent("anthropic", provider)
        agent.history.append(agent.api.say("Which order?"))
        agent._take(agent.api.call(agent.history))
        client = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)
        tools: Any = agent.api.tools  # type: ignore[attr-defined]
        with client.messages.stream(model=MODEL, max_tokens=9, messages=agent.history, tools=tools) as stream:
            assert "".join(stream.text_stream) == RIGHT.text
            assert len(provider.requests) == 3


def test_a_raw_response_is_judged_and_asked_again(act: Callable[..., Sink]) -> None:
    act(evidence=Evidence(posture="guard"))
    with ScriptedProvider([READ, WRONG, RIGHT]) as provider:
        talk = Talk(provider)
        raw = talk.completions.with_raw_response.create(**talk.request)
        assert raw.headers["content-type"]
        assert raw.parse().choices[0].message.content == RIGHT.text
        assert len(provider.requests) == 3


def test_a_refused_raw_response_is_in_the_error(act: Callable[..., Sink]) -> None:
    act(evidence=Evidence(posture="rails"))
    with ScriptedProvider([READ, WRONG, WRONG_AGAIN]) as provider:
        talk = Talk(provider)
        with pytest.raises(UnsupportedValuesError) as caught:
            talk.completions.with_raw_response.create(**talk.request)
        response: Any = caught.value.response
        assert response.parse().choices[0].message.content == WRONG_AGAIN.text


def test_a_response_that_the_application_reads_by_itself_is_recorded_as_assist(act: Callable[..., Sink]) -> None:
    async def read(talk: Talk) -> str:
        async with talk.completions.with_streaming_response.create(**talk.request) as response:
            return str((await response.parse()).choices[0].message.content)

    sink = act(evidence=Evidence(posture="rails"))
    with ScriptedProvider([READ, WRONG]) as provider:
        assert run(read(Talk(provider, asynchronous=True))) == WRONG.text
        assert len(provider.requests) == 2
    if last(sink, "verdict") != (None,):  # where the official instrumentation sees the body at all
        assert last(sink, "action", "stream_unheld") == ("flagged", True)
        assert answers(sink) == {"ungrounded assist": 1}


@pytest.mark.parametrize("streamed", [False, True])
def test_the_window_of_a_stream_is_planned_too(streamed: bool, act: Callable[..., Sink]) -> None:
    act(window=SlidingWindow(1), keep_last_tool_results=0)
    with ScriptedProvider([READ, RIGHT, Text("Hello.")]) as provider, otel_footprint.conversation("c") as conversation:
        agent = Agent("openai-chat", provider, {"order_id": "W-5918442", "more": "words " * 200})
        agent.ask("Which order?")
        agent.history.append(agent.api.say("Hello?"))
        api: Any = agent.api
        messages = [{"role": "system", "content": "Answer from the tools."}, *agent.history]
        response = api.client.chat.completions.create(model=MODEL, messages=messages, tools=api.tools, stream=streamed)
        if streamed:
            assert told(response) == "Hello."
        assert len(sent(provider)[-1]) < 4
        assert conversation.window.decided_by == "sliding-window"


def test_several_choices_are_judged_one_by_one_and_asked_again_together(act: Callable[..., Sink]) -> None:
    import json

    from otel_footprint.testing.provider import Raw

    def choices(*texts: str) -> Raw:
        made = [
            {"index": index, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        body = {"id": f"c{len(texts[0])}", "object": "chat.completion", "created": 1, "model": MODEL, "usage": usage}
        return Raw(json.dumps(body | {"choices": made}))

    sink = act(evidence=Evidence(posture="guard"))
    with ScriptedProvider([READ, choices(RIGHT.text, WRONG.text), choices(RIGHT.text, RIGHT.text)]) as provider:
        talk = Talk(provider)
        response = talk.completions.create(**talk.request, n=2)
        assert [choice.message.content for choice in response.choices] == [RIGHT.text] * 2
        assert WRONG.text in text_of(sent(provider)[-1][-2])
    assert answers(sink)["grounded guard"] >= 2
