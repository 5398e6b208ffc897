"""Decisions as OpenTelemetry: names, spans, events, logs, links and metrics."""
