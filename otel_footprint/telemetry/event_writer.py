"""Writes events where the setting says: on a span, into the log, or both.

Rules
-----
- Events of one span stand one nanosecond apart, so that backends that sort by time keep their order.
- ``gen_ai.evaluation.result`` always goes out as a log event too: some backends read it only there.
- Log events belong to the span's context and go out without it being sampled.
"""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from opentelemetry._logs import SeverityNumber

from otel_footprint.boundary import guard

if TYPE_CHECKING:
    from opentelemetry._logs import Logger
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from otel_footprint.telemetry.event_plan import Events

EventsSetting: TypeAlias = Literal["span", "log", "both"]


class EventWriter:
    """One logger, and where events go."""

    __slots__ = ("_in_log", "_logger", "_on_span")

    def __init__(self, logger: Logger, events: EventsSetting) -> None:
        self._logger: Final = logger
        self._on_span: Final = events != "log"
        self._in_log: Final = events != "span"

    def wanted(self, span: Span | None, *, results: bool) -> tuple[bool, bool]:
        """Whether events are to be made for this recording span (None: there is none), and for the log.

        ``results`` says that evaluation results may be among them, which go into the log under any setting.
        """
        return span is not None and self._on_span, (results or self._in_log) and self._listened_to()

    def _listened_to(self) -> bool:
        """Whether anybody listens to our log events: making them costs more than asking."""
        with guard("telemetry.logs"):
            return self._logger.enabled(severity_number=SeverityNumber.INFO)
        return False

    def on_span(self, span: Span, events: Events) -> None:
        """Put the events that a span has room for on it."""
        if not self._on_span:
            return
        now = time_ns()
        for name, attributes, kept in events.made:
            if kept:
                span.add_event(name, attributes, now)
                now += 1

    def in_log(self, context: Context, events: Events) -> None:
        """Send the events as log events of the context's span."""
        now = time_ns()
        for offset, event in enumerate(events.made):
            if not (self._in_log or event.is_result):
                continue
            if self._logger.enabled(context=context, severity_number=SeverityNumber.INFO, event_name=event.name):
                self._logger.emit(
                    timestamp=now + offset,
                    context=context,
                    severity_number=SeverityNumber.INFO,
                    event_name=event.name,
                    attributes=event.attributes,
                )
