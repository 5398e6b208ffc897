"""A strict provider, the official instrumentations and a director above them, for one test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from acting_cases import NOTICE, TOKEN, Director
from opentelemetry import context as otel_context

from otel_footprint.boundary import fault_counts
from otel_footprint.core.turns import segment
from otel_footprint.core.window.items import Item, Kept
from otel_footprint.genai.hook import FootprintHook, HookCall
from otel_footprint.genai.instrumentation import turn_off, turn_on
from otel_footprint.providers import acting
from otel_footprint.providers.surface import Reading
from otel_footprint.testing.provider import ScriptedProvider, Step
from otel_footprint.testing.sink import Sink


@dataclass
class SdkStage:
    director: Director
    sink: Sink
    provider: Any = None
    told: list[HookCall] = field(default_factory=list)

    def plays(self, *steps: Step) -> str:
        """Where a provider listens that plays these steps, and refuses what the real one would."""
        self.provider = ScriptedProvider(list(steps), strict=True)
        return str(self.provider.url)

    @property
    def tokens(self) -> list[Any]:
        """Whose calls the hook was told of."""
        return [otel_context.get_value(TOKEN, call.context) for call in self.told]

    @property
    def bodies(self) -> list[Any]:
        """The requests that the provider got."""
        return [request.json for request in self.provider.requests]

    def check_readings(self) -> None:
        """What each surface reads of what was sent is what the hook was told."""
        for made, told in zip(self.director.made, self.told, strict=True):
            reading = made.surface.read(made.kwargs)
            assert reading is not None
            assert list(reading.messages) == list(told.call.messages)
            assert [message.text for message in reading.system] == [message.text for message in told.call.system]


@contextmanager
def staged(monkeypatch: Any) -> Iterator[SdkStage]:
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "false")
    stage = SdkStage(Director(), Sink())
    faults, before = fault_counts(), otel_context.get_current()
    acting.install(stage.director)
    turn_on(None, hook=FootprintHook(stage.told.append), tracer_provider=stage.sink.tracer_provider)
    try:
        yield stage
        assert fault_counts() == faults
        assert otel_context.get_current() == before, "a context was left attached"
        assert stage.sink.open_spans == ()
    finally:
        turn_off()
        acting.uninstall()
        if stage.provider is not None:
            stage.provider.close()
        stage.sink.close()


def request_and_last_turn(reading: Reading) -> Sequence[Item]:
    """The first message, a notice, and the last turn."""
    last = segment(reading.messages)[-1]
    return [Kept(0), NOTICE, *(Kept(index) for index in range(max(1, last.first), last.last + 1))]
