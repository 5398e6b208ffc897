"""Gemini ``generateContent`` and ``streamGenerateContent`` (server-sent events)."""

from __future__ import annotations

import json
from typing import Any

from otel_footprint.testing.script import Answer, Error, Request, ToolUse, compact

_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
_ERRORS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
_ERRORS |= {429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


class GeminiGenerate:
    """Answers ``POST …:generateContent`` and ``POST …:streamGenerateContent``, also at a Vertex path."""

    stream_type = "text/event-stream"
    retrievable = False

    def model(self, request: Request) -> str:
        return request.path.partition("?")[0].rpartition("/")[2].partition(":")[0]

    def streams(self, request: Request) -> bool:
        return ":streamGenerateContent" in request.path

    def response_id(self, answer: Answer) -> str:
        return f"gemini-{answer.number}"

    def plain(self, answer: Answer, request: Request) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
        parts += [_call(call) for call in answer.calls]
        return {**self._response(answer, parts, last=True), **answer.extra}

    def stream(self, answer: Answer, request: Request) -> tuple[bytes, ...]:
        batches: list[list[dict[str, Any]]] = [[{"text": piece}] for piece in answer.pieces]
        if answer.calls or not batches:
            batches.append([_call(call) for call in answer.calls])
        last = len(batches) - 1
        return tuple(
            b"data: " + compact(self._response(answer, parts, last=index == last)) + b"\r\n\r\n"
            for index, parts in enumerate(batches)
        )

    def error(self, error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        status = _ERRORS.get(error.status, "INTERNAL")
        return compact({"error": {"code": error.status, "message": error.message, "status": status}}), ()

    def _response(self, answer: Answer, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if last:
            candidate["finishReason"] = _FINISH[answer.finish]
        return {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": answer.input_tokens,
                "candidatesTokenCount": answer.output_tokens,
                "totalTokenCount": answer.total_tokens,
            },
            "modelVersion": answer.model,
            "responseId": self.response_id(answer),
        }


def _call(call: ToolUse) -> dict[str, Any]:
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    # Gemini itself gives no id; one that the script names is sent all the same, as newer models do.
    named = {} if call.id is None or call.id.startswith("call_") else {"id": call.id}
    return {"functionCall": {"name": call.name, "args": arguments, **named}}
