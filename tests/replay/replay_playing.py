"""Where the recordings are, and how one is played; the run without any instrumentation is made once."""

from __future__ import annotations

import asyncio
import os
from functools import cache
from pathlib import Path

from replay_clients import Run, run_async, run_sync
from replay_recordings import Recording, recordings

FOLDER = (
    Path(os.environ.get("OTEL_FOOTPRINT_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    / "cassettes"
)


def play(recording: Recording, mode: str) -> Run:
    """The whole recording, with whatever is instrumented at the moment."""
    return run_sync(recording) if mode == "sync" else asyncio.run(run_async(recording))


@cache
def without_us(name: str, mode: str) -> Run:
    """The recording without any instrumentation: made first, and once."""
    return play(recordings(FOLDER)[name], mode)
