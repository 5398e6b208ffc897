"""What OpenTelemetry loads by name: the completion hook, the instrumentor, and what runs before and after all of them.

A setting of ours that cannot be used is said in one line and leaves us off: raised here, it would take every other
instrumentation of the process down with it.
"""

from __future__ import annotations

import logging
import os
from typing import Any, Final

from otel_footprint import boundary, runtime
from otel_footprint.core.errors import ConfigurationError
from otel_footprint.genai import preinstrument
from otel_footprint.genai.configurator import REMEDY, unheard_exporters
from otel_footprint.genai.instrumentation import settle
from otel_footprint.genai.instrumentor import BaseFootprintInstrumentor

_logger = logging.getLogger("otel_footprint")
_CONFIGURATOR: Final = "OTEL_PYTHON_CONFIGURATOR"  # set: somebody chose who configures the SDK
_said: Final[set[str]] = set()


class _Off:
    """The hook of a process whose settings cannot be used."""

    def on_completion(self, **_: Any) -> None:
        """Nothing is observed."""


def _say_off(error: ConfigurationError) -> None:
    """Once: the instrumentor and the hook both find the same setting."""
    if str(error) not in _said:
        _said.add(str(error))
        _logger.error("otel-footprint is off: %s", error)


def completion_hook() -> Any:
    """The hook ``footprint``, for OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK. Starts the runtime where nobody has."""
    try:
        return runtime.start_implicitly().hook
    except ConfigurationError as error:
        _say_off(error)
        return _Off()


def pre_instrument() -> None:
    """Select our hook before the first instrumentor loads, since that one decides."""
    preinstrument.select_hook()


def post_instrument() -> None:
    """Once every instrumentor has loaded: leave to others the SDKs that they hold, and say if nothing is exported."""
    with boundary.guard("post_instrument"):
        settle()
        if not os.environ.get(_CONFIGURATOR) and (unheard := unheard_exporters()):
            _logger.warning(
                "otel-footprint: nothing is exported: no package that reads %s is installed; %s",
                " and ".join(unheard),
                REMEDY,
            )


class FootprintInstrumentor(BaseFootprintInstrumentor):
    """Zero code: ``opentelemetry-instrument python agent.py`` finds it and turns everything on."""

    def _instrument(self, **kwargs: Any) -> None:
        try:
            if any(kwargs.get(name) is not None for name in ("tracer_provider", "meter_provider", "logger_provider")):
                runtime.instrument(
                    tracer_provider=kwargs.get("tracer_provider"),
                    meter_provider=kwargs.get("meter_provider"),
                    logger_provider=kwargs.get("logger_provider"),
                )
            else:
                runtime.start_implicitly()
        except ConfigurationError as error:
            _say_off(error)

    def _uninstrument(self, **kwargs: Any) -> None:
        runtime.uninstrument()
