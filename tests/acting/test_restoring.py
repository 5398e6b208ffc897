"""A window goes on in another process: saved, restored, refused where malformed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import otel_footprint
from otel_footprint import ConfigurationError, SlidingWindow, SummarizeOldest
from otel_footprint.testing.provider import ScriptedProvider, Text, ToolCalls, ToolUse
from otel_footprint.testing.sink import Sink
from tests.acting.acting_agents import Agent, sent, text_of

READ = ToolCalls([ToolUse("get_order")])
LONG = {"order_id": "W-5918442", "lines": ["a line that says nothing of interest"] * 20}


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("api", ["openai-chat", "anthropic", "gemini"])
def test_another_process_goes_on_with_the_same_window(api: str, text: bool, act: Callable[..., Sink]) -> None:
    strategy = SummarizeOldest(100, lambda prompt: "The order is W-5918442.", "small-model", keep_recent_turns=1)
    act(window=strategy, keep_last_tool_results=0)
    script = [
        READ,
        Text("It is W-5918442.", input_tokens=500),
        Text("Still W-5918442.", input_tokens=20),
        Text("As I said.", input_tokens=20),
    ]
    with ScriptedProvider(script) as provider:
        agent = Agent(api, provider, LONG)
        with otel_footprint.conversation("c-1") as first:
            agent.ask("Which order?")
            agent.ask("Which was it?")
            document = json.loads(json.dumps(first.to_dict(text=text)))
            folded = first.window.folded
        if not text:  # what was folded is text, and stays behind; what the summary says goes along
            folded = tuple(replace(span, messages=(), retain="discard") for span in folded)
        otel_footprint.uninstrument()
        act(window=strategy, keep_last_tool_results=0)
        with otel_footprint.conversation("c-1", restore=document) as second:
            assert second.window.folded == folded
            agent.ask("Are you sure?")
            assert second.window.folded == folded
        before, after = sent(provider)[-2:]
        assert after[: len(before)] == before
        assert "The order is W-5918442." in text_of(after)
        assert "nothing of interest" not in text_of(after)


def test_the_document_of_a_window_alone_is_taken_too(act: Callable[..., Sink]) -> None:
    act(window=SlidingWindow(1), keep_last_tool_results=0)
    with ScriptedProvider([READ, Text("One."), Text("Two."), Text("Three.")]) as provider:
        agent = Agent("openai-chat", provider, LONG)
        with otel_footprint.conversation("c-1") as first:
            agent.ask("Which order?")
            agent.ask("And now?")
            document = json.loads(json.dumps(first.window.to_dict()))
        with otel_footprint.conversation("c-2", restore=document):
            agent.ask("Sure?")
        assert "nothing of interest" not in text_of(sent(provider)[-1])


def test_nothing_to_save_is_an_empty_document(act: Callable[..., Sink]) -> None:
    act()
    with otel_footprint.conversation("c-1") as conversation:
        assert conversation.window.folded == ()
        document = json.loads(json.dumps(conversation.to_dict()))
    with otel_footprint.conversation("c-1", restore=document) as conversation:
        assert conversation.window.folded == ()


NOTHING_YET = {
    "format": "otel-footprint conversation",
    "version": 1,
    "id": "c-1",
    "named": True,
    "text": False,
    "calls": 0,
    "session": None,
}


@pytest.mark.parametrize(
    ("document", "part"),
    [
        ([], "is list"),
        ({}, "format None"),
        ({"format": "otel-footprint conversation", "version": 99, "window": {}}, "version 99"),
        ({"format": "otel-footprint conversation", "version": True, "window": {}}, "version True"),
        ({"format": "otel-footprint conversation", "version": 1}, "has no window"),
        ({"format": "otel-footprint conversation", "version": 1, "window": {}}, "has no session"),
        ({**NOTHING_YET, "window": {"format": "x"}}, "format 'x'"),
        ({"format": "otel-footprint window", "version": 1, "lines": 7}, "lines"),
    ],
)
def test_what_is_malformed_is_refused_by_name(document: Any, part: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        otel_footprint.conversation("c-1", restore=document)
    assert part in str(caught.value)
