"""One small tool loop on each of the five APIs, plain and asynchronous: its history is a list of its own."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Protocol, TypeVar

import anthropic
import boto3
import openai
from google import genai
from google.genai import types

from otel_footprint.testing.dialects import api_of
from otel_footprint.testing.provider import ScriptedProvider
from otel_footprint.testing.wire_rules import problems

T = TypeVar("T")

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
TOOL = "get_order"
MODEL = "a-model"


class Api(Protocol):
    """How one SDK is asked, and how its answers go into the history."""

    def say(self, text: str) -> Any:
        """A message of the person."""
        ...

    def call(self, history: list[Any]) -> Any:
        """The SDK's response, or an awaitable of it."""
        ...

    def take(self, response: Any, history: list[Any]) -> tuple[str, list[tuple[str, str]]]:
        """Append the answer; its text, and the calls it makes as (id, name)."""
        ...

    def results(self, found: Sequence[tuple[str, str, str]]) -> list[Any]:
        """The results of calls, as (id, name, content), as messages."""
        ...


class OpenAIChat:
    def __init__(self, provider: ScriptedProvider, kind: Any = openai.OpenAI) -> None:
        self.client = kind(base_url=provider.openai_url, api_key="x", max_retries=0)
        self.tools: Any = [{"type": "function", "function": {"name": TOOL, "parameters": NO_PARAMETERS}}]

    def say(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def call(self, history: list[Any]) -> Any:
        system = {"role": "system", "content": "Answer from the tools."}
        return self.client.chat.completions.create(model=MODEL, messages=[system, *history], tools=self.tools)

    def take(self, response: Any, history: list[Any]) -> tuple[str, list[tuple[str, str]]]:
        message = response.choices[0].message
        history.append(message.model_dump(exclude_none=True))
        return message.content or "", [(call.id, call.function.name) for call in message.tool_calls or []]

    def results(self, found: Sequence[tuple[str, str, str]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": id, "content": content} for id, _, content in found]


class OpenAIResponses:
    def __init__(self, provider: ScriptedProvider, kind: Any = openai.OpenAI) -> None:
        self.client = kind(base_url=provider.openai_url, api_key="x", max_retries=0)
        self.tools: Any = [{"type": "function", "name": TOOL, "parameters": NO_PARAMETERS, "strict": False}]

    def say(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def call(self, history: list[Any]) -> Any:
        return self.client.responses.create(
            model=MODEL, input=history, tools=self.tools, instructions="Answer from the tools.", store=False
        )

    def take(self, response: Any, history: list[Any]) -> tuple[str, list[tuple[str, str]]]:
        history.extend(item.model_dump(exclude_none=True) for item in response.output)
        calls = [(item.call_id, item.name) for item in response.output if item.type == "function_call"]
        return response.output_text, calls

    def results(self, found: Sequence[tuple[str, str, str]]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": id, "output": content} for id, _, content in found]


class Anthropic:
    def __init__(self, provider: ScriptedProvider, kind: Any = anthropic.Anthropic) -> None:
        self.client = kind(base_url=provider.anthropic_url, api_key="x", max_retries=0)
        self.tools: Any = [{"name": TOOL, "input_schema": NO_PARAMETERS}]

    def say(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def call(self, history: list[Any]) -> Any:
        return self.client.messages.create(
            model=MODEL, max_tokens=99, system="Answer from the tools.", messages=history, tools=self.tools
        )

    def take(self, response: Any, history: list[Any]) -> tuple[str, list[tuple[str, str]]]:
        content = [block.model_dump(exclude_none=True) for block in response.content]
        history.append({"role": "assistant", "content": content})
        text = "".join(block.text for block in response.content if block.type == "text")
        return text, [(block.id, block.name) for block in response.content if block.type == "tool_use"]

    def results(self, found: Sequence[tuple[str, str, str]]) -> list[Any]:
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": content} for id, _, content in found]
        return [{"role": "user", "content": blocks}]


class Gemini:
    def __init__(self, provider: ScriptedProvider, *, asynchronous: bool = False) -> None:
        self.root = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
        self.client: Any = self.root.aio if asynchronous else self.root
        self.config = types.GenerateContentConfig(
            system_instruction="Answer from the tools.",
            tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name=TOOL)])],
        )

    def say(self, text: str) -> Any:
        return types.Content(role="user", parts=[types.Part(text=text)])

    def call(self, history: list[Any]) -> Any:
        return self.client.models.generate_content(model=MODEL, contents=history, config=self.config)

    def take(self, response: Any, history: list[Any]) -> tuple[str, list[tuple[str, str]]]:
        content = response.candidates[0].content
        history.append(content)
        calls = [part.function_call for part in content.parts if part.function_call is not None]
        return "".join(part.text or "" for part in content.parts), [(call.id or "", call.name) for call in calls]

    def results(self, found: Sequence[tuple[str, str, str]]) -> list[Any]:
        parts = [
            types.Part.from_function_response(name=name, response=json.loads(content)) for _, name, content in found
        ]
        return [types.Content(role="user", parts=parts)]


class Bedrock:
    def __init__(self, provider: ScriptedProvider) -> None:
        self.client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=provider.bedrock_url,
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )
        spec = {"toolSpec": {"name": TOOL, "inputSchema": {"json": NO_PARAMETERS}}}
        self.tools: Any = {"tools": [spec]}

    def say(self, text: str) -> Any:
        return {"role": "user", "content": [{"text": text}]}

    def call(self, history: list[Any]) -> Any:
        return self.client.converse(
            modelId=MODEL, messages=history, system=[{"text": "Answer from the tools."}], toolConfig=self.tools
        )

    def take(self, response: Any, history: list[Any]) -> tuple[str, list[tuple[str, str]]]:
        message = response["output"]["message"]
        history.append(message)
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        text = "".join(block.get("text", "") for block in message["content"])
        return text, [(use["toolUseId"], use["name"]) for use in uses]

    def results(self, found: Sequence[tuple[str, str, str]]) -> list[Any]:
        blocks = [{"toolResult": {"toolUseId": id, "content": [{"text": content}]}} for id, _, content in found]
        return [{"role": "user", "content": blocks}]


APIS: dict[str, Callable[[ScriptedProvider], Api]] = {
    "openai-chat": OpenAIChat,
    "openai-chat-async": lambda provider: OpenAIChat(provider, openai.AsyncOpenAI),
    "openai-responses": OpenAIResponses,
    "openai-responses-async": lambda provider: OpenAIResponses(provider, openai.AsyncOpenAI),
    "anthropic": Anthropic,
    "anthropic-async": lambda provider: Anthropic(provider, anthropic.AsyncAnthropic),
    "gemini": Gemini,
    "gemini-async": lambda provider: Gemini(provider, asynchronous=True),
    "bedrock": Bedrock,
}


_LOOP: Final = asyncio.new_event_loop()  # one for all: a client keeps its connections, which belong to a loop


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, for a test that is plain."""
    return _LOOP.run_until_complete(coroutine)


class Agent:
    """A tool loop on one of :data:`APIS`. ``ask`` is plain, also where the client is asynchronous."""

    def __init__(self, api: str, provider: ScriptedProvider, results: Any = None) -> None:
        self.api = APIS[api](provider)
        self.asynchronous = api.endswith("async")
        self.results = results if results is not None else {"order_id": "W-5918442"}
        self.history: list[Any] = []
        self.responses: list[Any] = []

    def ask(self, question: str) -> str:
        """The answer to a question. The history is checked to be as it was after each call."""
        if self.asynchronous:
            return run(self._asked(question))
        self.history.append(self.api.say(question))
        while True:
            before, same = copy.deepcopy(self.history), list(self.history)
            response = self.api.call(self.history)
            self._check(before, same)
            if (text := self._take(response)) is not None:
                return text

    async def _asked(self, question: str) -> str:
        self.history.append(self.api.say(question))
        while True:
            before, same = copy.deepcopy(self.history), list(self.history)
            response = await self.api.call(self.history)
            self._check(before, same)
            if (text := self._take(response)) is not None:
                return text

    def _check(self, before: list[Any], same: list[Any]) -> None:
        assert self.history == before, "the application's own messages were changed"
        assert all(one is other for one, other in zip(self.history, same, strict=True))

    def _take(self, response: Any) -> str | None:
        self.responses.append(response)
        text, calls = self.api.take(response, self.history)
        if not calls:
            return text
        content = json.dumps(self.results)
        self.history.extend(self.api.results([(id, name, content) for id, name in calls]))
        return None


def sent(provider: ScriptedProvider) -> list[list[Any]]:
    """The messages of each request, without the system instruction. Each is one that the provider would take."""
    windows = []
    for request in provider.requests:
        body = request.json
        api = api_of(request)
        assert api is not None
        assert problems(api, body) == []
        messages = body.get("messages") or body.get("input") or body.get("contents")
        windows.append([message for message in messages if message.get("role") != "system"])
    return windows


def text_of(message: Any) -> str:
    """All that a message says, as JSON."""
    return json.dumps(message, ensure_ascii=False)
