"""Bounds of what goes onto a span, and the count of what they left out.

Rules
-----
- A string holds at most 256 characters, its cut marked by an ellipsis. Text that looks like JSON is never cut: half a
  JSON value reads as a broken one, so its length is stated in its place.
- A list holds at most 20 items and 1,536 bytes; whole items are left out, and how many is stated beside it. That stays
  clear of backends that cut an attribute at 2,048 bytes.
- A string can always be encoded: lone surrogates are replaced, since one of them makes an exporter lose the batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MAX_CHARS: Final = 256
MAX_ITEMS: Final = 20
MAX_LIST_BYTES: Final = 1536
MAX_EVENTS: Final = 64
MAX_LINKS: Final = 16
MAX_NAMES: Final = 100

_ELLIPSIS: Final = "…"


class Bounds:
    """Applies the bounds to what one span is given, and counts what they cut: texts, and items of lists."""

    __slots__ = ("items_omitted", "texts_cut")

    def __init__(self) -> None:
        self.texts_cut = 0
        self.items_omitted = 0

    def text(self, value: object) -> str:
        """The value as a string that fits."""
        text = value if type(value) is str else str(value)
        if len(text) > MAX_CHARS:
            self.texts_cut += 1
            if text.lstrip()[:1] in ("{", "[", '"'):
                return f"(JSON of {len(text)} characters)"
            text = text[: MAX_CHARS - 1] + _ELLIPSIS
        return text if text.isascii() else encodable(text)

    def items(self, values: Iterable[object]) -> tuple[list[str], int]:
        """The leading items that fit, and how many are left out."""
        kept: list[str] = []
        size = omitted = 0
        for value in values:
            if omitted or len(kept) == MAX_ITEMS:
                omitted += 1
                continue
            item = self.text(value)
            size += len(item.encode())
            if size > MAX_LIST_BYTES:
                omitted += 1
            else:
                kept.append(item)
        self.items_omitted += omitted
        return kept, omitted


def encodable(text: str) -> str:
    """The text with lone surrogates replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
