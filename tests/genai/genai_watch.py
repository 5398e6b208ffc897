"""What the tests of the hook share: a list of the calls that reached it, and a client of each SDK."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import anthropic
import boto3
import openai
from google import genai
from google.genai import types

from otel_footprint.genai.hook import FootprintHook, HookCall
from otel_footprint.genai.instrumentation import turn_on
from otel_footprint.genai.sdks import SdkState
from otel_footprint.testing.provider import ScriptedProvider
from otel_footprint.testing.sink import Sink

USER = [{"role": "user", "content": "Where is W-1?"}]


class Watch:
    """What reached our hook, and the telemetry beside it."""

    def __init__(self, sink: Sink, others: Sequence[Any] = ()) -> None:
        self.sink = sink
        self.calls: list[HookCall] = []
        self.hook = FootprintHook(self.calls.append, others)
        self.states: tuple[SdkState, ...] = ()

    def on(self, names: Sequence[str] | None = None) -> Watch:
        self.states = turn_on(
            names,
            hook=self.hook,
            tracer_provider=self.sink.tracer_provider,
            meter_provider=self.sink.meter_provider,
            logger_provider=self.sink.logger_provider,
        )
        return self

    def state(self, name: str) -> SdkState:
        return next(state for state in self.states if state.name == name)

    @property
    def answers(self) -> list[str]:
        """The texts of the outputs, in the order their calls ended."""
        gc.collect()
        return [output.message.text for seen in self.calls for output in seen.call.outputs]

    @property
    def only(self) -> HookCall:
        gc.collect()
        assert len(self.calls) == 1, [seen.call for seen in self.calls]
        return self.calls[0]


def openai_client(provider: ScriptedProvider, kind: Any = openai.OpenAI) -> Any:
    return kind(base_url=provider.openai_url, api_key="x", max_retries=0)


def anthropic_client(provider: ScriptedProvider, kind: Any = anthropic.Anthropic) -> Any:
    return kind(base_url=provider.anthropic_url, api_key="x", max_retries=0)


def gemini_client(provider: ScriptedProvider) -> genai.Client:
    return genai.Client(api_key="x", http_options=types.HttpOptions(base_url=provider.gemini_url))


def bedrock_client(provider: ScriptedProvider) -> Any:
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=provider.bedrock_url,
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
