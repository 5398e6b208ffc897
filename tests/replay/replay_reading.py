"""What a test expects of a recorded call, read from the wire and not by our own readers.

- An answer is text without a tool call beside it that the application is to execute.
- The results of a turn are those after the last message that a person or the application wrote.
- A call extends an earlier one when its messages begin with all of that one's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay_recordings import RecordedCall


def is_answer(call: RecordedCall, response: Any) -> bool:
    """Whether the response, as the SDK gave it, answers."""
    if isinstance(response, tuple) and isinstance(response[0], type) and issubclass(response[0], BaseException):
        return False
    if call.surface == "bedrock":
        return _says(_bedrock(call, response))
    dumps = [dump for _, dump in response] if call.streams else [response[1]]
    match call.surface:
        case "openai_chat":
            return _says(_chat(dumps))
        case "openai_responses":
            return _says(_responses(dumps))
        case "anthropic":
            return _says(_anthropic(dumps))
        case _:
            return _says(_gemini(dumps))


def _says(parts: Iterator[tuple[str, Any]]) -> bool:
    found = list(parts)
    return any(kind == "text" and value.strip() for kind, value in found) and all(kind != "call" for kind, _ in found)


def _chat(dumps: list[Any]) -> Iterator[tuple[str, Any]]:
    for dump in dumps:
        for choice in dump["choices"] or ():
            message = choice.get("message") or choice.get("delta") or {}
            yield "text", message.get("content") or ""
            yield from (("call", item) for item in message.get("tool_calls") or ())


def _responses(dumps: list[Any]) -> Iterator[tuple[str, Any]]:
    last = dumps[-1]
    for item in last.get("response", last)["output"]:
        if item["type"] == "message":
            yield from (("text", part.get("text") or "") for part in item["content"])
        elif item["type"] in ("function_call", "custom_tool_call"):
            yield "call", item


def _anthropic(dumps: list[Any]) -> Iterator[tuple[str, Any]]:
    for dump in dumps:
        for block in dump.get("content") or [dump.get("content_block") or {}]:
            if block.get("type") == "tool_use":
                yield "call", block
            elif block.get("type") == "text":
                yield "text", block["text"]
        yield "text", (dump.get("delta") or {}).get("text") or ""


def _gemini(dumps: list[Any]) -> Iterator[tuple[str, Any]]:
    for dump in dumps:
        for candidate in dump["candidates"] or ():
            for part in (candidate["content"] or {}).get("parts") or ():
                if part.get("function_call"):
                    yield "call", part
                elif not part.get("thought"):
                    yield "text", part.get("text") or ""


def _bedrock(call: RecordedCall, response: Any) -> Iterator[tuple[str, Any]]:
    if call.streams:
        for event in response:
            yield "text", event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
            if "toolUse" in event.get("contentBlockStart", {}).get("start", {}):
                yield "call", event
        return
    for block in response["output"]["message"]["content"]:
        yield ("call", block) if "toolUse" in block else ("text", block.get("text", ""))


def messages_of(call: RecordedCall) -> list[Any]:
    """The history that the request carries, without a system instruction of its own field."""
    history = call.body.get("messages") or call.body.get("contents") or call.body.get("input")
    return history if isinstance(history, list) else [history]


def extends(later: RecordedCall, earlier: RecordedCall) -> bool:
    """Whether the later call hands back all messages of the earlier one, under the same instruction, and more."""
    history, before = messages_of(later), messages_of(earlier)
    instructions = ("system", "instructions", "systemInstruction")
    same = [later.body.get(name) for name in instructions] == [earlier.body.get(name) for name in instructions]
    return same and len(before) < len(history) and history[: len(before)] == before


def results_of_the_turn(call: RecordedCall) -> int:
    """How many results the application hands in since a person or the application last wrote."""
    count = 0
    for message in reversed(messages_of(call)):
        found = _results(message)
        if not found and isinstance(message, dict) and message.get("role") == "user":
            break
        count += found
    return count


def _results(message: Any) -> int:
    if not isinstance(message, dict):
        return 0
    if message.get("role") == "tool" or message.get("type") in ("function_call_output", "custom_tool_call_output"):
        return 1
    blocks = message.get("parts") or message.get("content")
    return sum(1 for block in blocks if _is_result(block)) if isinstance(blocks, list) else 0


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and (
        block.get("type") == "tool_result" or "functionResponse" in block or "toolResult" in block
    )
