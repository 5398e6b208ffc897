"""Hexadecimal ids: UUIDs, MAC and world-wide names, hashes; with or without separators and prefix."""

from __future__ import annotations

import re
from typing import Final

from otel_footprint.core.evidence.typed.value import Kind, Typed

_HEX: Final = re.compile(
    r"(?P<uuid>[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})(?![\w-])"
    r"|(?P<pairs>[0-9a-fA-F]{2}(?P<sep>[:-])[0-9a-fA-F]{2}(?:(?P=sep)[0-9a-fA-F]{2}){4,30})(?![\w:-])"
    r"|(?P<quads>[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4})(?![\w.]\w)"
    r"|(?:0[xX])?(?P<run>[0-9a-fA-F]{6,128})(?![\w-])"
)
_FRONT: Final = frozenset("0123456789abcdefABCDEFxX:-.")
_SEPARATORS: Final = str.maketrans("", "", ":-.")


def hex_id(plain: str, start: int, floor: int) -> Typed | None:
    """The hexadecimal id that holds the digit at ``start`` and begins at ``floor`` or later."""
    first = start
    stop = max(floor, start - 40)
    while first > stop and plain[first - 1] in _FRONT:
        first -= 1
    if first > 0 and first > floor and (plain[first - 1].isalnum() or plain[first - 1] == "_"):
        return None
    while first < start and plain[first] in ":-.":
        first += 1
    match = _HEX.match(plain, first)
    if match is None or match.end() <= start:
        return None
    kind: Kind = "hex"
    if match["uuid"]:
        kind, digits = "uuid", match["uuid"]
    elif match["pairs"]:
        digits = match["pairs"]
        if len(digits) == 17:
            kind = "mac"
    elif match["quads"]:
        kind, digits = "mac", match["quads"]
    else:
        digits = match["run"]
        prefixed = match[0][:2] in ("0x", "0X")
        if not prefixed and (len(digits) < 12 or digits.isdigit() or digits.isalpha()):
            return None
    bare = digits.translate(_SEPARATORS).lower()
    if bare.isdigit() and kind == "mac" and match["quads"]:
        return None
    keys = frozenset({("hex", bare)})
    return Typed(kind, match.start(), match.end(), match[0], keys, keys)
