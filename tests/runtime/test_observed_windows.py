"""What real applications do to their history is named rightly, through the real SDK, hook and telemetry."""

from __future__ import annotations

from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.runtime.agents import (
    AnthropicAgent,
    OpenAIAgent,
    attributes,
    blank_old_results,
    events,
    fold_all_but,
    keep_last,
)

ORDER = {"get_order": {"order_id": "W-5918442", "total": 1234.56}, "get_stock": {"item_id": "9523456873", "left": 41}}
WINDOW = ("window.decision", "window.decided_by", "window.messages_before", "window.messages_after", "window.evicted")


def tool(name: str, call_id: str | None = None) -> ToolCalls:
    return ToolCalls([ToolUse(name, {}, call_id)])


def test_an_application_that_keeps_everything(sink: Sink) -> None:
    with ScriptedProvider(
        [tool("get_order"), Text("Order W-5918442 is $1,234.56."), Text("You are welcome.")]
    ) as provider:
        agent = OpenAIAgent(provider, ORDER)
        agent.ask("What does my order cost?")
        agent.ask("Thanks!")
    assert attributes(sink.chat_spans, *WINDOW, "turn", "iteration") == [
        ("start", "application", 0, 1, 0, 1, 1),
        ("append", "application", 2, 3, 0, 1, 2),
        ("append", "application", 4, 5, 0, 2, 1),
    ]
    assert attributes(sink.chat_spans, "evidence.verdict") == [(None,), ("grounded",), ("no_claims",)]


def test_an_application_that_keeps_the_last_messages(sink: Sink) -> None:
    script = [
        tool("get_order", "call_a"),
        Text("It left the warehouse and is on its way to you."),
        tool("get_stock", "call_b"),
        Text("Order W-5918442 was $1,234.56."),
    ]
    with ScriptedProvider(script) as provider:
        agent = OpenAIAgent(provider, ORDER, keep_last(4))
        agent.ask("Where is my order?")
        agent.ask("What did it cost?")
    spans = sink.chat_spans
    assert attributes(spans, "window.decision", "window.evicted") == [
        ("start", 0),
        ("append", 0),
        ("evict", 1),
        ("evict", 2),
    ]
    assert attributes(spans, "evidence.verdict")[-1] == ("ungrounded",)
    left = events(spans[-1], "context.evicted")
    assert [event["agentfootprint.eviction.role"] for event in left] == ["assistant", "tool"]
    assert left[1]["agentfootprint.eviction.tool_call_id"] == "call_a"
    assert left[1]["agentfootprint.eviction.tool"] == "get_order"
    values = events(spans[-1], "evidence.value")
    assert {value["agentfootprint.value.status"] for value in values} == {"evicted"}
    served, dropped = spans[2].get_span_context().span_id, spans[3].get_span_context().span_id
    assert {link.context.span_id for link in spans[-1].links} <= {spans[1].get_span_context().span_id, served, dropped}
    assert served in {link.context.span_id for link in spans[-1].links}
    evicted = [point for point in sink.metrics("agentfootprint.window.evictions") if point.value]
    assert sum(point.value for point in evicted) == 3


def test_an_application_that_blanks_old_results(sink: Sink) -> None:
    script = [tool("get_order"), tool("get_stock"), Text("41 left; your order was W-5918442.")]
    with ScriptedProvider(script) as provider:
        OpenAIAgent(provider, ORDER, blank_old_results).ask("How many are left?")
    spans = sink.chat_spans
    assert attributes(spans, "window.decision") == [("start",), ("append",), ("clear",)]
    assert attributes(spans, "evidence.verdict")[-1] == ("ungrounded",)
    assert len(events(spans[-1], "context.rewritten")) == 1


def test_an_application_that_folds_history_into_a_summary(sink: Sink) -> None:
    script = [
        tool("get_order"),
        Text("Yes, I found one order of yours in our system."),
        tool("get_stock"),
        Text("W-5918442, and 9523456873 is in stock."),
    ]
    summary = "Summary: the customer has order W-5918442."
    with ScriptedProvider(script) as provider:
        agent = OpenAIAgent(provider, ORDER, fold_all_but(4, summary, past=4))
        agent.ask("Do I have an order?")
        agent.ask("Is the other item there?")
    assert attributes(sink.chat_spans, "window.decision", "window.evicted") == [
        ("start", 0),
        ("append", 0),
        ("summarize", 1),
        ("evict", 2),
    ]
    statuses = {(value["agentfootprint.value.status"]) for value in events(sink.chat_spans[-1], "evidence.value")}
    # What a model's summary says is nobody's word: the value was read once, and its result has left.
    assert "evicted" in statuses
    assert attributes(sink.chat_spans, "evidence.verdict")[-1] == ("ungrounded",)


def test_two_conversations_with_the_same_opening_stay_apart(sink: Sink) -> None:
    first_script = [tool("get_order", "call_1"), Text("First: W-5918442."), Text("Bye, first.")]
    second_script = [tool("get_order", "call_2"), Text("Second: W-7000001."), Text("Bye, second.")]
    with ScriptedProvider(first_script) as one, ScriptedProvider(second_script) as two:
        a = OpenAIAgent(one, ORDER)
        b = OpenAIAgent(two, {"get_order": {"order_id": "W-7000001"}})
        for agent in (a, b):
            agent.history.append({"role": "user", "content": "Hi!"})
        for _ in range(2):
            for agent in (a, b):
                message = agent.step()
                for call in message.get("tool_calls", ()):
                    content = '{"order_id": "%s"}' % ("W-5918442" if agent is a else "W-7000001")
                    agent.history.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        a.ask("Thanks!")
        b.ask("Thanks!")
    found = attributes(sink.chat_spans, "conversation.id", "thread", "window.decision", "evidence.verdict")
    mine, yours = found[0::2], found[1::2]
    assert len({row[0] for row in mine}) == len({row[0] for row in yours}) == 1
    assert mine[0][0] != yours[0][0]
    for rows in (mine, yours):
        assert [row[2] for row in rows] == ["start", "append", "append"]
        assert [row[3] for row in rows] == [None, "grounded", "no_claims"]


def test_parallel_tool_calls_on_both_sdks(sink: Sink) -> None:
    script = [
        ToolCalls([ToolUse("get_order", {}, "call_a"), ToolUse("get_stock", {}, "call_b")]),
        Text("Order W-5918442; item 9523456873 has 41 left."),
    ]
    for make, window in ((OpenAIAgent, 4), (AnthropicAgent, 4)):
        sink.clear()
        with ScriptedProvider(script) as provider:
            make(provider, ORDER).ask("Order and stock?")
        spans = sink.chat_spans
        assert attributes(spans, "window.decision", "window.messages_after", "evidence.verdict") == [
            ("start", 1, None),
            ("append", window, "grounded"),
        ]
        assert attributes(spans, "evidence.tool_results_this_turn")[-1] == (2,)
        assert attributes(spans, "window.evicted")[-1] == (0,)
