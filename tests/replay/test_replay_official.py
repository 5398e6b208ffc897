"""The ground on which we build: recorded traffic replays faithfully, and the official instrumentations do not change it.

What differs here is a defect upstream and not ours. None does at the versions tested: every response and request equals
the bare run, with one span for each call.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from opentelemetry.instrumentation.genai.anthropic import AnthropicInstrumentor
from opentelemetry.instrumentation.genai.bedrock import BedrockInstrumentor
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.instrumentation.google_genai import GoogleGenAiSdkInstrumentor
from replay_playing import FOLDER, play, without_us
from replay_recordings import recordings

from otel_footprint.testing.sink import Sink

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")


class Hook:
    """Counts the calls of the completion hook."""

    def __init__(self) -> None:
        self.calls = 0

    def on_completion(self, **_: Any) -> None:
        self.calls += 1


@pytest.fixture
def official():
    instrumentors = (
        OpenAIInstrumentor(),
        AnthropicInstrumentor(),
        BedrockInstrumentor(),
        GoogleGenAiSdkInstrumentor(),
    )
    with Sink() as sink:
        hook = Hook()

        def turn_on() -> tuple[Sink, Hook]:
            for instrumentor in instrumentors:
                instrumentor.instrument(tracer_provider=sink.tracer_provider, completion_hook=hook, skip_dep_check=True)
            return sink, hook

        yield turn_on
        for instrumentor in instrumentors:
            if instrumentor.is_instrumented_by_opentelemetry:
                instrumentor.uninstrument()


def test_official_alone(replay, official):
    name, mode = replay
    recording = recordings(FOLDER)[name]
    bare = without_us(name, mode)
    sink, hook = official()
    run = play(recording, mode)
    assert run.requests == bare.requests
    assert run.responses == bare.responses
    assert len(sink.chat_spans) == len(recording.calls)
    assert sink.open_spans == ()
    assert hook.calls == len(recording.calls)


def test_a_replay_asks_what_was_recorded(replay_sync):
    name, mode = replay_sync
    recording = recordings(FOLDER)[name]
    run = without_us(name, mode)
    assert len(run.responses) == len(recording.calls)
    for call, (_, _, body, _) in zip(recording.calls, run.requests, strict=True):
        asked = dict(call.body)
        if call.surface == "openai_chat":
            asked.setdefault("model", body["model"])  # an Azure deployment has it in the path
        assert _canonical(body) == _canonical(asked)


def test_the_reader_misses_no_recorded_call(shared_data):
    """The data's own reading of the same files, where it has the response, is the same as ours."""
    ours = {recording.file: recording.calls for recording in recordings(shared_data / "cassettes").values()}
    with (shared_data / "cassettes" / "normalised.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            calls = ours.pop(document["meta"]["file"])
            assert [call.body for call in calls] == [call["request"] for call in document["calls"]]
            assert [call.response.status for call in calls] == [call["status"] for call in document["calls"]]
    assert ours == {}


def _canonical(value: Any) -> Any:
    """The google SDK spells base64 in its own way and leaves out what is empty, and that is all it changes."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if item != {}}
        return {key: _bytes(item) if key == "thoughtSignature" else _canonical(item) for key, item in kept.items()}
    return [_canonical(item) for item in value] if isinstance(value, list) else value


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_"))
