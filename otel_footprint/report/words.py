"""Lists of words, as the backends give them back."""

from __future__ import annotations

import contextlib
import json

from otel_footprint.core.messages import Json


def words(value: Json) -> list[str]:
    """The strings of an attribute that is a list of strings, such a list as JSON (as Jaeger stores it) or comma-separated."""
    if isinstance(value, str) and value.startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, str):
        return [word for word in value.split(",") if word]
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
