"""The conversation that the overhead benchmark replays: append-only, tool calls and results, sizes as real agents have them.

Rules
-----
- The n-th message is a pure function of the seed and n, so the list of a call is a prefix of the list of the next one.
- The pattern after the system message repeats every six messages: a person asks, the model calls a tool, its result,
  a second call, its result, the model answers. Every even size ends on a message that the model has to answer.
- Sizes, in characters: system about 1,200; a person's message about 200; arguments about 90; a tool result about 700 of
  JSON; an answer about 300 with five values that the results carry.
- Ids and numbers differ from conversation to conversation, so nothing learnt from one helps with the next.
"""

from __future__ import annotations

import json
import random
from functools import cached_property
from typing import Any

_SYSTEM = (
    "You are the service agent of an airline. Help with bookings, changes and refunds. Before an action that changes a "
    "booking, list its details and obtain an explicit confirmation. Do not give information that neither the customer nor "
    "the tools gave you. Make one tool call at a time. Refuse requests that the policy forbids. "
) * 4
_CITIES = ("Zurich", "Lisbon", "Oslo", "Vienna", "Athens", "Dublin", "Prague", "Madrid")
_PARAMETERS = {
    "type": "object",
    "properties": {"reservation_id": {"type": "string"}, "date": {"type": "string"}, "cabin": {"type": "string"}},
    "required": ["reservation_id"],
}
_TOOL_NAMES = ("get_reservation", "search_flights")


class Conversation:
    """One conversation in the OpenAI and in the Anthropic form."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: list[dict[str, Any]] = [{"role": "system", "content": _SYSTEM}]

    openai_tools: list[dict[str, Any]] = [  # noqa: RUF012 - shared and never changed
        {"type": "function", "function": {"name": name, "description": f"Run {name}.", "parameters": _PARAMETERS}}
        for name in _TOOL_NAMES
    ]
    anthropic_tools: list[dict[str, Any]] = [  # noqa: RUF012
        {"name": name, "description": f"Run {name}.", "input_schema": _PARAMETERS} for name in _TOOL_NAMES
    ]

    def openai(self, size: int) -> list[dict[str, Any]]:
        """The first ``size`` messages, the system message included; a new list each time, as an application makes it."""
        while len(self._made) < size:
            self._made.append(self._message(len(self._made)))
        return self._made[:size]

    def anthropic(self, size: int) -> tuple[str, list[dict[str, Any]]]:
        """The same as system text and Anthropic messages."""
        return _SYSTEM, [_as_anthropic(message) for message in self.openai(size)[1:]]

    def next_message(self, size: int, api: str) -> dict[str, Any]:
        """What the model says after ``size`` messages, so that the next call continues this one."""
        message = self.openai(size + 1)[size]
        return message if api == "openai" else _as_anthropic(message)

    def output(self, size: int, kind: str, api: str) -> dict[str, Any]:
        """What the model says in the timed call, whatever the pattern would have.

        ``answer``: values of the last results in the window; ``invented``: the same with one of them changed;
        ``tool_call``: the next call.
        """
        last = size if (size - 1) % 6 > 2 else size - 6  # a turn whose results are in the window
        if kind == "tool_call" or last < 2:
            message = self._tool_call(size)
        else:
            message = self._answer(last, invented=kind == "invented")
        return message if api == "openai" else _as_anthropic(message)

    @cached_property
    def _person(self) -> str:
        return random.Random(self._seed).choice(("Noah Weber", "Mia Rossi", "Ana Silva", "Liam Novak"))

    def _message(self, index: int) -> dict[str, Any]:
        place = (index - 1) % 6
        if place == 0:
            return {
                "role": "user",
                "content": f"Hello, this is {self._person}. Could you look at my booking {self._facts(index)['id']} and tell me "
                "which flights it has, what I paid for it in total, and whether there is an earlier connection on the same day?",
            }
        if place in (1, 3):
            return self._tool_call(index)
        if place in (2, 4):
            return {"role": "tool", "tool_call_id": f"call_{self._seed}_{index - 1}", "content": self._result(index)}
        return self._answer(index)

    def _facts(self, index: int) -> dict[str, Any]:
        """The facts of the turn in which the message stands."""
        draw = random.Random(self._seed * 1_000_003 + (index - 1) // 6)
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
        return {
            "id": "".join(draw.choice(letters) for _ in range(3)) + str(draw.randint(100, 999)),
            "flights": [f"HAT{draw.randint(100, 999)}" for _ in range(4)],
            "prices": [draw.randint(10_000, 99_999) / 100 for _ in range(4)],
            "cities": draw.sample(_CITIES, 4),
            "day": draw.randint(10, 28),
            "payment": f"credit_card_{draw.randint(1_000_000, 9_999_999)}",
        }

    def _tool_call(self, index: int) -> dict[str, Any]:
        facts = self._facts(index)
        arguments = {"reservation_id": facts["id"], "date": f"2024-05-{facts['day']}", "cabin": "economy", "page": 1}
        function = {"name": _TOOL_NAMES[index % 2], "arguments": json.dumps(arguments)}
        call = {"id": f"call_{self._seed}_{index}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def _result(self, index: int) -> str:
        facts = self._facts(index)
        rows = [
            {
                "flight_number": flight,
                "origin": facts["cities"][place],
                "destination": facts["cities"][place - 1],
                "date": f"2024-05-{facts['day']}",
                "departs": f"{7 + 3 * place:02}:{10 + place}:00",
                "arrives": f"{9 + 3 * place:02}:{25 + place}:00",
                "price": price,
            }
            for place, (flight, price) in enumerate(zip(facts["flights"], facts["prices"], strict=True))
        ]
        return json.dumps(
            {"reservation_id": facts["id"], "payment_id": facts["payment"], "flights": rows, "page": index}
        )

    def _answer(self, index: int, *, invented: bool = False) -> dict[str, Any]:
        facts = self._facts(index)
        payment = f"credit_card_{self._seed + 1_000_000_000}" if invented else facts["payment"]
        return {
            "role": "assistant",
            "content": f"Your booking {facts['id']} is on flight {facts['flights'][0]} on 2024-05-{facts['day']}; you paid "
            f"${facts['prices'][0]} with {payment}. There is an earlier connection, {facts['flights'][1]}, which costs "
            f"${facts['prices'][1]}. Would you like me to change the booking? Please confirm with yes, and I will go ahead.",
        }


def _as_anthropic(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
        return {"role": "user", "content": [block]}
    if not message.get("tool_calls"):
        return {"role": message["role"], "content": message["content"]}
    call = message["tool_calls"][0]
    arguments = json.loads(call["function"]["arguments"])
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": arguments}],
    }
