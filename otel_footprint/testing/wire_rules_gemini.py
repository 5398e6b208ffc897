"""What Gemini's ``generateContent`` refuses in a history.

Rules
-----
- Neighbours of one role are one turn (``strict``: they alternate, but for function responses with a person's words behind
  them, which newer models want apart).
- A turn of the model with function calls comes directly behind a turn of the user; the next turn holds exactly as many
  function responses, and function responses stand nowhere else.
- The history does not end with the model's words or calls.
- A content has parts. Of a Gemini 3 model, the first call of each turn since the person's last words carries its signature.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_THIRD: Final = re.compile(r"gemini-([3-9]|\d\d)")


def problems(body: Mapping[str, Any], strict: bool) -> list[str]:
    """Problems of ``contents``. ``model``, which stands in the path of the request, may stand in the body."""
    contents = body.get("contents") or []
    if not contents:
        return ["contents is empty"]
    found: list[str] = []
    turns: list[tuple[str, list[Any]]] = []
    for at, content in enumerate(contents):
        role = content.get("role") or "user"
        role = "user" if role in ("function", "tool") else role
        parts = content.get("parts") or []
        if role not in ("user", "model"):
            found.append(f"contents[{at}] has the role {role!r}")
        if not parts:
            found.append(f"contents[{at}] has no parts")
        if turns and turns[-1][0] == role:
            if strict and not (_responses(turns[-1][1]) and not _responses(parts)):
                found.append(f"contents[{at}] has the role of the one in front of it")
            turns[-1] = (role, turns[-1][1] + parts)
        else:
            turns.append((role, list(parts)))
    for at, (role, parts) in enumerate(turns):
        before = _calls(turns[at - 1][1]) if at else []
        if role == "model" and _calls(parts) and at == 0:
            found.append("the first turn is a function call: it must come directly behind a turn of the user")
        if role == "user" and len(_responses(parts)) != len(before):
            found.append(f"turn {at} has {len(_responses(parts))} function responses for {len(before)} calls")
        elif role == "user" and before and not _responses(parts[:1]):
            found.append(f"turn {at} does not begin with the function responses")
    if turns[-1][0] == "model":
        found.append("the last turn is the model's")
    model = body.get("model")
    if isinstance(model, str) and _THIRD.search(model):
        found += _unsigned(turns)
    return found


def _get(part: Any, snake: str, camel: str) -> Any:
    return part.get(snake, part.get(camel))


def _calls(parts: list[Any]) -> list[Any]:
    return [part for part in parts if _get(part, "function_call", "functionCall") is not None]


def _responses(parts: list[Any]) -> list[Any]:
    return [part for part in parts if _get(part, "function_response", "functionResponse") is not None]


def _unsigned(turns: list[tuple[str, list[Any]]]) -> list[str]:
    start = max((at for at, (role, parts) in enumerate(turns) if role == "user" and not _responses(parts)), default=0)
    return [
        f"turn {at} has a function call without its thought signature"
        for at, (role, parts) in enumerate(turns)
        if at > start
        and role == "model"
        and (calls := _calls(parts))
        and not _get(calls[0], "thought_signature", "thoughtSignature")
    ]
