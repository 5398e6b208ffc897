"""The scenes of the demo: small agents on the real OpenAI and Anthropic SDKs, written as an application would be.

None of their agents knows of us. What a scripted model says is given beside each: true to the tool results, or not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from otel_footprint.core.evidence.options import Evidence
from otel_footprint.core.window.sliding_window import SlidingWindow
from otel_footprint.testing.provider import ScriptedProvider, Step, Text, ToolCalls, ToolUse

if TYPE_CHECKING:
    import anthropic
    import openai

OPENAI_MODEL: Final = "gpt-4o"
ANTHROPIC_MODEL: Final = "claude-sonnet-4-5"

SYSTEM: Final = "You are the travel desk of a small company. Use the tools; never guess."

RESERVATION: Final = {
    "reservation_id": "ZFA04Y",
    "user_id": "sara_doe_496",
    "flights": [
        {"flight_number": "HAT071", "date": "2024-05-20", "departure_time": "07:00:00", "price": 152},
        {"flight_number": "HAT118", "date": "2024-05-23", "departure_time": "18:30:00", "price": 189},
    ],
    "payment_id": "credit_card_4196779",
}
BAGS: Final = {
    "reservation_id": "ZFA04Y",
    "checked_bags": 2,
    "fees": [{"bag": 1, "fee": 50.5}, {"bag": 2, "fee": 72.25}],
}
RESULTS: Final = {"get_reservation": RESERVATION, "get_bag_fees": BAGS, "get_weather": {"city": "Oslo", "celsius": 14}}


@dataclass(frozen=True, slots=True)
class Scene:
    """One conversation: what it shows, what the model says, and the agent that runs it.

    ``settings`` are those of its ``conversation()``: where we are asked to act, and not only to watch.
    """

    title: str
    script: tuple[Step, ...]
    play: Callable[[ScriptedProvider], None]
    settings: Mapping[str, Any] = field(default_factory=dict)


def tool(name: str, **arguments: Any) -> ToolCalls:
    """The model asks for one tool."""
    return ToolCalls([ToolUse(name, arguments)])


def scenes() -> tuple[Scene, ...]:
    """All scenes, in the order they are shown."""
    ask = tool("get_reservation", reservation_id="ZFA04Y")
    question = "What is in my reservation ZFA04Y?"
    return (
        Scene(
            "an answer read from a tool result",
            (ask, Text("You fly on HAT071 and come back on HAT118; we charge credit_card_4196779.")),
            lambda provider: openai_agent(provider, question),
        ),
        Scene(
            "an invented identifier",
            (ask, Text("You fly on HAT071 and come back on HAT181.")),
            lambda provider: openai_agent(provider, question),
        ),
        Scene(
            "a value whose tool result the application trimmed away",
            (
                ask,
                Text("Found it. Shall I look at the weather as well?"),
                tool("get_weather", city="Oslo"),
                Text("It will be 14 °C; your booking is charged to credit_card_4196779."),
            ),
            lambda provider: openai_agent(provider, question, "Yes, please.", keep_last=4),
        ),
        Scene(
            "a date and a time spelled another way",
            (ask, Text("You leave on May 20 at 7:00 AM.")),
            lambda provider: anthropic_agent(provider, question),
        ),
        Scene(
            "a sum the model worked out",
            (tool("get_bag_fees", reservation_id="ZFA04Y"), Text("Your two bags cost $122.75 together.")),
            lambda provider: anthropic_agent(provider, "What do my bags cost? The reservation is ZFA04Y."),
        ),
        Scene(
            "a streamed answer",
            (ask, Text("Your flight home is HAT118.")),
            lambda provider: openai_agent(provider, question, stream=True),
        ),
        Scene(
            "an asynchronous agent",
            (ask, Text("Your flight out is HAT071.")),
            lambda provider: asyncio.run(async_anthropic_agent(provider, question)),
        ),
        Scene(
            "a window strategy that drops a result",
            (
                ask,
                Text("Found it. Shall I look at the weather as well?"),
                tool("get_weather", city="Oslo"),
                Text("It will be 14 °C; your booking is charged to credit_card_4196779."),
            ),
            lambda provider: openai_agent(provider, question, "Yes, please."),
            {"window": SlidingWindow(3)},
        ),
        Scene(
            "an answer that is sent back once",
            (ask, Text("You come back on HAT181."), Text("You come back on HAT118.")),
            lambda provider: openai_agent(provider, question),
            {"evidence": Evidence(posture="guard")},
        ),
        Scene(
            "an answer that rests on what the model set aside",
            (
                ask,
                tool("get_weather", city="Oslo", _findings=_noise("call_1")),
                Text("You come back on HAT118."),
            ),
            lambda provider: openai_agent(provider, question),
            {"findings": True},
        ),
    )


def _noise(result: str) -> dict[str, Any]:
    """What a model writes into the argument it is offered where findings are on: that an earlier result is of no use."""
    return {"basis": "exploratory", "previous": [{"toolCallId": result, "standing": "noise"}]}


def openai_agent(
    provider: ScriptedProvider, *questions: str, keep_last: int | None = None, stream: bool = False
) -> None:
    """A tool loop on chat completions. ``keep_last`` is the application's own trimming of its history."""
    import openai

    client = openai.OpenAI(base_url=provider.openai_url, api_key="none needed", max_retries=0)
    history: list[Any] = []
    for question in questions:
        history.append({"role": "user", "content": question})
        while True:
            window = [{"role": "system", "content": SYSTEM}, *(history if keep_last is None else history[-keep_last:])]
            message = _streamed(client, window) if stream else _plain(client, window)
            history.append(message)
            if not message.get("tool_calls"):
                break
            for call in message["tool_calls"]:
                result = json.dumps(RESULTS[call["function"]["name"]])
                history.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def _plain(client: openai.OpenAI, window: list[Any]) -> dict[str, Any]:
    response = client.chat.completions.create(model=OPENAI_MODEL, messages=window, tools=_openai_tools())
    return response.choices[0].message.model_dump(exclude_none=True)


def _streamed(client: openai.OpenAI, window: list[Any]) -> dict[str, Any]:
    text = ""
    calls: dict[int, dict[str, Any]] = {}
    stream = client.chat.completions.create(model=OPENAI_MODEL, messages=window, tools=_openai_tools(), stream=True)
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for piece in choice.delta.tool_calls or ():
                call = calls.setdefault(piece.index, {"type": "function", "function": {"name": "", "arguments": ""}})
                call["id"] = piece.id or call.get("id")
                if piece.function:
                    call["function"]["name"] += piece.function.name or ""
                    call["function"]["arguments"] += piece.function.arguments or ""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return message | {"tool_calls": [calls[index] for index in sorted(calls)]} if calls else message


def anthropic_agent(provider: ScriptedProvider, question: str) -> None:
    """A tool loop on Anthropic messages."""
    import anthropic

    client = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="none needed", max_retries=0)
    history: list[Any] = [{"role": "user", "content": question}]
    while True:
        response = client.messages.create(**_anthropic_request(history))
        if not _take_turn(history, response.content):
            break


async def async_anthropic_agent(provider: ScriptedProvider, question: str) -> None:
    """The same with the asynchronous client."""
    import anthropic

    async with anthropic.AsyncAnthropic(
        base_url=provider.anthropic_url, api_key="none needed", max_retries=0
    ) as client:
        history: list[Any] = [{"role": "user", "content": question}]
        while True:
            response = await client.messages.create(**_anthropic_request(history))
            if not _take_turn(history, response.content):
                break


def _anthropic_request(history: list[Any]) -> dict[str, Any]:
    tools = [
        {"name": name, "description": name, "input_schema": {"type": "object", "properties": {}}} for name in RESULTS
    ]
    return {
        "model": ANTHROPIC_MODEL,
        "max_tokens": 1024,
        "system": SYSTEM,
        "messages": history,
        "tools": tools,
    }


def _take_turn(history: list[Any], content: Iterable[anthropic.types.ContentBlock]) -> bool:
    """Append the model's turn and the results it asked for; whether there were any."""
    blocks = list(content)
    history.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in blocks]})
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": json.dumps(RESULTS[block.name])}
        for block in blocks
        if block.type == "tool_use"
    ]
    if results:
        history.append({"role": "user", "content": results})
    return bool(results)


def _openai_tools() -> list[Any]:
    return [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in RESULTS
    ]
