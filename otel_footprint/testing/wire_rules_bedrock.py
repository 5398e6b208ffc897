"""What Bedrock's Converse API refuses in a history.

Rules
-----
- It starts with the user, alternates between user and assistant, and ends with the user.
- The message behind calls holds exactly their results; results stand nowhere else.
- A message has content; texts are not blank. Reasoning is the model's.
- A cache point stands behind other content of its message, and not behind reasoning.
- ``strict``: results and other content do not share a message, which only some models take. Ids fit their form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_ID: Final = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


def problems(body: Mapping[str, Any], strict: bool) -> list[str]:
    """Problems of ``messages``."""
    messages = body.get("messages") or []
    if not messages:
        return ["messages is empty"]
    found: list[str] = []
    if messages[0].get("role") != "user":
        found.append("the conversation does not start with a message of the user")
    if messages[-1].get("role") != "user":
        found.append("the conversation does not end with a message of the user")
    waiting: list[Any] = []
    for at, message in enumerate(messages):
        role, blocks = message.get("role"), list(message.get("content") or ())
        if role not in ("user", "assistant"):
            found.append(f"messages[{at}] has the role {role!r}")
        if at and role == messages[at - 1].get("role"):
            found.append(f"messages[{at}] does not alternate")
        found += _content(blocks, at, role, strict)
        results = [block["toolResult"].get("toolUseId") for block in blocks if "toolResult" in block]
        if role == "user":
            if len(results) > len(waiting):
                found.append(f"messages[{at}] has {len(results)} results for {len(waiting)} calls in front")
            missing = [identity for identity in waiting if identity not in results]
            if missing:
                found.append(f"messages[{at}] lacks the results of {missing}")
        waiting = [
            block["toolUse"].get("toolUseId")
            for block in blocks
            if "toolUse" in block and block["toolUse"].get("type") != "server_tool_use"
        ]
    return found


def _content(blocks: list[Any], at: int, role: Any, strict: bool) -> list[str]:
    found: list[str] = [] if blocks else [f"messages[{at}] has no content"]
    for place, block in enumerate(blocks):
        if "text" in block and not str(block["text"]).strip():
            found.append(f"messages[{at}].content[{place}] is a blank text")
        if ("reasoningContent" in block or "toolUse" in block) and role != "assistant":
            found.append(f"messages[{at}].content[{place}] is the model's, in a message of the {role}")
        if "toolResult" in block and role != "user":
            found.append(f"messages[{at}].content[{place}] is a result in a message of the {role}")
        if "cachePoint" in block and (place == 0 or "reasoningContent" in blocks[place - 1]):
            found.append(f"messages[{at}].content[{place}] is a cache point with nothing to cache in front of it")
        if strict and "toolUse" in block and not _ID.fullmatch(str(block["toolUse"].get("toolUseId"))):
            found.append(f"messages[{at}].content[{place}] has an id of another form")
    kinds = {"toolResult" in block for block in blocks if "cachePoint" not in block}
    if strict and len(kinds) > 1:
        found.append(f"messages[{at}] has results and other content in one turn")
    return found
