"""Recorded traffic with every call acted on and nothing decided: written anew, held back and played back, and still the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from opentelemetry.context import Context, get_current
from replay_playing import FOLDER, play, without_us
from replay_recordings import recordings

from otel_footprint.boundary import fault_counts
from otel_footprint.core.window.items import Kept
from otel_footprint.genai.hook import FootprintHook, HookCall
from otel_footprint.genai.instrumentation import turn_off, turn_on
from otel_footprint.providers import acting
from otel_footprint.providers.surface import Delivery, Draft, Reading, Surface

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")


class Patient:
    """Holds every stream, writes every request anew and hands out what came. ``drafts``: what would go back, by call."""

    def __init__(self) -> None:
        self.drafts: list[Draft | None] = []
        self.failed = 0

    def acts(self) -> bool:
        return True

    def begin(self, surface: Surface, kwargs: Mapping[str, Any], delivery: Delivery) -> Call:
        return Call(self, surface, kwargs)


class Call:
    """One call of that director."""

    hold = True
    peels = False

    def __init__(self, director: Patient, surface: Surface, kwargs: Mapping[str, Any]) -> None:
        self.director = director
        self.surface = surface
        self.kwargs = kwargs
        self.context: Context = get_current()

    def plan(self) -> None:
        reading = self.surface.read(self.kwargs)
        assert reading is not None
        self.kwargs = self.surface.write(self.kwargs, reading, [Kept(index) for index in range(len(reading.natives))])

    async def aplan(self) -> None:
        self.plan()

    def revision(self, response: Any | None) -> None:
        self.director.drafts.append(None if response is None else self.surface.draft(self.kwargs, response))

    def peeler(self) -> None:
        return None

    def take_out(self, plain: Any) -> None:
        pass

    def failed(self, error: BaseException) -> None:
        self.director.failed += 1

    def store(self) -> None:
        pass

    async def astore(self) -> None:
        pass

    def finish(self, handed: Any) -> None:
        pass


def _own_faults() -> dict[str, int]:
    """Faults of ours; those of an official instrumentation that does not know what an SDK gave are not."""
    return {place: count for place, count in fault_counts().items() if not place.startswith("upstream.")}


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], tuple[Patient, list[HookCall]]]]:
    faults = _own_faults()

    def start() -> tuple[Patient, list[HookCall]]:
        monkeypatch.setattr(Reading, "is_whole", lambda reading, items: False)
        director, told = Patient(), []
        turn_on(None, hook=FootprintHook(told.append))
        acting.install(director)
        return director, told

    yield start
    acting.uninstall()
    turn_off()
    assert _own_faults() == faults


def test_nothing_changes(replay, on):
    name, mode = replay
    recording = recordings(FOLDER)[name]
    bare = without_us(name, mode)
    director, told = on()
    run = play(recording, mode)
    assert run.requests == bare.requests
    assert run.responses == bare.responses
    assert len(told) == len(recording.calls)
    if "/invoke" in recording.calls[0].path:
        assert director.drafts == []  # Bedrock's other door is not acted on
        return
    assert len(director.drafts) + director.failed == len(recording.calls)
    outputs = [call.call.outputs[0].message for call in told if call.call.outputs]
    answers = [message.text for message in outputs if message.text and not message.tool_calls]
    drafts = [draft.message.text for draft in director.drafts if draft is not None]
    for answer in answers:
        assert answer in drafts
