"""The official instrumentations with a hook that asks the registry, as the runtime does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.instrumentation.genai.anthropic import AnthropicInstrumentor
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

from otel_footprint.providers import carrying
from otel_footprint.providers.carrying import Carried, CarryRegistry
from otel_footprint.testing.sink import Sink


class Observed:
    """What the hook found, call by call."""

    def __init__(self) -> None:
        self.registry = CarryRegistry()
        self.sink = Sink()
        self.calls: list[Carried | None] = []

    def on_completion(self, *, span: Any = None, **_: Any) -> None:
        context = span.get_span_context()
        self.calls.append(self.registry.pop(context.trace_id, context.span_id))


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Observed]:
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "false")
    observed = Observed()
    carrying.install(observed.registry)
    instrumentors = (OpenAIInstrumentor(), AnthropicInstrumentor())
    for instrumentor in instrumentors:
        instrumentor.instrument(tracer_provider=observed.sink.tracer_provider, completion_hook=observed)
    yield observed
    for instrumentor in instrumentors:
        instrumentor.uninstrument()
    carrying.uninstall()
    observed.sink.close()
