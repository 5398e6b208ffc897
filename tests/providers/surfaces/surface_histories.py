"""Conversations as steps, and each API's way to write them down, in the forms that applications use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from anthropic.types import TextBlock, ToolUseBlock
from google.genai import types


@dataclass(frozen=True)
class Person:
    text: str
    form: int = 0


@dataclass(frozen=True)
class Use:
    id: str
    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True)
class Model:
    text: str = ""
    uses: tuple[Use, ...] = ()
    thinks: bool = False
    form: int = 0
    beside: str = ""
    """Said by the application beside the results, where the API has room for it."""


Step: TypeAlias = Person | Model
SYSTEM = "You are the desk of a shop."


@dataclass
class Written:
    """One API's request, growing as the application appends to its list."""

    api: str
    kwargs: dict[str, Any]
    history: list[Any] = field(default_factory=list)


def new(api: str) -> Written:
    history: list[Any] = []
    match api:
        case "openai.chat":
            history.append({"role": "system", "content": SYSTEM})
            kwargs: dict[str, Any] = {"model": "gpt-4o", "messages": history}
        case "openai.responses":
            kwargs = {"model": "gpt-5", "input": history, "instructions": SYSTEM}
        case "anthropic.messages":
            kwargs = {"model": "claude-sonnet-4-5", "messages": history, "system": SYSTEM, "max_tokens": 100}
        case "anthropic.messages on bedrock":
            kwargs = {"model": "us.anthropic.claude-3-haiku", "messages": history, "max_tokens": 100}
        case "gemini.generate_content":
            config = types.GenerateContentConfig(system_instruction=SYSTEM)
            kwargs = {"model": "gemini-3-pro", "contents": history, "config": config}
        case "bedrock.converse":
            kwargs = {"modelId": "amazon.nova-pro-v1:0", "messages": history, "system": [{"text": SYSTEM}]}
        case _:
            raise KeyError(api)
    return Written(api, kwargs, history)


def append(written: Written, step: Step) -> None:
    """What an application appends after this step."""
    kind = written.api.partition(" ")[0]
    if isinstance(step, Person):
        written.history += _PERSON[kind](step)
    else:
        written.history += _MODEL[kind](step)


def _chat_person(step: Person) -> list[Any]:
    content: Any = step.text if step.form % 2 == 0 else [{"type": "text", "text": step.text}]
    return [{"role": "user", "content": content}]


def _chat_model(step: Model) -> list[Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if not step.uses:
        message["content"] = step.text
    else:
        message["tool_calls"] = [
            {
                "id": use.id,
                "type": "function",
                "function": {"name": use.name, "arguments": json.dumps(use.arguments)},
            }
            for use in step.uses
        ]
    return [message, *({"role": "tool", "tool_call_id": use.id, "content": use.result} for use in step.uses)]


def _responses_model(step: Model) -> list[Any]:
    items: list[Any] = []
    if step.thinks:
        items.append({"type": "reasoning", "id": f"rs_{id(step)}", "summary": []})
    if step.text:
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": step.text}]})
    items += [
        {"type": "function_call", "call_id": use.id, "name": use.name, "arguments": json.dumps(use.arguments)}
        for use in step.uses
    ]
    items += [{"type": "function_call_output", "call_id": use.id, "output": use.result} for use in step.uses]
    return items


def _anthropic_person(step: Person) -> list[Any]:
    block = {"type": "text", "text": step.text, "cache_control": {"type": "ephemeral"}}
    return [{"role": "user", "content": step.text if step.form % 2 == 0 else [block]}]


def _anthropic_model(step: Model) -> list[Any]:
    content: list[Any] = []
    if step.thinks:
        content.append({"type": "thinking", "thinking": "hm", "signature": "sig"})
    objects = step.form % 2 == 1
    if step.text:
        content.append(
            TextBlock(type="text", text=step.text, citations=None) if objects else {"type": "text", "text": step.text}
        )
    for use in step.uses:
        if objects:
            content.append(ToolUseBlock(type="tool_use", id=use.id, name=use.name, input=use.arguments))
        else:
            content.append({"type": "tool_use", "id": use.id, "name": use.name, "input": use.arguments})
    made: list[Any] = [{"role": "assistant", "content": content}]
    results: list[Any] = [
        {"type": "tool_result", "tool_use_id": use.id, "content": [{"type": "text", "text": use.result}]}
        for use in step.uses
    ]
    if results:
        beside = [{"type": "text", "text": step.beside}] if step.beside else []
        made.append({"role": "user", "content": results + beside})
    return made


def _gemini_person(step: Person) -> list[Any]:
    match step.form % 5:
        case 0:
            return [{"role": "user", "parts": [{"text": step.text}]}]
        case 1:
            return [types.Content(role="user", parts=[types.Part(text=step.text)])]
        case 2:
            return [types.UserContent(parts=[types.Part(text=step.text)])]
        case 3:
            return [[step.text]]
        case _:
            return [{"parts": [{"text": step.text}]}]


def _gemini_model(step: Model) -> list[Any]:
    if step.form % 2:
        parts = [types.Part(text=step.text)] if step.text else []
        parts += [
            types.Part(
                function_call=types.FunctionCall(name=use.name, args=use.arguments),
                thought_signature=b"sig" if place == 0 else None,
            )
            for place, use in enumerate(step.uses)
        ]
        made: list[Any] = [types.Content(role="model", parts=parts)]
        if step.uses:
            responses = [
                types.Part.from_function_response(name=use.name, response={"output": use.result}) for use in step.uses
            ]
            made.append(types.Content(role="user", parts=responses))
        return made
    plain: list[Any] = [{"text": step.text}] if step.text else []
    for place, use in enumerate(step.uses):
        call: dict[str, Any] = {"function_call": {"name": use.name, "args": use.arguments}}
        plain.append(call | ({"thought_signature": b"sig"} if place == 0 else {}))
    made = [{"role": "model", "parts": plain}]
    if step.uses:
        made.append(
            {
                "role": "user",
                "parts": [
                    {"function_response": {"name": use.name, "response": {"output": use.result}}} for use in step.uses
                ],
            }
        )
    return made


def _bedrock_person(step: Person) -> list[Any]:
    blocks: list[Any] = [{"text": step.text}]
    if step.form % 2:
        blocks.append({"cachePoint": {"type": "default"}})
    return [{"role": "user", "content": blocks}]


def _bedrock_model(step: Model) -> list[Any]:
    content: list[Any] = []
    if step.thinks:
        content.append({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}})
    if step.text:
        content.append({"text": step.text})
    content += [{"toolUse": {"toolUseId": use.id, "name": use.name, "input": use.arguments}} for use in step.uses]
    made: list[Any] = [{"role": "assistant", "content": content}]
    results: list[Any] = [
        {"toolResult": {"toolUseId": use.id, "content": [{"json": {"found": use.result}}], "status": "success"}}
        for use in step.uses
    ]
    if results:
        made.append({"role": "user", "content": results})
    return made


_PERSON: dict[str, Any] = {
    "openai.chat": _chat_person,
    "openai.responses": lambda step: [{"role": "user", "content": step.text}],
    "anthropic.messages": _anthropic_person,
    "gemini.generate_content": _gemini_person,
    "bedrock.converse": _bedrock_person,
}
_MODEL: dict[str, Any] = {
    "openai.chat": _chat_model,
    "openai.responses": _responses_model,
    "anthropic.messages": _anthropic_model,
    "gemini.generate_content": _gemini_model,
    "bedrock.converse": _bedrock_model,
}


def alternating(steps: Iterable[Step]) -> list[Step]:
    """The same steps where every API takes them: it opens with a person, persons and answers take turns."""
    made: list[Step] = []
    for step in steps:
        answers = isinstance(step, Model) and not step.uses
        person = isinstance(step, Person)
        last = made[-1] if made else None
        spoken = isinstance(last, Model) and not last.uses
        if person and last is not None and not spoken:
            continue
        if not person and (last is None or spoken):
            continue
        if answers and not isinstance(step, Person) and not step.text:
            continue
        made.append(step)
    return made


def from_chat(messages: list[dict[str, Any]]) -> list[Step]:
    """A recorded chat conversation as steps, with ids of its own (real ones repeat)."""
    steps: list[Step] = []
    number = 0
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        if message["role"] == "user":
            steps.append(Person(text or "…", form=at))
        elif message["role"] == "assistant":
            uses: list[Use] = []
            for call in message.get("tool_calls") or ():
                number += 1
                result = "…"
                if at < len(messages) and messages[at]["role"] == "tool":
                    result = str(messages[at].get("content") or "…")
                    at += 1
                function = call.get("function") or call
                arguments = function.get("arguments") or {}
                try:
                    arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
                except ValueError:
                    arguments = {"given": arguments}
                uses.append(Use(f"call_{number}", function["name"], arguments, result))
            steps.append(Model(text.strip() and text, tuple(uses), thinks=at % 2 == 0, form=at))
    return steps
