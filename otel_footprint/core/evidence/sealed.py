"""A text that is known by its digest only: it carries nothing until it is opened."""

from __future__ import annotations

from otel_footprint.core.evidence.carried import Carried
from otel_footprint.core.stubs import Digest


class SealedText(Carried):
    """The place of a text that a saved conversation names and does not hold."""

    __slots__ = ("digest",)

    def __init__(self, digest: Digest, *, result: bool) -> None:
        super().__init__("", result=result)
        self.digest = digest
