"""At which rate the collector begins to refuse: judged chat spans at rising rates through every processor, on this machine.

Needs the servers of ``make e2e``. A step of twenty seconds each, without trying again; prints a line for each, and stops at
the first that was refused or that could not be kept up. The generator and the receiver behind take their share of the same
processors: in a process of its own the collector does better than this.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "e2e"))

from e2e_servers import Collector, StandIn, running
from load import Generator

SECONDS = 20


def main() -> None:
    memory = sys.argv[1] if len(sys.argv) > 1 else "512"
    folder = Path(tempfile.mkdtemp(prefix="collector-rate-"))
    tempo = StandIn(folder)
    settings = {"SAMPLING_WAIT": "10s", "OTELCOL_MEMORY_MIB": memory, **tempo.endpoint}
    collector = Collector(folder, "tempo", "sampling", environment=settings)
    with running(tempo, collector):
        generator = Generator(collector.grpc)
        for rate in (2500, 5000, 7500, 10_000, 15_000, 20_000, 30_000):
            before = collector.own("otelcol_process_cpu_seconds_total")
            sent = generator.send(rate, SECONDS)
            cpu = collector.own("otelcol_process_cpu_seconds_total") - before
            reached = (sent.accepted + sent.refused) / sent.seconds
            print(
                f"{rate:6d} spans/s asked, {reached:6.0f} reached, {sent.refused} of {rate * SECONDS} refused, "
                f"{collector.rss_mib():.0f} MiB, {cpu / sent.seconds:.2f} processors",
                flush=True,
            )
            if sent.refused or reached < 0.8 * rate:
                break


if __name__ == "__main__":
    main()
