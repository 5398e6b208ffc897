"""The command line ``otel-footprint``."""
