"""The edge to the OpenTelemetry GenAI instrumentations: semconv messages in, one completed call out."""
