"""Applications whose servers fork: a WSGI application (gunicorn) and tasks (Celery). Each request or task is a conversation.

Nothing here knows of telemetry; ``otel-footprint run`` observes it. With ``E2E_PROVIDER`` the model is at that address.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

import openai
from celery import Celery

TOOLS: Any = [
    {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}
]


def converse(number: int) -> str:
    """One question, one tool, one answer."""
    client = openai.OpenAI(base_url=os.environ["E2E_PROVIDER"], api_key="none needed", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": f"Which order is mine? I am customer {number:06d}"}]
    reply: Any = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0].message
    result = json.dumps({"number": f"AB-{48210 + number * 10}"})
    messages += [reply, {"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": result}]
    return str(
        client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0].message.content
    )


def web(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """WSGI: ``/7`` is the conversation of customer 7."""
    answer = converse(int(environ["PATH_INFO"].strip("/")))
    start_response("200 OK", [("content-type", "text/plain")])
    return [f"{os.getpid()} {answer}".encode()]


folder = os.environ.get("E2E_BROKER", "/nowhere")
tasks = Celery("forking_apps", broker="filesystem://")
tasks.conf.update(
    broker_transport_options={"data_folder_in": f"{folder}/queue", "data_folder_out": f"{folder}/queue"},
    worker_prefetch_multiplier=1,
    task_acks_late=False,
    broker_connection_retry_on_startup=True,
)


@tasks.task(name="converse", ignore_result=True)
def converse_task(number: int) -> list[Any]:
    """The same as a task."""
    return [os.getpid(), converse(number)]
