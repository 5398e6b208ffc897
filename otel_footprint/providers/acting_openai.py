"""Where calls of OpenAI's models are acted on.

``chat.completions.stream`` makes its request through ``create`` when it is entered, so ``create`` is acted on there.
``responses.stream`` does the same, but the official instrumentation notes what ``stream`` was given, so it is acted on
there, and its ``create`` passes. With ``response_id`` it only reads on in a response that was asked for before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_footprint.providers.acting_handing import Stainless
from otel_footprint.providers.acting_places import Place
from otel_footprint.providers.native_values import value_of
from otel_footprint.providers.openai_chat_surface import OpenAIChat
from otel_footprint.providers.openai_responses_surface import OpenAIResponses


class _Streams(Stainless):
    """``responses.stream``."""

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A response that is there already is no call of a model."""
        return None if value_of(kwargs, "response_id") is not None else super().arguments(args, kwargs)


_CHAT: Final = "openai.resources.chat.completions"
_RESPONSES: Final = "openai.resources.responses.responses"
_HANDING: Final = Stainless()
_STREAMS: Final = _Streams()
_CHAT_SURFACE: Final = OpenAIChat()
_RESPONSES_SURFACE: Final = OpenAIResponses()

PLACES: Final = (
    Place(_CHAT, "Completions", "create", _CHAT_SURFACE, _HANDING),
    Place(_CHAT, "Completions", "parse", _CHAT_SURFACE, _HANDING, streams=False),
    Place(_CHAT, "AsyncCompletions", "create", _CHAT_SURFACE, _HANDING, asynchronous=True),
    Place(_CHAT, "AsyncCompletions", "parse", _CHAT_SURFACE, _HANDING, asynchronous=True, streams=False),
    Place(_RESPONSES, "Responses", "create", _RESPONSES_SURFACE, _HANDING),
    Place(_RESPONSES, "Responses", "parse", _RESPONSES_SURFACE, _HANDING, streams=False),
    Place(_RESPONSES, "Responses", "stream", _RESPONSES_SURFACE, _STREAMS, manages=True),
    Place(_RESPONSES, "AsyncResponses", "create", _RESPONSES_SURFACE, _HANDING, asynchronous=True),
    Place(_RESPONSES, "AsyncResponses", "parse", _RESPONSES_SURFACE, _HANDING, asynchronous=True, streams=False),
    Place(_RESPONSES, "AsyncResponses", "stream", _RESPONSES_SURFACE, _STREAMS, asynchronous=True, manages=True),
)
