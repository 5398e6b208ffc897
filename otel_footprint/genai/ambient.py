"""What the OpenTelemetry Context says about the conversation a call is made in, before the call."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from opentelemetry.context import Context

from otel_footprint.boundary import guard

_MODULE: Final = "opentelemetry.util.genai._conversation_context"  # private: a version without it has no ambient ids


def ambient_conversation(context: Context) -> str | None:
    """The ``gen_ai.conversation.id`` that a framework has set for everything made in this context."""
    reader = _reader()
    if reader is not None:
        with guard("ambient_conversation"):
            found = reader(context)
            return found if isinstance(found, str) and found else None
    return None


@cache
def _reader() -> Callable[[Context], Any] | None:
    try:
        module = importlib.import_module(_MODULE)
    except ImportError:
        return None
    return getattr(module, "get_ambient_conversation_id", None)
