"""The base of our entry in OpenTelemetry's list of instrumentors, so that ``opentelemetry-instrument`` finds us."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:

    class _Base:
        """BaseInstrumentor is not typed; what is used of it."""

        is_instrumented_by_opentelemetry: bool

        def instrument(self, **kwargs: object) -> object: ...

        def uninstrument(self, **kwargs: object) -> object: ...

else:
    from opentelemetry.instrumentation.instrumentor import BaseInstrumentor as _Base


class BaseFootprintInstrumentor(_Base):
    """Depends on no SDK: which are there, and which of them fit, is decided when they are turned on."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """None: it must load whatever is installed."""
        return ()
