"""At the edges: answer tools, calls inside calls, cancellation, many at once, and a process that only observes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import openai
import pytest
from google import genai
from google.genai import types

import otel_footprint
from otel_footprint import Evidence, SlidingWindow, SummarizeOldest, UnsupportedValuesError, WindowResult
from otel_footprint.core.revision import CORRECTION_PREFIX
from otel_footprint.core.window.strategy import WindowStrategyInput
from otel_footprint.providers import acting as wrappers
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import APIS, MODEL, Agent, run, sent, text_of

READ = ToolCalls([ToolUse("get_order")])
WRONG = Text("Your order is W-5918449.")
RIGHT = Text("Your order is W-5918442.")
LONG = {"order_id": "W-5918442", "lines": ["a line that says nothing of interest"] * 20}


@pytest.mark.parametrize("api", APIS)
def test_the_call_of_an_answer_tool_is_sent_back_too(api: str, act: Callable[..., Sink]) -> None:
    act(evidence=Evidence(posture="guard", answer_tools=("final_answer",)))
    wrong = ToolCalls([ToolUse("final_answer", {"text": WRONG.text})])
    right = ToolCalls([ToolUse("final_answer", {"text": RIGHT.text})])
    with ScriptedProvider([READ, wrong, right]) as provider:
        agent = Agent(api, provider)
        agent.history.append(agent.api.say("Which order?"))

        def step() -> Any:
            response = agent.api.call(agent.history)
            return run(response) if agent.asynchronous else response

        agent._take(step())
        _, calls = agent.api.take(step(), agent.history)
        assert [name for _, name in calls] == ["final_answer"]
        assert "W-5918442" in str(agent.history[-1])
        assert "W-5918449" in text_of(sent(provider)[-1])
        assert CORRECTION_PREFIX.split(";")[0] in text_of(sent(provider)[-1][-1])


def test_a_tool_that_asks_a_model_is_a_call_of_its_own(act: Callable[..., Sink]) -> None:
    """Google's SDK runs the tool inside its own call, in that call's context."""
    sink = act(evidence=Evidence(posture="guard"), window=SlidingWindow(5))
    order = json.dumps({"order_id": "W-5918442"})
    with ScriptedProvider([WRONG, Text("It says W-5918442.")]) as inner_provider:
        client = openai.OpenAI(base_url=inner_provider.openai_url, api_key="x", max_retries=0)

        def get_order() -> str:
            """Look the order up."""
            messages: Any = [
                {"role": "user", "content": "Which order?"},
                {"role": "assistant", "tool_calls": [_call("c-1")]},
                {"role": "tool", "tool_call_id": "c-1", "content": order},
            ]
            return str(client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content)

        with ScriptedProvider([READ, Text("Your order is W-5918442.")]) as provider:
            outer = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
            config = types.GenerateContentConfig(tools=[get_order])
            response = outer.models.generate_content(model=MODEL, contents="Which order is mine?", config=config)
            assert response.text == "Your order is W-5918442."
            assert len(provider.requests) == 2
        assert len(inner_provider.requests) == 2  # the inner answer was sent back
    actions = [(span.attributes or {}).get("agentfootprint.evidence.action") for span in sink.chat_spans]
    assert sorted(filter(None, actions)) == ["grounded", "grounded", "recheck"]


def _call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "get_order", "arguments": "{}"}}


@pytest.mark.skipif(find_spec("langchain_openai") is None, reason="langchain-openai is not installed")
def test_a_framework_on_top_of_the_sdk_is_acted_on(act: Callable[..., Sink]) -> None:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    act(evidence=Evidence(posture="guard"), window=SlidingWindow(2), keep_last_tool_results=0)
    with ScriptedProvider([WRONG, RIGHT, Text("Bye.")]) as provider:
        model = ChatOpenAI(model=MODEL, base_url=provider.openai_url, api_key="x", max_retries=0)  # type: ignore[arg-type]
        history: list[Any] = [
            HumanMessage("Which order?"),
            AIMessage("", tool_calls=[{"id": "c-1", "name": "get_order", "args": {}}]),
            ToolMessage(json.dumps(LONG), tool_call_id="c-1"),
        ]
        with otel_footprint.conversation("c") as conversation:
            answer = model.invoke(history)
            assert answer.content == RIGHT.text
            model.invoke([*history, answer, HumanMessage("Thank you.")])
            assert conversation.window.decided_by == "sliding-window"
        assert len(provider.requests) == 3
        assert len(sent(provider)[-1]) < 5


def test_a_cancelled_call_leaves_nothing_open(act: Callable[..., Sink]) -> None:
    act(evidence=Evidence(posture="rails"), window=SlidingWindow(1))

    async def cancel(agent: Agent) -> None:
        task = asyncio.ensure_future(agent.api.call(agent.history))
        while not provider.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ScriptedProvider([Text("Late.", delay=5.0), Text("Hello.")]) as provider:
        agent = Agent("openai-chat-async", provider)
        agent.history.append(agent.api.say("Hi"))
        run(cancel(agent))
        assert agent.ask("Still there?") == "Hello."


def test_a_cancelled_plan_leaves_nothing_open(act: Callable[..., Sink]) -> None:
    class Slow:
        name = "slow"

        async def plan(self, input: WindowStrategyInput) -> WindowResult | None:
            await input.as_child(asyncio.sleep, 10)
            return None

    sink = act(window=Slow())

    async def cancel(agent: Agent) -> None:
        task = asyncio.ensure_future(agent.api.call(agent.history))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ScriptedProvider([Text("Hello.")]) as provider:
        agent = Agent("openai-chat-async", provider)
        agent.history.append(agent.api.say("Hi"))
        run(cancel(agent))
        assert not provider.requests
    assert [span.name for span in sink.spans] == ["agentfootprint.window slow"]


def test_many_conversations_at_once_keep_their_windows_apart(act: Callable[..., Sink]) -> None:
    act(window=SlidingWindow(1), keep_last_tool_results=0, evidence=Evidence(posture="guard"))

    def script(request: Any) -> Any:
        messages = request.json["messages"]
        if CORRECTION_PREFIX in str(messages[-1]["content"]):
            return RIGHT
        return READ if messages[-1]["role"] == "user" else WRONG

    failures: list[BaseException] = []
    with ScriptedProvider(script) as provider:

        def work(number: int) -> None:
            try:
                with otel_footprint.conversation(f"c-{number}"):
                    agent = Agent("openai-chat", provider, LONG | {"mine": f"N-{number:05}"})
                    for turn in range(3):
                        assert agent.ask(f"Question {number}-{turn}?") == RIGHT.text
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        for window in sent(provider):
            owners = {name for number in range(6) if (name := f"Question {number}-") in text_of(window)}
            assert len(owners) == 1


def test_parallel_calls_of_one_history_do_not_disturb_each_other(act: Callable[..., Sink]) -> None:
    act(window=SlidingWindow(1), keep_last_tool_results=0)

    async def fan_out(agent: Agent) -> list[Any]:
        branches = [[*agent.history, agent.api.say(f"Branch {number}?")] for number in range(4)]
        return await asyncio.gather(*(agent.api.call(branch) for branch in branches))

    with ScriptedProvider([READ, RIGHT, *[Text("Done.")] * 5]) as provider, otel_footprint.conversation("c"):
        agent = Agent("openai-chat-async", provider, LONG)
        agent.ask("Which order?")
        assert len(run(fan_out(agent))) == 4
        for number in range(4):
            window = next(window for window in sent(provider)[2:] if f"Branch {number}?" in text_of(window))
            assert sum(f"Branch {other}?" in text_of(window) for other in range(4)) == 1


def test_a_process_that_only_observes_loads_nothing_that_acts(act: Callable[..., Sink]) -> None:
    act()
    assert wrappers.installed() is None
    code = (
        "import sys, openai, otel_footprint; otel_footprint.instrument();\n"
        "with otel_footprint.conversation('c'): pass\n"
        "print([name for name in sys.modules if name.startswith(('otel_footprint.acting_call', 'otel_footprint.providers.acting'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


def test_what_was_wrapped_is_restored(act: Callable[..., Sink]) -> None:
    from openai.resources.chat.completions import Completions

    before = vars(Completions)["create"]
    act(evidence=Evidence(posture="guard"))
    assert vars(Completions)["create"] is not before
    otel_footprint.uninstrument()
    assert vars(Completions)["create"] is before


def test_the_same_settings_again_do_nothing(act: Callable[..., Sink]) -> None:
    client = openai.OpenAI(base_url="http://127.0.0.1:1", api_key="x")
    settings: dict[str, Any] = {
        "window": SummarizeOldest(100, client, "small-model"),
        "evidence": Evidence(posture="guard"),
    }
    sink = act(**settings)
    again: dict[str, Any] = {
        "tracer_provider": sink.tracer_provider,
        "meter_provider": sink.meter_provider,
        "logger_provider": sink.logger_provider,
    }
    otel_footprint.instrument(**settings, **again)
    with pytest.raises(otel_footprint.ConfigurationError, match="another window"):
        otel_footprint.instrument(window=SlidingWindow(3), evidence=settings["evidence"], **again)


def test_what_is_no_client_is_refused_where_the_strategy_is_installed() -> None:
    for given in (lambda: otel_footprint.instrument, lambda: otel_footprint.conversation):
        with pytest.raises(otel_footprint.ConfigurationError, match="neither a function nor a client"):
            given()(window=SummarizeOldest(100, object(), "small-model"))


def test_no_value_and_no_text_reaches_spans_or_logs(act: Callable[..., Sink], caplog: pytest.LogCaptureFixture) -> None:
    sink = act(evidence=Evidence(posture="rails"), window=SlidingWindow(1), events="both")
    with ScriptedProvider([READ, WRONG, WRONG]) as provider, pytest.raises(UnsupportedValuesError):
        Agent("openai-chat", provider, LONG).ask("Which secret order?")
    told = "".join(span.to_json() for span in sink.spans) + caplog.text
    told += "".join(str(dict(log.attributes or {})) + str(log.body) for log in sink.logs)
    for secret in ("W-5918449", "W-5918442", "secret", "nothing of interest", "automatic check"):
        assert secret not in told


def test_a_window_that_cannot_be_written_is_not_sent(
    faulty: Callable[..., Sink], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours in a provider's file: the call goes through as the application made it, and so do those after it."""
    from otel_footprint.providers.openai_chat_surface import OpenAIChat as Surface

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ours")

    sink = faulty(window=SlidingWindow(1), keep_last_tool_results=0, evidence=Evidence(posture="guard"))
    monkeypatch.setattr(Surface, "write", broken)
    with ScriptedProvider([READ, RIGHT, WRONG, RIGHT]) as provider:
        agent = Agent("openai-chat", provider, LONG)
        for question in ("Which order?", "And which was it?", "Sure?"):
            agent.ask(question)
        assert [len(window) for window in sent(provider)] == [1, 3, 5, 7]
    faults = {point.attributes.get("place") for point in sink.metrics("agentfootprint.errors") if point.value}
    assert faults == {"acting.commit"}
    assert sink.open_spans == ()


def test_a_revision_that_cannot_be_written_leaves_the_answer_standing(
    faulty: Callable[..., Sink], monkeypatch: pytest.MonkeyPatch
) -> None:
    from otel_footprint.providers.openai_chat_surface import OpenAIChat as Surface

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ours")

    sink = faulty(evidence=Evidence(posture="rails"))
    monkeypatch.setattr(Surface, "write", broken)
    with ScriptedProvider([READ, WRONG, READ, RIGHT]) as provider:
        agent = Agent("openai-chat", provider, LONG)
        with pytest.raises(UnsupportedValuesError) as caught:
            agent.ask("Which order?")
        assert caught.value.__cause__ is None
        assert len(provider.requests) == 2
        assert agent.ask("Then tell me again.") == RIGHT.text
    counts = [(p.attributes["verdict"], p.value) for p in sink.metrics("agentfootprint.answers") if p.value]
    assert sorted(counts) == [("grounded", 1), ("ungrounded", 1)]


def test_guard_where_the_provider_holds_the_window(act: Callable[..., Sink]) -> None:
    sink = act(evidence=Evidence(posture="guard"))
    tool: Any = {
        "type": "function",
        "name": "get_order",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
    with ScriptedProvider([READ, WRONG, RIGHT, Text("You are welcome.")]) as provider:
        client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        first = client.responses.create(model=MODEL, input="Which order?", tools=[tool])
        (call,) = [item for item in first.output if item.type == "function_call"]
        result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": '{"order_id": "W-5918442"}'}]
        second = client.responses.create(model=MODEL, input=result, previous_response_id=first.id, tools=[tool])
        assert second.output_text == RIGHT.text
        asked, again = provider.requests[1].json, provider.requests[2].json
        assert again["previous_response_id"] == asked["previous_response_id"] == first.id
        assert again["input"][: len(result)] == result
        assert WRONG.text in text_of(again["input"][-2])
        assert "W-5918449" in text_of(again["input"][-1])
        third = client.responses.create(model=MODEL, input="Thank you.", previous_response_id=second.id)
        assert third.output_text == "You are welcome."
    spans = sorted(sink.chat_spans, key=lambda span: span.start_time or 0)
    assert [(span.attributes or {}).get("agentfootprint.evidence.action") for span in spans] == [
        None,
        "recheck",
        "grounded",
        "none",
    ]
    assert {(span.attributes or {}).get("agentfootprint.turn") for span in spans} == {1, 2}
    assert len({(span.attributes or {}).get("agentfootprint.conversation.id") for span in spans}) == 1
