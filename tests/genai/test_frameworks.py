"""With other instrumentations and frameworks for real, where they are installed; each in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import textwrap
from importlib import metadata

import pytest
from zero_code import put_first, run_agent

from otel_footprint.testing.provider import ScriptedProvider, Text


def need(*distributions: str) -> None:
    for distribution in distributions:
        try:
            metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pytest.skip(f"{distribution} is not installed")


def run(code: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", PREFIX + textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


PREFIX = """
import gc, json
from otel_footprint.genai.hook import FootprintHook
from otel_footprint.genai.instrumentation import states, turn_on
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
sink, calls = Sink(), []
def on(names=None):
    turn_on(names, hook=FootprintHook(calls.append), tracer_provider=sink.tracer_provider)
def done(**more):
    gc.collect()
    print(json.dumps({
        "answers": [output.message.text for seen in calls for output in seen.call.outputs],
        "windows": [[message.role for message in seen.call.messages] for seen in calls],
        "held": {state.name: state.held_by for state in states() if state.held_by},
        "scopes": sorted({span.instrumentation_scope.name for span in sink.spans}),
        **more,
    }))
"""

RIVALS = {
    "openinference": (
        "openinference-instrumentation-openai",
        "openinference.instrumentation.openai",
    ),
    "openllmetry": (
        "opentelemetry-instrumentation-openai",
        "opentelemetry.instrumentation.openai",
    ),
}


SPAN_OF = {"openinference": "ChatCompletion", "openllmetry": "openai.chat"}


@pytest.mark.parametrize("order", ["theirs, ours", "ours, theirs"])
@pytest.mark.parametrize("rival", RIVALS)
def test_openai_is_left_to_whoever_holds_it(rival, order):
    distribution, module = RIVALS[rival]
    need(distribution)
    theirs = f"""
from {module} import OpenAIInstrumentor
OpenAIInstrumentor().instrument(tracer_provider=sink.tracer_provider)
"""
    first, second = (theirs, "on()") if order == "theirs, ours" else ("on()", theirs)
    seen = run(
        first
        + "\n"
        + second
        + """
import openai
with ScriptedProvider(Text("hello")) as provider:
    client = openai.OpenAI(base_url=provider.openai_url, api_key="x")
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
done()
"""
    )
    assert (seen["answers"], seen["held"]) == ([], {"openai": module})
    assert len(seen["scopes"]) == 1


@pytest.mark.parametrize("first", ["theirs", "the official one", "ours"])
@pytest.mark.parametrize("rival", RIVALS)
def test_so_it_is_with_zero_code(tmp_path, rival, first):
    distribution, module = RIVALS[rival]
    need(distribution)
    instrumentors = {
        "theirs": f"{module}:OpenAIInstrumentor",
        "the official one": "opentelemetry.instrumentation.genai.openai:OpenAIInstrumentor",
        "ours": "otel_footprint.entrypoints:FootprintInstrumentor",
    }
    with ScriptedProvider(Text("hello W-1234"), repeat=True) as provider:
        put_first(tmp_path, ("zz_first", instrumentors[first]))
        spans, stderr = run_agent(tmp_path, provider)
    names = [span["name"] for span in spans]
    assert "chat m" not in names
    assert SPAN_OF[rival] in names
    assert len(re.findall("otel-footprint: openai: .* instruments it already", stderr)) == 1


def test_bedrock_is_left_to_botocores(tmp_path):
    need("opentelemetry-instrumentation-botocore")
    seen = run(
        """
        on()
        from opentelemetry.instrumentation.botocore import BotocoreInstrumentor
        BotocoreInstrumentor().instrument(tracer_provider=sink.tracer_provider)
        import boto3
        with ScriptedProvider(Text("hello")) as provider:
            client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=provider.bedrock_url,
                                  aws_access_key_id="x", aws_secret_access_key="x")
            client.converse(modelId="b", messages=[{"role": "user", "content": [{"text": "hi"}]}])
        done()
        """
    )
    assert seen["held"] == {"bedrock": "opentelemetry.instrumentation.botocore"}
    assert seen["answers"] == []


def test_a_langchain_call_is_one_call():
    need("langchain-openai", "opentelemetry-instrumentation-genai-langchain")
    assert importlib.util.find_spec("langchain_openai") is not None
    seen = run(
        """
        on()
        import asyncio
        from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
        from langchain_core.tools import tool
        from langchain_openai import ChatOpenAI

        @tool
        def get_order(id: str) -> str:
            "Look an order up."
            return "left"

        steps = [ToolCalls([ToolUse("get_order", {"id": "W-1"})]), Text("plain"), Text("streamed"), Text("async")]
        with ScriptedProvider(steps) as provider:
            model = ChatOpenAI(base_url=provider.openai_url, api_key="x", model="m").bind_tools([get_order])
            history = [SystemMessage("be brief"), HumanMessage("Where is W-1?")]
            history.append(model.invoke(history))
            history.append(ToolMessage(content="left", tool_call_id=history[-1].tool_calls[0]["id"]))
            model.invoke(history)
            list(model.stream(history))
            asyncio.run(model.ainvoke(history))
        done(spans=len(sink.chat_spans))
        """
    )
    assert seen["answers"] == ["", "plain", "streamed", "async"]
    assert seen["windows"] == [["user"]] + [["user", "assistant", "tool"]] * 3
    assert seen["spans"] == 4
    assert seen["scopes"] == ["opentelemetry.instrumentation.genai.langchain"]


def test_a_pydantic_ai_call_is_one_call_and_one_span():
    need("pydantic-ai-slim")
    seen = run(
        """
        from opentelemetry import trace
        trace.set_tracer_provider(sink.tracer_provider)
        on()
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider
        Agent.instrument_all()
        with ScriptedProvider([ToolCalls([ToolUse("get_order", {"id": "W-1"})]), Text("It left.")]) as provider:
            model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=provider.openai_url, api_key="x"))
            agent = Agent(model, name="shop")

            @agent.tool_plain
            def get_order(id: str) -> str:
                return "left"

            agent.run_sync("Where is W-1?")
        done(spans=len(sink.chat_spans), agents=[seen.call.agent for seen in calls],
             on=[seen.span.instrumentation_scope.name for seen in calls])
        """
    )
    assert (seen["answers"], seen["spans"], seen["agents"]) == (["", "It left."], 2, ["shop", "shop"])
    assert seen["on"] == ["pydantic-ai", "pydantic-ai"]


def test_an_agent_framework_call_is_one_call_and_one_span():
    need("agent-framework-openai")
    seen = run(
        """
        import asyncio
        from opentelemetry import trace
        trace.set_tracer_provider(sink.tracer_provider)
        on()
        from agent_framework import Agent
        from agent_framework.observability import enable_instrumentation
        from agent_framework.openai import OpenAIChatCompletionClient
        enable_instrumentation()

        def get_order(id: str) -> str:
            "Look an order up."
            return "left"

        with ScriptedProvider([ToolCalls([ToolUse("get_order", {"id": "W-1"})]), Text("It left.")]) as provider:
            client = OpenAIChatCompletionClient(base_url=provider.openai_url, api_key="x", model="m")
            asyncio.run(Agent(client, name="shop", tools=[get_order]).run("Where is W-1?"))
        done(spans=len(sink.chat_spans))
        """
    )
    assert (seen["answers"], seen["spans"]) == (["", "It left."], 2)
    assert seen["scopes"] == ["agent_framework"]
