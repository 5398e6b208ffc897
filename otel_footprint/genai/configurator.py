"""Whether anything sets up the exporters that the environment names, under OpenTelemetry's own command.

Rules
-----
- ``opentelemetry-instrument`` reads OTEL_TRACES_EXPORTER and its like only through a configurator, which is the package
  opentelemetry-distro or a vendor's; without one it says nothing and exports nothing.
- Endpoints alone are no sign: an application that makes its exporters itself uses them too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import metadata
from typing import Final

REMEDY: Final = "pip install opentelemetry-distro, or use otel-footprint run, which needs none"

_EXPORTERS: Final = ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER")


def configurators() -> list[str]:
    """The installed packages that configure the SDK, by name."""
    found = {point.dist.name if point.dist is not None else point.name for point in _entry_points()}
    return sorted(found)


def _entry_points() -> metadata.EntryPoints:
    return metadata.entry_points(group="opentelemetry_configurator")


def unheard_exporters(environ: Mapping[str, str] | None = None) -> list[str]:
    """The exporter variables that name an exporter and that nothing in this process reads."""
    env = os.environ if environ is None else environ
    asked = [name for name in _EXPORTERS if env.get(name, "").strip() not in ("", "none")]
    if not asked or _entry_points():
        return []
    from opentelemetry import trace

    is_set = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    return [] if is_set else asked
