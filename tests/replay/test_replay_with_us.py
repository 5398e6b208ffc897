"""Recorded traffic with everything of ours turned on: nothing changes, and every call is understood."""

from __future__ import annotations

import pytest
from replay_playing import FOLDER, play, without_us
from replay_reading import extends, is_answer, results_of_the_turn
from replay_recordings import recordings

import otel_footprint
from otel_footprint.telemetry import names
from otel_footprint.testing.sink import Sink

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")

NO_OUTPUT_UPSTREAM = {
    "bedrock-stream-opentelemetry-python-contrib-0c8e05": "a stream of invoke_model reaches the hook without its output",
}
"""Defects of an official instrumentation: the answer never gets to us, so there is nothing to judge."""

TIED_BY_THE_TRACE_ONLY = {
    "bedrock-stream-opentelemetry-python-contrib-0c8e05": "the output never reached us",
    "groq-stream-pydantic-ai-e45517": "the first stream ends in an error, and the framework goes on with what was refused",
    "openai_chat-sync-pydantic-ai-ae0c60": "asks its third call once more",
    "openai_responses-stream-pydantic-ai-f4722b": "a search for tools is all of the first output, and never reached us",
}
"""Without a trace or an id nothing ties such calls to what was before, so they count as conversations of their own."""


@pytest.fixture
def on():
    with Sink() as sink:

        def turn_on() -> Sink:
            otel_footprint.instrument(
                tracer_provider=sink.tracer_provider,
                meter_provider=sink.meter_provider,
                logger_provider=sink.logger_provider,
            )
            return sink

        yield turn_on
        otel_footprint.uninstrument()


def test_nothing_changes_and_each_answer_is_judged_once(replay, on):
    name, mode = replay
    recording = recordings(FOLDER)[name]
    bare = without_us(name, mode)
    sink = on()
    run = play(recording, mode)
    assert run.requests == bare.requests
    assert run.responses == bare.responses

    spans = sink.chat_spans
    assert len(spans) == len(recording.calls)
    assert sink.open_spans == ()

    judged = [names.EVIDENCE_VERDICT in span.attributes for span in spans]
    answers = [is_answer(call, response) for call, response in zip(recording.calls, run.responses, strict=True)]
    if name not in NO_OUTPUT_UPSTREAM:
        assert judged == answers
        events = [event.name for span in spans for event in span.events]
        assert events.count(names.EVENT_AGENT_EVIDENCE_CHECKED) == sum(answers)
        assert sum(point.value for point in sink.metrics(names.METRIC_ANSWERS.name)) == sum(answers)
    found = [span.attributes[names.EVIDENCE_TOOL_RESULTS_THIS_TURN] for span in spans]
    handed_in = [results_of_the_turn(call) for call in recording.calls]
    assert [have >= want for have, want in zip(found, handed_in, strict=True)] == [True] * len(spans), (
        found,
        handed_in,
    )
    if name not in TIED_BY_THE_TRACE_ONLY:
        assert_conversations_matched(recording, spans)


def test_the_calls_of_a_run_are_one_conversation(replay_sync, on):
    """As an agent runs: under a span of its own. A framework may hand back another message than the model wrote."""
    name, mode = replay_sync
    recording = recordings(FOLDER)[name]
    sink = on()
    with sink.tracer_provider.get_tracer("agent").start_as_current_span("run"):
        play(recording, mode)
    assert_conversations_matched(recording, sink.chat_spans)


def assert_conversations_matched(recording, spans):
    ids = [span.attributes[names.CONVERSATION_ID] for span in spans]
    for later, call in enumerate(recording.calls):
        earlier = [index for index in range(later) if extends(call, recording.calls[index])]
        if earlier:
            assert ids[later] == ids[earlier[-1]], f"call {later} goes on from call {earlier[-1]}"
