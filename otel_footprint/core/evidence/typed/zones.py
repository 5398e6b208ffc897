"""Time zones people write behind a time: their offsets from UTC in minutes.

A name with several meanings has all its offsets; a name without daylight saving stated ("ET") has both of its own.
"""

from __future__ import annotations

import re
from typing import Final

ZONES: Final[dict[str, tuple[int, ...]]] = {
    "Z": (0,),
    "UTC": (0,),
    "GMT": (0,),
    "WET": (0,),
    "BST": (60,),
    "WEST": (60,),
    "CET": (60, 120),
    "MEZ": (60, 120),
    "CEST": (120,),
    "MESZ": (120,),
    "EET": (120, 180),
    "EEST": (180,),
    "MSK": (180,),
    "TRT": (180,),
    "GST": (240,),
    "PKT": (300,),
    "IST": (330, 120, 60),
    "ICT": (420,),
    "WIB": (420,),
    "SGT": (480,),
    "HKT": (480,),
    "AWST": (480,),
    "PHT": (480,),
    "JST": (540,),
    "KST": (540,),
    "ACST": (570,),
    "AEST": (600,),
    "AET": (600, 660),
    "AEDT": (660,),
    "NZST": (720,),
    "NZDT": (780,),
    "BRT": (-180,),
    "ART": (-180,),
    "NST": (-210,),
    "AST": (-240, 180),
    "ADT": (-180,),
    "EDT": (-240,),
    "EST": (-300,),
    "ET": (-300, -240),
    "EASTERN": (-300, -240),
    "CDT": (-300,),
    "CST": (-360, 480),
    "CT": (-360, -300),
    "CENTRAL": (-360, -300),
    "MDT": (-360,),
    "MST": (-420,),
    "MT": (-420, -360),
    "MOUNTAIN": (-420, -360),
    "PDT": (-420,),
    "PST": (-480,),
    "PT": (-480, -420),
    "PACIFIC": (-480, -420),
    "AKDT": (-480,),
    "AKST": (-540,),
    "HST": (-600,),
}

_ZONE: Final = re.compile(
    r"[ \u00a0]{0,3}\(?(?:(?P<name>Z|[A-Z]{2,4}|Eastern|Central|Mountain|Pacific)(?![A-Za-z_\d])(?:[ \u00a0][Tt]ime)?)?"
    r"(?P<offset>(?:(?<=C)|(?<=T)|(?<=\d)|(?<=[ \u00a0]))[+-]\d{1,2}(?::?\d\d)?(?![\d:.]))?\)?"
)


def read_zone(plain: str, start: int, *, seconds: bool = False) -> tuple[tuple[int, ...] | None, int]:
    """The offsets of the zone written at ``start`` and where it ends; None and ``start`` where there is none.

    ``seconds`` says that the time before it states them: else ``10:00-14:00`` is a range, not an offset.
    """
    match = _ZONE.match(plain, start)
    if match is None:
        return None, start
    name, offset = match["name"], match["offset"]
    if name is not None and name.upper() not in ZONES:
        return None, start
    end = match.end()
    if match[0].endswith(")") and "(" not in match[0]:
        end -= 1
    elif "(" in match[0] and not match[0].endswith(")"):
        return None, start
    if offset is not None and (
        name in ("UTC", "GMT") or (name is None and len(offset) >= 5 and (seconds or offset[0] == "+"))
    ):
        return offsets(offset), end
    if offset is not None:
        return None, start
    if name is None:
        return None, start
    return ZONES[name.upper()], end


def offsets(written: str) -> tuple[int, ...] | None:
    """``+02:00``, ``-0530``, ``+2`` in minutes; None beyond the offsets there are."""
    digits = written[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if hours > 14 or minutes > 59:
        return None
    total = hours * 60 + minutes
    return (-total if written[0] == "-" else total,)
