"""What Anthropic's messages API refuses in a history.

Rules
-----
- The first message is the user's. Neighbours of one role are one turn: the API joins them (``strict``: they alternate, as
  Bedrock and Vertex want it of older models).
- A turn of the model ends with its calls; the next message begins with a result for each of them and for no other.
  Ids of calls do not repeat.
- Texts are not empty; a message has content, but for a last one of the model. Thinking is the model's.
- A message of role ``system`` stands behind another message.
- A server-side thread that is continued holds what came before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MODELS: Final = frozenset({"tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"})


def problems(body: Mapping[str, Any], strict: bool) -> list[str]:
    """Problems of ``messages``."""
    messages = body.get("messages") or []
    thread = body.get("thread")
    held = isinstance(thread, Mapping) and thread.get("type") == "continue"
    if not messages:
        return [] if held else ["messages is empty"]
    found: list[str] = []
    if messages[0].get("role") != "user" and not held:
        found.append(f"messages[0] has the role {messages[0].get('role')!r} instead of user")
    for at, message in enumerate(messages):
        found += _content(message, at, last=at == len(messages) - 1)
        if strict and at and message.get("role") == messages[at - 1].get("role"):
            found.append(f"messages[{at}] has the role of the one in front of it")
    return found + _pairs(messages, held=held) + _system_messages(messages)


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _content(message: Mapping[str, Any], at: int, *, last: bool) -> list[str]:
    role, blocks = message.get("role"), _blocks(message)
    if role not in ("user", "assistant", "system"):
        return [f"messages[{at}] has the role {role!r}"]
    found: list[str] = []
    empty = not blocks or (isinstance(message.get("content"), str) and not message["content"].strip())
    if empty and not (last and role == "assistant"):
        found.append(f"messages[{at}] has no content")
    results_over = False
    for place, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "text" and not empty and not str(block.get("text") or "").strip():
            found.append(f"messages[{at}].content[{place}] is an empty text")
        if kind in _MODELS and role != "assistant":
            found.append(f"messages[{at}].content[{place}] is {kind} in a message of the {role}")
        if kind == "tool_result":
            if role != "user":
                found.append(f"messages[{at}].content[{place}] is a result in a message of the {role}")
            if results_over:
                found.append(f"messages[{at}].content[{place}] is a result behind other content")
        else:
            results_over = True
    return found


def _pairs(messages: list[Any], *, held: bool) -> list[str]:
    found: list[str] = []
    seen: set[Any] = set()
    waiting: list[Any] = []
    answering = held
    for at, message in enumerate(messages):
        blocks = _blocks(message)
        if message.get("role") == "assistant":
            if waiting and at and messages[at - 1].get("role") != "assistant":
                found.append(f"messages[{at}] comes before the results of {waiting}")
                waiting = []
            for block in blocks:
                if block.get("type") == "tool_use":
                    if block.get("id") in seen:
                        found.append(f"messages[{at}] repeats the id {block.get('id')}")
                    seen.add(block.get("id"))
                    waiting.append(block.get("id"))
                elif waiting and block.get("type") == "text":
                    found.append(f"messages[{at}] has a text behind a call")
            answering = False
            continue
        if message.get("role") == "system":
            continue
        results = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        for identity in results:
            if identity in waiting:
                waiting.remove(identity)
            elif not answering:
                found.append(f"messages[{at}] has a result without a call in the message in front: {identity}")
        if waiting and (len(results) < len(blocks) or not results):
            found.append(f"messages[{at}] is not the results of {waiting}")
            waiting = []
    if waiting:
        found.append(f"calls without results at the end: {waiting}")
    return found


def _system_messages(messages: list[Any]) -> list[str]:
    return [
        f"messages[{at}] of role system stands behind another of role system"
        for at, message in enumerate(messages)
        if message.get("role") == "system" and at and messages[at - 1].get("role") == "system"
    ]
