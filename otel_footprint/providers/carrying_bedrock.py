"""Facts of Bedrock calls that the completion hook cannot see: which tool results the request marks as errors.

Only the arguments of ``Converse`` and ``ConverseStream`` are read; responses and streams are never touched.
"""

from __future__ import annotations

from typing import Any, Final

from otel_footprint.providers.carrying_registry import Carrying

_OPERATIONS: Final = frozenset({"Converse", "ConverseStream"})


def concerns(operation: Any) -> bool:
    """Whether the operation of a service is a call of a model with a history of messages."""
    return operation in _OPERATIONS


def read_request(entry: Carrying, parameters: dict[str, Any]) -> None:
    """Note the results whose status is an error."""
    messages = parameters.get("messages")
    found = [_error_ids(message) for message in messages] if isinstance(messages, (list, tuple)) else []
    entry.error_result_ids = frozenset().union(*found)


def _error_ids(message: Any) -> list[str]:
    blocks = message.get("content") if isinstance(message, dict) else None
    results = [block.get("toolResult") for block in blocks or () if isinstance(block, dict)]
    marked = [result for result in results if isinstance(result, dict) and result.get("status") == "error"]
    return [result["toolUseId"] for result in marked if isinstance(result.get("toolUseId"), str)]
