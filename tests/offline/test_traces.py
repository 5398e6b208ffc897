"""Trace files with messages: their calls are judged as they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_cases import (
    ANSWER,
    ANY,
    ASKED,
    CALLED,
    FIRST,
    READ,
    SECOND,
    TRACE,
    attributes,
    judged,
    span,
    text,
    trace,
    value,
)

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.offline import otlp
from otel_footprint.offline.files import TraceFile
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.traces import judge_trace
from otel_footprint.telemetry import names


def as_text(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: json.dumps(item) for key, item in given.items()}


def as_texts(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: [json.dumps(item) for item in items] for key, items in given.items()}


def the_answer(found: list[Judged]) -> Any:
    (one,) = found
    (answer,) = one.document["answers"]
    return answer


def expect_the_answer(found: list[Judged]) -> None:
    answer = the_answer(found)
    assert (answer["verdict"], answer["message_index"], answer["choice"]) == ("ungrounded", 3, 0)
    assert [(item["value"], item["status"], item["carriers"]) for item in answer["values"]] == [
        ("AB-48213", "read", [{"message_index": 2, "tool_call_id": "c1"}]),
        ("XY-99999", "unsupported", []),
    ]


@pytest.mark.parametrize("form", [dict, as_text, as_texts], ids=["structure", "text", "list of texts"])
def test_messages_on_spans_in_every_form(form: Any) -> None:
    found = judged(span(1, form(FIRST)), span(2, form(SECOND)))
    expect_the_answer(found)
    assert found[0].places == (f"span {TRACE}/{2:016x}",)
    assert found[0].document["id"] is None


def test_spans_are_taken_in_start_order_whatever_the_file_says() -> None:
    expect_the_answer(judged(span(2, SECOND), span(1, FIRST)))


def test_messages_in_the_details_event_or_log_record() -> None:
    name = "gen_ai.client.inference.operation.details"
    event = {"name": name, "timeUnixNano": "1", "attributes": attributes(SECOND)}
    expect_the_answer(judged(span(2, {}, events=[event])))
    record = {"traceId": TRACE, "spanId": f"{2:016x}", "eventName": name, "attributes": attributes(SECOND)}
    expect_the_answer(judged(span(2, {}), logs=[record]))
    older = {
        "traceId": TRACE,
        "spanId": f"{2:016x}",
        "attributes": attributes({"event.name": name}),
        "body": value(SECOND),
    }
    expect_the_answer(judged(span(2, {}), logs=[older]))


def test_the_older_event_per_message() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}]
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("gen_ai.user.message", {"content": "What did I order?"}),
        ("gen_ai.assistant.message", {"tool_calls": calls}),
        ("gen_ai.tool.message", {"id": "c1", "content": '{"order": "AB-48213"}'}),
        (
            "gen_ai.choice",
            {"index": 0, "finish_reason": "stop", "message": {"content": "It is AB-48213, not XY-99999."}},
        ),
    ]
    logs = [
        {"traceId": TRACE, "spanId": f"{2:016x}", "eventName": name, "timeUnixNano": str(at + 1), "body": value(body)}
        for at, (name, body) in enumerate(bodies)
    ]
    expect_the_answer(judged(span(2, {}), logs=list(reversed(logs))))
    flat = [
        {
            "name": name,
            "attributes": attributes(
                {key: item if isinstance(item, str) else json.dumps(item) for key, item in body.items()}
            ),
        }
        for name, body in bodies
    ]
    expect_the_answer(judged(span(2, {}, events=flat)))


def test_agents_workflows_and_tools_are_no_calls() -> None:
    for operation in ("invoke_agent", "invoke_workflow", "execute_tool", "embeddings"):
        assert judged(span(1, {**SECOND, "gen_ai.operation.name": operation})) == []


def test_a_call_inside_another_call_is_the_same_call() -> None:
    expect_the_answer(judged(span(1, SECOND), span(2, SECOND, parent=1)))
    between = span(5, {"gen_ai.operation.name": "execute_tool"}, parent=1)
    expect_the_answer(judged(span(1, SECOND), between, span(6, SECOND, parent=5)))


def test_a_circle_of_parents_ends() -> None:
    assert len(judged(span(1, SECOND, parent=3), span(3, {"gen_ai.operation.name": "x"}, parent=1))) in (0, 1)


def test_each_choice_is_an_answer() -> None:
    outputs = [ANSWER, text("assistant", "It is AB-48213.", finish_reason="stop")]
    (found,) = judged(span(2, {**SECOND, "gen_ai.output.messages": outputs}))
    answers = found.document["answers"]
    assert [(answer["choice"], answer["message_index"], answer["verdict"]) for answer in answers] == [
        (0, 3, "ungrounded"),
        (1, 4, "grounded"),
    ]


@pytest.mark.parametrize(
    ("reason", "more"), [("length", {}), ("content_filter", {}), ("stop", {"error.type": "ReadError"})]
)
def test_a_cut_answer_accuses_nobody(reason: str, more: dict[str, Any]) -> None:
    cut = text("assistant", "It is XY-99999", finish_reason=reason)
    answer = the_answer(judged(span(2, {**SECOND, "gen_ai.output.messages": [cut], **more})))
    assert (answer["verdict"], answer["reasons"]) == ("inconclusive", ["partial_output"])


def test_a_trimmed_window_says_what_dropped_the_value() -> None:
    more = text("user", "And which was it, again?")
    answered = text("assistant", "One order, as I see here today.")
    third = {
        "gen_ai.input.messages": [ASKED, answered, more],
        "gen_ai.output.messages": [text("assistant", "It was AB-48213.", finish_reason="stop")],
        "gen_ai.system_instructions": FIRST["gen_ai.system_instructions"],
    }
    second = {**SECOND, "gen_ai.output.messages": [{**answered, "finish_reason": "stop"}]}
    (found,) = judged(span(1, FIRST), span(2, second), span(3, third))
    last = found.document["answers"][-1]
    assert last["message_index"] == 3
    (item,) = last["values"]
    assert (item["status"], item["flagged"]) == ("evicted", True)
    assert item["evicted_by"] == {
        "decision": "evict",
        "decided_by": "application",
        "tool_call_id": "c1",
        "tool": "get_order",
    }


def test_the_recorded_conversation_id_is_kept() -> None:
    (found,) = judged(span(2, {**SECOND, "gen_ai.conversation.id": "order-4711"}))
    assert found.document["id"] == "order-4711"


def test_messages_that_were_cut_are_named_and_the_rest_is_judged() -> None:
    broken = span(1, {"gen_ai.input.messages": '[{"role": "user", "par'})
    found, problems, _ = judge_trace(trace(broken, span(2, SECOND)), Evidence())
    expect_the_answer(found)
    assert [problem.reason for problem in problems] == [f"span {1:016x}: gen_ai.input.messages is cut or not JSON"]


def held(number: int, match: str, inputs: list[Any], output: Any, **more: Any) -> dict[str, Any]:
    given = {
        "gen_ai.input.messages": inputs,
        "gen_ai.output.messages": [output],
        "gen_ai.response.id": f"resp_{number}",
        names.CONVERSATION_ID: "conv-1",
        names.CONVERSATION_MATCH: match,
        names.THREAD: 1,
        **more,
    }
    return span(number, given)


def test_a_window_that_the_provider_held_is_put_together() -> None:
    (found,) = judged(held(1, "new", [ASKED], CALLED), held(2, "response_id", [READ], ANSWER))
    (answer,) = found.document["answers"]
    assert [item["status"] for item in answer["values"]] == ["read", "unsupported"]
    assert answer["message_index"] == 1
    by_others = [
        span(1, {"gen_ai.input.messages": [ASKED], "gen_ai.output.messages": [CALLED], "gen_ai.response.id": "r1"}),
        span(
            2,
            {
                "gen_ai.input.messages": [READ],
                "gen_ai.output.messages": [ANSWER],
                "gen_ai.request.previous_response.id": "r1",
            },
        ),
    ]
    assert [item["status"] for item in the_answer(judged(*by_others))["values"]] == ["read", "unsupported"]


def test_a_window_of_another_process_accuses_nobody() -> None:
    unseen = held(1, "new", [READ], ANSWER, **{names.EVIDENCE_REASONS: ["unseen_history"]})
    answer = the_answer(judged(unseen))
    assert (answer["verdict"], answer["reasons"]) == ("inconclusive", ["unseen_history"])


@given(
    st.dictionaries(
        st.sampled_from(
            ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions"]
        ),
        ANY,
    )
)
def test_wrong_messages_are_judged_or_named(given_attributes: dict[str, Any]) -> None:
    found = otlp.Span(trace_id=TRACE, span_id="1", attributes=given_attributes)
    judge_trace(TraceFile((found,), ()), Evidence())
