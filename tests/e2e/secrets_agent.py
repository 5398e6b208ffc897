"""Plants secrets wherever an instrumentation may put them, and an agent that sends them through the real SDK."""

from __future__ import annotations

import json
import sys
from typing import Any

import openai
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

import otel_footprint
from otel_footprint.testing.provider import Error, ScriptedProvider, Text, ToolCalls, ToolUse

SECRET = "SECRET-{}-7741"
KEY = "sk-planted0123456789abcdefgh"
TOOLS: Any = [
    {
        "type": "function",
        "function": {"name": "get_order", "description": SECRET.format("DEFINITION"), "parameters": {}},
    }
]


def real_agent() -> None:
    script = [
        ToolCalls([ToolUse("get_order", {"card": SECRET.format("ARGUMENT")})]),
        Text(f"It is {SECRET.format('ANSWER')}, not {SECRET.format('INVENTED').replace('7741', '9313')}."),
        Error(400, f"bad request: {SECRET.format('ERROR')} {KEY}"),
    ]
    with ScriptedProvider(script) as provider, otel_footprint.conversation("c1", agent="desk"):
        client = openai.OpenAI(base_url=provider.openai_url, api_key=KEY, max_retries=0)
        messages: list[Any] = [
            {"role": "system", "content": SECRET.format("SYSTEM")},
            {"role": "user", "content": f"My card is {SECRET.format('QUESTION')}"},
        ]
        reply: Any = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0].message
        result = json.dumps({"order": SECRET.format("RESULT"), "answer": SECRET.format("ANSWER")})
        messages += [reply, {"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": result}]
        client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
        try:
            client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
        except openai.BadRequestError:
            pass
        else:
            raise AssertionError("the provider was to refuse")


def other_instrumentations() -> None:
    """What OpenLLMetry, OpenInference and older conventions write."""
    tracer = trace.get_tracer("others")
    with tracer.start_as_current_span("chat other") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        for name in (
            "gen_ai.prompt.0.content", "gen_ai.completion.0.content", "gen_ai.prompt", "llm.prompts.0.content",
            "llm.input_messages.0.message.content", "llm.output_messages.0.message.content", "input.value",
            "output.value", "traceloop.entity.input", "traceloop.entity.output", "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result", "retrieval.documents.0.document.content", "ai.prompt.messages",
            "ai.response.text", "langfuse.observation.input", "all_messages_events", "http.request.body.text",
        ):  # fmt: skip
            span.set_attribute(name, SECRET.format(name.upper()))
        span.set_attribute("url.full", f"https://api.example.test/v1?api_key={KEY}")
        span.set_attribute("http.request.header.authorization", f"Bearer {KEY}")
        span.add_event("gen_ai.user.message", {"content": SECRET.format("EVENT")})
        span.add_event("gen_ai.content.prompt", {"gen_ai.prompt": SECRET.format("OLD-EVENT")})
        span.record_exception(ValueError(SECRET.format("EXCEPTION")))
        span.set_status(Status(StatusCode.ERROR, SECRET.format("STATUS")))


if __name__ == "__main__":
    real_agent()
    other_instrumentations()
    sys.exit(0)
