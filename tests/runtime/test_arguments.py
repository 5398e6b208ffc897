"""Arguments of tool calls, end to end: a real SDK, an unchanged agent, what arrives in the trace and the metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.runtime.agents import AnthropicAgent, OpenAIAgent, attributes, events, keep_last

RESULTS: dict[str, Any] = {
    "list_orders": {"orders": [{"order_id": "W-5918442", "placed": "2024-05-20", "total": 49.99}]},
    "refund": {"refunded": "yes"},
}
QUESTION = "Refund my last order, I am mia_li_3668."


def script(refund: dict[str, Any]) -> list[Any]:
    return [
        ToolCalls([ToolUse("list_orders", {"user_id": "mia_li_3668", "limit": 1000})]),
        ToolCalls([ToolUse("refund", refund)]),
        Text("Your order W-5918442 of May 20 was refunded: $49.99."),
    ]


def found(span: Any) -> list[tuple[Any, ...]]:
    keys = ("argument.tool", "argument.name", "value.status", "argument.unaccounted", "value.tool")
    return [tuple(event.get(f"agentfootprint.{key}") for key in keys) for event in events(span, "argument.value")]


def test_openai(sink: Sink) -> None:
    with ScriptedProvider(script({"order_id": "W-5918424", "amount": 49.99, "on": "May 20, 2024"})) as provider:
        OpenAIAgent(provider, RESULTS).ask(QUESTION)

    first, second, answer = sink.chat_spans
    assert found(first) == [("list_orders", "user_id", "said", False, None)]
    assert found(second) == [
        ("refund", "order_id", "unsupported", True, None),
        ("refund", "amount", "read", False, "list_orders"),
        ("refund", "on", "respelled", False, "list_orders"),
    ]
    assert found(answer) == []
    assert attributes([first, second, answer], "arguments.candidates", "arguments.worst_status") == [
        (1, "said"),
        (3, "unsupported"),
        (None, None),
    ]
    assert attributes([answer], "evidence.verdict") == [("grounded",)], "an argument is advice, not a verdict"
    counted = {
        (point.attributes.get("tool"), point.attributes["status"]): point.value
        for point in sink.metrics("agentfootprint.arguments.values")
        if point.value
    }
    assert counted == {
        ("list_orders", "said"): 1,
        ("refund", "unsupported"): 1,
        ("refund", "read"): 1,
        ("refund", "respelled"): 1,
    }


def test_anthropic(sink: Sink) -> None:
    with ScriptedProvider(script({"order_id": "W-5918442", "amount": 49.98})) as provider:
        AnthropicAgent(provider, RESULTS).ask(QUESTION)

    assert [found(span) for span in sink.chat_spans] == [
        [("list_orders", "user_id", "said", False, None)],
        [
            ("refund", "order_id", "read", False, "list_orders"),
            ("refund", "amount", "unsupported", True, None),
        ],
        [],
    ]


def test_an_argument_whose_result_was_trimmed_away_is_evicted(observe: Callable[..., Sink]) -> None:
    sink = observe(capture_values="flagged")
    with ScriptedProvider([*script({"order_id": "W-5918442"}), script({"order_id": "W-5918442"})[1]]) as provider:
        agent = OpenAIAgent(provider, RESULTS, keep_last(3))
        agent.ask(QUESTION)
        agent.history.append({"role": "user", "content": "And once more, please."})
        agent.step()

    served, dropped = sink.chat_spans[2], sink.chat_spans[3]
    (event,) = events(dropped, "argument.value")
    assert event["agentfootprint.value.status"] == "evicted"
    assert event["agentfootprint.value.evicted_tool"] == "list_orders"
    assert event["agentfootprint.value.text"] == "W-5918442"
    assert event["agentfootprint.argument.path"] == "order_id"
    assert {link.context.span_id for link in dropped.links} == {served.context.span_id, dropped.context.span_id}
