"""A fixed talk of three calls, streamed in every way the five SDKs have, and what the application was given of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import anthropic
import boto3
import openai
from google import genai
from google.genai import types

from otel_footprint.testing.provider import ScriptedProvider
from tests.acting.acting_agents import MODEL, run

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
RESULT = {"order_id": "W-5918442", "total": 12.5}
Told = list[tuple[str, str, Any]]


@dataclass(frozen=True)
class Spoken:
    """What the model says in the talk, as the application sees it: the arguments of two calls, and a JSON answer."""

    first: str
    second: str
    answer: str


def grouped(events: Iterable[tuple[dict[str, Any], str, Any]]) -> Told:
    """What a stream told, however it was cut: for each kind of event its texts put together, and its last snapshot."""
    found: dict[str, tuple[str, Any]] = {}
    for event, text, snapshot in events:
        key = json.dumps(event, sort_keys=True, default=str)
        found[key] = (found.get(key, ("", None))[0] + text, snapshot)
    return [(key, text, snapshot) for key, (text, snapshot) in found.items()]


def taken(event: dict[str, Any], *path: str | int) -> str:
    """A text out of an event, which is empty there then."""
    for step in path[:-1]:
        event = event[step]  # type: ignore[index]
    text = event.get(str(path[-1]))
    if isinstance(text, str):
        event[str(path[-1])] = ""
        return text
    return ""


class Way:
    """One way of one SDK to stream. ``ask`` gives what was told and what a helper gives at the end."""

    asynchronous = False

    def talk(self, spoken: Spoken) -> list[tuple[Told, Any]]:
        """The three calls."""
        histories = self.histories(spoken)
        if not self.asynchronous:
            return [self.ask(history) for history in histories]

        async def all_of_them() -> list[tuple[Told, Any]]:
            return [await self.ask(history) for history in histories]

        return run(all_of_them())

    def histories(self, spoken: Spoken) -> list[Any]:
        raise NotImplementedError

    def ask(self, history: Any) -> Any:
        raise NotImplementedError

    def words(self, request: Any) -> list[Any]:
        """What the model wrote, in the history of a request: arguments as objects, answers as texts."""
        raise NotImplementedError


# OpenAI chat


class Chat(Way):
    def __init__(self, provider: ScriptedProvider, kind: Any = openai.OpenAI) -> None:
        self.client = kind(base_url=provider.openai_url, api_key="x", max_retries=0)
        tool = {"type": "function", "function": {"name": "get_order", "parameters": SCHEMA}}
        self.request = {"model": MODEL, "tools": [tool]}

    def histories(self, spoken: Spoken) -> list[Any]:
        calls = [
            {"id": id_, "type": "function", "function": {"name": "get_order", "arguments": arguments}}
            for id_, arguments in (("call_a", spoken.first), ("call_b", spoken.second))
        ]
        history: list[Any] = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Which order?"}]
        second = [*history, {"role": "assistant", "content": None, "tool_calls": calls}]
        second += [{"role": "tool", "tool_call_id": call["id"], "content": json.dumps(RESULT)} for call in calls]
        third = [*second, {"role": "assistant", "content": spoken.answer}, {"role": "user", "content": "Sure?"}]
        return [history, second, third]

    def ask(self, history: Any) -> Any:
        with self.client.chat.completions.create(messages=history, stream=True, **self.request) as stream:
            return grouped(map(self.read, stream)), None

    def read(self, chunk: Any) -> tuple[dict[str, Any], str, Any]:
        event = chunk.model_dump(exclude_unset=True)
        text = ""
        for choice in event["choices"]:
            text += taken(choice, "delta", "content")
            for call in choice["delta"].get("tool_calls") or []:
                text += taken(call, "function", "arguments")
        return event, text, None

    def words(self, request: Any) -> list[Any]:
        return [
            word
            for message in request["messages"]
            if message["role"] == "assistant"
            for word in ([c["function"]["arguments"] for c in message.get("tool_calls", [])] or [message["content"]])
        ]


class ChatAsync(Chat):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider, openai.AsyncOpenAI)

    async def ask(self, history: Any) -> Any:
        stream = await self.client.chat.completions.create(messages=history, stream=True, **self.request)
        return grouped([self.read(chunk) async for chunk in stream]), None


class ChatHelper(Chat):
    def ask(self, history: Any) -> Any:
        with self.client.chat.completions.stream(messages=history, **self.request) as stream:
            told = grouped(map(self.helped, stream))
            return told, (_dumped(stream.get_final_completion()), _dumped(stream.current_completion_snapshot))

    def helped(self, given: Any) -> tuple[dict[str, Any], str, Any]:
        if given.type == "chunk":
            event, text, _ = self.read(given.chunk)
            return {"chunk": event}, text, _dumped(given.snapshot)
        event = given.model_dump()
        snapshot = [event.pop(name, None) for name in ("snapshot", "arguments", "parsed_arguments", "parsed")]
        name = "delta" if given.type == "content.delta" else "arguments_delta"
        return event, taken(event, name), snapshot


class ChatHelperAsync(ChatHelper):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        Chat.__init__(self, provider, openai.AsyncOpenAI)

    async def ask(self, history: Any) -> Any:
        async with self.client.chat.completions.stream(messages=history, **self.request) as stream:
            told = grouped([self.helped(event) async for event in stream])
            return told, (_dumped(await stream.get_final_completion()), _dumped(stream.current_completion_snapshot))


class ChatHelperUnread(ChatHelper):
    def ask(self, history: Any) -> Any:
        with self.client.chat.completions.stream(messages=history, **self.request) as stream:
            return [], _dumped(stream.get_final_completion())


# OpenAI responses


class Responses(Way):
    def __init__(self, provider: ScriptedProvider, kind: Any = openai.OpenAI) -> None:
        self.client = kind(base_url=provider.openai_url, api_key="x", max_retries=0)
        tool = {"type": "function", "name": "get_order", "parameters": SCHEMA, "strict": False}
        self.request = {"model": MODEL, "tools": [tool], "instructions": "Help.", "store": False}

    def histories(self, spoken: Spoken) -> list[Any]:
        calls = [
            {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": "get_order", "arguments": arguments}
            for id_, arguments in (("call_a", spoken.first), ("call_b", spoken.second))
        ]
        history: list[Any] = [{"role": "user", "content": "Which order?"}]
        outputs = [
            {"type": "function_call_output", "call_id": call["call_id"], "output": json.dumps(RESULT)} for call in calls
        ]
        second = [*history, *calls, *outputs]
        third = [*second, {"role": "assistant", "content": spoken.answer}, {"role": "user", "content": "Sure?"}]
        return [history, second, third]

    def ask(self, history: Any) -> Any:
        with self.client.responses.create(input=history, stream=True, **self.request) as stream:
            return grouped(map(self.read, stream)), None

    def read(self, given: Any) -> tuple[dict[str, Any], str, Any]:
        event = given.model_dump(exclude_unset=True, warnings=False)
        event.pop("sequence_number", None)
        return event, taken(event, "delta"), [event.pop("snapshot", None)]

    def words(self, request: Any) -> list[Any]:
        words = [item["arguments"] for item in request["input"] if item.get("type") == "function_call"]
        return words + [item["content"] for item in request["input"] if item.get("role") == "assistant"]


class ResponsesAsync(Responses):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider, openai.AsyncOpenAI)

    async def ask(self, history: Any) -> Any:
        stream = await self.client.responses.create(input=history, stream=True, **self.request)
        return grouped([self.read(event) async for event in stream]), None


class ResponsesHelper(Responses):
    def ask(self, history: Any) -> Any:
        with self.client.responses.stream(input=history, **self.request) as stream:
            return grouped(map(self.read, stream)), _dumped(stream.get_final_response())


class ResponsesHelperAsync(Responses):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider, openai.AsyncOpenAI)

    async def ask(self, history: Any) -> Any:
        async with self.client.responses.stream(input=history, **self.request) as stream:
            told = grouped([self.read(event) async for event in stream])
            return told, _dumped(await stream.get_final_response())


# Anthropic


class Anthropic(Way):
    def __init__(self, provider: ScriptedProvider, kind: Any = anthropic.Anthropic) -> None:
        self.client = kind(base_url=provider.anthropic_url, api_key="x", max_retries=0)
        tool = {"name": "get_order", "input_schema": SCHEMA}
        self.request = {"model": MODEL, "max_tokens": 99, "tools": [tool], "system": "Help."}

    def histories(self, spoken: Spoken) -> list[Any]:
        calls = [
            {"type": "tool_use", "id": id_, "name": "get_order", "input": json.loads(arguments)}
            for id_, arguments in (("call_a", spoken.first), ("call_b", spoken.second))
        ]
        history: list[Any] = [{"role": "user", "content": "Which order?"}]
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": json.dumps(RESULT)} for call in calls]
        second = [*history, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
        third = [*second, {"role": "assistant", "content": spoken.answer}, {"role": "user", "content": "Sure?"}]
        return [history, second, third]

    def ask(self, history: Any) -> Any:
        with self.client.messages.create(messages=history, stream=True, **self.request) as stream:
            return grouped(map(self.read, stream)), None

    def read(self, given: Any) -> tuple[dict[str, Any], str, Any]:
        event = given.model_dump(warnings=False)
        snapshot = event.pop("snapshot", None)
        if isinstance(event.get("delta"), dict):
            return event, taken(event, "delta", "text") + taken(event, "delta", "partial_json"), snapshot
        return event, taken(event, "text") + taken(event, "partial_json"), snapshot

    def words(self, request: Any) -> list[Any]:
        words = []
        for message in request["messages"]:
            if message["role"] == "assistant":
                content = message["content"]
                words += [content] if isinstance(content, str) else [json.dumps(block["input"]) for block in content]
        return words


class AnthropicAsync(Anthropic):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider, anthropic.AsyncAnthropic)

    async def ask(self, history: Any) -> Any:
        stream = await self.client.messages.create(messages=history, stream=True, **self.request)
        return grouped([self.read(event) async for event in stream]), None


class AnthropicHelper(Anthropic):
    def ask(self, history: Any) -> Any:
        with self.client.messages.stream(messages=history, **self.request) as stream:
            told = grouped(map(self.read, stream))
            return told, (_dumped(stream.get_final_message()), _dumped(stream.current_message_snapshot))


class AnthropicHelperAsync(Anthropic):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider, anthropic.AsyncAnthropic)

    async def ask(self, history: Any) -> Any:
        async with self.client.messages.stream(messages=history, **self.request) as stream:
            told = grouped([self.read(event) async for event in stream])
            return told, (_dumped(await stream.get_final_message()), _dumped(stream.current_message_snapshot))


class AnthropicTexts(Anthropic):
    def ask(self, history: Any) -> Any:
        with self.client.messages.stream(messages=history, **self.request) as stream:
            return [("", "".join(stream.text_stream), None)], _dumped(stream.get_final_message())


class AnthropicTextsAsync(Anthropic):
    asynchronous = True

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider, anthropic.AsyncAnthropic)

    async def ask(self, history: Any) -> Any:
        async with self.client.messages.stream(messages=history, **self.request) as stream:
            texts = [text async for text in stream.text_stream]
            return [("", "".join(texts), None)], _dumped(await stream.get_final_message())


# Gemini


class Gemini(Way):
    def __init__(self, provider: ScriptedProvider) -> None:
        self.root = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))
        function = types.FunctionDeclaration(name="get_order", parameters_json_schema=SCHEMA)
        self.config = types.GenerateContentConfig(
            system_instruction="Help.", tools=[types.Tool(function_declarations=[function])]
        )

    def histories(self, spoken: Spoken) -> list[Any]:
        def said(role: str, *parts: types.Part) -> types.Content:
            return types.Content(role=role, parts=list(parts))

        calls = [
            types.Part(function_call=types.FunctionCall(id=id_, name="get_order", args=json.loads(arguments)))
            for id_, arguments in (("g_a", spoken.first), ("g_b", spoken.second))
        ]
        answered = [
            types.Part(function_response=types.FunctionResponse(id=id_, name="get_order", response=RESULT))
            for id_ in ("g_a", "g_b")
        ]
        history = [said("user", types.Part(text="Which order?"))]
        second = [*history, said("model", *calls), said("user", *answered)]
        sure = types.Part(text="Sure?")
        return [history, second, [*second, said("model", types.Part(text=spoken.answer)), said("user", sure)]]

    def ask(self, history: Any) -> Any:
        stream = self.root.models.generate_content_stream(model=MODEL, contents=history, config=self.config)
        return grouped(map(self.read, stream)), None

    def read(self, given: Any) -> tuple[dict[str, Any], str, Any]:
        event = given.model_dump(exclude_none=True, exclude={"sdk_http_response"})
        candidate = event["candidates"][0]
        ended = candidate.pop("finish_reason", None)
        return event, "".join(taken(part, "text") for part in candidate["content"]["parts"]), ended

    def words(self, request: Any) -> list[Any]:
        parts = [part for content in request["contents"] if content["role"] == "model" for part in content["parts"]]
        return [json.dumps(part["functionCall"]["args"]) if "functionCall" in part else part["text"] for part in parts]


class GeminiAsync(Gemini):
    asynchronous = True

    async def ask(self, history: Any) -> Any:
        models = self.root.aio.models
        stream = await models.generate_content_stream(model=MODEL, contents=history, config=self.config)
        return grouped([self.read(event) async for event in stream]), None


# Bedrock


class Bedrock(Way):
    def __init__(self, provider: ScriptedProvider) -> None:
        self.client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=provider.bedrock_url,
            aws_access_key_id="x",
            aws_secret_access_key="x",
        )
        tools = {"tools": [{"toolSpec": {"name": "get_order", "inputSchema": {"json": SCHEMA}}}]}
        self.request = {"modelId": MODEL, "toolConfig": tools, "system": [{"text": "Help."}]}

    def histories(self, spoken: Spoken) -> list[Any]:
        calls = [
            {"toolUse": {"toolUseId": id_, "name": "get_order", "input": json.loads(arguments)}}
            for id_, arguments in (("call_a", spoken.first), ("call_b", spoken.second))
        ]
        results = [{"toolResult": {"toolUseId": id_, "content": [{"json": RESULT}]}} for id_ in ("call_a", "call_b")]
        history: list[Any] = [{"role": "user", "content": [{"text": "Which order?"}]}]
        second = [*history, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
        answer = {"role": "assistant", "content": [{"text": spoken.answer}]}
        return [history, second, [*second, answer, {"role": "user", "content": [{"text": "Sure?"}]}]]

    def ask(self, history: Any) -> Any:
        response = self.client.converse_stream(messages=history, **self.request)
        return grouped(map(self.read, response["stream"])), None

    def read(self, given: Any) -> tuple[dict[str, Any], str, Any]:
        event: dict[str, Any] = json.loads(json.dumps(given))
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        return event, taken(delta, "text") + (taken(delta, "toolUse", "input") if "toolUse" in delta else ""), None

    def words(self, request: Any) -> list[Any]:
        blocks = [
            block for message in request["messages"] if message["role"] == "assistant" for block in message["content"]
        ]
        return [json.dumps(block["toolUse"]["input"]) if "toolUse" in block else block["text"] for block in blocks]


def _dumped(value: Any) -> Any:
    return value.model_dump(warnings=False)


WAYS: dict[str, Callable[[ScriptedProvider], Way]] = {
    "openai-chat": Chat,
    "openai-chat-async": ChatAsync,
    "openai-chat-helper": ChatHelper,
    "openai-chat-helper-async": ChatHelperAsync,
    "openai-chat-helper-unread": ChatHelperUnread,
    "openai-responses": Responses,
    "openai-responses-async": ResponsesAsync,
    "openai-responses-helper": ResponsesHelper,
    "openai-responses-helper-async": ResponsesHelperAsync,
    "anthropic": Anthropic,
    "anthropic-async": AnthropicAsync,
    "anthropic-helper": AnthropicHelper,
    "anthropic-helper-async": AnthropicHelperAsync,
    "anthropic-texts": AnthropicTexts,
    "anthropic-texts-async": AnthropicTextsAsync,
    "gemini": Gemini,
    "gemini-async": GeminiAsync,
    "bedrock": Bedrock,
}
