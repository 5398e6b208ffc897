"""Fixtures that every test may use: where the real data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_data_folder() -> Path:
    """The folder of real conversations, beside the checkout unless the environment names another."""
    return Path(os.environ.get("OTEL_FOOTPRINT_SHARED_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data, or a visible skip where it is not there."""
    folder = shared_data_folder()
    if not folder.is_dir():
        pytest.skip(f"real data is not here: {folder} (set OTEL_FOOTPRINT_SHARED_DATA)")
    return folder
