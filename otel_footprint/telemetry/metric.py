"""What a metric of the registry is: its name, unit, description and bucket bounds."""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """One instrument. ``unit`` is a UCUM unit; ``buckets`` are upper bounds in that unit, empty for a counter."""

    name: str
    unit: str
    brief: str
    buckets: tuple[float, ...] = ()
