"""Tests with real servers: run by ``make e2e``, which builds them; elsewhere they are not collected."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("OTEL_FOOTPRINT_SERVERS") else ["test_*.py"]
