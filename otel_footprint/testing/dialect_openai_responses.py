"""OpenAI responses, plain and as server-sent events; a plain one can be retrieved."""

from __future__ import annotations

from typing import Any

from otel_footprint.testing.dialect_openai_chat import CREATED, openai_error
from otel_footprint.testing.script import Answer, Error, Request, ToolUse, compact


class OpenAIResponses:
    """Answers ``POST …/responses``."""

    stream_type = "text/event-stream"
    retrievable = True

    def model(self, request: Request) -> str:
        return str(request.json.get("model") or "scripted")

    def streams(self, request: Request) -> bool:
        return bool(request.json.get("stream"))

    def response_id(self, answer: Answer) -> str:
        return f"resp_{answer.number}"

    def plain(self, answer: Answer, request: Request) -> dict[str, Any]:
        return self._response(
            answer, request, _items(answer), "incomplete" if answer.finish == "length" else "completed"
        )

    def stream(self, answer: Answer, request: Request) -> tuple[bytes, ...]:
        running = self._response(answer, request, [], "in_progress")
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": running},
            {"type": "response.in_progress", "response": running},
        ]
        items = _items(answer)
        for index, item in enumerate(items):
            events += (
                _text_events(answer, item, index) if item["type"] == "message" else _call_events(answer, item, index)
            )
        final = self.plain(answer, request)
        events.append({"type": f"response.{final['status']}", "response": final})
        return tuple(
            b"event: " + event["type"].encode() + b"\ndata: " + compact({**event, "sequence_number": number}) + b"\n\n"
            for number, event in enumerate(events)
        )

    def error(self, error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        return openai_error(error)

    def _response(self, answer: Answer, request: Request, items: list[dict[str, Any]], status: str) -> dict[str, Any]:
        asked = request.json
        done = status != "in_progress"
        conversation = asked.get("conversation")
        return {
            "id": self.response_id(answer),
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": False,
            "conversation": {"id": conversation} if isinstance(conversation, str) else conversation,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": asked.get("instructions"),
            "max_output_tokens": asked.get("max_output_tokens"),
            "metadata": {},
            "model": answer.model,
            "output": items,
            "parallel_tool_calls": True,
            "previous_response_id": asked.get("previous_response_id"),
            "reasoning": {"effort": None, "summary": None},
            "store": asked.get("store", True),
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": asked.get("tool_choice", "auto"),
            "tools": asked.get("tools", []),
            "top_p": 1.0,
            "truncation": asked.get("truncation", "disabled"),
            "usage": _usage(answer) if done else None,
            **(answer.extra if done else {}),
        }


def _items(answer: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.text:
        items.append(
            {
                "id": f"msg_{answer.number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [_text_part(answer.text)],
            }
        )
    items += [_call_item(call) for call in answer.calls]
    return items


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _call_item(call: ToolUse) -> dict[str, Any]:
    return {
        "id": f"fc_{call.id}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments_json,
    }


def _text_events(answer: Answer, item: dict[str, Any], index: int) -> list[dict[str, Any]]:
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    started = {**item, "status": "in_progress", "content": []}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": started},
        {"type": "response.content_part.added", **where, "part": _text_part("")},
        *({"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []} for piece in answer.pieces),
        {"type": "response.output_text.done", **where, "text": answer.text, "logprobs": []},
        {"type": "response.content_part.done", **where, "part": _text_part(answer.text)},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _call_events(answer: Answer, item: dict[str, Any], index: int) -> list[dict[str, Any]]:
    where = {"item_id": item["id"], "output_index": index}
    started = {**item, "status": "in_progress", "arguments": ""}
    call = next(call for call in answer.calls if call.id == item["call_id"])
    return [
        {"type": "response.output_item.added", "output_index": index, "item": started},
        *(
            {"type": "response.function_call_arguments.delta", **where, "delta": piece}
            for piece in answer.pieces_of(call, 1)
        ),
        {
            "type": "response.function_call_arguments.done",
            **where,
            "name": item["name"],
            "arguments": item["arguments"],
        },
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.total_tokens,
    }
