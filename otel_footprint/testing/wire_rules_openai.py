"""What OpenAI's chat completions and responses refuse in a history.

Rules
-----
- Chat: the results of an assistant message's calls follow it directly, one for each id, and no other result stands
  anywhere. An assistant message says something or calls something.
- Responses: every call has its output behind it and every output its call in front of it, unless the server holds what
  came before. A stored reasoning item is followed by an item of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_CALLS: Final = frozenset(
    {"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"}
)
_OUTPUTS: Final = frozenset(f"{call}_output" for call in _CALLS)


def chat_problems(body: Mapping[str, Any], strict: bool) -> list[str]:
    """Problems of ``messages``."""
    messages = body.get("messages") or []
    found: list[str] = [] if messages else ["messages is empty"]
    waiting: list[Any] = []
    open_at = 0
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in _ROLES:
            found.append(f"messages[{at}] has the role {role!r}")
        if role == "tool":
            identity = message.get("tool_call_id")
            if identity in waiting:
                waiting.remove(identity)
            else:
                found.append(f"messages[{at}] is a result without a call in front of it: {identity}")
            continue
        if waiting:
            found.append(f"messages[{open_at}] has calls without a result directly behind it: {waiting}")
            waiting = []
        if role == "assistant":
            calls = message.get("tool_calls") or []
            waiting, open_at = [call.get("id") for call in calls], at
            said = message.get("content") or message.get("refusal") or message.get("audio")
            if not calls and not said and message.get("function_call") is None and message.get("content") != "":
                found.append(f"messages[{at}] of the model says nothing")
    if waiting:
        found.append(f"messages[{open_at}] has calls without a result directly behind it: {waiting}")
    return found


def responses_problems(body: Mapping[str, Any], strict: bool) -> list[str]:
    """Problems of ``input``."""
    given = body.get("input")
    if isinstance(given, str):
        return []
    items = given or []
    held = bool(body.get("previous_response_id") or body.get("conversation"))
    found: list[str] = [] if items or held or body.get("prompt") else ["input is empty"]
    waiting: dict[Any, int] = {}
    for at, item in enumerate(items):
        kind = item.get("type") or "message"
        if kind in _CALLS:
            waiting[item.get("call_id")] = at
        elif kind in _OUTPUTS:
            if waiting.pop(item.get("call_id"), None) is None and not held:
                found.append(f"input[{at}] is an output without a call in front of it: {item.get('call_id')}")
        elif kind == "reasoning" and item.get("id") and not _of_model(items[at + 1 : at + 2]):
            found.append(f"input[{at}] is a reasoning item without the item that follows it")
        elif kind == "message" and item.get("role") not in _ROLES - {"tool", "function"}:
            found.append(f"input[{at}] has the role {item.get('role')!r}")
    return found + [f"input[{at}] is a call without its output: {identity}" for identity, at in waiting.items()]


def _of_model(following: list[Any]) -> bool:
    if not following:
        return False
    kind = following[0].get("type") or "message"
    return kind not in _OUTPUTS and (kind != "message" or following[0].get("role") == "assistant")
