"""OpenAI chat completions, plain and as server-sent events."""

from __future__ import annotations

from typing import Any

from otel_footprint.testing.script import Answer, Error, Request, compact

CREATED = 1_700_000_000
"""The time that every scripted response carries, in Unix seconds."""


class OpenAIChat:
    """Answers ``POST …/chat/completions``."""

    stream_type = "text/event-stream"
    retrievable = False

    def model(self, request: Request) -> str:
        return str(request.json.get("model") or "scripted")

    def streams(self, request: Request) -> bool:
        return bool(request.json.get("stream"))

    def response_id(self, answer: Answer) -> str:
        return f"chatcmpl-{answer.number}"

    def plain(self, answer: Answer, request: Request) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments_json},
                }
                for call in answer.calls
            ]
        return {
            "id": self.response_id(answer),
            "object": "chat.completion",
            "created": CREATED,
            "model": answer.model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}],
            "usage": _usage(answer),
            **answer.extra,
        }

    def stream(self, answer: Answer, request: Request) -> tuple[bytes, ...]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in answer.pieces]
        for index, call in enumerate(answer.calls):
            start = {"name": call.name, "arguments": ""}
            deltas.append({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": start}]})
            for piece in answer.pieces_of(call, 2):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        chunks = [self._chunk(answer, delta, None) for delta in deltas]
        chunks.append(self._chunk(answer, {}, answer.finish))
        if (request.json.get("stream_options") or {}).get("include_usage"):
            chunks.append({**self._head(answer), "choices": [], "usage": _usage(answer)})
        return (*(b"data: " + compact(chunk) + b"\n\n" for chunk in chunks), b"data: [DONE]\n\n")

    def error(self, error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        return openai_error(error)

    def _head(self, answer: Answer) -> dict[str, Any]:
        return {
            "id": self.response_id(answer),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": answer.model,
        }

    def _chunk(self, answer: Answer, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
        return {**self._head(answer), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def openai_error(error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """An error in OpenAI's shape."""
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    return compact({"error": {"message": error.message, "type": kind, "param": None, "code": None}}), ()


def _usage(answer: Answer) -> dict[str, int]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.total_tokens,
    }
