"""Small rows of a document: calls by their place in a trace, decimals, and fields that are left out at their default."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from otel_footprint.core.call import CallRef
from otel_footprint.core.message_json import Reader
from otel_footprint.core.messages import Json

_REF: Final = re.compile(r"([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_DECIMAL: Final = re.compile(r"-?[0-9.E+\-]{1,64}")
_MOST_EXPONENT: Final = 400


def lean(row: dict[str, Json]) -> dict[str, Json]:
    """The row without fields that say nothing: null, false, 0, empty."""
    return {name: value for name, value in row.items() if value}


def ref_to_json(ref: CallRef | None) -> str | None:
    """A call as ``trace-span-flags``, in hexadecimal digits."""
    return None if ref is None else f"{ref.trace_id:032x}-{ref.span_id:016x}-{ref.trace_flags & 255:02x}"


class Rows(Reader):
    """Reads what a document of a conversation is made of."""

    def ref(self, value: object, place: str) -> CallRef | None:
        """A call, or null."""
        if value is None:
            return None
        found = _REF.fullmatch(self.text(value, place))
        if found is None:
            raise self.refuse(place, "a call (32, 16 and 2 hexadecimal digits)", value)
        trace, span, flags = (int(part, 16) for part in found.groups())
        return CallRef(trace, span, flags)

    def decimal(self, value: object, place: str) -> Decimal:
        """A decimal number, written as a string."""
        text = self.text(value, place)
        try:
            number = Decimal(text) if _DECIMAL.fullmatch(text) else Decimal("nan")
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite() or abs(number.adjusted()) > _MOST_EXPONENT:
            raise self.refuse(place, "a decimal number", value)
        return number

    def optional_flag(self, value: object, place: str) -> bool:
        """A boolean, false where it is not given."""
        return False if value is None else self.flag(value, place)

    def optional_whole(self, value: object, place: str) -> int:
        """A whole number, 0 where it is not given."""
        return 0 if value is None else self.whole(value, place)

    def bounded(self, found: tuple[object, ...], place: str, most: int) -> None:
        """Refuse a list that is longer than anything we write."""
        if len(found) > most:
            raise self.refuse(place, f"a list of at most {most}")
