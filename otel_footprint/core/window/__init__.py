"""The window: what left it, and what the record says about it."""
