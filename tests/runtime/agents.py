"""Small agents on the real SDKs, as applications are written, with the ways in which they keep their history."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import anthropic
import openai

from otel_footprint.testing.provider import ScriptedProvider

Window = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]

SYSTEM = {"role": "system", "content": "You are a support agent. Use the tools."}
TOOLS: Any = [
    {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}
]


def whole(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(history)


def keep_last(count: int) -> Window:
    return lambda history: history[-count:]


def blank_old_results(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All tool results but the last one lose their content, as editors of context do."""
    results = [index for index, message in enumerate(history) if message["role"] == "tool"]
    return [
        message | {"content": "[cleared]"} if index in results[:-1] else message
        for index, message in enumerate(history)
    ]


def fold_all_but(count: int, summary: str, *, past: int) -> Window:
    """Past so many messages, history but the last ``count`` becomes one summary message."""

    def fold(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(history) <= past:
            return list(history)
        return [{"role": "user", "content": summary}, *history[-count:]]

    return fold


class OpenAIAgent:
    """A tool loop. ``results`` maps a tool call's ``n``-th result by name; ``window`` is the application's trimming."""

    def __init__(self, provider: ScriptedProvider, results: dict[str, Any], window: Window = whole) -> None:
        self.client = openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0)
        self.results = results
        self.window = window
        self.history: list[dict[str, Any]] = []

    def ask(self, question: str) -> str:
        self.history.append({"role": "user", "content": question})
        while True:
            message = self.step()
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                content = json.dumps(self.results[call["function"]["name"]])
                self.history.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    def step(self) -> dict[str, Any]:
        response = self.client.chat.completions.create(
            model="gpt-4o", messages=[SYSTEM, *self.window(self.history)], tools=TOOLS
        )
        message: dict[str, Any] = response.choices[0].message.model_dump(exclude_none=True)
        self.history.append(message)
        return message


class AnthropicAgent:
    """The same on Anthropic messages: several results come back inside one user message."""

    def __init__(self, provider: ScriptedProvider, results: dict[str, Any]) -> None:
        self.client = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)
        self.results = results
        self.history: list[Any] = []

    def ask(self, question: str) -> str:
        self.history.append({"role": "user", "content": question})
        while True:
            response = self.client.messages.create(
                model="claude-sonnet-4-5",
                max_tokens=100,
                messages=self.history,
                tools=[{"name": "get_order", "input_schema": {"type": "object", "properties": {}}}],
            )
            self.history.append(
                {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in response.content]}
            )
            uses = [block for block in response.content if block.type == "tool_use"]
            if not uses:
                return "".join(block.text for block in response.content if block.type == "text")
            self.history.append({"role": "user", "content": [self.result(use) for use in uses]})

    def result(self, use: Any) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": use.id, "content": json.dumps(self.results[use.name])}


def attributes(spans: Sequence[Any], *names: str) -> list[tuple[Any, ...]]:
    """Of each span the attributes with these names, without our prefix."""
    return [tuple((span.attributes or {}).get(f"agentfootprint.{name}") for name in names) for span in spans]


def events(span: Any, name: str) -> list[dict[str, Any]]:
    """The attributes of a span's events of one name, without our prefix."""
    return [dict(event.attributes or {}) for event in span.events if event.name == f"agentfootprint.{name}"]
