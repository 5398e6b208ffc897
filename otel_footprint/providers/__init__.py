"""The providers' own formats: native messages read as core messages, and what only a wrapper can see."""
