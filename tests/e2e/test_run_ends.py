"""However a command under ``otel-footprint run`` ends, what it did has arrived: at its end, by a signal, in a child of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conversations import answer
from e2e_servers import Collector, StandIn, clean_environment, running, until

from otel_footprint.report.otlp import read_spans
from otel_footprint.telemetry import names
from otel_footprint.testing.provider import ScriptedProvider

HERE = Path(__file__).parent
RUN = (sys.executable, "-m", "otel_footprint.cli.main", "run", "--", sys.executable, "-c")
ENDS = {
    "end": "",
    "exception": "raise RuntimeError('of the agent')",
    "SIGTERM": "wait()",
    "SIGHUP": "wait()",
    "SIGINT": "wait()",
}
PROGRAM = """
import multiprocessing, sys, time
from pathlib import Path
from forking_apps import converse

def wait():
    Path("waits").touch()
    time.sleep(60)

if __name__ == "__main__":
    converse(1)
    child = multiprocessing.get_context("fork").Process(target=converse, args=(2,))
    child.start()
    child.join()
    {end}
"""


@pytest.mark.parametrize(
    ("how", "protocol"), [*((how, "grpc") for how in ENDS), ("end", "http/protobuf"), ("SIGTERM", "http/protobuf")]
)
def test_what_was_done_has_arrived(tmp_path: Path, how: str, protocol: str) -> None:
    tempo = StandIn(tmp_path)
    collector = Collector(tmp_path, "tempo", environment=tempo.endpoint)
    with running(tempo, collector), ScriptedProvider(answer(1), record=False) as provider:
        process = subprocess.Popen(
            [*RUN, textwrap.dedent(PROGRAM).replace("{end}", ENDS[how])],
            env=clean_environment(
                OTEL_SERVICE_NAME="ends",
                OTEL_BSP_SCHEDULE_DELAY="60000",  # nothing goes out before it has to
                E2E_PROVIDER=provider.openai_url,
                PYTHONPATH=str(HERE),
                **collector.export_settings(protocol),
            ),
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        if how.startswith("SIG"):
            until("it waits", (tmp_path / "waits").exists, 60)
            process.send_signal(signal.Signals[how])
        _, said = process.communicate(timeout=60)
        assert process.returncode == {"end": 0, "exception": 1}.get(how, -getattr(signal, how, 0)), said

        def answers() -> int:
            return sum(names.EVIDENCE_VERDICT in span.attributes for span in read_spans(tempo.file))

        until("both answers", lambda: answers() == 2, 20)
        counted = "agentfootprint_answers_total{"

        def count() -> float:
            return sum(v for s, v in collector.exposed().items() if s.startswith(counted) and "otel_footprint" in s)

        until("both are counted", lambda: count() == 2, 20)
