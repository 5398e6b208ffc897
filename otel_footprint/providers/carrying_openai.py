"""Facts of OpenAI calls that the completion hook cannot see: which window the provider holds.

They are ``previous_response_id`` and ``conversation`` of the responses API. A chat completion carries its whole window and
marks no tool result as an error, so there is nothing to carry. A stream is never touched.
"""

from __future__ import annotations

from typing import Any

from otel_footprint.providers.carrying_registry import Carrying


def concerns(method: str, path: str) -> bool:
    """Whether the request asks for a response of a model, or for a stored one."""
    return (path if method == "post" else path.rpartition("/")[0]).endswith("/responses")


def read_request(entry: Carrying, body: dict[str, Any]) -> None:
    """Note the response or the conversation that the request continues."""
    previous = body.get("previous_response_id")
    if isinstance(previous, str):
        entry.previous_response_id = previous
    conversation = body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    if isinstance(conversation, str):
        entry.server_thread = conversation


def read_response(entry: Carrying, result: Any) -> None:
    """Note what a fetched response continues: the request that fetches it does not say."""
    previous = getattr(result, "previous_response_id", None)
    if isinstance(previous, str):
        entry.previous_response_id = previous
    conversation = getattr(getattr(result, "conversation", None), "id", None)
    if isinstance(conversation, str):
        entry.server_thread = conversation
