"""Typed values, both sides: what an answer states in prose, what a tool result carries.

``find`` scans text, ``of_leaf`` reads a JSON leaf with its field name, ``agrees`` compares the two.
"""

from otel_footprint.core.evidence.typed.gather import Gathered
from otel_footprint.core.evidence.typed.index import LeafIndex
from otel_footprint.core.evidence.typed.leaf import of_leaf
from otel_footprint.core.evidence.typed.naming import named_leaves
from otel_footprint.core.evidence.typed.scan import find
from otel_footprint.core.evidence.typed.value import Interval, Kind, Offer, Typed, agrees

__all__ = [
    "Gathered",
    "Interval",
    "Kind",
    "LeafIndex",
    "Offer",
    "Typed",
    "agrees",
    "find",
    "named_leaves",
    "of_leaf",
]
