"""Checking recorded conversations without OpenTelemetry: files in, judgements out."""
