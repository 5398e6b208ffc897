"""Where calls of Anthropic's models are acted on. A tool runner calls ``create``, ``parse`` or ``stream`` once a turn."""

from __future__ import annotations

from typing import Final

from otel_footprint.providers.acting_handing import Stainless
from otel_footprint.providers.acting_places import Place
from otel_footprint.providers.anthropic_messages_surface import AnthropicMessages

_HANDING: Final = Stainless()
_SURFACE: Final = AnthropicMessages()


def _places(module: str) -> tuple[Place, ...]:
    return (
        Place(module, "Messages", "create", _SURFACE, _HANDING),
        Place(module, "Messages", "parse", _SURFACE, _HANDING, streams=False),
        Place(module, "Messages", "stream", _SURFACE, _HANDING, manages=True),
        Place(module, "AsyncMessages", "create", _SURFACE, _HANDING, asynchronous=True),
        Place(module, "AsyncMessages", "parse", _SURFACE, _HANDING, asynchronous=True, streams=False),
        Place(module, "AsyncMessages", "stream", _SURFACE, _HANDING, asynchronous=True, manages=True),
    )


PLACES: Final = (*_places("anthropic.resources.messages"), *_places("anthropic.resources.beta.messages"))
