"""A worker process of a web application: for each line of its input it answers one question of a conversation.

The application keeps the history itself; what was decided about the calls is written to the output, as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import openai

import otel_footprint
from otel_footprint import SlidingWindow, boundary
from otel_footprint.core.findings.document import row_to_json

TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "get_order",
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
        },
    }
]
SYSTEM = {"role": "system", "content": "Answer from the tools."}


def decided(one: Any) -> dict[str, Any]:
    """What the test compares."""
    return {
        "turn": one.turn,
        "iteration": one.iteration,
        "thread": one.thread,
        "decision": one.window.decision,
        "by": one.window.decided_by,
        "evicted": [[each.index, each.role, each.tool, each.result_ref, each.chars] for each in one.window.evictions],
        "verdicts": [
            [judged.verdict, [[value.text, value.status, [c.ref for c in value.carriers]] for value in judged.values]]
            for judged in one.judgements
        ],
        "reasons": [list(judged.reasons) for judged in one.judgements],
        "rows": [row_to_json(row) for row in one.findings.rows] if one.findings is not None else None,
        "standings": [made.standing for made in one.findings.assessments] if one.findings is not None else None,
    }


def answer(client: openai.OpenAI, given: dict[str, Any]) -> dict[str, Any]:
    """One question: the loop of its tools, and its answer."""
    history: list[Any] = [*given["history"], {"role": "user", "content": given["question"]}]
    window = SlidingWindow(given["window"]) if given.get("window") else None
    with otel_footprint.conversation(given["id"], window=window) as conversation:
        while True:
            response = client.chat.completions.create(model="a-model", messages=[SYSTEM, *history], tools=TOOLS)
            message = response.choices[0].message
            history.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                content = json.dumps(given["results"][json.loads(call.function.arguments)["id"]])
                history.append({"role": "tool", "tool_call_id": call.id, "content": content})
        if given.get("declare"):
            conversation.declare(*given["declare"])
        found = [decided(one) for one in conversation.decisions]
    return {"history": history, "decided": found, "faults": boundary.fault_counts()}


def main() -> None:
    settings = json.loads(sys.argv[1])
    otel_footprint.instrument(store=settings["store"], keep_last_tool_results=0, findings=True)
    client = openai.OpenAI(base_url=settings["provider"], api_key="x", max_retries=0)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(client, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
