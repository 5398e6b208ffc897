"""OpenTelemetry middleware for LLM agents: what the window kept, and whether an answer was read from tool results."""
