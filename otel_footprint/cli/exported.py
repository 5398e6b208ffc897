"""What became of a run's spans, as far as the SDK knows: counted in each process, left in the run's folder, read at its end.

Rules
-----
- An exporter's own answer is counted: sent, or failed. What ended and was neither is lost: dropped from a full queue, or
  still on its way when the process was over.
- Exporters are found where the SDK keeps them and asked through their own ``export``, which is handed on unchanged; where
  one cannot be watched, nothing is said of it.
- Counts are written after each export and at the end, since a process may end at any place. A forked one counts anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from otel_footprint.boundary import guard

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

_NAME: Final = "exports."


@dataclass(frozen=True, slots=True)
class Exported:
    """Spans of a run: how many ended, and how many of them are known to have been taken."""

    ended: int = 0
    sent: int = 0

    @property
    def lost(self) -> int:
        """Those that no exporter is known to have brought out."""
        return max(0, self.ended - self.sent)


def exported(folder: Path) -> Exported | None:
    """The sum over all processes of a run; None where none of them could know."""
    found = []
    for path in folder.glob(f"{_NAME}*"):
        with contextlib.suppress(OSError, ValueError):
            ended, sent = json.loads(path.read_text(encoding="ascii"))
            found.append((int(ended), int(sent)))
    return Exported(sum(ended for ended, _ in found), sum(sent for _, sent in found)) if found else None


class Watch:
    """Counts the spans of this process and what its exporters say of them."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder
        self._lock = threading.RLock()
        self._ended = 0
        self._sent: dict[int, int] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def begin(self, provider: Any) -> None:
        """Watch the exporters of a tracer provider; nothing where it is not the SDK's, or has none."""
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

        if not isinstance(provider, TracerProvider):
            return
        processors = getattr(getattr(provider, "_active_span_processor", None), "_span_processors", ())
        exporters = [each for each in (getattr(it, "span_exporter", None) for it in processors) if each is not None]
        for number, exporter in enumerate(exporters):
            exporter.export = self._watched(exporter.export, number)
            self._sent[number] = 0
        if not self._sent:
            return
        watch = self

        class Counting(SpanProcessor):
            """Counts spans that end and are to be exported."""

            def on_end(self, span: ReadableSpan) -> None:
                if span.context is not None and span.context.trace_flags.sampled:
                    watch.count()

        provider.add_span_processor(Counting())

    def count(self) -> None:
        """One more span has ended."""
        with self._lock:
            self._ended += 1

    def write(self) -> None:
        """Leave the counts in the run's folder, if there is one yet and there is anything to say."""
        with self._lock, contextlib.suppress(OSError):
            if self._ended:
                path = self._folder / f"{_NAME}{os.getpid()}"
                new = self._folder / f"new-{path.name}"
                # Of several exporters the one that brought out least: what it lost is missing somewhere.
                new.write_text(json.dumps([self._ended, min(self._sent.values())]), encoding="ascii")
                new.replace(path)

    def _watched(self, export: Callable[[Sequence[Any]], Any], number: int) -> Callable[[Sequence[Any]], Any]:
        def watched(spans: Sequence[Any]) -> Any:
            result = export(spans)
            with guard("run.exports"):
                if getattr(result, "name", "") == "SUCCESS":
                    with self._lock:
                        self._sent[number] += len(spans)
                self.write()
            return result

        return watched

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._ended = 0
        self._sent = dict.fromkeys(self._sent, 0)
