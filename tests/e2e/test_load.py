"""A minute of 5,000 spans a second through every processor: nothing is lost, and memory stays within its bound."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from e2e_servers import Collector, StandIn, running, until
from load import Generator

RATE, SECONDS, MEMORY_MIB = 5000, 60, 1500


def test_a_minute_of_five_thousand_spans_a_second(tmp_path: Path) -> None:
    tempo = StandIn(tmp_path)
    # Sampling takes part, and is told to keep all: what is missing afterwards was lost by accident. Ten seconds of
    # waiting are 50,000 spans in memory.
    settings = {
        "SAMPLING_PERCENT": "100",
        "SAMPLING_WAIT": "10s",
        "OTELCOL_MEMORY_MIB": str(MEMORY_MIB),
        **tempo.endpoint,
    }
    collector = Collector(tmp_path, "tempo", "sampling", environment=settings)
    with running(tempo, collector):
        highest, over = [0.0], threading.Event()

        def watch() -> None:
            while not over.wait(0.5):
                highest[0] = max(highest[0], collector.rss_mib())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            sent = Generator(collector.grpc).send(RATE, SECONDS, tries=6)
            wanted = RATE * SECONDS
            assert sent.accepted == wanted, sent
            until("all of them at the backend", lambda: tempo.received() >= wanted, 120, every=1)
            time.sleep(1)
            assert tempo.received() == wanted
        finally:
            over.set()
            watcher.join()
        assert highest[0] < MEMORY_MIB
        counted = collector.exposed()
        answers = sum(v for s, v in counted.items() if s.startswith("agentfootprint_answers_total{"))
        assert answers == wanted / 5, "each answer counted once"
        print(f"{RATE} spans/s asked, {wanted / sent.seconds:.0f} sent; at most {highest[0]:.0f} MiB")
