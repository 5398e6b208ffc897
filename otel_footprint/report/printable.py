"""Text of others made safe for a terminal: what controls it, or hides or turns text, is shown as an escape."""

from __future__ import annotations

from unicodedata import category


def printable(text: str) -> str:
    """The text on one line, with controls, line breaks and direction marks as ``\\x1b``, ``\\n``, ``\\u202e``."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or category(char) == "Zs" else char.encode("unicode_escape").decode("ascii")
        for char in text
    )
