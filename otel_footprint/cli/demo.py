"""``otel-footprint demo``: real SDKs, a scripted provider on 127.0.0.1, and what we make of it as a tree.

No key, no network, no Docker. Writes the trace as OTLP JSON beside it.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from rich.console import Console

from otel_footprint.report.otlp import read_spans
from otel_footprint.report.tree import render

DEFAULT_OUT = "footprint.otlp.jsonl"


def main(arguments: argparse.Namespace) -> int:
    """Play every scene, print the tree, and say where the file is. Exit code 0, or 2 where it cannot run."""
    missing = [name for name in ("openai", "anthropic") if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"otel-footprint demo: the SDK of {' and '.join(missing)} is not installed; "
            f"run: pip install 'otel-footprint[openai,anthropic]'",
            file=sys.stderr,
        )
        return 2
    out = Path(arguments.out)
    try:
        _play(out)
        spans = read_spans(out)
    except OSError as error:
        print(f"otel-footprint demo: cannot write {out}: {error.strerror or error}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 118, highlight=False)
    render(spans, console)
    console.print(
        f"\nThe trace, its metrics and events are in [bold]{out.resolve()}[/bold] (OTLP JSON, one object a line)."
    )
    return 0


def _play(out: Path) -> None:
    import otel_footprint
    from otel_footprint.cli.demo_scenes import scenes
    from otel_footprint.cli.recording import record_to
    from otel_footprint.testing.provider import ScriptedProvider

    recording = record_to(out, resource={"service.name": "otel-footprint-demo"})
    otel_footprint.instrument(
        tracer_provider=recording.tracer_provider,
        meter_provider=recording.meter_provider,
        logger_provider=recording.logger_provider,
        providers=["openai", "anthropic"],
        capture_values="flagged",  # everything here is made up, so the flagged values may be shown
    )
    try:
        for scene in scenes():
            with (
                ScriptedProvider(scene.script) as provider,
                otel_footprint.conversation(agent=scene.title, **scene.settings),
            ):
                scene.play(provider)
    finally:
        otel_footprint.uninstrument()
        recording.close()
