"""Bedrock ``converse`` and ``converse-stream`` (the binary event stream encoding of AWS)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote
from zlib import crc32

from otel_footprint.testing.script import Answer, Error, Request, compact

_STOP = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
_ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}
_STRING = 7


class BedrockConverse:
    """Answers ``POST /model/ID/converse`` and ``POST /model/ID/converse-stream``."""

    stream_type = "application/vnd.amazon.eventstream"
    retrievable = False

    def model(self, request: Request) -> str:
        return unquote(request.path.split("/")[-2])

    def streams(self, request: Request) -> bool:
        return request.path.endswith("/converse-stream")

    def response_id(self, answer: Answer) -> str:
        return f"bedrock-{answer.number}"

    def plain(self, answer: Answer, request: Request) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
        for call in answer.calls:
            value = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
            blocks.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": value}})
        return {
            "output": {"message": {"role": "assistant", "content": blocks}},
            "stopReason": _STOP[answer.finish],
            "usage": _usage(answer),
            "metrics": {"latencyMs": 1},
            **answer.extra,
        }

    def stream(self, answer: Answer, request: Request) -> tuple[bytes, ...]:
        events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
        index = 0
        if answer.text:
            events += [
                ("contentBlockDelta", {"contentBlockIndex": index, "delta": {"text": piece}}) for piece in answer.pieces
            ]
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
            index += 1
        for call in answer.calls:
            start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
            events.append(("contentBlockStart", {"contentBlockIndex": index, "start": start}))
            for piece in answer.pieces_of(call, 1):
                delta = {"toolUse": {"input": piece}}
                events.append(("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}))
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
            index += 1
        events.append(("messageStop", {"stopReason": _STOP[answer.finish]}))
        events.append(("metadata", {"usage": _usage(answer), "metrics": {"latencyMs": 1}}))
        return tuple(event_message(name, body) for name, body in events)

    def error(self, error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        kind = _ERRORS.get(error.status, "InternalServerException")
        return compact({"message": error.message}), (("x-amzn-errortype", kind),)


def event_message(event: str, body: dict[str, Any]) -> bytes:
    """One message of an AWS event stream: prelude and its checksum, headers, JSON payload, checksum of it all."""
    headers = b"".join(
        _header(name, value)
        for name, value in (
            (":event-type", event),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
    )
    payload = compact(body)
    prelude = (len(headers) + len(payload) + 16).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    message = prelude + crc32(prelude).to_bytes(4, "big") + headers + payload
    return message + crc32(message).to_bytes(4, "big")


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + bytes([_STRING]) + len(text).to_bytes(2, "big") + text


def _usage(answer: Answer) -> dict[str, int]:
    return {
        "inputTokens": answer.input_tokens,
        "outputTokens": answer.output_tokens,
        "totalTokens": answer.total_tokens,
    }
