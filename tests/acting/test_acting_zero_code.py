"""Acting without a line of code: what the environment asks for holds under both commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel_footprint.testing.provider import ScriptedProvider, Text

AGENT = """
import openai
tools = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}]
messages = [{"role": "user", "content": "Which order?"}]
response = openai.OpenAI(max_retries=0).chat.completions.create(model="m", messages=messages, tools=tools)
print(response.choices[0].message.content)
"""


@pytest.mark.parametrize("command", ["otel-footprint run --", "opentelemetry-instrument"])
def test_a_posture_and_a_window_of_the_environment_hold(command: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    first, *rest = command.split()
    with ScriptedProvider([Text("Your order is W-5918449."), Text("I do not have it.")]) as provider:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        settings = {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": provider.openai_url,
            "OTEL_FOOTPRINT_POSTURE": "guard",
            "OTEL_FOOTPRINT_WINDOW": "sliding-window:4",
        }
        if first == "opentelemetry-instrument":
            settings["OTEL_TRACES_EXPORTER"] = "none"
        done = subprocess.run(
            [str(Path(sys.executable).parent / first), *rest, sys.executable, "agent.py"],
            cwd=tmp_path,
            env=kept | settings,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("I do not have it.")
        assert len(provider.requests) == 2
