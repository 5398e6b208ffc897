"""The same mechanism under the SDKs of Anthropic, Google and AWS: acted on once, revised, held back, restored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import boto3
import pytest
from acting_cases import TOKEN, Director, last_with_notice
from botocore.client import BaseClient
from google import genai
from google.genai import types
from google.genai.models import AsyncModels, Models
from opentelemetry import context as otel_context

from otel_footprint.boundary import fault_counts
from otel_footprint.genai.hook import FootprintHook, HookCall
from otel_footprint.genai.instrumentation import turn_off, turn_on
from otel_footprint.providers import acting
from otel_footprint.testing.provider import ScriptedProvider, Step, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink

LEFT = Text("W-1042 left today.")
WRONG = Text("It costs 12.50.")
CALL = ToolCalls([ToolUse("get_order", {"id": "W-1042"}, id="call-a")])
HISTORY = [("user", "Hello"), ("assistant", "Hello."), ("user", "Where is W-1042?")]
PLAIN = [{"role": role, "content": text} for role, text in HISTORY]
BLOCKS = [{"role": role, "content": [{"text": text}]} for role, text in HISTORY]
CONTENTS = [
    types.Content(role="model" if role == "assistant" else role, parts=[types.Part(text=text)])
    for role, text in HISTORY
]
METHODS = [
    *((kind, name) for kind in (Models, AsyncModels) for name in ("generate_content", "generate_content_stream")),
    *(
        (kind, name)
        for module in (anthropic.resources.messages, anthropic.resources.beta.messages)
        for kind in (module.Messages, module.AsyncMessages)
        for name in ("create", "parse", "stream")
        if name in vars(kind)
    ),
    (BaseClient, "_make_api_call"),
]


def costs(text: str) -> bool:
    return "12.50" in text


@dataclass
class Stage:
    director: Director
    sink: Sink
    provider: Any = None
    told: list[HookCall] = field(default_factory=list)

    @property
    def tokens(self) -> list[Any]:
        """Whose calls the hook was told of."""
        return [otel_context.get_value(TOKEN, call.context) for call in self.told]

    def plays(self, *steps: Step) -> str:
        self.provider = ScriptedProvider(list(steps))
        return str(self.provider.url)

    @property
    def sent(self) -> list[int]:
        """How many messages each request held."""
        return [len(request.json.get("messages", request.json.get("contents"))) for request in self.provider.requests]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "false")
    before = [vars(owner)[name] for owner, name in METHODS]
    staged = Stage(Director(), Sink())
    faults = fault_counts()
    acting.install(staged.director)
    turn_on(None, hook=FootprintHook(staged.told.append), tracer_provider=staged.sink.tracer_provider)
    yield staged
    turn_off()
    acting.uninstall()
    if staged.provider is not None:
        staged.provider.close()
    assert [vars(owner)[name] for owner, name in METHODS] == before
    assert fault_counts() == faults
    assert staged.sink.open_spans == ()
    staged.sink.close()


def anthropic_at(url: str) -> Any:
    return anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)


def gemini_at(url: str) -> Any:
    return genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))


def bedrock_at(url: str) -> Any:
    keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    return boto3.client("bedrock-runtime", endpoint_url=url, **keys)


def with_messages(**more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 99, "messages": PLAIN, **more}


def gemini_texts(stream: Any) -> str:
    return "".join(chunk.text or "" for chunk in stream)


def bedrock_texts(response: Any) -> str:
    return "".join(
        event["contentBlockDelta"]["delta"]["text"] for event in response["stream"] if "contentBlockDelta" in event
    )


def entered(manager: Any, read: Any) -> Any:
    with manager as stream:
        return read(stream)


def with_client(client: Any, call: Any) -> Any:
    """Google's client closes when nobody holds it."""
    return call(client)


MODEL = "amazon.nova-lite-v1:0"
PLAIN_WAYS = {
    "anthropic": lambda url: anthropic_at(url).messages.create(**with_messages()).content[0].text,
    "anthropic-raw": lambda url: (
        anthropic_at(url).messages.with_raw_response.create(**with_messages()).parse().content[0].text
    ),
    "anthropic-beta": lambda url: anthropic_at(url).beta.messages.create(**with_messages()).content[0].text,
    "anthropic-parse": lambda url: anthropic_at(url).messages.parse(**with_messages()).content[0].text,
    "gemini": lambda url: with_client(
        gemini_at(url), lambda c: c.models.generate_content(model="m", contents=CONTENTS).text
    ),
    "bedrock": lambda url: bedrock_at(url).converse(modelId=MODEL, messages=BLOCKS)["output"]["message"]["content"][0][
        "text"
    ],
}
STREAM_WAYS = {
    "anthropic": lambda url: "".join(
        event.delta.text
        for event in anthropic_at(url).messages.create(**with_messages(stream=True))
        if event.type == "content_block_delta"
    ),
    "anthropic-text": lambda url: entered(
        anthropic_at(url).messages.stream(**with_messages()), lambda stream: "".join(stream.text_stream)
    ),
    "anthropic-final": lambda url: entered(
        anthropic_at(url).messages.stream(**with_messages()), lambda stream: stream.get_final_text()
    ),
    "anthropic-beta-final": lambda url: entered(
        anthropic_at(url).beta.messages.stream(**with_messages()),
        lambda stream: stream.get_final_message().content[0].text,
    ),
    "gemini": lambda url: with_client(
        gemini_at(url), lambda c: gemini_texts(c.models.generate_content_stream(model="m", contents=CONTENTS))
    ),
    "bedrock": lambda url: bedrock_texts(bedrock_at(url).converse_stream(modelId=MODEL, messages=BLOCKS)),
}
WAYS = {**{f"plain-{k}": v for k, v in PLAIN_WAYS.items()}, **{f"stream-{k}": v for k, v in STREAM_WAYS.items()}}


def read_as_sent(stage: Stage) -> bool:
    """What each surface reads of what was sent is what the hook was told."""
    read = [acting.surface.read(acting.kwargs) for acting in stage.director.made]
    return [reading and list(reading.messages) for reading in read] == [list(call.call.messages) for call in stage.told]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_call_is_acted_on_once(stage, way):
    stage.director.window = last_with_notice
    assert WAYS[way](stage.plays(LEFT)) == "W-1042 left today."
    assert stage.sent[0] < 3
    assert stage.director.seen.count("begin") == 1
    assert stage.tokens == stage.director.made
    assert read_as_sent(stage)


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_answer_is_asked_for_again(stage, way):
    stage.director.wrong = costs
    stage.director.hold = True
    assert WAYS[way](stage.plays(WRONG, LEFT)) == "W-1042 left today."
    assert stage.sent == [3, 5]
    assert stage.tokens == stage.director.made
    assert stage.director.seen[-1] == "finish"
    assert read_as_sent(stage)


def test_a_tool_runner_is_acted_on_at_each_turn(stage):
    def get_order(id: str) -> str:
        """Look an order up."""
        return f"{id} left today"

    client = anthropic_at(stage.plays(CALL, LEFT))
    tool = anthropic.beta_tool(get_order)
    messages = list(client.beta.messages.tool_runner(**with_messages(tools=[tool])))
    assert messages[-1].content[0].text == "W-1042 left today."
    assert stage.director.seen.count("begin") == 2
    assert stage.tokens == stage.director.made


def test_a_chat_of_google_s_is_acted_on(stage):
    client = gemini_at(stage.plays(LEFT, LEFT))
    chat = client.chats.create(model="m")
    chat.send_message("Hello")
    assert gemini_texts(chat.send_message_stream("Where is W-1042?")) == "W-1042 left today."
    assert stage.director.seen.count("begin") == 2


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_asynchronous_clients(stage, hold):
    stage.director.wrong = costs
    stage.director.hold = hold

    async def work(url: str) -> list[str]:
        texts = []
        async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:
            texts.append((await client.messages.create(**with_messages())).content[0].text)
            async with client.messages.stream(**with_messages()) as stream:
                texts.append("".join([text async for text in stream.text_stream]))
            async with client.messages.stream(**with_messages()) as stream:
                texts.append(await stream.get_final_text())
        google = gemini_at(url)
        texts.append((await google.aio.models.generate_content(model="m", contents=CONTENTS)).text)
        stream = await google.aio.models.generate_content_stream(model="m", contents=CONTENTS)
        texts.append("".join([chunk.text or "" async for chunk in stream]))
        return texts

    steps = [WRONG, LEFT] * 5 if hold else [WRONG, LEFT, LEFT, LEFT, WRONG, LEFT, LEFT]
    assert asyncio.run(work(stage.plays(*steps))) == ["W-1042 left today."] * 5
    assert len(stage.sent) == len(steps)
    assert stage.tokens == stage.director.made


def test_other_operations_of_aws_pass(stage):
    client = bedrock_at(stage.plays(LEFT))
    with pytest.raises(client.exceptions.ClientError):
        client.count_tokens(modelId=MODEL, input={"converse": {"messages": BLOCKS}})
    assert stage.director.seen == []
