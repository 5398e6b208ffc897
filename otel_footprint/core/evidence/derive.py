"""Reach a value by a closed set of derivations over what results carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_footprint.core.evidence.extract import Extraction
    from otel_footprint.core.evidence.judge import Finding
    from otel_footprint.core.evidence.sources import Source


class Deriver:
    """The derivations of one conversation; it remembers what earlier answers computed."""

    def derive(self, extraction: Extraction, findings: Sequence[Finding], window: Sequence[Source]) -> bool:
        """Give ``computed`` (or a derivation that may be chance) to what it reaches; True when the work bound was hit."""
        return False

    def fork(self) -> Deriver:
        """A copy that goes its own way."""
        return Deriver()
