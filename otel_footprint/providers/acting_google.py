"""Where calls of Google's models are acted on. A chat calls these methods; functions called automatically run inside."""

from __future__ import annotations

from typing import Final

from otel_footprint.providers.acting_handing import Keywords
from otel_footprint.providers.acting_places import Place
from otel_footprint.providers.gemini_surface import GeminiGenerateContent

_MODULE: Final = "google.genai.models"
_HANDING: Final = Keywords()
_SURFACE: Final = GeminiGenerateContent()

PLACES: Final = (
    Place(_MODULE, "Models", "generate_content", _SURFACE, _HANDING, streams=False),
    Place(_MODULE, "Models", "generate_content_stream", _SURFACE, _HANDING, streams=True),
    Place(_MODULE, "AsyncModels", "generate_content", _SURFACE, _HANDING, asynchronous=True, streams=False),
    Place(_MODULE, "AsyncModels", "generate_content_stream", _SURFACE, _HANDING, asynchronous=True, streams=True),
)
