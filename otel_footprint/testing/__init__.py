"""Public helpers for tests: a scripted provider, an in-memory sink, a fixed clock. Import the module you need."""
