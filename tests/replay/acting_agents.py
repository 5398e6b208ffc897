"""Real conversations played as live agents on real SDKs: the model says what it said, the person and the tools answer.

The model's side is a script, over a socket or handed to the SDK in the process; the application's list only grows. What is
kept is what the application holds, what went over the wire, and what it got.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import anthropic
import openai

from otel_footprint.testing.dialects import dialect_of
from otel_footprint.testing.provider import ScriptedProvider
from otel_footprint.testing.script import Request, Step, Text, ToolCalls, ToolUse, compact, settle

Api: TypeAlias = Literal["openai.chat", "anthropic.messages"]
CORRECTION = "[automatic check of your last answer"
APIS: tuple[Api, ...] = ("openai.chat", "anthropic.messages")
Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """One recorded conversation: the policy, then what was said, asked and read, in OpenAI's form."""

    number: int
    system: str
    messages: tuple[Message, ...]

    @property
    def script(self) -> list[Step]:
        """What the model says, call by call."""
        return [_step(message) for message in self.messages if message["role"] == "assistant"]


def conversations(folder: Path) -> list[Recorded]:
    """All recorded conversations of the airline's agent."""
    lines = (folder / "tau_airline" / "conversations.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines):
        system, *messages = json.loads(line)["messages"]
        assert system["role"] == "system"
        found.append(Recorded(number, system["content"], tuple(messages)))
    return found


def _step(message: Message) -> Step:
    calls = [
        ToolUse(call["function"]["name"], call["function"]["arguments"], call["id"])
        for call in message.get("tool_calls") or ()
    ]
    text = message.get("content") or ""
    return ToolCalls(calls, text=text) if calls else Text(text)


@dataclass
class Played:
    """One run. ``lists`` is the application's list at each call, ``wire`` the body of each request that the provider got.

    ``revisions`` are the requests in which an answer was sent back: nothing of the application's, and not in ``wire``.
    """

    lists: list[list[Message]] = field(default_factory=list)
    wire: list[Message] = field(default_factory=list)
    answers: list[Message] = field(default_factory=list)
    revisions: list[Message] = field(default_factory=list)


class Player(Protocol):
    """An agent on one API."""

    def play(self, recorded: Recorded, played: Played, *, remembered: int = 0) -> None:
        """The whole conversation; ``played`` takes what happens.

        The first ``remembered`` of the model's messages are in the application's list when it starts: it was restarted.
        """
        ...


LOOKUP, NOTHING = "look_up", '{"found": "nothing"}'
"""What a model whose answer was sent back may ask for instead, and what comes of it."""

_PARSED = {"index": True, "parsed_arguments": True, "function": {"parsed_arguments": True}}
"""What the SDK's own stream adds to a message for its reader."""


class OpenAIPlayer:
    """On chat completions: the policy is the first message."""

    def __init__(self, client: openai.OpenAI, *, streamed: bool = False) -> None:
        self.client = client
        self.streamed = streamed

    def play(self, recorded: Recorded, played: Played, *, remembered: int = 0) -> None:
        history: list[Message] = [{"role": "system", "content": recorded.system}]
        answers = 0
        for message in recorded.messages:
            answers += message["role"] == "assistant"
            if message["role"] != "assistant" or answers <= remembered:
                history.append(message)
                continue
            while True:
                played.lists.append(list(history))
                answer = retried(openai.APIStatusError, partial(self._ask, history))
                played.answers.append(answer)
                history.append(answer)
                looked_up = [c["id"] for c in answer.get("tool_calls") or () if c["function"]["name"] == LOOKUP]
                if not looked_up:
                    break
                history.append({"role": "tool", "tool_call_id": looked_up[0], "content": NOTHING})

    def _ask(self, history: list[Message]) -> Message:
        asked: Any = {"model": "gpt-4o", "messages": history}
        if not self.streamed:
            response = self.client.chat.completions.create(**asked)
            return response.choices[0].message.model_dump(exclude_none=True)
        with self.client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            for _ in stream:
                pass
            message = stream.get_final_completion().choices[0].message
        return message.model_dump(exclude_none=True, exclude={"parsed": True, "tool_calls": {"__all__": _PARSED}})


class AnthropicPlayer:
    """On messages: the policy is apart, a result stands in a user message. Ids that repeat are told apart, as they must be."""

    def __init__(self, client: anthropic.Anthropic, *, streamed: bool = False) -> None:
        self.client = client
        self.streamed = streamed

    def play(self, recorded: Recorded, played: Played, *, remembered: int = 0) -> None:
        history: list[Message] = []
        answers = 0
        for message in recorded.messages:
            answers += message["role"] == "assistant"
            if message["role"] == "assistant" and answers <= remembered:
                blocks: list[Message] = [{"type": "text", "text": message["content"]}] if message["content"] else []
                for call in message.get("tool_calls") or ():
                    asked = {"name": call["function"]["name"], "input": json.loads(call["function"]["arguments"])}
                    blocks.append({"type": "tool_use", "id": f"toolu_remembered_{answers}", **asked})
                history.append({"role": "assistant", "content": blocks})
            elif message["role"] == "user":
                history.append({"role": "user", "content": message["content"]})
            elif message["role"] == "tool":
                (use,) = (block for block in history[-1]["content"] if block["type"] == "tool_use")
                result = {"type": "tool_result", "tool_use_id": use["id"], "content": message["content"]}
                history.append({"role": "user", "content": [result]})
            else:
                while True:
                    played.lists.append(list(history))
                    answer = retried(anthropic.APIStatusError, partial(self._ask, recorded.system, history))
                    played.answers.append(answer)
                    history.append(answer)
                    looked_up = [block["id"] for block in answer["content"] if block.get("name") == LOOKUP]
                    if not looked_up:
                        break
                    result = {"type": "tool_result", "tool_use_id": looked_up[0], "content": NOTHING}
                    history.append({"role": "user", "content": [result]})

    def _ask(self, system: str, history: list[Message]) -> Message:
        asked: Any = {"model": "claude-sonnet-5", "max_tokens": 1000, "system": system, "messages": history}
        if self.streamed:
            with self.client.messages.stream(**asked) as stream:
                response = stream.get_final_message()
        else:
            response = self.client.messages.create(**asked)
        return {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in response.content]}


def retried(error: type[Exception], ask: Callable[[], Message]) -> Message:
    """An application's own second attempt, with the same list."""
    try:
        return ask()
    except error:
        return ask()


@dataclass
class InProcess:
    """The scripted model without a socket: a transport for the SDKs. ``script`` is set before a conversation.

    Every ``fails_every``-th attempt ends with an error of status 500, its request in ``failed``; 0 is never.
    """

    script: Iterator[Step] = field(default_factory=lambda: iter(()))
    wire: list[Message] = field(default_factory=list)
    unique_ids: bool = False
    fails_every: int = 0
    failed: list[Message] = field(default_factory=list)
    revisions: list[Message] = field(default_factory=list)
    _last: Step = field(default_factory=lambda: Text(""))
    _number: int = 0
    _asked: int = 0

    def handle(self, request: Any) -> Any:
        """Answer one request with the next step of the script."""
        asked = Request(request.method, request.url.path, dict(request.headers), request.content)
        library = import_module(type(request).__module__.partition(".")[0])
        self._asked += 1
        if self.fails_every and self._asked % self.fails_every == 0:
            self.failed.append(asked.json)
            return library.Response(500, json={"error": {"message": "overloaded", "type": "server_error"}})
        dialect = dialect_of(asked)
        assert dialect is not None
        self._number += 1
        if _sent_back(asked.json["messages"][-1]):
            self.revisions.append(asked.json)
            step = self._revise()
        else:
            self.wire.append(asked.json)
            step = self._last = next(self.script)
        assert isinstance(step, (Text, ToolCalls))
        if self.unique_ids and isinstance(step, ToolCalls):
            step = ToolCalls(
                [ToolUse(c.name, c.arguments, f"toolu_{self._number}_{n}") for n, c in enumerate(step.calls)],
                text=step.text,
            )
        answer = settle(
            step, number=self._number, model=dialect.model(asked), request_bytes=len(asked.body), first_call=1
        )
        body = compact(dialect.plain(answer, asked))
        return library.Response(200, content=body, headers={"content-type": "application/json"})

    def _revise(self) -> Step:
        """What the model makes of an answer that was sent back: the same again, none, or a look at a tool."""
        kind = len(self.revisions) % 3
        if kind == 0:
            return self._last
        if kind == 1:
            return Text("I do not have that.")
        self.script = chain([self._last], self.script)
        return ToolCalls([ToolUse(LOOKUP, {}, f"call_lookup_{self._number}")])


def _sent_back(message: Message) -> bool:
    content = message["content"]
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content or ())
    return message["role"] == "user" and text.startswith(CORRECTION)


def over_sockets(api: Api, provider: ScriptedProvider, *, streamed: bool = False) -> Player:
    """The same agent, talking to a provider that listens on 127.0.0.1."""
    if api == "openai.chat":
        return OpenAIPlayer(openai.OpenAI(base_url=provider.openai_url, api_key="x", max_retries=0), streamed=streamed)
    client = anthropic.Anthropic(base_url=provider.anthropic_url, api_key="x", max_retries=0)
    return AnthropicPlayer(client, streamed=streamed)


@contextmanager
def in_process(api: Api) -> Iterator[tuple[Player, InProcess]]:
    """An agent whose SDK talks to the scripted model in this process."""
    model = InProcess(unique_ids=api == "anthropic.messages")
    sdk: Any = openai if api == "openai.chat" else anthropic
    library = _http_library(sdk)
    with library.Client(transport=library.MockTransport(model.handle)) as http:
        settings: Any = {"api_key": "x", "max_retries": 0, "http_client": http}
        if api == "openai.chat":
            yield OpenAIPlayer(openai.OpenAI(base_url="http://model/v1", **settings)), model
        else:
            yield AnthropicPlayer(anthropic.Anthropic(base_url="http://model", **settings)), model


def _http_library(sdk: Any) -> Any:
    """The HTTP library whose clients this version of the SDK takes."""
    roots = [base.__module__.partition(".")[0] for base in sdk.DefaultHttpxClient.__mro__]
    return import_module(next(root for root in roots if root.startswith("httpx")))
