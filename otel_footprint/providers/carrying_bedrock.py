"""Facts of Bedrock calls that the completion hook cannot see: which tool results the request marks as errors.

Only the body of ``Converse`` and ``ConverseStream`` is read, and decoded only where it has such a mark; responses and streams
are never touched.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from otel_footprint.providers.carrying_registry import Carrying

_OPERATIONS: Final = frozenset({"Converse", "ConverseStream"})
_MARK: Final = re.compile(rb'"status"\s*:\s*"error"')


def concerns(operation: Any) -> bool:
    """Whether the operation of a service is a call of a model with a history of messages."""
    return getattr(operation, "name", None) in _OPERATIONS


def read_request(entry: Carrying, request: dict[str, Any]) -> None:
    """Note the results whose status is an error."""
    body = request.get("body")
    if not isinstance(body, bytes) or not _MARK.search(body):
        return
    found = [_error_ids(message) for message in json.loads(body).get("messages") or ()]
    entry.error_result_ids = frozenset().union(*found)


def _error_ids(message: dict[str, Any]) -> list[str]:
    results = [block.get("toolResult") or {} for block in message.get("content") or ()]
    return [result["toolUseId"] for result in results if result.get("status") == "error"]
