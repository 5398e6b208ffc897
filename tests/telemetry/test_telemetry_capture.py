"""Privacy: planted secrets never leave at the default, and only what each level says at the others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from otel_footprint.core.call import Call, Output
from otel_footprint.core.decisions import Decisions, Eviction, Rewrite
from otel_footprint.core.evidence.verdicts import STATUSES, Carrier, Derivation, Misplaced, Value
from otel_footprint.core.messages import Message, Reasoning, Text, ToolCall, ToolResult
from otel_footprint.telemetry.capture import Capture, CaptureLevel
from otel_footprint.telemetry.summary import Summary
from tests.telemetry.telemetry_cases import EVICTED_VALUE, Pipeline, decisions, judgement, value, window

FLAGGED_SECRETS = {f"SECRET-flagged-{status}" for status in ("evicted", "argument_only", "unsupported")}
OTHER_SECRETS = {f"SECRET-plain-{status}" for status in STATUSES if f"SECRET-flagged-{status}" not in FLAGGED_SECRETS}
NEVER = {
    "SECRET-operand",
    "SECRET-entity",
    "SECRET-person",
    "SECRET-system",
    "SECRET-argument",
    "SECRET-result",
    "SECRET-answer",
    "SECRET-thinking",
}

RESULT = Message("tool", (ToolResult("call_1", "get_order", {"card": "SECRET-result"}),))
CALL = Call(
    messages=(
        Message("user", (Text("SECRET-person"),)),
        Message(
            "assistant", (ToolCall("call_1", "get_order", {"id": "SECRET-argument"}), Reasoning("SECRET-thinking"))
        ),
        RESULT,
    ),
    system=(Message("system", (Text("SECRET-system"),)),),
    outputs=(Output(Message("assistant", (Text("SECRET-answer"),))),),
    now=1.0,
    model="gpt-x",
    agent="support",
    response_id="resp_1",
)


def _secret_value(status: str) -> Value:
    return value(
        f"SECRET-{'flagged' if f'SECRET-flagged-{status}' in FLAGGED_SECRETS else 'plain'}-{status}",
        status,
        derivation=Derivation("sum", ("SECRET-operand", "SECRET-operand")),
        carriers=(Carrier("call_1", "call_1", "get_order", 1),),
        evicted_by=EVICTED_VALUE.evicted_by,
        misplaced=(Misplaced((0, 3), "SECRET-entity", "SECRET-entity"),),
    )


PLANTED = decisions(
    judgement(*map(_secret_value, STATUSES), verdict="ungrounded"),
    window=window(
        "evict",
        evictions=(
            Eviction(1, "tool", "get_order", "call_1", "call_1", 20, 1000, 2, "evict", RESULT.key, None),
            Eviction(0, "user", None, None, None, 13, 1000, 2, "evict", CALL.messages[0].key, None),
        ),
        rewrites=(Rewrite(2, "tool", "get_order", "call_1", 20, 5, RESULT.key),),
        dropped_tools=("get_order",),
    ),
)


def _exported_bytes(level: CaptureLevel, call_decisions: Decisions = PLANTED) -> bytes:
    """Every byte that goes out, by every carrier."""
    pipeline = Pipeline()
    emitter = pipeline.emitter(events="both", capture_values=level)
    pipeline.emit(emitter, call_decisions, CALL)
    emitter.error("somewhere")
    with pipeline.tracers.get_tracer("test").start_as_current_span("invoke_agent") as span:
        emitter.summarise(span, Summary.of([call_decisions]))
    metrics = pipeline.reader.get_metrics_data()
    assert metrics is not None
    return b"".join(
        (
            encode_spans(pipeline.spans.get_finished_spans()).SerializeToString(),
            encode_logs(pipeline.logs.get_finished_logs()).SerializeToString(),
            encode_metrics(metrics).SerializeToString(),
        )
    )


def _leaked(exported: bytes) -> set[str]:
    return {secret for secret in FLAGGED_SECRETS | OTHER_SECRETS | NEVER if secret.encode() in exported}


def test_nothing_leaves_by_default() -> None:
    exported = _exported_bytes("none")

    assert b"SECRET" not in exported
    assert RESULT.key.hex().encode() not in exported
    assert RESULT.key not in exported
    assert b"get_order" in exported  # names do
    assert b"call_1" in exported  # and ids


def test_flagged_lets_the_flagged_values_out_and_no_other() -> None:
    assert _leaked(_exported_bytes("flagged")) == FLAGGED_SECRETS


def test_flagged_goes_by_the_flag_and_not_by_the_status() -> None:
    """Where the window was not wholly seen, a value that was not found is not flagged."""
    unflagged = judgement(
        *(replace(v, flagged=False) for v in PLANTED.judgements[0].values),
        verdict="inconclusive",
        reasons=("unseen_history",),
    )

    assert _leaked(_exported_bytes("flagged", replace(PLANTED, judgements=(unflagged,)))) == set()


def test_all_lets_every_value_of_an_answer_out_and_no_message() -> None:
    assert _leaked(_exported_bytes("all")) == FLAGGED_SECRETS | OTHER_SECRETS


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["none", "flagged", "all"]),
    st.lists(st.tuples(st.sampled_from(STATUSES), st.booleans()), max_size=5),
)
def test_a_value_leaves_exactly_where_the_level_says(level: CaptureLevel, found: list[tuple[str, bool]]) -> None:
    values = [value(f"SECRET-{n}-", status, flagged=flagged) for n, (status, flagged) in enumerate(found)]

    exported = _exported_bytes(level, decisions(judgement(*values, verdict="ungrounded")))

    for v in values:
        assert (v.text.encode() in exported) == (level == "all" or (level == "flagged" and v.flagged))


def test_a_message_has_the_same_hash_under_the_same_key_only() -> None:
    key = RESULT.key
    first, second = Capture("none", b"k" * 32), Capture("none", b"k" * 32)

    assert first.content_hash(key) == second.content_hash(key)
    assert Capture("none", b"j" * 32).content_hash(key) != first.content_hash(key)
    assert len(first.content_hash(key)) == 32


@pytest.mark.parametrize("absent", [None, b""])
def test_without_a_key_the_hash_is_of_this_process_only(absent: bytes | None) -> None:
    one, other = Capture("none", absent), Capture("none", absent)

    assert one.content_hash(RESULT.key) == one.content_hash(RESULT.key)
    assert one.content_hash(RESULT.key) != other.content_hash(RESULT.key)


def test_a_key_longer_than_the_hash_takes_is_still_a_key() -> None:
    one, other = Capture("none", b"k" * 100), Capture("none", b"k" * 99 + b"j")

    assert one.content_hash(RESULT.key) != other.content_hash(RESULT.key)
