"""The in-memory sink shows what arrived; the clock and the ids are the test's own."""

from __future__ import annotations

from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_footprint.testing.clock import FixedClock, FixedIds
from otel_footprint.testing.sink import Point, Sink


def test_spans_open_and_ended():
    with Sink() as sink:
        tracer = sink.tracer_provider.get_tracer("test")
        with tracer.start_as_current_span("chat m", attributes={"gen_ai.operation.name": "chat"}):
            tracer.start_span("left open")
            assert sink.spans == ()
            assert sink.open_spans == ("chat m", "left open")
        assert [span.name for span in sink.chat_spans] == ["chat m"]
        assert sink.open_spans == ("left open",)
        sink.clear()
        assert sink.spans == ()


def test_without_sampling_there_are_no_spans():
    with Sink(sampler=ALWAYS_OFF) as sink:
        sink.tracer_provider.get_tracer("test").start_span("a").end()
        assert sink.spans == ()
        assert sink.open_spans == ()


def test_metrics_are_points():
    with Sink() as sink:
        assert sink.metrics() == ()
        meter = sink.meter_provider.get_meter("test")
        meter.create_counter("answers").add(2, {"verdict": "grounded"})
        histogram = meter.create_histogram("duration")
        histogram.record(0.5)
        histogram.record(1.5)
        assert sink.metrics("answers") == (Point("answers", {"verdict": "grounded"}, 2, 1),)
        assert sink.metrics("duration") == (Point("duration", {}, 2.0, 2),)
        assert len(sink.metrics()) == 2


def test_logs_have_their_event_s_name():
    with Sink() as sink:
        sink.logger_provider.get_logger("test").emit(event_name="evidence", attributes={"a": 1})
        (record,) = sink.logs
        assert (record.event_name, dict(record.attributes)) == ("evidence", {"a": 1})


def test_a_clock_and_ids_that_the_test_decides():
    clock = FixedClock(100.0)
    assert (clock(), clock.advance(2.5), clock()) == (100.0, 102.5, 102.5)
    ids = FixedIds("conversation-")
    assert (ids(), ids()) == ("conversation-1", "conversation-2")
