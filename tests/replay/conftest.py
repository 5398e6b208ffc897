"""One test per recording and per way to play it, named after both; ``replay_sync`` where the way makes no difference."""

from __future__ import annotations

import pytest
from replay_playing import FOLDER
from replay_recordings import NOT_REPLAYED, recordings


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    fixture = next((name for name in ("replay", "replay_sync") if name in metafunc.fixturenames), None)
    if fixture is None:
        return
    if not FOLDER.is_dir():
        reason = f"recorded traffic is not here: {FOLDER} (set OTEL_FOOTPRINT_SHARED_DATA)"
        metafunc.parametrize(fixture, [pytest.param(None, marks=pytest.mark.skip(reason=reason))], ids=["none"])
        return
    params = []
    for name, recording in recordings(FOLDER).items():
        if recording.provider in NOT_REPLAYED:
            marks = pytest.mark.skip(reason=NOT_REPLAYED[recording.provider])
            params.append(pytest.param((name, "sync"), id=name, marks=marks))
            continue
        one = fixture == "replay_sync" or recording.provider == "bedrock"  # boto3 has no async
        for mode in ("sync",) if one else ("sync", "async"):
            params.append(pytest.param((name, mode), id=f"{name}-{mode}"))
    metafunc.parametrize(fixture, params)


@pytest.fixture(autouse=True)
def quiet_sdks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The anthropic SDK's own spans are another's business; its clients are built after this."""
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "false")
    return
