"""A planned window as places in the application's own list, with what is put between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from otel_footprint.core.messages import Message


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of the application's list, by its index in the canonical reading (from 0, without the leading envelope)."""

    index: int


@dataclass(frozen=True, slots=True)
class Put:
    """A message that is not in the application's list: a drop notice, a summary, a correction, a failed answer.

    ``native`` are the provider's own items where there are any (a failed answer, put back as it came); else the provider's
    side builds one from ``message``.
    """

    message: Message
    native: tuple[object, ...] = ()


Item: TypeAlias = Kept | Put
