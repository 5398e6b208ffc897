"""The document by which a conversation goes on in another process: ``conversation().to_dict()`` and ``conversation(restore=…)``.

Rules
-----
- One versioned JSON document. It is read when it is handed in, as a whole or not at all: what is malformed, and a version that
  is not known, is refused by name.
- The document of a window alone (``conversation().window.to_dict()``) is taken too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from otel_footprint.core.errors import ConfigurationError
from otel_footprint.core.messages import Json
from otel_footprint.core.window.saving import FORMAT as WINDOW_FORMAT
from otel_footprint.core.window.saving import WindowState

FORMAT: Final = "otel-footprint conversation"
VERSION: Final = 1


def document_of(window: WindowState) -> dict[str, Json]:
    """The document of a conversation; ``json.dumps`` takes it as it is."""
    return {"format": FORMAT, "version": VERSION, "window": window.to_dict()}


def window_in(document: object) -> WindowState:
    """The windows in a document. Raises :class:`ConfigurationError` that names what is wrong with it."""
    if not isinstance(document, Mapping):
        raise ConfigurationError(
            f"conversation(restore=…) is {type(document).__name__}; give what to_dict() gave, as json.loads reads it"
        )
    if document.get("format") == WINDOW_FORMAT:
        return WindowState.from_dict(cast("Mapping[str, Json]", document))
    if document.get("format") != FORMAT:
        raise ConfigurationError(f"conversation(restore=…): format {_shown(document.get('format'))} is not {FORMAT!r}")
    version = document.get("version")
    if isinstance(version, bool) or version != VERSION:
        raise ConfigurationError(
            f"conversation(restore=…): version {_shown(version)} is not known, only {VERSION}; save it with this version"
        )
    window: Any = document.get("window")
    if not isinstance(window, Mapping):
        raise ConfigurationError("conversation(restore=…): it has no window; give the whole of what to_dict() gave")
    return WindowState.from_dict(window)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
