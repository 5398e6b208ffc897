"""The trace that the README shows is the one that the demo prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DURATION = re.compile(r"  [\d.]+ m?s(?=  )")


def plain(text: str) -> str:
    """Without durations, branches and line breaks, which differ from run to run and with the width."""
    return " ".join(re.sub(r"[│├└─]", " ", DURATION.sub("", text)).split())


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    shown = next(block for block in re.findall(r"^```text\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S))
    command = [sys.executable, "-m", "otel_footprint.cli.main", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert plain(shown) in plain(done.stdout)
    assert (tmp_path / "footprint.otlp.jsonl").stat().st_size > 0
