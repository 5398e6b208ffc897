"""The APIs a scripted provider speaks, found by the path of the request."""

from __future__ import annotations

from typing import Any, Protocol

from otel_footprint.testing.dialect_anthropic import AnthropicMessages
from otel_footprint.testing.dialect_bedrock import BedrockConverse
from otel_footprint.testing.dialect_gemini import GeminiGenerate
from otel_footprint.testing.dialect_openai_chat import OpenAIChat
from otel_footprint.testing.dialect_openai_responses import OpenAIResponses
from otel_footprint.testing.script import Answer, Error, Request


class Dialect(Protocol):
    """How one API spells an answer."""

    @property
    def stream_type(self) -> str:
        """Content type of a stream."""
        ...

    @property
    def retrievable(self) -> bool:
        """Whether a plain response can be fetched again with GET."""
        ...

    def model(self, request: Request) -> str:
        """The model asked for."""
        ...

    def streams(self, request: Request) -> bool:
        """Whether the request asks for a stream."""
        ...

    def response_id(self, answer: Answer) -> str:
        """The id this API gives the response."""
        ...

    def plain(self, answer: Answer, request: Request) -> Any:
        """The whole response as a JSON value."""
        ...

    def stream(self, answer: Answer, request: Request) -> tuple[bytes, ...]:
        """The response as the chunks of a stream."""
        ...

    def error(self, error: Error) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        """An HTTP error's body and additional headers."""
        ...


_CHAT = OpenAIChat()
_RESPONSES = OpenAIResponses()
_ANTHROPIC = AnthropicMessages()
_GEMINI = GeminiGenerate()
_BEDROCK = BedrockConverse()


def dialect_of(request: Request) -> Dialect | None:
    """The API of a request, or None when no API answers at its path."""
    path = request.path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return _CHAT
    if path.endswith("/responses"):
        return _RESPONSES
    if path.endswith("/messages"):
        return _ANTHROPIC
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return _GEMINI
    if path.endswith(("/converse", "/converse-stream")):
        return _BEDROCK
    return None
