"""Anthropic messages, plain and as server-sent events."""

from __future__ import annotations

import json
from typing import Any

from otel_footprint.testing.script import Answer, Error, Request, ToolUse, compact

_STOP = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicMessages:
    """Answers ``POST …/messages``."""

    stream_type = "text/event-stream"
    retrievable = False

    def model(self, request: Request) -> str:
        return str(request.json.get("model") or "scripted")

    def streams(self, request: Request) -> bool:
        return bool(request.json.get("stream"))

    def response_id(self, answer: Answer) -> str:
        return f"msg_{answer.number}"

    def plain(self, answer: Answer, request: Request) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
        blocks += [_tool_use(call, _input(call)) for call in answer.calls]
        return {
            **self._head(answer),
            "content": blocks,
            "stop_reason": _STOP[answer.finish],
            "stop_sequence": None,
            "usage": _usage(answer, answer.output_tokens),
            **answer.extra,
        }

    def stream(self, answer: Answer, request: Request) -> tuple[bytes, ...]:
        message = {**self._head(answer), "content": [], "stop_reason": None, "stop_sequence": None}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "usage": _usage(answer, 1)}}]
        index = 0
        if answer.text:
            deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": piece} for piece in answer.pieces]
            events += _block(index, {"type": "text", "text": ""}, deltas)
            index += 1
        for call in answer.calls:
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in answer.pieces_of(call, 2)]
            events += _block(index, _tool_use(call, {}), deltas)
            index += 1
        events.append(
            {
                "type": "message_delta",
                "delta": {"stop_reason": _STOP[answer.finish], "stop_sequence": None},
                "usage": {"output_tokens": answer.output_tokens},
                **answer.extra,
            }
        )
        events.append({"type": "message_stop"})
        return tuple(b"event: " + event["type"].encode() + b"\ndata: " + compact(event) + b"\n\n" for event in events)

    def error(self, error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        kind = _ERRORS.get(error.status, "api_error")
        return compact({"type": "error", "error": {"type": kind, "message": error.message}}), ()

    def _head(self, answer: Answer) -> dict[str, Any]:
        return {"id": self.response_id(answer), "type": "message", "role": "assistant", "model": answer.model}


def _tool_use(call: ToolUse, value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": value}


def _input(call: ToolUse) -> Any:
    return json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments


def _block(index: int, start: dict[str, Any], deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _usage(answer: Answer, output_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": answer.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }
