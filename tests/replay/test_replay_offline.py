"""A trace of recorded traffic, with messages captured, is judged offline exactly as it was judged live."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay_playing import FOLDER, play
from replay_recordings import NOT_REPLAYED, recordings

import otel_footprint
from otel_footprint.cli.recording import record_to
from otel_footprint.core.evidence.options import Evidence
from otel_footprint.offline import files
from otel_footprint.offline.judged import Judged
from otel_footprint.offline.recorded import recorded
from otel_footprint.offline.traces import judge_trace


def verdicts(found: list[Judged]) -> dict[str, list[tuple[str, list[tuple[str, bool]]]]]:
    """The answers of each span, by verdict and by status of their values."""
    answers: dict[str, list[tuple[str, list[tuple[str, bool]]]]] = {}
    for judged in found:
        for place, answer in zip(judged.places, judged.document["answers"], strict=True):
            values = sorted((value["status"], value["flagged"]) for value in answer["values"])
            answers.setdefault(place, []).append((answer["verdict"], values))
    return answers


@pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"recorded traffic is not here: {FOLDER} (set OTEL_FOOTPRINT_SHARED_DATA)"
)
def test_offline_and_live_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    answers = 0
    for name, recording in recordings(FOLDER).items():
        if recording.provider in NOT_REPLAYED:
            continue
        path = tmp_path / f"{name}.jsonl"
        recorder = record_to(path)
        otel_footprint.instrument(
            tracer_provider=recorder.tracer_provider,
            meter_provider=recorder.meter_provider,
            logger_provider=recorder.logger_provider,
        )
        try:
            play(recording, "sync")
        finally:
            otel_footprint.uninstrument()
            recorder.close()
        with path.open("rb") as file:
            (trace,) = [item for item in files.read(file) if isinstance(item, files.TraceFile)]
        judged, problems, _ = judge_trace(trace, Evidence())
        assert problems == [], name
        live = verdicts(recorded(trace))
        assert verdicts(judged) == live, name
        answers += len(live)
    assert answers > 50
