"""A provider, clients of it, the official instrumentation, and a director above it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openai
import pytest
from acting_cases import Director, Hook
from opentelemetry import context as otel_context
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

from otel_footprint.boundary import fault_counts
from otel_footprint.providers import acting
from otel_footprint.testing.provider import ScriptedProvider, Step
from otel_footprint.testing.sink import Sink


@dataclass
class Stage:
    """Everything a test of acted calls needs."""

    director: Director
    hook: Hook
    sink: Sink
    provider: Any = None

    def plays(self, *steps: Step) -> Any:
        """A client of a provider that plays these steps."""
        self.provider = ScriptedProvider(list(steps))
        return openai.OpenAI(base_url=self.provider.openai_url, api_key="x", max_retries=0)

    def awaits(self, work: Any, *steps: Step) -> Any:
        """What ``work(client)`` comes to, the client being asynchronous."""
        self.provider = ScriptedProvider(list(steps))

        async def main() -> Any:
            async with openai.AsyncOpenAI(base_url=self.provider.openai_url, api_key="x", max_retries=0) as client:
                return await work(client)

        return asyncio.run(main())

    @property
    def sent(self) -> list[Any]:
        """The histories that the provider got, in order."""
        return [request.json.get("messages", request.json.get("input")) for request in self.provider.requests]


@pytest.fixture
def stage() -> Iterator[Stage]:
    sink = Sink()
    staged = Stage(Director(), Hook(), sink)
    faults = fault_counts()
    before = otel_context.get_current()
    OpenAIInstrumentor().instrument(tracer_provider=sink.tracer_provider, completion_hook=staged.hook)
    acting.install(staged.director)
    yield staged
    acting.uninstall()
    OpenAIInstrumentor().uninstrument()
    if staged.provider is not None:
        staged.provider.close()
    assert otel_context.get_current() == before, "a context was left attached"
    if staged.director.broken_at is None:
        assert fault_counts() == faults, "a fault of ours was swallowed"
    sink.close()
