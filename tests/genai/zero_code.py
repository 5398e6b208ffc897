"""An agent, unchanged, under ``opentelemetry-instrument``, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from otel_footprint.testing.provider import ScriptedProvider

AGENT = """
import os, openai, anthropic
client = openai.OpenAI(base_url=os.environ["PROVIDER"] + "/v1", api_key="x", max_retries=0)
print("answer:", client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]).choices[0].message.content)
client = anthropic.Anthropic(base_url=os.environ["PROVIDER"], api_key="x", max_retries=0)
print("answer:", client.messages.create(model="c", max_tokens=9, messages=[{"role": "user", "content": "hi"}]).content[0].text)
"""


def put_first(folder: Path, entry: tuple[str, str] | None) -> None:
    """A package whose entry points are found before all others, since its folder is first on the path.

    One of them configures the SDK from the environment, as the package opentelemetry-distro does.
    """
    points = "[opentelemetry_configurator]\nsdk = opentelemetry.sdk._configuration:_OTelSDKConfigurator\n"
    if entry is not None:
        points += f"[opentelemetry_instrumentor]\n{entry[0]} = {entry[1]}\n"
    info = folder / "first_of_all-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: first-of-all\nVersion: 1\n")
    (info / "entry_points.txt").write_text(points)


def run_agent(folder: Path, provider: ScriptedProvider, **env: str) -> tuple[list[dict], str]:
    """The spans that the agent's process exported to its console, and what it wrote to stderr."""
    script = folder / "agent.py"
    script.write_text(AGENT)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "ANTHROPIC_"))}
    settings = {
        "PYTHONPATH": str(folder),
        "PROVIDER": provider.url,
        "OTEL_TRACES_EXPORTER": "console",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        **env,
    }
    command = Path(sys.executable).with_name("opentelemetry-instrument")
    done = subprocess.run(
        [str(command), sys.executable, str(script)],
        env={**clean, **settings},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("answer: hello W-1234") == 2, done.stdout + done.stderr
    return spans_in(done.stdout), done.stderr


def spans_in(text: str) -> list[dict]:
    decoder, found, position = json.JSONDecoder(), [], text.find("{")
    while position != -1:
        try:
            span, position = decoder.raw_decode(text, position)
            found.append(span)
        except json.JSONDecodeError:
            position += 1
        position = text.find("{", position)
    return found
