"""Plays a recording through the real SDKs and notes all that the application and the provider see of it.

Each call is made as the application made it: the recorded body becomes the SDK's arguments.
"""

from __future__ import annotations

import inspect
import json
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import anthropic
import boto3
import openai
from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials
from replay_recordings import RecordedCall, Recording

from otel_footprint.testing.provider import ScriptedProvider

VOLATILE = {"host", "amz-sdk-invocation-id", "amz-sdk-request", "x-amz-date", "authorization", "idempotency-key"}
"""Headers that differ between any two runs."""
PLAIN = {"verify": False}
"""The server speaks plain HTTP: reading the certificates of the world anew for each client would take most of the time."""


@dataclass(frozen=True)
class Run:
    """What the provider got and what the application got, call by call."""

    requests: list[Any]
    responses: list[Any]


def run_sync(recording: Recording) -> Run:
    responses = []
    with ScriptedProvider([call.response for call in recording.calls]) as provider, ExitStack() as stack:
        clients = _Clients(provider)
        for call in recording.calls:
            responses.append(_sync_call(clients, stack, call))
        return Run(_requests(provider), responses)


async def run_async(recording: Recording) -> Run:
    responses = []
    with ScriptedProvider([call.response for call in recording.calls]) as provider:
        async with AsyncExitStack() as stack:
            clients = _Clients(provider)
            for call in recording.calls:
                responses.append(await _async_call(clients, stack, call))
        return Run(_requests(provider), responses)


def _requests(provider: ScriptedProvider) -> list[Any]:
    return [
        (
            request.method,
            request.path,
            request.json,
            sorted((name, value) for name, value in request.headers.items() if name not in VOLATILE),
        )
        for request in provider.requests
    ]


def _sync_call(clients: _Clients, stack: ExitStack, call: RecordedCall) -> Any:
    try:
        match call.surface:
            case "openai_chat":
                api = clients.openai(stack, call, "chat/completions", sync=True).chat.completions
                result = api.create(**_chat_arguments(api.create, call))
            case "openai_responses":
                api = clients.openai(stack, call, "responses", sync=True).responses
                result = api.create(**_arguments(api.create, call.body))
            case "anthropic":
                api = clients.anthropic(stack, call, sync=True)
                result = api.create(**_arguments(api.create, call.body))
            case "gemini":
                api = clients.gemini(stack, call).models
                create = api.generate_content_stream if call.streams else api.generate_content
                result = create(**_gemini_arguments(call))
            case "bedrock":
                return _bedrock_call(clients.bedrock(stack), call)
        return [_dump(item) for item in result] if call.streams else _dump(result)
    except Exception as error:
        return type(error), str(error)


async def _async_call(clients: _Clients, stack: AsyncExitStack, call: RecordedCall) -> Any:
    try:
        match call.surface:
            case "openai_chat":
                api = clients.openai(stack, call, "chat/completions", sync=False).chat.completions
                result = await api.create(**_chat_arguments(api.create, call))
            case "openai_responses":
                api = clients.openai(stack, call, "responses", sync=False).responses
                result = await api.create(**_arguments(api.create, call.body))
            case "anthropic":
                api = clients.anthropic(stack, call, sync=False)
                result = await api.create(**_arguments(api.create, call.body))
            case "gemini":
                api = clients.gemini(stack, call).aio.models
                create = api.generate_content_stream if call.streams else api.generate_content
                result = await create(**_gemini_arguments(call))
        return [_dump(item) async for item in result] if call.streams else _dump(result)
    except Exception as error:
        return type(error), str(error)


def _dump(value: Any) -> Any:
    """The value with its type, so that a stand-in does not pass for the SDK's own object."""
    dumped = value.model_dump(mode="json", warnings=False)
    if isinstance(dumped, dict):
        dumped.pop("sdk_http_response", None)  # has the date of the response
    return type(value), dumped


def _arguments(create: Any, body: dict[str, Any]) -> dict[str, Any]:
    """The recorded body as keyword arguments; what the SDK does not know goes the way it offers for that."""
    known = inspect.signature(create).parameters
    arguments = {name: value for name, value in body.items() if name in known}
    extra = {name: value for name, value in body.items() if name not in known}
    return {**arguments, "extra_body": extra} if extra else arguments


def _chat_arguments(create: Any, call: RecordedCall) -> dict[str, Any]:
    arguments = _arguments(create, call.body)
    # An Azure deployment has its model in the path; the SDK wants it all the same.
    return arguments if "model" in arguments else {"model": call.path.split("/")[-3], **arguments}


def _gemini_arguments(call: RecordedCall) -> dict[str, Any]:
    config = dict(call.body.get("generationConfig") or {})
    config |= {name: call.body[name] for name in ("systemInstruction", "tools", "toolConfig") if name in call.body}
    return {
        "model": call.model,
        "contents": [types.Content.model_validate(content) for content in call.body["contents"]],
        "config": types.GenerateContentConfig.model_validate(config),
    }


def _bedrock_call(client: Any, call: RecordedCall) -> Any:
    if call.path.endswith("/invoke-with-response-stream"):
        response = client.invoke_model_with_response_stream(modelId=call.model, body=json.dumps(call.body))
        return list(response["body"])
    if call.path.endswith("/converse-stream"):
        return list(client.converse_stream(modelId=call.model, **call.body)["stream"])
    response = client.converse(modelId=call.model, **call.body)
    response.pop("ResponseMetadata")
    return response


class _Clients:
    """The clients of one run, each made once."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self._provider = provider
        self._made: dict[Any, Any] = {}

    def openai(self, stack: Any, call: RecordedCall, end: str, *, sync: bool) -> Any:
        parts = urlsplit(call.path)
        base = self._provider.url + parts.path.removesuffix("/" + end)
        if "/openai/deployments/" in base:
            endpoint, _, deployment = base.partition("/openai/deployments/")
            kind = openai.AzureOpenAI if sync else openai.AsyncAzureOpenAI
            version = dict(parse_qsl(parts.query))["api-version"]
            options = {"azure_endpoint": endpoint, "azure_deployment": deployment, "api_version": version}
        else:
            kind = openai.OpenAI if sync else openai.AsyncOpenAI
            options = {"base_url": base, "default_query": dict(parse_qsl(parts.query))}
        http = openai.DefaultHttpxClient if sync else openai.DefaultAsyncHttpxClient
        return self._once(
            stack, (kind, base), lambda: kind(api_key="x", max_retries=0, http_client=http(**PLAIN), **options)
        )

    def anthropic(self, stack: Any, call: RecordedCall, *, sync: bool) -> Any:
        kind = anthropic.Anthropic if sync else anthropic.AsyncAnthropic
        http = anthropic.DefaultHttpxClient if sync else anthropic.DefaultAsyncHttpxClient
        client = self._once(
            stack,
            kind,
            lambda: kind(
                base_url=self._provider.anthropic_url,
                api_key="x",
                max_retries=0,
                timeout=60,
                http_client=http(**PLAIN),
            ),
        )
        return client.beta.messages if "beta=true" in call.path else client.messages

    def gemini(self, stack: Any, call: RecordedCall) -> Any:
        version = "v1beta1" if "/v1beta1/" in call.path else "v1beta"
        options = types.HttpOptions(
            base_url=self._provider.gemini_url, api_version=version, client_args=PLAIN, async_client_args=PLAIN
        )
        if "/publishers/" not in call.path:
            return self._once(None, "gemini", lambda: genai.Client(api_key="x", http_options=options))
        parts = unquote(call.path).split("/")
        project, location = (parts[parts.index(name) + 1] for name in ("projects", "locations"))
        return self._once(
            None,
            "vertex",
            lambda: genai.Client(
                vertexai=True,
                project=project,
                location=location,
                credentials=Credentials(token="x"),
                http_options=options,
            ),
        )

    def bedrock(self, stack: Any) -> Any:
        return self._once(
            None,
            "bedrock",
            lambda: boto3.client(
                "bedrock-runtime",
                region_name="us-east-1",
                endpoint_url=self._provider.bedrock_url,
                aws_access_key_id="x",
                aws_secret_access_key="x",
            ),
        )

    def _once(self, stack: Any, key: Any, make: Any) -> Any:
        if key not in self._made:
            self._made[key] = client = make()
            if isinstance(stack, AsyncExitStack):
                stack.push_async_callback(client.close)
            elif stack is not None:
                stack.callback(client.close)
        return self._made[key]
