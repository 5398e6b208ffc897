"""The pure core: standard library only; no OpenTelemetry, no SDK, no clock, no environment, no logging, no I/O."""
