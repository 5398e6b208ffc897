"""The APIs a scripted provider speaks, found by the path of the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from otel_footprint.testing.dialect_anthropic import AnthropicMessages
from otel_footprint.testing.dialect_bedrock import BedrockConverse
from otel_footprint.testing.dialect_gemini import GeminiGenerate
from otel_footprint.testing.dialect_openai_chat import OpenAIChat
from otel_footprint.testing.dialect_openai_responses import OpenAIResponses
from otel_footprint.testing.script import Answer, Error, Request
from otel_footprint.testing.wire_rules import Api


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


_APIS: Final[Mapping[str, Api]] = {
    "/chat/completions": "openai.chat",
    "/responses": "openai.responses",
    "/messages": "anthropic.messages",
    ":generateContent": "gemini.generate_content",
    ":streamGenerateContent": "gemini.generate_content",
    "/converse": "bedrock.converse",
    "/converse-stream": "bedrock.converse",
}
_DIALECTS: Final[Mapping[Api, Dialect]] = {
    "openai.chat": OpenAIChat(),
    "openai.responses": OpenAIResponses(),
    "anthropic.messages": AnthropicMessages(),
    "gemini.generate_content": GeminiGenerate(),
    "bedrock.converse": BedrockConverse(),
}


def api_of(request: Request) -> Api | None:
    """Which API's path the request has, or None."""
    path = request.path.partition("?")[0]
    return next((api for end, api in _APIS.items() if path.endswith(end)), None)


def dialect_of(request: Request) -> Dialect | None:
    """The API of a request, or None when no API answers at its path."""
    api = api_of(request)
    return None if api is None else _DIALECTS[api]
